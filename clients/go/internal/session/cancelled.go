package session

import (
	"context"
	"strings"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

// Cancelled is the cause of a cancelled invocation.
type Cancelled struct {
	// Reason is cancelled, timeout, claim_lost, blocked or drained.
	Reason string
}

func (c *Cancelled) Error() string { return "pawl: the invocation was cancelled: " + c.Reason }

// Unwrap makes errors.Is(err, context.Canceled) true.
func (c *Cancelled) Unwrap() error { return context.Canceled }

func reasonName(reason handlerv1.CancelReason) string {
	return strings.ToLower(strings.TrimPrefix(reason.String(), "CANCEL_REASON_"))
}

var claimLost = &Cancelled{Reason: "claim_lost"}
