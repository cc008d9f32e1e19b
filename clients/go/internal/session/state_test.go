package session

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

func TestAProcessShowsConnectingOpenCutOpenDrainingStopped(t *testing.T) {
	// A port without a host: the process tries it until there is one.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	states := make(chan State, 16)
	p := New(Config{
		Addresses: []string{address}, Hello: &handlerv1.Hello{Protocol: 1, Slots: 1}, Handlers: map[string]Handler{},
		Logger: slog.New(slog.DiscardHandler), NewID: func() string { return "session" },
		OnState: func(state State) { states <- state },
	})
	shows := func(want State) {
		t.Helper()
		select {
		case got := <-states:
			if got != want || p.State() != want {
				t.Fatalf("got %v, not %v", got, want)
			}
		case <-time.After(patience):
			t.Fatalf("the state is %v, not %v", p.State(), want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx) }()
	if p.State() != Connecting {
		t.Fatalf("got %v", p.State())
	}
	listener, err = net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	h := serveHost(t, listener)
	first, hello := h.accept(t)
	if hello.GetHello() == nil || p.State() != Connecting {
		t.Fatalf("got %v in the state %v", hello, p.State())
	}
	first.send(t, greet(0))
	shows(Open)
	first.end <- status.Error(codes.Unavailable, "cut")
	shows(Cut)
	second, _ := h.accept(t)
	second.send(t, greet(0))
	shows(Open)
	cancel()
	second.recv(t)
	shows(Draining)
	second.end <- nil
	shows(Stopped)
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestTheBackoffGrowsToFiveSecondsWithFullJitter(t *testing.T) {
	for retry, longest := range map[int]time.Duration{
		0: 100 * time.Millisecond, 1: 200 * time.Millisecond, 5: 3200 * time.Millisecond, 6: backoffMax, 10_000: backoffMax,
	} {
		if got := backoff(retry, 1); got != longest {
			t.Errorf("retry %d waits up to %v, not %v", retry, got, longest)
		}
		if got := backoff(retry, 0); got != 0 {
			t.Errorf("retry %d waits %v without chance", retry, got)
		}
	}
}
