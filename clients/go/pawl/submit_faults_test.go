package pawl

import (
	"encoding/json"
	"testing"
	"time"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

func TestAGatewayWithoutTheStreamGetsCallsWithTheSameRequestIDs(t *testing.T) {
	g := &gateway{
		execute: func(int) (string, []step) { return runID, []step{{send: sixEvents()[5:]}} },
		start: func(int) (*pawlv1.StartRunResponse, error) {
			return &pawlv1.StartRunResponse{Run: &pawlv1.Run{RunId: runID}, Duplicate: true}, nil
		},
	}
	client, _ := serveGateway(t, g)
	var begun []Accepted
	options := RunOptions{StartOptions: StartOptions{RequestID: "mine"}, OnStart: func(run Accepted) { begun = append(begun, run) }}
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
	options := RunOptions{StartOptions: StartOptions{RequestID: "mine"}, OnStart: func(Accepted) { calls++; close(begun) }}
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

func TestALaterCallHasAllItsAttemptsAfterAnEarlierOneRanOutOfThem(t *testing.T) {
	client, pauses := clientOf(t, "127.0.0.1:1")
	for call := 1; call <= 2; call++ {
		if _, err := client.Start(t.Context(), "hello", nil, StartOptions{}); !isReason(err, Unreachable) {
			t.Errorf("got %v", err)
		}
		if len(pauses.list) != call*(defaultAttempts-1) {
			t.Errorf("%d pauses after %d calls", len(pauses.list), call)
		}
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
