package pawl_test

// Streams of threads and of many runs against real services: test/go/flow.test.ts starts them. The composite cursor of a thread is made by
// the client, so it must survive a real reconnect.

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
	"pawl.dev/sdk/go/pawl"
)

const paid = `
id: go-paid
nodes:
  - { id: start, type: start }
  - { id: wait, type: await_signal, config: { name: paid } }
edges:
  - { source: start, target: wait }
`

// flowStreams uses a client behind the cable.
func flowStreams(t *testing.T, gateway string) {
	line := newCable(t, gateway)
	client, err := pawl.Connect(line.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	later := startPaid(t, client, "go-saying", pawl.StartOptions{After: 2 * time.Second})
	if run, err := client.Runs.Get(t.Context(), later); err != nil || run.GetStatus() != pawlv1.RunStatus_RUN_STATUS_PENDING {
		t.Errorf("got %v, %v", run.GetStatus(), err)
	}
	brief := pawl.RunOptions{StartOptions: pawl.StartOptions{Temporary: true}}
	if _, err := pawl.RunWith[any, any](t.Context(), client, "go-saying", nil, brief); err != nil {
		t.Error(err)
	}
	apply(t, client, paid, "created")
	cashier := pawl.AssistantInput{WorkflowID: "go-paid", Config: map[string]any{"till": 7}}
	if _, err := client.Assistants.Create(t.Context(), "go-cashier", cashier, pawl.MutationOptions{}); err != nil {
		t.Fatal(err)
	}
	flowThreadStream(t, client, line)
	flowMany(t, client, line)
	if err := client.Assistants.Delete(t.Context(), "go-cashier", pawl.DeleteAssistantOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if run, err := client.Runs.Wait(t.Context(), later); err != nil || run.GetStatus() != pawlv1.RunStatus_RUN_STATUS_COMPLETED {
		t.Errorf("got %v, %v", run.GetStatus(), err)
	}
}

func startPaid(t *testing.T, client *pawl.Client, workflowID string, options pawl.StartOptions) string {
	t.Helper()
	started, err := client.Start(t.Context(), workflowID, nil, options)
	if err != nil {
		t.Fatal(err)
	}
	return started.RunID
}

func pay(t *testing.T, client *pawl.Client, runID string) {
	t.Helper()
	sent, err := client.Runs.Signal(t.Context(), runID, "paid", map[string]int{"amount": 7}, pawl.SignalOptions{})
	if err != nil || sent.Kept || sent.Duplicate {
		t.Fatalf("got %v, %v", sent, err)
	}
}

func flowThreadStream(t *testing.T, client *pawl.Client, line *cable) {
	ctx := t.Context()
	asked := pawl.StartOptions{AssistantID: "go-cashier", ThreadID: "go-till", CreateThread: true, Multitask: pawl.MultitaskEnqueue}
	first, second := startPaid(t, client, "", asked), startPaid(t, client, "", asked)
	var cursors, events, reconnects []string
	options := pawl.WatchThreadOptions{UntilIdle: true, OnReconnect: func(at string, _ *pawl.Error) { reconnects = append(reconnects, at) }}
	for entry, err := range client.Threads.Watch(ctx, "go-till", options) {
		if err != nil {
			t.Fatal(err)
		}
		cursors = append(cursors, entry.Cursor)
		events = append(events, fmt.Sprint(entry.Event.GetRunId(), "/", entry.Event.GetEventId()))
		if entry.Event.GetNodeBlocked() != nil {
			if entry.Event.GetRunId() == first {
				line.cut()
			}
			pay(t, client, entry.Event.GetRunId())
		}
	}
	if want := slices.Concat(wholeRun(t, client, first), wholeRun(t, client, second)); !slices.Equal(events, want) || len(reconnects) == 0 {
		t.Errorf("got %v, want %v, after %d reconnects", events, want, len(reconnects))
	}
	for _, at := range []int{1, len(wholeRun(t, client, first)) - 1} {
		var rest []string
		for entry, err := range client.Threads.Watch(ctx, "go-till", pawl.WatchThreadOptions{Cursor: cursors[at], UntilIdle: true}) {
			if err != nil {
				t.Fatal(err)
			}
			rest = append(rest, fmt.Sprint(entry.Event.GetRunId(), "/", entry.Event.GetEventId()))
		}
		if !slices.Equal(rest, events[at+1:]) {
			t.Errorf("after %s got %v, want %v", cursors[at], rest, events[at+1:])
		}
	}
	flowModes(t, client, first, second)
}

// flowModes reads the ends of a thread and of one run in modes.
func flowModes(t *testing.T, client *pawl.Client, first, second string) {
	var ends []string
	modes := []pawl.Mode{pawl.Updates, pawl.Control}
	for item, err := range client.Threads.Stream(t.Context(), "go-till", modes, pawl.WatchThreadOptions{UntilIdle: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Mode == pawl.Control && strings.Contains(string(item.Data), `"done"`) {
			ends = append(ends, item.RunID)
		}
	}
	count := 0
	for item, err := range client.Runs.Stream(t.Context(), first, []pawl.Mode{pawl.Debug, pawl.Control}, pawl.WatchOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if item.Mode == pawl.Debug {
			count++
		}
	}
	if !slices.Equal(ends, []string{first, second}) || count != len(wholeRun(t, client, first)) {
		t.Errorf("got the ends of %v, and %d events", ends, count)
	}
}

func flowMany(t *testing.T, client *pawl.Client, line *cable) {
	runs := map[string]uint64{startPaid(t, client, "go-paid", pawl.StartOptions{}): 0, startPaid(t, client, "go-paid", pawl.StartOptions{}): 0}
	seen := map[string][]string{}
	blocked := 0
	for event, err := range client.Runs.WatchMany(t.Context(), runs, pawl.WatchManyOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		runID := event.GetRunId()
		seen[runID] = append(seen[runID], fmt.Sprint(runID, "/", event.GetEventId()))
		if event.GetNodeBlocked() == nil {
			continue
		}
		if blocked++; blocked == len(runs) {
			line.cut()
			for each := range runs {
				pay(t, client, each)
			}
		}
	}
	for runID := range runs {
		if want := wholeRun(t, client, runID); !slices.Equal(seen[runID], want) {
			t.Errorf("got %v, want %v", seen[runID], want)
		}
	}
}

// wholeRun names every event of a run in order.
func wholeRun(t *testing.T, client *pawl.Client, runID string) []string {
	t.Helper()
	run, err := client.Runs.Get(t.Context(), runID)
	if err != nil {
		t.Fatal(err)
	}
	events := make([]string, run.GetLastEventId())
	for i := range events {
		events[i] = fmt.Sprint(runID, "/", i+1)
	}
	return events
}
