package pawl_test

// Handlers in a real executor: a test starts the services and passes the addresses of the gateway and of the handler host. Without them the test is skipped.

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
	"pawl.dev/sdk/go/pawl"
)

type order struct {
	Who   string `json:"who"`
	Cents int    `json:"cents" pawl:"min=1"`
}

type priced struct {
	Total int `json:"total"`
}

// oneNode is a workflow of one node. It has no parents, so its input is the input of the run; its output is the output of the run.
func oneNode(id, nodeType string) string {
	return "id: " + id + "\nnodes: [{ id: work, type: " + nodeType + " }, { id: end, type: end }]\nedges: [{ source: work, target: end }]"
}

// sized is a workflow whose handler chooses one of two edges.
const sized = `
id: go-size
nodes:
  - { id: size, type: acme.size }
  - { id: van, type: noop }
  - { id: truck, type: noop }
edges:
  - { source: size, source_handle: small, target: van }
  - { source: size, source_handle: large, target: truck }
`

func flowSize(t *testing.T, client *pawl.Client) {
	for cents, want := range map[int]string{5: "van", 500: "truck"} {
		started, err := client.Start(t.Context(), "go-size", order{"Ada", cents}, pawl.StartOptions{})
		if err != nil {
			t.Fatal(err)
		}
		run, err := client.Runs.Wait(t.Context(), started.RunID)
		if err != nil {
			t.Fatal(err)
		}
		for _, node := range run.GetNodes() {
			isTaken := node.GetStatus() == pawlv1.NodeStatus_NODE_STATUS_COMPLETED
			if node.GetNodeId() != "size" && isTaken != (node.GetNodeId() == want) {
				t.Errorf("%d cents: node %s is %v", cents, node.GetNodeId(), node.GetStatus())
			}
		}
	}
}

func serveHandlers(t *testing.T, host string, parts ...pawl.Part) {
	t.Helper()
	opened := make(chan struct{}, 8)
	parts = append(parts, pawl.HostAddress(host), pawl.NoSignals(), pawl.OnState(func(state pawl.State) {
		if state == "open" {
			opened <- struct{}{}
		}
	}))
	server, err := pawl.NewServer(parts...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-opened:
	case <-time.After(20 * time.Second):
		t.Fatalf("the server is %s", server.State())
	}
}

func TestHandlersFlow(t *testing.T) {
	gateway, host := os.Getenv("PAWL_TEST_GATEWAY"), os.Getenv("PAWL_TEST_HANDLER_HOST")
	if gateway == "" || host == "" {
		t.Skip("PAWL_TEST_GATEWAY and PAWL_TEST_HANDLER_HOST name no services")
	}
	client, err := pawl.Connect(gateway)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	made := 0
	cancelled := make(chan string, 1)
	serveHandlers(t, host,
		pawl.Handle("acme.price", func(ctx context.Context, in order) (priced, error) {
			task := pawl.From(ctx)
			total, err := pawl.Once(ctx, "price", pawl.Idempotent, func(context.Context) (int, error) {
				made++
				return in.Cents * 2, nil
			})
			if err == nil && task.Attempt == 1 {
				return priced{}, errors.New("fails after its effect")
			}
			return priced{total}, err
		}),
		pawl.Handle("acme.letter", func(ctx context.Context, in order) (string, error) {
			for _, word := range []string{"Dear ", in.Who, "!"} {
				if err := pawl.From(ctx).Emit(ctx, word); err != nil {
					return "", err
				}
			}
			return "sent", nil
		}),
		pawl.Handle("acme.wait", func(ctx context.Context, _ any) (any, error) {
			if err := pawl.From(ctx).Emit(ctx, "waiting"); err != nil {
				return nil, err
			}
			<-ctx.Done()
			var cause *pawl.Cancelled
			if errors.As(context.Cause(ctx), &cause) {
				cancelled <- cause.Reason
			}
			return nil, context.Cause(ctx)
		}),
		pawl.Handle("acme.size", func(ctx context.Context, in order) (int, error) {
			size := "small"
			if in.Cents > 100 {
				size = "large"
			}
			pawl.From(ctx).LeaveBy(size)
			return in.Cents, nil
		}),
		pawl.Handle("acme.panic", func(context.Context, any) (any, error) { panic("boom") }),
	)
	retried := strings.Replace(oneNode("go-price", "acme.price"), "acme.price }", "acme.price, retry: { attempts: 3, backoff_ms: 1 } }", 1)
	for id, text := range map[string]string{
		"price": retried, "letter": oneNode("go-letter", "acme.letter"),
		"size": sized, "wait": oneNode("go-wait", "acme.wait"), "panic": oneNode("go-panic", "acme.panic"),
	} {
		if _, err := client.Workflows.Apply(t.Context(), text, pawl.ApplyOptions{}); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
	}
	t.Run("a retry uses the recorded effect", func(t *testing.T) {
		out, err := pawl.Run[order, priced](t.Context(), client, "go-price", order{"Ada", 21})
		if err != nil || out.Total != 42 || made != 1 {
			t.Errorf("got %v, %v after %d effects", out, err, made)
		}
	})
	t.Run("input that does not fit ends the run", func(t *testing.T) {
		_, err := pawl.Run[order, priced](t.Context(), client, "go-price", order{"Ada", 0})
		var failed *pawl.RunFailed
		if !errors.As(err, &failed) || failed.NodeID != "work" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a handler chooses the handle by which the run leaves its node", func(t *testing.T) { flowSize(t, client) })
	t.Run("pieces reach the watchers in order", func(t *testing.T) { flowLetter(t, client) })
	t.Run("a cancel of the run reaches the function", func(t *testing.T) { flowHandlerCancel(t, client, cancelled) })
	t.Run("a panic fails the node, and the process lives", func(t *testing.T) {
		_, err := pawl.Run[any, any](t.Context(), client, "go-panic", map[string]int{})
		var failed *pawl.RunFailed
		if !errors.As(err, &failed) || !strings.Contains(failed.Error(), "boom") {
			t.Errorf("got %v", err)
		}
		if out, err := pawl.Run[order, string](t.Context(), client, "go-letter", order{"Ada", 1}); err != nil || out != "sent" {
			t.Errorf("got %v, %v", out, err)
		}
	})
}

func flowLetter(t *testing.T, client *pawl.Client) {
	started, err := client.Runs.Start(t.Context(), "go-letter", order{"Ada", 1}, pawl.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for event, err := range client.Runs.Watch(t.Context(), started.Run.GetRunId(), pawl.WatchOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if delta := event.GetNodeStreamDelta(); delta != nil {
			words = append(words, delta.GetText())
		}
	}
	if text := strings.Join(words, ""); text != "Dear Ada!" {
		t.Errorf("got %q", words)
	}
}

func flowHandlerCancel(t *testing.T, client *pawl.Client, cancelled <-chan string) {
	started, err := client.Runs.Start(t.Context(), "go-wait", nil, pawl.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	id := started.Run.GetRunId()
	for event, err := range client.Runs.Watch(t.Context(), id, pawl.WatchOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.GetNodeStreamDelta() != nil {
			if _, err := client.Runs.Cancel(t.Context(), id, pawl.CancelOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	select {
	case reason := <-cancelled:
		if reason != "cancelled" {
			t.Errorf("reason %s", reason)
		}
	case <-time.After(10 * time.Second):
		t.Error("the function was not cancelled")
	}
	run, err := client.Runs.Get(t.Context(), id)
	if err != nil || run.GetStatus() != pawlv1.RunStatus_RUN_STATUS_CANCELLED {
		t.Errorf("got %v, %v", run.GetStatus(), err)
	}
}
