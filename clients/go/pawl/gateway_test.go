package pawl

// A gateway for tests: the real protocol over a real socket. Each connection of a watch plays the steps that a test scripts.

import (
	"cmp"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// step sends events, fails, cuts every connection, waits for the test or stays silent.
type step struct {
	send  []*Event
	items []*pawlv1.StreamItem
	fail  error
	cut   bool
	stall bool
	until <-chan struct{}
}

type gateway struct {
	pawlv1.UnimplementedRunServiceServer
	pawlv1.UnimplementedEventServiceServer
	pawlv1.UnimplementedWorkflowServiceServer
	pawlv1.UnimplementedApprovalServiceServer

	// script gives the steps of the n-th WatchRun, from 0.
	script func(req *pawlv1.WatchRunRequest, n int) []step
	// execute gives the run id and the steps of the n-th ExecuteRun; an empty id accepts nothing.
	execute func(n int) (string, []step)
	start   func(n int) (*pawlv1.StartRunResponse, error)
	// submit answers a message of the n-th SubmitRuns; absent means a gateway without the stream.
	submit func(n int, req *pawlv1.SubmitRunsRequest) answer
	// After so many streams of SubmitRuns the gateway has none; 0 means no limit.
	streamsMax int
	// Other servers of these services; absent means the gateway itself.
	runs      pawlv1.RunServiceServer
	events    pawlv1.EventServiceServer
	workflows pawlv1.WorkflowServiceServer
	approvals pawlv1.ApprovalServiceServer
	// more registers further services.
	more func(*grpc.Server)
	// No connection is accepted before it is closed; absent means at once.
	opens chan struct{}
	get   func() *pawlv1.Run

	mu       sync.Mutex
	watched  []*pawlv1.WatchRunRequest
	started  []*pawlv1.StartRunRequest
	approved []*pawlv1.ApproveApprovalRequest
	// The messages of each SubmitRuns.
	submitted [][]*pawlv1.SubmitRunsRequest
	conns     map[net.Conn]struct{}
}

// recorded gives a listener whose connections a test can cut.
type recorded struct {
	net.Listener
	gateway *gateway
}

func (r recorded) Accept() (net.Conn, error) {
	conn, err := r.Listener.Accept()
	if r.gateway.opens != nil {
		<-r.gateway.opens
	}
	if err == nil {
		r.gateway.mu.Lock()
		r.gateway.conns[conn] = struct{}{}
		r.gateway.mu.Unlock()
	}
	return conn, err
}

func (g *gateway) cutAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for conn := range g.conns {
		conn.Close()
		delete(g.conns, conn)
	}
}

// pauses is a clock whose pauses take no time and are written down.
type pauses struct {
	mu   sync.Mutex
	list []time.Duration
}

func (p *pauses) clock() clock {
	sum := func() (total time.Duration) {
		for _, d := range p.list {
			total += d
		}
		return total
	}
	return clock{
		now:    func() time.Time { p.mu.Lock(); defer p.mu.Unlock(); return time.Unix(0, 0).Add(sum()) },
		random: func() float64 { return 1 },
		pause:  func(_ context.Context, d time.Duration) { p.mu.Lock(); defer p.mu.Unlock(); p.list = append(p.list, d) },
	}
}

func serveGateway(t *testing.T, g *gateway) (*Client, *pauses) {
	t.Helper()
	addr, _ := listen(t, g)
	return clientOf(t, addr)
}

// clientOf connects a client whose pauses take no time.
func clientOf(t *testing.T, addr string) (*Client, *pauses) {
	t.Helper()
	client, err := Connect(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	written := &pauses{}
	client.clock = written.clock()
	return client, written
}

// listen serves a gateway, and gives its address and its end.
func listen(t *testing.T, g *gateway) (string, func()) {
	t.Helper()
	g.conns = map[net.Conn]struct{}{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pawlv1.RegisterRunServiceServer(server, cmp.Or[pawlv1.RunServiceServer](g.runs, g))
	pawlv1.RegisterEventServiceServer(server, cmp.Or[pawlv1.EventServiceServer](g.events, g))
	pawlv1.RegisterWorkflowServiceServer(server, cmp.Or[pawlv1.WorkflowServiceServer](g.workflows, g))
	pawlv1.RegisterApprovalServiceServer(server, cmp.Or[pawlv1.ApprovalServiceServer](g.approvals, g))
	if g.more != nil {
		g.more(server)
	}
	go server.Serve(recorded{listener, g})
	t.Cleanup(server.Stop)
	return listener.Addr().String(), server.Stop
}

func (g *gateway) play(ctx context.Context, steps []step, send func(step) error) error {
	for _, s := range steps {
		switch {
		case s.send != nil || s.items != nil:
			if err := send(s); err != nil {
				return err
			}
		case s.fail != nil:
			return s.fail
		case s.until != nil:
			<-s.until
		default:
			if s.cut {
				g.cutAll()
			}
			<-ctx.Done()
			return ctx.Err()
		}
	}
	return nil
}

func (g *gateway) WatchRun(req *pawlv1.WatchRunRequest, stream pawlv1.EventService_WatchRunServer) error {
	g.mu.Lock()
	n := len(g.watched)
	g.watched = append(g.watched, req)
	g.mu.Unlock()
	return g.play(stream.Context(), g.script(req, n), func(s step) error {
		return stream.Send(&pawlv1.WatchRunResponse{Events: s.send, Items: s.items})
	})
}

func (g *gateway) noteStart(req *pawlv1.StartRunRequest) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.started = append(g.started, req)
	return len(g.started) - 1
}

func (g *gateway) StartRun(_ context.Context, req *pawlv1.StartRunRequest) (*pawlv1.StartRunResponse, error) {
	return g.start(g.noteStart(req))
}

func (g *gateway) ExecuteRun(req *pawlv1.ExecuteRunRequest, stream pawlv1.RunService_ExecuteRunServer) error {
	id, steps := g.execute(g.noteStart(req.GetStart()))
	if id != "" {
		if err := stream.Send(&pawlv1.ExecuteRunResponse{Run: &pawlv1.Run{RunId: id}}); err != nil {
			return err
		}
	}
	return g.play(stream.Context(), steps, func(s step) error {
		return stream.Send(&pawlv1.ExecuteRunResponse{Events: s.send})
	})
}

func (g *gateway) GetRun(context.Context, *pawlv1.GetRunRequest) (*pawlv1.GetRunResponse, error) {
	return &pawlv1.GetRunResponse{Run: g.get()}, nil
}

func (g *gateway) ApproveApproval(_ context.Context, req *pawlv1.ApproveApprovalRequest) (*pawlv1.ApproveApprovalResponse, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.approved = append(g.approved, req)
	return &pawlv1.ApproveApprovalResponse{Approval: &Approval{ApprovalId: req.GetApprovalId()}}, nil
}

func (g *gateway) afterIDs() []uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ids []uint64
	for _, req := range g.watched {
		ids = append(ids, req.GetAfterEventId())
	}
	return ids
}

// refusal is a failure as the gateway words it.
func refusal(code codes.Code, reason, message string, details ...protoadapt.MessageV1) error {
	all := append([]protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: reason, Domain: "pawl"}}, details...)
	made, err := status.New(code, message).WithDetails(all...)
	if err != nil {
		panic(err)
	}
	return made.Err()
}
