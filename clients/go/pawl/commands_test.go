package pawl

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// commandServer keeps what it is asked.
type commandServer struct {
	pawlv1.UnimplementedQueueServiceServer
	enqueued []*pawlv1.EnqueueCommandRequest
	listed   []*pawlv1.ListCommandsRequest
	counted  []*pawlv1.GetQueueStatsRequest
	changed  []string
}

var waiting = &pawlv1.QueuedCommand{CommandId: "c", State: pawlv1.CommandState_COMMAND_STATE_WAITING}

func (s *commandServer) EnqueueCommand(_ context.Context, req *pawlv1.EnqueueCommandRequest) (*pawlv1.EnqueueCommandResponse, error) {
	s.enqueued = append(s.enqueued, req)
	return &pawlv1.EnqueueCommandResponse{Command: waiting}, nil
}

func (s *commandServer) ListCommands(_ context.Context, req *pawlv1.ListCommandsRequest) (*pawlv1.ListCommandsResponse, error) {
	s.listed = append(s.listed, req)
	return &pawlv1.ListCommandsResponse{Commands: []*pawlv1.QueuedCommand{waiting}, NextPageToken: "next"}, nil
}

func (s *commandServer) GetQueueStats(_ context.Context, req *pawlv1.GetQueueStatsRequest) (*pawlv1.GetQueueStatsResponse, error) {
	s.counted = append(s.counted, req)
	return &pawlv1.GetQueueStatsResponse{Total: &pawlv1.QueueStats{Waiting: 3}}, nil
}

func (s *commandServer) GetCommand(_ context.Context, req *pawlv1.GetCommandRequest) (*pawlv1.GetCommandResponse, error) {
	s.changed = append(s.changed, "get "+req.GetCommandId())
	return &pawlv1.GetCommandResponse{Command: waiting}, nil
}

func (s *commandServer) CancelCommand(_ context.Context, req *pawlv1.CancelCommandRequest) (*pawlv1.CancelCommandResponse, error) {
	s.changed = append(s.changed, "cancel "+req.GetCommandId()+" "+req.GetRequestId())
	return &pawlv1.CancelCommandResponse{Command: waiting}, nil
}

func (s *commandServer) RedriveCommand(_ context.Context, req *pawlv1.RedriveCommandRequest) (*pawlv1.RedriveCommandResponse, error) {
	s.changed = append(s.changed, "redrive "+req.GetCommandId()+" "+req.GetRequestId())
	return &pawlv1.RedriveCommandResponse{Command: waiting}, nil
}

func (s *commandServer) DiscardCommand(_ context.Context, req *pawlv1.DiscardCommandRequest) (*pawlv1.DiscardCommandResponse, error) {
	s.changed = append(s.changed, "discard "+req.GetCommandId()+" "+req.GetRequestId())
	return &pawlv1.DiscardCommandResponse{Command: waiting}, nil
}

func serveCommands(t *testing.T) (*Client, *commandServer) {
	server := &commandServer{}
	client, _ := serveGateway(t, &gateway{more: func(s *grpc.Server) { pawlv1.RegisterQueueServiceServer(s, server) }})
	return client, server
}

func TestACommandIsEnqueuedWithItsExactInputOrAnswerAndARequestIDOfItsOwn(t *testing.T) {
	client, server := serveCommands(t)
	options := EnqueueOptions{Priority: -2, MaxAttempts: 5, Delay: 1500 * time.Millisecond, RequestID: "r1"}
	command, err := client.Commands.Start(t.Context(), "w", json.RawMessage(`{"n": 1.0}`), "name", options)
	if err != nil || command.GetCommandId() != "c" {
		t.Fatalf("got %v, %v", command, err)
	}
	answer := CommandAnswer{RunID: "name", NodeID: "ask", Iteration: 2, Approve: true, Response: 5, DecidedBy: "ada"}
	if _, err := client.Commands.Resume(t.Context(), "w", answer, EnqueueOptions{}); err != nil {
		t.Fatal(err)
	}
	same(t, server.enqueued[0], &pawlv1.EnqueueCommandRequest{
		Type: pawlv1.CommandType_COMMAND_TYPE_START, WorkflowId: "w", RunId: "name", InputJson: []byte(`{"n": 1.0}`),
		Priority: -2, MaxAttempts: 5, Delay: durationpb.New(1500 * time.Millisecond), RequestId: "r1",
	})
	resume := server.enqueued[1]
	same(t, resume, &pawlv1.EnqueueCommandRequest{
		Type: pawlv1.CommandType_COMMAND_TYPE_RESUME, WorkflowId: "w", RunId: "name", RequestId: resume.GetRequestId(),
		Answer: &pawlv1.CommandAnswer{
			NodeId: "ask", Iteration: 2, Decision: pawlv1.Decision_DECISION_APPROVE, ResponseJson: []byte("5"), DecidedBy: "ada",
		},
	})
	if resume.GetRequestId() == "" {
		t.Error("the resume has no request id")
	}
}

func TestCommandsAreListedByStateAndChangedByID(t *testing.T) {
	client, server := serveCommands(t)
	states := []CommandState{pawlv1.CommandState_COMMAND_STATE_DEAD_LETTER}
	commands, next, err := client.Commands.List(t.Context(), states, Page{Size: 2, Token: "t"})
	if err != nil || len(commands) != 1 || next != "next" {
		t.Fatalf("got %v, %q, %v", commands, next, err)
	}
	same(t, server.listed[0], &pawlv1.ListCommandsRequest{States: states, PageSize: 2, PageToken: "t"})
	if _, err := client.Commands.Get(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(context.Context, string, string) (*QueuedCommand, error){
		client.Commands.Cancel, client.Commands.Redrive, client.Commands.Discard,
	} {
		if command, err := change(t.Context(), "c", "r"); err != nil || command.GetCommandId() != "c" {
			t.Fatalf("got %v, %v", command, err)
		}
	}
	want := []string{"get c", "cancel c r", "redrive c r", "discard c r"}
	for at, each := range want {
		if server.changed[at] != each {
			t.Errorf("got %v", server.changed)
		}
	}
}

func TestStatsAreAskedForATypeARangeAndAStep(t *testing.T) {
	client, server := serveCommands(t)
	stats, err := client.Queues.Stats(t.Context(), StatsQuestion{NodeType: "http", Range: time.Hour, Step: time.Minute})
	if err != nil || stats.GetTotal().GetWaiting() != 3 {
		t.Fatalf("got %v, %v", stats, err)
	}
	if _, err := client.Queues.Stats(t.Context(), StatsQuestion{}); err != nil {
		t.Fatal(err)
	}
	same(t, server.counted[0], &pawlv1.GetQueueStatsRequest{
		NodeType: "http", Range: durationpb.New(time.Hour), Step: durationpb.New(time.Minute),
	})
	same(t, server.counted[1], &pawlv1.GetQueueStatsRequest{})
}
