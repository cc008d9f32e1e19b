package pawl_test

// Schedules, pauses, many starts and executions against real services: test/go/flow.test.ts starts them.

import (
	"os"
	"testing"
	"time"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
	"pawl.dev/sdk/go/pawl"
)

const operated = `
id: go-operated
nodes:
  - { id: start, type: start }
  - { id: ask, type: approval, config: { message: "Continue?" } }
edges:
  - { source: start, target: ask }
`

func TestOperateFlow(t *testing.T) {
	gateway := os.Getenv("PAWL_TEST_GATEWAY")
	if gateway == "" {
		t.Skip("PAWL_TEST_GATEWAY names no gateway; test/go/flow.test.ts starts one")
	}
	client, err := pawl.Connect(gateway)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	apply(t, client, operated, "created")
	t.Run("a schedule previews its times and starts a run when it is triggered", func(t *testing.T) { flowSchedule(t, client) })
	t.Run("pauses of a run, a workflow and a queue are seen and end", func(t *testing.T) { flowPauses(t, client) })
	t.Run("many starts have one outcome each", func(t *testing.T) { flowStartMany(t, client) })
	t.Run("one call gives the events of a graph that is tested", func(t *testing.T) { flowTest(t, client) })
	t.Run("a thread refuses, interrupts, resumes, rolls back, forks and is deleted", func(t *testing.T) { flowThread(t, client) })
	t.Run("streams of threads and of many runs continue across cuts", func(t *testing.T) { flowStreams(t, gateway) })
	t.Run("dead letters are listed, and a discard without a filter is refused", func(t *testing.T) {
		letters, _, err := client.DeadLetters.List(t.Context(), pawl.DeadLetterFilter{}, nil, pawl.Page{})
		if err != nil || len(letters) != 0 {
			t.Errorf("got %v, %v", letters, err)
		}
		if _, err := client.DeadLetters.Discard(t.Context(), pawl.DeadLetterFilter{}, pawl.DiscardOptions{}); reasonOf(err) != "INPUT_INVALID" {
			t.Errorf("got %v", err)
		}
	})
}

func flowSchedule(t *testing.T, client *pawl.Client) {
	spec := pawl.ScheduleSpec{WorkflowID: "go-operated", Expression: "@yearly", Missed: pawl.MissedRunOnce}
	made, err := client.Schedules.Create(t.Context(), "go-yearly", spec, pawl.MutationOptions{})
	if err != nil || made.GetSpec().GetMissed() != pawlv1.MissedPolicy_MISSED_POLICY_RUN_ONCE {
		t.Fatalf("got %v, %v", made, err)
	}
	if _, err := client.Schedules.Create(t.Context(), "go-yearly", spec, pawl.MutationOptions{}); reasonOf(err) != "SCHEDULE_EXISTS" {
		t.Errorf("got %v", err)
	}
	from := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	times, err := client.Schedules.Preview(t.Context(), pawl.SchedulePreview{ScheduleID: "go-yearly", Count: 1, From: from})
	if err != nil || len(times) != 1 || !times[0].Equal(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("got %v, %v", times, err)
	}
	once := pawl.MutationOptions{RequestID: "go-trigger"}
	first, err := client.Schedules.Trigger(t.Context(), "go-yearly", once)
	if err != nil {
		t.Fatal(err)
	}
	again, err := client.Schedules.Trigger(t.Context(), "go-yearly", once)
	if err != nil || again.Run.GetRunId() != first.Run.GetRunId() || !again.IsDuplicate {
		t.Errorf("got %v, %v", again, err)
	}
	paused, err := client.Schedules.Pause(t.Context(), "go-yearly", pawl.PauseOptions{By: "ada", Reason: "a look"})
	if err != nil || paused.GetPausedBy() != "ada" || paused.GetState() != pawlv1.ScheduleState_SCHEDULE_STATE_PAUSED {
		t.Errorf("got %v, %v", paused, err)
	}
	if _, err := client.Schedules.Update(t.Context(), "go-yearly", spec, pawl.UpdateOptions{ExpectedVersion: 99}); reasonOf(err) != "VERSION_MISMATCH" {
		t.Errorf("got %v", err)
	}
	if err := client.Schedules.Delete(t.Context(), "go-yearly", pawl.MutationOptions{}); err != nil {
		t.Error(err)
	}
}

func flowPauses(t *testing.T, client *pawl.Client) {
	started, err := client.Start(t.Context(), "go-operated", nil, pawl.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	why := pawl.PauseOptions{By: "ada", Reason: "a look"}
	run, err := client.Runs.Pause(t.Context(), started.RunID, pawl.PauseRunOptions{PauseOptions: why})
	if err != nil || run.GetStatus() != pawlv1.RunStatus_RUN_STATUS_PAUSED {
		t.Errorf("got %v, %v", run.GetStatus(), err)
	}
	if run, err = client.Runs.Resume(t.Context(), started.RunID, pawl.PauseRunOptions{}); err != nil || run.GetStatus() == pawlv1.RunStatus_RUN_STATUS_PAUSED {
		t.Errorf("got %v, %v", run.GetStatus(), err)
	}
	if _, err := client.Workflows.Pause(t.Context(), "go-operated", why); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Queues.Pause(t.Context(), "javascript", why); err != nil {
		t.Fatal(err)
	}
	pauses, err := client.Queues.Pauses(t.Context())
	if err != nil || len(pauses) != 2 || pauses[0].GetName() != "javascript" || pauses[1].GetBy() != "ada" {
		t.Errorf("got %v, %v", pauses, err)
	}
	if err := client.Queues.Resume(t.Context(), "javascript", pawl.PauseOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := client.Workflows.Resume(t.Context(), "go-operated", pawl.PauseOptions{}); err != nil {
		t.Error(err)
	}
}

func flowStartMany(t *testing.T, client *pawl.Client) {
	items := make([]pawl.StartItem, 30)
	for n := range items {
		items[n] = pawl.StartItem{WorkflowID: "go-operated", Input: n}
	}
	items[7].WorkflowID = "go-none"
	seen := map[string]bool{}
	for n, outcome := range client.Runs.StartMany(t.Context(), items) {
		if n == 7 {
			if reasonOf(outcome.Err) != "WORKFLOW_NOT_FOUND" {
				t.Errorf("got %v", outcome)
			}
			continue
		}
		if outcome.Err != nil || seen[outcome.RunID] {
			t.Errorf("start %d: %v", n, outcome)
		}
		seen[outcome.RunID] = true
	}
}

func flowTest(t *testing.T, client *pawl.Client) {
	tested, err := client.Runs.Test(t.Context(), hello, person{"Ada"}, pawl.TestRunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	id := tested.Run.GetRunId()
	if run, err := client.Runs.Wait(t.Context(), id); err != nil || string(run.GetOutputJson()) != `{"text":"Hello Ada"}` {
		t.Errorf("got %v, %v", run, err)
	}
	greet := pawl.NodeOf{RunID: id, NodeID: "greet"}
	if why, err := client.Runs.Explain(t.Context(), greet); err != nil || why.GetReason() != pawlv1.ExplainReason_EXPLAIN_REASON_COMPLETED {
		t.Errorf("got %v, %v", why, err)
	}
	// Pawl itself runs the node.
	if _, err := client.Runs.Invocation(t.Context(), greet); reasonOf(err) != "NODE_NOT_INVOKED" {
		t.Errorf("got %v", err)
	}
	if err := client.Runs.Delete(t.Context(), id, pawl.MutationOptions{}); err != nil {
		t.Error(err)
	}
	apply(t, client, hello, "unchanged")
	var last uint64
	for event, err := range client.Runs.Execute(t.Context(), "go-hello", person{"Ada"}, pawl.ExecuteOptions{}) {
		if err != nil || event.GetEventId() != last+1 {
			t.Fatalf("got %v, %v after %d", event, err, last)
		}
		last = event.GetEventId()
		if plain := pawl.PlainEvent(event); plain["type"] == "run.completed" && plain["eventId"] != last {
			t.Errorf("got %v", plain)
		}
	}
	if last < 3 {
		t.Errorf("%d events", last)
	}
}
