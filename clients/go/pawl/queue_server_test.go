package pawl

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// queueServer has dead letters, and redrives a few a call, up to the limit of a request.
type queueServer struct {
	pawlv1.UnimplementedQueueServiceServer
	letters, perCall int
	// How many calls find no server first.
	failures int
	refusal  error

	mu     sync.Mutex
	next   int
	asked  []*pawlv1.RedriveDeadLettersRequest
	paused []*pawlv1.PauseQueueRequest
	closed map[string][]*pawlv1.RedrivenLetter
}

func letterID(n int) string { return fmt.Sprintf("d%d", n) }

func serveLetters(t *testing.T, server *queueServer) (*Client, *queueServer) {
	server.closed = map[string][]*pawlv1.RedrivenLetter{}
	client, _ := serveGateway(t, &gateway{more: func(s *grpc.Server) { pawlv1.RegisterQueueServiceServer(s, server) }})
	return client, server
}

func (s *queueServer) RedriveDeadLetters(_ context.Context, req *pawlv1.RedriveDeadLettersRequest) (*pawlv1.RedriveDeadLettersResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, req)
	if s.refusal != nil {
		return nil, s.refusal
	}
	if len(s.asked) <= s.failures {
		return nil, status.Error(codes.Unavailable, "gone")
	}
	own := s.closed[req.GetRequestId()]
	for range min(s.perCall, int(req.GetLimit())-len(own), s.letters-s.next) {
		own = append(own, &pawlv1.RedrivenLetter{DeadLetterId: letterID(s.next), RunId: "r"})
		s.next++
	}
	s.closed[req.GetRequestId()] = own
	return &pawlv1.RedriveDeadLettersResponse{Redriven: own, Remaining: uint32(min(1_000, s.letters-s.next))}, nil
}

func (s *queueServer) PauseQueue(_ context.Context, req *pawlv1.PauseQueueRequest) (*pawlv1.PauseQueueResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = append(s.paused, req)
	return &pawlv1.PauseQueueResponse{Pause: &Pause{Name: req.GetNodeType()}}, nil
}

func (s *queueServer) ResumeQueue(context.Context, *pawlv1.ResumeQueueRequest) (*pawlv1.ResumeQueueResponse, error) {
	return &pawlv1.ResumeQueueResponse{}, nil
}

func (s *queueServer) ListPauses(context.Context, *pawlv1.ListPausesRequest) (*pawlv1.ListPausesResponse, error) {
	scope := pawlv1.PauseScope_PAUSE_SCOPE_QUEUE
	return &pawlv1.ListPausesResponse{Pauses: []*Pause{{Scope: scope, Name: "http"}}}, nil
}
