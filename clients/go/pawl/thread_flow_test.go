package pawl_test

// A thread against real services: test/go/flow.test.ts starts them.

import (
	"testing"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
	"pawl.dev/sdk/go/pawl"
)

const holding = `
id: go-holding
nodes:
  - { id: start, type: start }
  - id: say
    type: javascript
    write_key: said
    read_keys: [said]
    config: { code: "return [...(ctx.memory.said ?? []), ctx.input];" }
  - { id: ask, type: approval, config: { message: "Continue?" } }
edges:
  - { source: start, target: say }
  - { source: say, target: ask }
`

const saying = `
id: go-saying
nodes:
  - { id: start, type: start }
  - id: say
    type: javascript
    write_key: said
    read_keys: [said]
    config: { code: "return [...(ctx.memory.said ?? []), ctx.input];" }
edges:
  - { source: start, target: say }
`

func flowThread(t *testing.T, client *pawl.Client) {
	ctx := t.Context()
	apply(t, client, holding, "created")
	apply(t, client, saying, "created")
	on := func(strategy pawl.Multitask) pawl.StartOptions {
		return pawl.StartOptions{ThreadID: "go-chat", CreateThread: true, Multitask: strategy}
	}
	held := holdThread(t, client, "one", on(pawl.MultitaskReject))
	if _, err := client.Runs.Start(ctx, "go-saying", "no", on(pawl.MultitaskReject)); reasonOf(err) != "THREAD_BUSY" {
		t.Errorf("got %v", err)
	}
	waiting, err := client.Runs.Start(ctx, "go-saying", "two", on(pawl.MultitaskEnqueue))
	if err != nil {
		t.Fatal(err)
	}
	_, err = pawl.RunWith[string, any](ctx, client, "go-saying", "three", pawl.RunOptions{StartOptions: on(pawl.MultitaskInterrupt)})
	if err != nil {
		t.Fatal(err)
	}
	if run, err := client.Runs.Get(ctx, held); err != nil || run.GetStop() != pawl.StopInterrupt {
		t.Errorf("got %v, %v", run, err)
	}
	resumed, err := client.Runs.Resume(ctx, waiting.Run.GetRunId(), pawl.PauseRunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if run, err := client.Runs.Wait(ctx, resumed.GetRunId()); err != nil || run.GetRepairOf() != waiting.Run.GetRunId() {
		t.Fatalf("got %v, %v", run, err)
	}
	rolled := holdThread(t, client, "four", on(pawl.MultitaskReject))
	if _, err := client.Runs.Cancel(ctx, rolled, pawl.CancelOptions{Mode: pawl.StopRollback}); err != nil {
		t.Fatal(err)
	}
	if run, err := client.Runs.Wait(ctx, rolled); err != nil || run.GetStop() != pawl.StopRollback {
		t.Errorf("got %v, %v", run, err)
	}
	state, err := client.Threads.State(ctx, "go-chat", pawl.ThreadMoment{})
	if err != nil || string(state.GetMemoryJson()) != `{"said":["one","three","two"]}` {
		t.Errorf("got %s, %v", state.GetMemoryJson(), err)
	}
	history, _, err := client.Runs.List(ctx, pawl.RunFilter{ThreadID: "go-chat"}, pawl.Page{})
	if err != nil || len(history) != 5 || history[0].GetRunId() != rolled || history[4].GetRunId() != held {
		t.Errorf("got %v, %v", history, err)
	}
	fork, err := client.Threads.Fork(ctx, "go-chat", pawl.ForkOptions{NewThreadID: "go-fork", At: pawl.ThreadMoment{RunID: held}})
	if err != nil || fork.GetForkedFrom() != "go-chat" || fork.GetStatus() != pawlv1.ThreadStatus_THREAD_STATUS_IDLE {
		t.Errorf("got %v, %v", fork, err)
	}
	if err := client.Threads.Delete(ctx, "go-chat", pawl.DeleteThreadOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := client.Threads.Get(ctx, "go-chat"); reasonOf(err) != "THREAD_NOT_FOUND" {
		t.Errorf("got %v", err)
	}
}

// holdThread starts a turn that waits for a person, after its text is in the memory of the run.
func holdThread(t *testing.T, client *pawl.Client, text string, options pawl.StartOptions) string {
	t.Helper()
	started, err := client.Runs.Start(t.Context(), "go-holding", text, options)
	if err != nil {
		t.Fatal(err)
	}
	for event, err := range client.Runs.Watch(t.Context(), started.Run.GetRunId(), pawl.WatchOptions{Types: []string{"node.blocked"}}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.GetNodeBlocked() != nil {
			break
		}
	}
	return started.Run.GetRunId()
}
