package pawl

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"google.golang.org/protobuf/types/known/timestamppb"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// eventIDs reads an execution to its end.
func eventIDs(t *testing.T, client *Client, options ExecuteOptions) (ids []uint64) {
	t.Helper()
	for event, err := range client.Runs.Execute(t.Context(), "hello", map[string]string{"name": "Ada"}, options) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, event.GetEventId())
	}
	return ids
}

func TestOneCallStartsARunAndGivesItsEventsAndTheRunIsKnownBeforeTheFirst(t *testing.T) {
	begun := make(chan struct{})
	g := &gateway{execute: func(int) (string, []step) {
		return runID, []step{{until: begun}, {send: sixEvents()}}
	}}
	client, _ := serveGateway(t, g)
	options := ExecuteOptions{StartOptions: StartOptions{Priority: 3}, OnStart: func(started Started) {
		if started.Run.GetRunId() != runID || started.IsDuplicate {
			t.Errorf("got %v", started)
		}
		close(begun)
	}}
	must(t, "ids", eventIDs(t, client, options), []uint64{1, 2, 3, 4, 5, 6})
	if start := g.started[0]; start.GetPriority() != 3 || string(start.GetInputJson()) != `{"name":"Ada"}` || len(g.afterIDs()) != 0 {
		t.Errorf("got %v and %v", start, g.afterIDs())
	}
}

func TestRepeatsOfAnExecutionAreDroppedAndAWatchMakesUpForAGap(t *testing.T) {
	log := sixEvents()
	g := &gateway{
		execute: func(int) (string, []step) {
			return runID, []step{{send: log[:2]}, {send: append(log[:2:2], log[3:]...)}, {stall: true}}
		},
		script: func(req *pawlv1.WatchRunRequest, _ int) []step { return []step{{send: log[req.GetAfterEventId():]}} },
	}
	client, _ := serveGateway(t, g)
	must(t, "ids", eventIDs(t, client, ExecuteOptions{}), []uint64{1, 2, 3, 4, 5, 6})
	must(t, "cursors", g.afterIDs(), []uint64{2})
}

func TestAnExecutionThatIsLeftAfterItsStartEndsWithTheCallersReason(t *testing.T) {
	client, _ := serveGateway(t, &gateway{execute: func(int) (string, []step) {
		return runID, []step{{send: sixEvents()[:2]}, {stall: true}}
	}})
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var failure error
	for event, err := range client.Runs.Execute(ctx, "hello", nil, ExecuteOptions{}) {
		failure = err
		if event.GetEventId() == 2 {
			cancel(reason)
		}
	}
	if !errors.Is(failure, reason) || !isReason(failure, "CALLER_CANCELLED") {
		t.Errorf("got %v", failure)
	}
}

func TestAnEventAsPlainJSONHasTheEnvelopeOfTheLogAndDecodedUserData(t *testing.T) {
	fact := &pawlv1.RunEvent_RunCompleted{RunCompleted: &pawlv1.RunCompleted{OutputJson: []byte(`{"n":1.0}`), HasFailures: true}}
	event := &Event{EventId: 7, RunId: "r", Type: "run.completed", Time: timestamppb.New(newYear), Fact: fact}
	text, err := json.Marshal(PlainEvent(event))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"eventId":7,"payload":{"hasFailures":true,"output":{"n":1.0}},"runId":"r","timestamp":"2026-01-01T00:00:00Z","type":"run.completed"}`
	if string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
	run := Plain(&pawlv1.Run{RunId: "r", Status: pawlv1.RunStatus_RUN_STATUS_COMPLETED, LastEventId: 7})
	if !maps.Equal(run, map[string]any{"runId": "r", "status": "completed", "lastEventId": uint64(7)}) {
		t.Errorf("got %v", run)
	}
}
