package pawl

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

func TestAClientWithSeveralAddressesContinuesAtTheNextGatewayWhenOneIsGone(t *testing.T) {
	run := func(id string) func() *pawlv1.Run { return func() *pawlv1.Run { return &pawlv1.Run{RunId: id} } }
	first := &gateway{submit: func(int, *pawlv1.SubmitRunsRequest) answer { return answer{cut: true} }, get: run("r1")}
	second := &gateway{submit: echo, get: run("r2")}
	firstAddr, stop := listen(t, first)
	secondAddr, _ := listen(t, second)
	client, _ := clientOf(t, firstAddr+", http://"+secondAddr)
	if out, err := Run[string, string](t.Context(), client, "echo", "x"); err != nil || out != "x" {
		t.Errorf("got %v, %v", out, err)
	}
	for n, want := range []string{"r1", "r2", "r2"} {
		if got, err := client.Runs.Get(t.Context(), "r"); err != nil || got.GetRunId() != want {
			t.Errorf("call %d: got %v, %v", n, got, err)
		}
		stop()
	}
	if first.streams() != 1 || second.streams() != 1 {
		t.Errorf("%d and %d streams", first.streams(), second.streams())
	}
}

func TestAnEmptyAddressInAListIsRefused(t *testing.T) {
	for _, list := range []string{"127.0.0.1:1,", ",127.0.0.1:1", "127.0.0.1:1,ftp://x"} {
		if _, err := Connect(list); err == nil {
			t.Errorf("%q is accepted", list)
		}
	}
}

func TestManyOpenWatchesDoNotBlockOtherCalls(t *testing.T) {
	const watches = 2*callsMax + 1
	began := time.Now()
	client, _ := serveGateway(t, &gateway{
		script: func(*pawlv1.WatchRunRequest, int) []step { return []step{{send: []*Event{heartbeat}}, {stall: true}} },
		get:    func() *pawlv1.Run { return &pawlv1.Run{RunId: runID} },
	})
	ctx, cancel := context.WithCancel(t.Context())
	var open, under sync.WaitGroup
	open.Add(watches)
	for range watches {
		stream, err := client.Runs.events.WatchRun(ctx, &pawlv1.WatchRunRequest{RunId: runID})
		if err != nil {
			t.Fatal(err)
		}
		under.Go(func() {
			_, err := stream.Recv()
			if err != nil {
				t.Error(err)
			}
			open.Done()
			stream.Recv()
		})
	}
	open.Wait()
	if members := len(client.conn.addresses[0].members); members != 3 {
		t.Errorf("%d connections", members)
	}
	if _, err := client.Runs.Get(t.Context(), runID); err != nil {
		t.Error(err)
	}
	cancel()
	under.Wait()
	// gRPC reports the end of a stream from a goroutine of its own.
	for counted := -1; counted != 0; runtime.Gosched() {
		counted = underWay(client)
		if time.Since(began) > 20*time.Second {
			t.Fatalf("%d calls are counted after their end", counted)
		}
	}
}

func underWay(client *Client) (calls int) {
	client.conn.mu.Lock()
	defer client.conn.mu.Unlock()
	for _, m := range client.conn.addresses[0].members {
		calls += m.calls
	}
	return calls
}
