package session

// A scripted host over a real socket, and a process that it talks to.

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

const patience = 10 * time.Second

// link is one Serve stream as the host sees it.
type link struct {
	stream handlerv1.HandlerService_ServeServer
	end    chan error
}

func (l *link) recv(t *testing.T) *handlerv1.ServeRequest {
	t.Helper()
	message, err := l.stream.Recv()
	if err != nil {
		t.Fatalf("the process ended the stream: %v", err)
	}
	return message
}

func (l *link) send(t *testing.T, message *handlerv1.ServeResponse) {
	t.Helper()
	if err := l.stream.Send(message); err != nil {
		t.Fatal(err)
	}
}

type host struct {
	handlerv1.UnimplementedHandlerServiceServer
	links chan *link
}

func (h *host) Serve(stream handlerv1.HandlerService_ServeServer) error {
	l := &link{stream, make(chan error, 1)}
	h.links <- l
	select {
	case err := <-l.end:
		return err
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
}

func (h *host) accept(t *testing.T) (*link, *handlerv1.ServeRequest) {
	t.Helper()
	select {
	case l := <-h.links:
		return l, l.recv(t)
	case <-time.After(patience):
		t.Fatal("no stream came")
		return nil, nil
	}
}

var welcome = &handlerv1.Welcome{
	HostId: "test", PingMs: 5_000, SilenceMs: 15_000, ResumeMs: 3_000,
	Limits: &handlerv1.Limits{
		OutputBytes: 1000, EffectBytes: 1000, PartialBytes: 8, WindowBytes: 16, LogBytes: 100, LogLines: 10,
		MessageBytes: 10_000, FailureBytes: 1000,
	},
}

func greet(heard uint64) *handlerv1.ServeResponse {
	return &handlerv1.ServeResponse{Opening: &handlerv1.ServeResponse_Welcome{Welcome: welcome}, HeardSeq: heard}
}

func invoke(seq uint64, id, handler, key string) *handlerv1.ServeResponse {
	work := &handlerv1.Invoke{InvocationId: id, Type: handler, EffectKey: key, Attempt: 1}
	return items(seq, &handlerv1.HostItem{Item: &handlerv1.HostItem_Invoke{Invoke: work}})
}

func items(seq uint64, list ...*handlerv1.HostItem) *handlerv1.ServeResponse {
	return &handlerv1.ServeResponse{FirstSeq: seq, Items: list}
}

// serving is a process under test.
type serving struct {
	*Process
	leave  func()
	served chan error
}

// ended waits for Serve.
func (s serving) ended(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.served:
		return err
	case <-time.After(patience):
		t.Fatal("Serve does not return")
		return nil
	}
}

// stop lets the process leave, then ends its last stream, and expects a good end. In the other order the process may resume first.
func (s serving) stop(t *testing.T, last *link) {
	t.Helper()
	s.leave()
	last.end <- nil
	if err := s.ended(t); err != nil {
		t.Error(err)
	}
}

// serveHost answers on the listener.
func serveHost(t *testing.T, listener net.Listener) *host {
	t.Helper()
	h := &host{links: make(chan *link, 8)}
	server := grpc.NewServer()
	handlerv1.RegisterHandlerServiceServer(server, h)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return h
}

// start runs a process with the given functions.
func start(t *testing.T, slots uint32, functions map[string]func(context.Context, *Invocation) Outcome) (*host, serving) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := serveHost(t, listener)
	handlers := map[string]Handler{}
	for name, run := range functions {
		handlers[name] = Handler{Descriptor: &handlerv1.Handler{Type: name}, Run: run}
	}
	var ids atomic.Int64
	p := New(Config{
		Addresses: []string{listener.Addr().String()}, Hello: &handlerv1.Hello{Protocol: 1, Slots: slots}, Handlers: handlers,
		Logger: slog.New(slog.DiscardHandler), NewID: func() string { return fmt.Sprintf("session-%d", ids.Add(1)) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx) }()
	t.Cleanup(cancel)
	return h, serving{p, cancel, served}
}

func done(text string) Outcome { return Outcome{Result: &handlerv1.Result{OutputJson: text}} }

// next gives the next item of the process, whatever message it comes in.
type reader struct {
	link  *link
	queue []*handlerv1.ProcessItem
	seq   uint64
}

func (r *reader) next(t *testing.T) *handlerv1.ProcessItem {
	t.Helper()
	for len(r.queue) == 0 {
		message := r.link.recv(t)
		if len(message.GetItems()) > 0 && message.GetFirstSeq() != r.seq+1 {
			t.Fatalf("item %d came, %d was due", message.GetFirstSeq(), r.seq+1)
		}
		r.seq += uint64(len(message.GetItems()))
		r.queue = message.GetItems()
	}
	item := r.queue[0]
	r.queue = r.queue[1:]
	return item
}
