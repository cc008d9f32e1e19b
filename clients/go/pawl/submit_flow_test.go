package pawl_test

// The standing stream against real services: test/go/submit.test.ts starts them and passes the gateways and the process to kill. Without them
// the test is skipped.

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"testing"

	"pawl.dev/sdk/go/pawl"
)

const slow = `
id: go-slow
nodes:
  - { id: start, type: start }
  - { id: wait, type: delay, config: { delay_ms: 1500 } }
  - { id: end, type: end }
edges:
  - { source: start, target: wait }
  - { source: wait, target: end }
`

// victimOf gives the gateway that the test kills.
func victimOf(t *testing.T) *os.Process {
	t.Helper()
	pid, err := strconv.Atoi(os.Getenv("PAWL_TEST_VICTIM"))
	if err != nil {
		t.Fatal(err)
	}
	victim, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	return victim
}

func TestSubmitFlow(t *testing.T) {
	gateways := os.Getenv("PAWL_TEST_GATEWAYS")
	if gateways == "" {
		t.Skip("PAWL_TEST_GATEWAYS names no gateways; test/go/submit.test.ts starts them")
	}
	const count = 200
	client, err := pawl.Connect(gateways)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	apply(t, client, slow, "created")
	victim := victimOf(t)
	var mu sync.Mutex
	ids := map[string]int{}
	note := func(run pawl.Accepted) { mu.Lock(); defer mu.Unlock(); ids[run.RunID]++ }
	// Some are accepted and wait for their end, others wait for their answer.
	kill := sync.OnceFunc(func() {
		if err := victim.Kill(); err != nil {
			t.Error(err)
		}
	})
	failures := make([]error, count)
	var under sync.WaitGroup
	for n := range count {
		under.Go(func() {
			_, failures[n] = pawl.RunWith[int, any](t.Context(), client, "go-slow", n, pawl.RunOptions{OnStart: func(run pawl.Accepted) {
				note(run)
				kill()
			}})
		})
	}
	items := make([]pawl.StartItem, count)
	for n := range items {
		items[n] = pawl.StartItem{WorkflowID: "go-slow", Input: n}
	}
	for _, outcome := range client.Runs.StartMany(t.Context(), items) {
		if outcome.Err != nil {
			t.Error(outcome.Err)
		}
		note(outcome.Accepted)
	}
	under.Wait()
	if err := errors.Join(failures...); err != nil {
		t.Error(err)
	}
	if len(ids) != 2*count {
		t.Errorf("%d runs for %d starts", len(ids), 2*count)
	}
	for id := range ids {
		if _, err := client.Runs.Wait(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
}
