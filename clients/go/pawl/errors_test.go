package pawl

import (
	"context"
	"errors"
	"testing"
)

func TestADeadlineThatTheServerSawFirstIsTheDeadlineOfTheContext(t *testing.T) {
	passed := &Error{Reason: "DEADLINE_PASSED"}
	if !errors.Is(passed, context.DeadlineExceeded) || errors.Is(passed, context.Canceled) {
		t.Error("a passed deadline is context.DeadlineExceeded and nothing else")
	}
	if errors.Is(&Error{Reason: "RUN_NOT_FOUND"}, context.DeadlineExceeded) {
		t.Error("another reason is no deadline")
	}
}
