package pawl

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

func TestAStartWhoseAnswerWasLostIsRepeatedWithTheSameRequestID(t *testing.T) {
	g := &gateway{start: func(n int) (*pawlv1.StartRunResponse, error) {
		if n == 0 {
			return nil, refusal(codes.Unavailable, "STORE_UNAVAILABLE", "no database")
		}
		return &pawlv1.StartRunResponse{Run: &pawlv1.Run{RunId: runID}, Duplicate: true}, nil
	}}
	client, _ := serveGateway(t, g)
	started, err := client.Runs.Start(t.Context(), "hello", nil, StartOptions{})
	if err != nil || started.Run.GetRunId() != runID || !started.IsDuplicate {
		t.Fatalf("got %v, %v", started, err)
	}
	if first, second := g.started[0].GetRequestId(), g.started[1].GetRequestId(); first == "" || first != second {
		t.Errorf("request ids %q and %q", first, second)
	}
}

func TestACallTheServerRefusesIsNotRepeated(t *testing.T) {
	g := &gateway{start: func(int) (*pawlv1.StartRunResponse, error) {
		return nil, refusal(codes.NotFound, "WORKFLOW_NOT_FOUND", "no such workflow")
	}}
	client, _ := serveGateway(t, g)
	if _, err := client.Runs.Start(t.Context(), "hello", nil, StartOptions{}); !isReason(err, "WORKFLOW_NOT_FOUND") {
		t.Errorf("got %v", err)
	}
	if len(g.started) != 1 {
		t.Errorf("%d calls", len(g.started))
	}
}

func TestJSONTextGivenAsInputGoesToTheServerToTheLetter(t *testing.T) {
	g := &gateway{start: func(int) (*pawlv1.StartRunResponse, error) { return &pawlv1.StartRunResponse{}, nil }}
	client, _ := serveGateway(t, g)
	text := `{"z": 1, "a": 2.50, "e": 1e2}`
	if _, err := client.Runs.Start(t.Context(), "hello", json.RawMessage(text), StartOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := string(g.started[0].GetInputJson()); got != text {
		t.Errorf("got %s", got)
	}
}

func TestTheReasonTheViolationsTheWaitAndTheRequestIDComeFromTheDetails(t *testing.T) {
	failure := refusal(codes.InvalidArgument, "DEFINITION_INVALID", "two rules are broken",
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: "nodes[1].id", Reason: "DUPLICATE_ID", Description: "twice"},
			{Field: "edges[0]", Reason: "DANGLING_EDGE", Description: "no node"},
		}},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(2 * time.Second)},
		&errdetails.RequestInfo{RequestId: "req-1"})
	got := errorFrom(t.Context(), failure)
	want := []Violation{{"nodes[1].id", "DUPLICATE_ID", "twice"}, {"edges[0]", "DANGLING_EDGE", "no node"}}
	must(t, "violations", got.Violations, want)
	if got.Reason != "DEFINITION_INVALID" || got.Code != codes.InvalidArgument || got.RetryDelay != 2*time.Second || got.RequestID != "req-1" {
		t.Errorf("got %+v", got)
	}
	if !got.Retryable() {
		t.Error("RetryInfo makes an error retryable")
	}
}

func TestAReasonThisClientDoesNotKnowIsPassedOnAsTheServerSpelledIt(t *testing.T) {
	got := errorFrom(t.Context(), refusal(codes.FailedPrecondition, "MOON_IN_THE_WAY", "later"))
	if got.Reason != Unrecognised || got.ServerReason != "MOON_IN_THE_WAY" {
		t.Errorf("got %+v", got)
	}
}

func TestAnUnreachableGatewayIsUnreachable(t *testing.T) {
	client, err := Connect("127.0.0.1:1", Attempts(2))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.clock = (&pauses{}).clock()
	if _, err := client.Runs.Get(t.Context(), runID); !isReason(err, Unreachable) {
		t.Errorf("got %v", err)
	}
}

func TestAnAddressThatIsNoneIsRefusedWithAWayOut(t *testing.T) {
	for _, addr := range []string{"ftp://x", "http://", "https://:x"} {
		if _, err := Connect(addr); err == nil {
			t.Errorf("%s is accepted", addr)
		}
	}
}

func TestAnExecutionLostBeforeItsRunWasNamedIsRepeatedWithTheSameRequestID(t *testing.T) {
	log := sixEvents()
	g := &gateway{execute: func(n int) (string, []step) {
		if n == 0 {
			return "", []step{{fail: refusal(codes.Unavailable, "DRAINING", "stopping")}}
		}
		return runID, []step{{send: log[5:]}}
	}}
	client, _ := serveGateway(t, g)
	out, err := Run[map[string]string, struct{ Greeting string }](t.Context(), client, "hello", map[string]string{"name": "Ada"})
	if err != nil || out.Greeting != "hi" {
		t.Fatalf("got %v, %v", out, err)
	}
	if first, second := g.started[0].GetRequestId(), g.started[1].GetRequestId(); first == "" || first != second {
		t.Errorf("request ids %q and %q", first, second)
	}
}

func TestAnExecutionThatIsCutContinuesAsAWatch(t *testing.T) {
	log := sixEvents()
	g := &gateway{
		execute: func(int) (string, []step) {
			return runID, []step{{send: []*Event{heartbeat}}, {fail: refusal(codes.Unavailable, "DRAINING", "stopping")}}
		},
		script: func(*pawlv1.WatchRunRequest, int) []step { return []step{{send: log[5:]}} },
	}
	client, _ := serveGateway(t, g)
	out, err := Run[any, struct{ Greeting string }](t.Context(), client, "hello", nil)
	if err != nil || out.Greeting != "hi" || len(g.started) != 1 || len(g.afterIDs()) != 1 {
		t.Errorf("got %v, %v after %d starts", out, err, len(g.started))
	}
}

func TestARunThatFailsIsARunFailedWithItsNode(t *testing.T) {
	failed := &pawlv1.RunEvent_RunFailed{RunFailed: &pawlv1.RunFailed{FailedNodeId: "pay", Message: "declined", Cause: "acme.declined", FailureClass: pawlv1.FailureClass_FAILURE_CLASS_PERMANENT}}
	client, _ := serveGateway(t, &gateway{
		execute: func(int) (string, []step) {
			return runID, []step{{send: []*Event{{EventId: 9, RunId: runID, Type: "run.failed", Fact: failed}}}}
		},
	})
	_, err := Run[any, any](t.Context(), client, "hello", nil)
	var failure *RunFailed
	if !errors.As(err, &failure) || failure.NodeID != "pay" || failure.Message != "declined" || failure.RunID != runID || failure.Status != pawlv1.RunStatus_RUN_STATUS_FAILED {
		t.Errorf("got %v", err)
	}
	if failure.Cause != "acme.declined" || failure.FailureClass != pawlv1.FailureClass_FAILURE_CLASS_PERMANENT {
		t.Errorf("got %+v", failure)
	}
}

func TestAnExecutionThatIsLeftReportsTheCallersReason(t *testing.T) {
	client, _ := serveGateway(t, &gateway{execute: func(int) (string, []step) { return "", []step{{stall: true}} }})
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(reason) })
	if _, err := Run[any, any](ctx, client, "hello", nil); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerGoesWithItsResponseToTheLetterOrWithNone(t *testing.T) {
	g := &gateway{}
	client, _ := serveGateway(t, g)
	for _, answer := range []Answer{{Response: json.RawMessage(`{"a": 1.0}`), DecidedBy: "Ada"}, {}} {
		if _, err := client.Approvals.Approve(t.Context(), "a1", answer); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(g.approved[0].GetResponseJson()); got != `{"a": 1.0}` || g.approved[0].GetDecidedBy() != "Ada" {
		t.Errorf("got %s", got)
	}
	if len(g.approved[1].GetResponseJson()) != 0 || g.approved[1].GetRequestId() == "" {
		t.Errorf("got %v", g.approved[1])
	}
}
