package pawl_test

// The caller against real services: test/go/flow.test.ts starts them and passes the gateway's address. Without it the test is skipped.

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
	"pawl.dev/sdk/go/pawl"
)

const hello = `
id: go-hello
nodes:
  - { id: start, type: start }
  - { id: greet, type: javascript, config: { code: "return { text: 'Hello ' + ctx.input.name }" } }
  - { id: end, type: end }
edges:
  - { source: start, target: greet }
  - { source: greet, target: end }
`

const broken = `
id: go-broken
nodes:
  - { id: start, type: start }
  - { id: pay, type: javascript, config: { code: "throw new Error('declined')" } }
edges:
  - { source: start, target: pay }
`

const asking = `
id: go-asking
nodes:
  - { id: start, type: start }
  - { id: ask, type: approval, config: { message: "Refund?" } }
edges:
  - { source: start, target: ask }
`

type person struct {
	Name string `json:"name"`
}

type greeting struct {
	Text string `json:"text"`
}

// cable passes bytes to the gateway until a test cuts it.
type cable struct {
	mu    sync.Mutex
	conns []net.Conn
	addr  string
}

func newCable(t *testing.T, gateway string) *cable {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	c := &cable{addr: listener.Addr().String()}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", gateway)
			if err != nil {
				near.Close()
				continue
			}
			c.mu.Lock()
			c.conns = append(c.conns, near, far)
			c.mu.Unlock()
			go func() { io.Copy(far, near); far.Close() }()
			go func() { io.Copy(near, far); near.Close() }()
		}
	}()
	return c
}

func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

func apply(t *testing.T, client *pawl.Client, definition, want string) {
	t.Helper()
	applied, err := client.Workflows.Apply(t.Context(), definition, pawl.ApplyOptions{})
	if err != nil || applied.Outcome != want {
		t.Fatalf("apply: got %v, %v, want %s", applied, err, want)
	}
}

func reasonOf(err error) string {
	var failure *pawl.Error
	if errors.As(err, &failure) {
		return failure.Reason
	}
	return ""
}

func TestFlow(t *testing.T) {
	gateway := os.Getenv("PAWL_TEST_GATEWAY")
	if gateway == "" {
		t.Skip("PAWL_TEST_GATEWAY names no gateway; test/go/flow.test.ts starts one")
	}
	line := newCable(t, gateway)
	client, err := pawl.Connect(line.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	t.Run("apply creates a workflow, and says when nothing changed", func(t *testing.T) {
		apply(t, client, hello, "created")
		apply(t, client, hello, "unchanged")
		apply(t, client, broken, "created")
		apply(t, client, asking, "created")
		listed, _, err := client.Workflows.List(t.Context(), pawl.Page{})
		if err != nil || len(listed) < 3 {
			t.Errorf("list: got %d, %v", len(listed), err)
		}
	})
	t.Run("run gives the typed output", func(t *testing.T) {
		out, err := pawl.Run[person, greeting](t.Context(), client, "go-hello", person{"Ada"})
		if err != nil || out.Text != "Hello Ada" {
			t.Errorf("got %v, %v", out, err)
		}
	})
	t.Run("a run that fails is RunFailed with its node", func(t *testing.T) {
		_, err := pawl.Run[person, greeting](t.Context(), client, "go-broken", person{"Ada"})
		var failed *pawl.RunFailed
		if !errors.As(err, &failed) || failed.NodeID != "pay" || failed.Status != pawlv1.RunStatus_RUN_STATUS_FAILED {
			t.Errorf("got %v", err)
		}
	})
	t.Run("errors are typed", func(t *testing.T) { flowErrors(t, client) })
	t.Run("a start is repeated by its request id", func(t *testing.T) {
		options := pawl.StartOptions{RequestID: "go-flow-1"}
		first, err := client.Runs.Start(t.Context(), "go-hello", person{"Ada"}, options)
		if err != nil {
			t.Fatal(err)
		}
		second, err := client.Runs.Start(t.Context(), "go-hello", person{"Ada"}, options)
		if err != nil || !second.IsDuplicate || second.Run.GetRunId() != first.Run.GetRunId() {
			t.Errorf("got %v, %v", second, err)
		}
		_, err = client.Runs.Start(t.Context(), "go-hello", person{"Eve"}, options)
		if reasonOf(err) != "REQUEST_ID_REUSED" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a watch across a cut ends after the answer to an approval", func(t *testing.T) { flowApproval(t, client, line) })
	t.Run("a cancelled run ends as cancelled", func(t *testing.T) { flowCancel(t, client) })
}

func flowErrors(t *testing.T, client *pawl.Client) {
	_, err := client.Workflows.Get(t.Context(), "go-none", 0)
	if reasonOf(err) != "WORKFLOW_NOT_FOUND" {
		t.Errorf("got %v", err)
	}
	_, err = client.Workflows.Apply(t.Context(), "id: go-bad\nnodes: [{ id: a, type: start }]\nedges: [{ source: a, target: b }]", pawl.ApplyOptions{})
	var invalid *pawl.Error
	if !errors.As(err, &invalid) || invalid.Reason != "DEFINITION_INVALID" || len(invalid.Violations) == 0 {
		t.Errorf("got %v", err)
	}
	_, err = client.Approvals.Get(t.Context(), "0199aaaa-0000-7000-8000-000000000000")
	if reasonOf(err) != "APPROVAL_NOT_FOUND" {
		t.Errorf("got %v", err)
	}
}

func flowApproval(t *testing.T, client *pawl.Client, line *cable) {
	started, err := client.Runs.Start(t.Context(), "go-asking", nil, pawl.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	id := started.Run.GetRunId()
	var last uint64
	reconnects := 0
	options := pawl.WatchOptions{OnReconnect: func(pawl.Reconnect) { reconnects++ }}
	for event, err := range client.Runs.Watch(t.Context(), id, options) {
		if err != nil {
			t.Fatal(err)
		}
		if event.GetEventId() != last+1 {
			t.Errorf("event %d came after %d", event.GetEventId(), last)
		}
		last = event.GetEventId()
		if blocked := event.GetNodeBlocked(); blocked != nil {
			line.cut()
			answerApproval(t, client, id, blocked.GetApprovalId())
		}
	}
	run, err := client.Runs.Wait(t.Context(), id)
	if err != nil || run.GetStatus() != pawlv1.RunStatus_RUN_STATUS_COMPLETED || run.GetLastEventId() != last || reconnects == 0 {
		t.Errorf("got %v, %v after %d events and %d reconnects", run.GetStatus(), err, last, reconnects)
	}
}

func answerApproval(t *testing.T, client *pawl.Client, runID, approvalID string) {
	open := []pawlv1.ApprovalState{pawlv1.ApprovalState_APPROVAL_STATE_OPEN}
	found, _, err := client.Approvals.List(t.Context(), pawl.ApprovalFilter{RunID: runID, States: open}, pawl.Page{})
	if err != nil || len(found) != 1 || found[0].GetApprovalId() != approvalID {
		t.Fatalf("got %v, %v", found, err)
	}
	answer := pawl.Answer{Response: map[string]int{"amount": 7}, DecidedBy: "Ada"}
	approved, err := client.Approvals.Approve(t.Context(), approvalID, answer)
	if err != nil || approved.GetState() != pawlv1.ApprovalState_APPROVAL_STATE_APPROVED {
		t.Fatalf("got %v, %v", approved, err)
	}
	if _, err := client.Approvals.Reject(t.Context(), approvalID, pawl.Answer{}); reasonOf(err) != "NODE_ALREADY_DECIDED" {
		t.Errorf("got %v", err)
	}
}

func flowCancel(t *testing.T, client *pawl.Client) {
	started, err := client.Runs.Start(t.Context(), "go-asking", nil, pawl.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	id := started.Run.GetRunId()
	short, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	if _, err := client.Runs.Wait(short, id); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait: got %v", err)
	}
	if _, err := client.Runs.Cancel(t.Context(), id, pawl.CancelOptions{Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	run, err := client.Runs.Wait(t.Context(), id)
	if err != nil || run.GetStatus() != pawlv1.RunStatus_RUN_STATUS_CANCELLED {
		t.Errorf("got %v, %v", run.GetStatus(), err)
	}
	if _, err := client.Runs.Cancel(t.Context(), id, pawl.CancelOptions{}); reasonOf(err) != "RUN_ALREADY_FINISHED" {
		t.Errorf("got %v", err)
	}
}
