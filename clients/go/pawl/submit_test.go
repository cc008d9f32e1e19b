package pawl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

func TestRunsThatAreStartedAtOnceShareAStreamAndItsMessages(t *testing.T) {
	g := &gateway{submit: echo, opens: make(chan struct{})}
	client, _ := serveGateway(t, g)
	ids := numbered(200)
	go func() {
		// The gateway answers the connection when all runs wait for it.
		for under := 0; under < len(ids); runtime.Gosched() {
			client.submitter.mu.Lock()
			under = len(client.submitter.byID)
			client.submitter.mu.Unlock()
		}
		close(g.opens)
	}()
	outputs, failures := each(t.Context(), client, ids, RunOptions{})
	must(t, "outputs", outputs, ids)
	if err := errors.Join(failures...); err != nil || g.streams() != 1 || len(g.submitted[0]) > 2 {
		t.Errorf("got %v over %d streams and %d messages", err, g.streams(), len(g.submitted[0]))
	}
}

func TestSubmissionsWithoutAFinalAnswerAreSentAgainAfterACut(t *testing.T) {
	for _, isAccepted := range []bool{false, true} {
		seen := 0
		g := &gateway{submit: func(n int, req *pawlv1.SubmitRunsRequest) answer {
			if n > 0 {
				return echo(n, req)
			}
			var do answer
			for _, sub := range req.GetSubmissions() {
				seen++
				if isAccepted {
					do.send = append(do.send, accepted(sub.GetStart().GetRequestId()))
				}
			}
			do.cut = seen == 3
			return do
		}}
		client, _ := serveGateway(t, g)
		var mu sync.Mutex
		var starts []string
		onStart := func(run Accepted) { mu.Lock(); defer mu.Unlock(); starts = append(starts, run.RunID) }
		ids := numbered(3)
		outputs, failures := each(t.Context(), client, ids, RunOptions{OnStart: onStart})
		must(t, "outputs", outputs, ids)
		if err := errors.Join(failures...); err != nil {
			t.Error(err)
		}
		for n := range 2 {
			must(t, "ids", slices.Sorted(slices.Values(g.idsOf(n))), ids)
		}
		// The run is reported once, however often its submission was sent.
		must(t, "starts", slices.Sorted(slices.Values(starts)), []string{"run-s0", "run-s1", "run-s2"})
	}
}

func TestASubmissionThatWasAnsweredIsNotSentAgainAndADrainMovesTheOthers(t *testing.T) {
	seen := map[string]bool{}
	g := &gateway{submit: func(n int, req *pawlv1.SubmitRunsRequest) answer {
		if n > 0 {
			return echo(n, req)
		}
		for _, sub := range req.GetSubmissions() {
			seen[sub.GetStart().GetRequestId()] = true
		}
		if len(seen) < 2 {
			return answer{}
		}
		drain := refusal(codes.Unavailable, "DRAINING", "This gateway is stopping.")
		return answer{send: []*pawlv1.SubmissionAnswer{completed("a", []byte(`"first"`))}, fail: drain}
	}}
	client, _ := serveGateway(t, g)
	outputs, failures := each(t.Context(), client, []string{"a", "b"}, RunOptions{})
	must(t, "outputs", outputs, []string{"first", "b"})
	must(t, "ids", g.idsOf(1), []string{"b"})
	if err := errors.Join(failures...); err != nil {
		t.Error(err)
	}
}

func TestARefusalEndsItsSubmissionOnlyAndOneThatMaySucceedLaterIsSentAgain(t *testing.T) {
	refusals := 0
	g := &gateway{submit: func(_ int, req *pawlv1.SubmitRunsRequest) answer {
		var do answer
		for _, sub := range req.GetSubmissions() {
			id := sub.GetStart().GetRequestId()
			one := completed(id, sub.GetStart().GetInputJson())
			if id == "bad" {
				one = &pawlv1.SubmissionAnswer{RequestId: id, Refused: &pawlv1.Refusal{
					Code: int32(codes.InvalidArgument), Reason: "INPUT_INVALID", Message: "is no JSON",
					Violations: []*pawlv1.Violation{{Path: "start.input_json", Reason: "BAD_JSON", Message: "no JSON"}},
					Metadata:   map[string]string{"next": "Correct the request."},
				}}
			} else if id == "later" && refusals < 2 {
				refusals++
				one = &pawlv1.SubmissionAnswer{RequestId: id, Refused: &pawlv1.Refusal{
					Code: int32(codes.ResourceExhausted), Reason: "STREAM_LIMIT", RetryDelay: durationpb.New(0),
				}}
			}
			do.send = append(do.send, one)
		}
		return do
	}}
	client, _ := serveGateway(t, g)
	outputs, failures := each(t.Context(), client, []string{"bad", "later", "good"}, RunOptions{})
	var bad *Error
	if !errors.As(failures[0], &bad) || bad.Reason != "INPUT_INVALID" || bad.Code != codes.InvalidArgument || bad.Next != "Correct the request." {
		t.Errorf("got %v", failures[0])
	}
	must(t, "violations", bad.Violations, []Violation{{"start.input_json", "BAD_JSON", "no JSON"}})
	must(t, "outputs", outputs, []string{"", "later", "good"})
	if later := slices.DeleteFunc(g.idsOf(0), func(id string) bool { return id != "later" }); len(later) != 3 {
		t.Errorf("later was sent %d times", len(later))
	}
}

func TestARefusalThatStaysIsTheErrorOfItsCallAfterAllAttempts(t *testing.T) {
	g := &gateway{submit: func(_ int, req *pawlv1.SubmitRunsRequest) answer {
		busy := &pawlv1.Refusal{Code: int32(codes.ResourceExhausted), Reason: "STREAM_LIMIT", RetryDelay: durationpb.New(time.Second)}
		return answer{send: []*pawlv1.SubmissionAnswer{{RequestId: req.GetSubmissions()[0].GetStart().GetRequestId(), Refused: busy}}}
	}}
	client, pauses := serveGateway(t, g)
	if _, err := Run[any, any](t.Context(), client, "echo", nil); !isReason(err, "STREAM_LIMIT") {
		t.Errorf("got %v", err)
	}
	if sent := g.idsOf(0); len(sent) != defaultAttempts || pauses.list[0] < time.Second {
		t.Errorf("sent %d times with pauses %v", len(sent), pauses.list)
	}
}

func TestACallThatIsLeftLeavesTheRunAndTheStream(t *testing.T) {
	taken := make(chan struct{})
	g := &gateway{submit: func(n int, req *pawlv1.SubmitRunsRequest) answer {
		if req.GetSubmissions()[0].GetStart().GetRequestId() == "left" {
			close(taken)
			return answer{}
		}
		return echo(n, req)
	}}
	client, _ := serveGateway(t, g)
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-taken; cancel(reason) }()
	_, err := RunWith[any, any](ctx, client, "slow", nil, RunOptions{StartOptions: StartOptions{RequestID: "left"}})
	if !isReason(err, "CALLER_CANCELLED") || !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
	out, err := Run[string, string](t.Context(), client, "quick", "next")
	if err != nil || out != "next" || g.streams() != 1 {
		t.Errorf("got %v, %v over %d streams", out, err, g.streams())
	}
	if _, err := Run[any, any](ctx, client, "quick", nil); !isReason(err, "CALLER_CANCELLED") {
		t.Errorf("got %v", err)
	}
}

func TestManyStartsHaveOneOutcomeEachInTheOrderOfTheList(t *testing.T) {
	g := &gateway{submit: func(_ int, req *pawlv1.SubmitRunsRequest) answer {
		var do answer
		for _, sub := range slices.Backward(req.GetSubmissions()) {
			one := accepted(sub.GetStart().GetRequestId())
			if sub.GetWait() || sub.GetStart().GetWorkflowId() == "none" {
				one.Accepted, one.Refused = nil, &pawlv1.Refusal{Code: int32(codes.NotFound), Reason: "WORKFLOW_NOT_FOUND"}
			}
			do.send = append(do.send, one)
		}
		return do
	}}
	client, _ := serveGateway(t, g)
	items := make([]StartItem, 1_500)
	for n, id := range numbered(len(items)) {
		items[n] = StartItem{WorkflowID: "known", StartOptions: StartOptions{RequestID: id}}
	}
	items[7].WorkflowID = "none"
	items[9].Input = func() {}
	outcomes := client.Runs.StartMany(t.Context(), items)
	if len(outcomes) != len(items) || !isReason(outcomes[7].Err, "WORKFLOW_NOT_FOUND") || outcomes[9].Err == nil {
		t.Errorf("got %d outcomes, %v, %v", len(outcomes), outcomes[7], outcomes[9])
	}
	for n, outcome := range outcomes {
		if n != 7 && n != 9 && (outcome.Err != nil || outcome.RunID != fmt.Sprintf("run-s%d", n)) {
			t.Fatalf("start %d: %v", n, outcome)
		}
	}
	// A stream takes a thousand at once, so the others have a stream of their own.
	if g.streams() != 2 {
		t.Errorf("%d streams", g.streams())
	}
	one, err := client.Start(t.Context(), "known", nil, StartOptions{RequestID: "one"})
	if err != nil || one.RunID != "run-one" {
		t.Errorf("got %v, %v", one, err)
	}
}
