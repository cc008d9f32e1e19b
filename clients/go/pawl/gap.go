package pawl

// Missing events. A stream that misses one opens again after the last event in order. A gap that stays is in the log.

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
)

// A gap that stays after this many reconnects is in the log, not in the transport.
const gapReopenings = 3

// gap is the place of a missing event: the cause of an error of the reason EVENT_LOG_CORRUPTION that this client made.
type gap struct {
	runID string
	dueID uint64
}

func (g gap) Error() string { return fmt.Sprintf("run %s: event %d is missing", g.runID, g.dueID) }

// gapError reports that an event came before the ones that are due.
func gapError(runID string, last uint64, event *Event) *Error {
	due := last + 1
	what := fmt.Sprintf("%d was due", due)
	if event.GetEventId() == due {
		what = "a delta is missing before it"
	}
	failure := failed("EVENT_LOG_CORRUPTION", codes.DataLoss, "run %s: event %d came, %s", runID, event.GetEventId(), what)
	failure.Metadata = map[string]string{"run_id": runID, "last_event_id": fmt.Sprint(last)}
	failure.cause = gap{runID, due}
	return failure
}

// gapCount counts how often the same event was missing in a row.
type gapCount struct {
	place gap
	count int
}

// isFinal notes the loss of a connection, and reports whether no reconnect helps.
func (c *gapCount) isFinal(failure *Error) bool {
	var found gap
	if !errors.As(failure, &found) {
		return !failure.Retryable()
	}
	if found != c.place {
		c.place, c.count = found, 0
	}
	c.count++
	return c.count > gapReopenings
}
