package session

import (
	"strings"
	"testing"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

func TestAnOutputAboveTheLimitIsAPermanentFailureWithBothSizes(t *testing.T) {
	limits := &handlerv1.Limits{OutputBytes: 10}
	of := func(text string) *handlerv1.ProcessItem {
		return Outcome{Result: &handlerv1.Result{OutputJson: text}}.item("i1", limits)
	}
	failure := of(strings.Repeat("x", 11)).GetFailure()
	if failure.GetCause() != "output_too_large" || !failure.GetPermanent() || failure.GetInvocationId() != "i1" {
		t.Errorf("got %v", failure)
	}
	if message := failure.GetMessage(); !strings.Contains(message, "11 bytes") || !strings.Contains(message, "at most 10") {
		t.Errorf("got %q", message)
	}
	if result := of(strings.Repeat("x", 10)).GetResult(); result.GetInvocationId() != "i1" {
		t.Errorf("got %v", result)
	}
}
