package pawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// answer is what a scripted gateway does about a message: it sends answers, waits, then fails, cuts every connection or reads on.
type answer struct {
	send  []*pawlv1.SubmissionAnswer
	until <-chan struct{}
	fail  error
	cut   bool
}

func (g *gateway) SubmitRuns(stream pawlv1.RunService_SubmitRunsServer) error {
	if g.submit == nil {
		return g.UnimplementedRunServiceServer.SubmitRuns(stream)
	}
	g.mu.Lock()
	n := len(g.submitted)
	g.submitted = append(g.submitted, nil)
	g.mu.Unlock()
	if g.streamsMax > 0 && n >= g.streamsMax {
		return status.Error(codes.Unimplemented, "no such method")
	}
	if err := stream.Send(&pawlv1.SubmitRunsResponse{}); err != nil {
		return err
	}
	for {
		req, err := stream.Recv()
		if err != nil {
			return err
		}
		g.mu.Lock()
		g.submitted[n] = append(g.submitted[n], req)
		g.mu.Unlock()
		do := g.submit(n, req)
		if len(do.send) > 0 {
			if err := stream.Send(&pawlv1.SubmitRunsResponse{Answers: do.send}); err != nil {
				return err
			}
		}
		if do.until != nil {
			<-do.until
		}
		if do.cut {
			g.cutAll()
		}
		if do.fail != nil {
			return do.fail
		}
	}
}

// idsOf are the request ids of the n-th stream, as they came.
func (g *gateway) idsOf(n int) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ids []string
	for _, req := range g.submitted[n] {
		for _, sub := range req.GetSubmissions() {
			ids = append(ids, sub.GetStart().GetRequestId())
		}
	}
	return ids
}

func (g *gateway) streams() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.submitted)
}

func completed(id string, output []byte) *pawlv1.SubmissionAnswer {
	end := &pawlv1.RunEnd{RunId: "run-" + id, Status: pawlv1.RunStatus_RUN_STATUS_COMPLETED, OutputJson: output}
	return &pawlv1.SubmissionAnswer{RequestId: id, End: end}
}

func accepted(id string) *pawlv1.SubmissionAnswer {
	return &pawlv1.SubmissionAnswer{RequestId: id, Accepted: &pawlv1.AcceptedSubmission{RunId: "run-" + id}}
}

// echo answers every submission with its own input.
func echo(_ int, req *pawlv1.SubmitRunsRequest) answer {
	var all answer
	for _, sub := range req.GetSubmissions() {
		one := accepted(sub.GetStart().GetRequestId())
		if sub.GetWait() {
			one.End = completed(one.GetRequestId(), sub.GetStart().GetInputJson()).GetEnd()
		}
		all.send = append(all.send, one)
	}
	return all
}

// each starts a run for each id at once, and gives the outcomes in the order of the ids.
func each(ctx context.Context, client *Client, ids []string, options RunOptions) ([]string, []error) {
	outputs, failures := make([]string, len(ids)), make([]error, len(ids))
	var under sync.WaitGroup
	for n, id := range ids {
		one := options
		one.RequestID = id
		under.Go(func() { outputs[n], failures[n] = RunWith[string, string](ctx, client, "echo", id, one) })
	}
	under.Wait()
	return outputs, failures
}

func numbered(count int) []string {
	ids := make([]string, count)
	for n := range ids {
		ids[n] = fmt.Sprintf("s%d", n)
	}
	return ids
}

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

func TestAGatewayWithoutTheStreamGetsCallsWithTheSameRequestIDs(t *testing.T) {
	g := &gateway{
		execute: func(int) (string, []step) { return runID, []step{{send: sixEvents()[5:]}} },
		start: func(int) (*pawlv1.StartRunResponse, error) {
			return &pawlv1.StartRunResponse{Run: &pawlv1.Run{RunId: runID}, Duplicate: true}, nil
		},
	}
	client, _ := serveGateway(t, g)
	var begun []Accepted
	options := RunOptions{StartOptions{RequestID: "mine"}, func(run Accepted) { begun = append(begun, run) }}
	out, err := RunWith[any, struct{ Greeting string }](t.Context(), client, "hello", nil, options)
	if err != nil || out.Greeting != "hi" || g.started[0].GetRequestId() != "mine" {
		t.Errorf("got %v, %v", out, err)
	}
	must(t, "begun", begun, []Accepted{{RunID: runID}})
	for _, outcome := range client.Runs.StartMany(t.Context(), make([]StartItem, 40)) {
		if outcome.Err != nil || outcome.Accepted != (Accepted{runID, true}) {
			t.Fatalf("got %v", outcome)
		}
	}
}

func TestARunThatTheStreamAcceptedContinuesAsACallWhereTheNextGatewayHasNoStream(t *testing.T) {
	begun := make(chan struct{})
	g := &gateway{
		submit: func(int, *pawlv1.SubmitRunsRequest) answer {
			return answer{send: []*pawlv1.SubmissionAnswer{accepted("mine")}, until: begun, cut: true}
		},
		streamsMax: 1,
		execute:    func(int) (string, []step) { return runID, []step{{send: sixEvents()[5:]}} },
	}
	client, _ := serveGateway(t, g)
	calls := 0
	options := RunOptions{StartOptions{RequestID: "mine"}, func(Accepted) { calls++; close(begun) }}
	out, err := RunWith[any, json.RawMessage](t.Context(), client, "hello", nil, options)
	if err != nil || len(out) == 0 || calls != 1 || g.started[0].GetRequestId() != "mine" {
		t.Errorf("got %s, %v after %d starts", out, err, calls)
	}
}

func TestTwoCallsWithOneRequestIDAtOnceHaveAnAnswerEach(t *testing.T) {
	first := make(chan struct{})
	g := &gateway{
		submit: func(n int, req *pawlv1.SubmitRunsRequest) answer {
			close(first)
			return echo(n, req)
		},
		start: func(int) (*pawlv1.StartRunResponse, error) {
			return &pawlv1.StartRunResponse{Run: &pawlv1.Run{RunId: "run-same"}, Duplicate: true}, nil
		},
	}
	client, _ := serveGateway(t, g)
	same := StartItem{WorkflowID: "echo", StartOptions: StartOptions{RequestID: "same"}}
	must(t, "outcomes", client.Runs.StartMany(t.Context(), []StartItem{same, same}), []StartOutcome{
		{Accepted: Accepted{RunID: "run-same"}}, {Accepted: Accepted{"run-same", true}},
	})
	<-first
}

func TestAGatewayThatSendsNothingIsLeft(t *testing.T) {
	g := &gateway{submit: func(n int, req *pawlv1.SubmitRunsRequest) answer {
		if n == 0 {
			return answer{}
		}
		return echo(n, req)
	}}
	client, _ := serveGateway(t, g)
	client.submitter.silence = 50 * time.Millisecond
	if out, err := Run[string, string](t.Context(), client, "echo", "x"); err != nil || out != "x" || g.streams() < 2 {
		t.Errorf("got %v, %v over %d streams", out, err, g.streams())
	}
}

func TestAStartThatNoGatewayAnswersIsUnreachableAfterAllAttempts(t *testing.T) {
	client, pauses := clientOf(t, "127.0.0.1:1")
	if _, err := client.Start(t.Context(), "hello", nil, StartOptions{}); !isReason(err, Unreachable) {
		t.Errorf("got %v", err)
	}
	if len(pauses.list) != defaultAttempts-1 {
		t.Errorf("pauses %v", pauses.list)
	}
}

func TestClosingTheClientEndsItsCallsUnderWay(t *testing.T) {
	taken := make(chan struct{})
	client, _ := serveGateway(t, &gateway{submit: func(int, *pawlv1.SubmitRunsRequest) answer {
		close(taken)
		return answer{}
	}})
	go func() { <-taken; client.Close() }()
	for range 2 {
		if _, err := Run[any, any](t.Context(), client, "slow", nil); !isReason(err, "CALLER_CANCELLED") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAnInputThatFitsNoMessageIsRefusedWithItsSize(t *testing.T) {
	client, _ := serveGateway(t, &gateway{submit: echo})
	_, err := client.Start(t.Context(), "hello", make([]byte, startBytesMax), StartOptions{})
	if !isReason(err, "LIMIT_EXCEEDED") {
		t.Errorf("got %v", err)
	}
}
