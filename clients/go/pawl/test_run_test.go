package pawl

import (
	"encoding/json"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

func TestATestRunGoesWithItsGraphAndItsInputToTheLetterAndGivesItsWarnings(t *testing.T) {
	client, server := serveDetails(t)
	input := json.RawMessage(`{"n": 1.0}`)
	tested, err := client.Runs.Test(t.Context(), "nodes: []", input, TestRunOptions{RequestID: "q"})
	if err != nil || tested.Run.GetRunId() != "r" || !tested.IsDuplicate || tested.Warnings[0].GetReason() != "UNUSED" {
		t.Errorf("got %v, %v", tested, err)
	}
	asked := server.asked[0].(*pawlv1.TestRunRequest)
	if string(asked.GetInputJson()) != string(input) || asked.GetRequestId() != "q" || asked.GetDefinition().GetText() != "nodes: []" {
		t.Errorf("got %v", asked)
	}
}

func TestATestRunSaysWhenItStartsHowLongItMayTakeAndThatItIsTemporary(t *testing.T) {
	client, server := serveDetails(t)
	at := time.Date(2026, 12, 1, 6, 0, 0, 0, time.UTC)
	none, later := uint32(0), 1.5
	options := []TestRunOptions{
		{RequestID: "a", After: 1500 * time.Millisecond, Temporary: true, MaxRetries: &none, Budget: Budget{Tokens: 9}},
		{RequestID: "b", StartAt: at, Deadline: time.Hour, Goal: "g", Constraints: []string{"c"}, MaxIterations: 2, UntrustedInput: true},
		{RequestID: "c"},
	}
	for _, each := range options {
		if _, err := client.Runs.Test(t.Context(), "nodes: []", nil, each); err != nil {
			t.Error(err)
		}
	}
	graph := &pawlv1.DefinitionSource{Text: "nodes: []"}
	input := server.asked[0].(*pawlv1.TestRunRequest).GetInputJson()
	mustAsk(t, server.asked,
		&pawlv1.TestRunRequest{
			Definition: graph, InputJson: input, RequestId: "a", AfterSeconds: &later, Temporary: true, MaxRetries: &none,
			Budget: &pawlv1.Budget{Tokens: 9},
		},
		&pawlv1.TestRunRequest{
			Definition: graph, InputJson: input, RequestId: "b", StartAt: timestamppb.New(at), Deadline: durationpb.New(time.Hour),
			Goal: "g", Constraints: []string{"c"}, MaxIterations: 2, UntrustedInput: true,
		},
		&pawlv1.TestRunRequest{Definition: graph, InputJson: input, RequestId: "c"})
}
