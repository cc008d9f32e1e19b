package pawl

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// threadServer writes down what it is asked, and has one thread.
type threadServer struct {
	pawlv1.UnimplementedThreadServiceServer
	asked []proto.Message
}

func (s *threadServer) CreateThread(_ context.Context, req *pawlv1.CreateThreadRequest) (*pawlv1.CreateThreadResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.CreateThreadResponse{Thread: &Thread{ThreadId: req.GetThreadId(), MetadataJson: req.GetMetadataJson()}}, nil
}

func (s *threadServer) ListThreads(_ context.Context, req *pawlv1.ListThreadsRequest) (*pawlv1.ListThreadsResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.ListThreadsResponse{Threads: []*Thread{{ThreadId: "a"}}, NextPageToken: "next"}, nil
}

func (s *threadServer) UpdateThread(_ context.Context, req *pawlv1.UpdateThreadRequest) (*pawlv1.UpdateThreadResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.UpdateThreadResponse{Thread: &Thread{MetadataJson: req.GetMetadataJson()}}, nil
}

func (s *threadServer) DeleteThread(context.Context, *pawlv1.DeleteThreadRequest) (*pawlv1.DeleteThreadResponse, error) {
	return nil, refusal(codes.Aborted, "THREAD_BUSY", "run r holds it")
}

func (s *threadServer) GetThreadState(_ context.Context, req *pawlv1.GetThreadStateRequest) (*pawlv1.GetThreadStateResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.GetThreadStateResponse{State: &ThreadState{MemoryJson: []byte(`{"said":[1]}`), RunId: req.GetRunId()}}, nil
}

func (s *threadServer) ForkThread(_ context.Context, req *pawlv1.ForkThreadRequest) (*pawlv1.ForkThreadResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.ForkThreadResponse{Thread: &Thread{ThreadId: req.GetNewThreadId(), ForkedFrom: req.GetThreadId()}}, nil
}

func TestThreadsAreMadeFoundEditedReadForkedAndRefusedWhileBusy(t *testing.T) {
	server := &threadServer{}
	client, _ := serveGateway(t, &gateway{more: func(s *grpc.Server) { pawlv1.RegisterThreadServiceServer(s, server) }})
	ctx := t.Context()
	ada := map[string]any{"user": "ada"}
	made, err := client.Threads.Create(ctx, "a", ThreadOptions{Metadata: ada})
	if err != nil || string(made.GetMetadataJson()) != `{"user":"ada"}` {
		t.Fatalf("got %v, %v", made, err)
	}
	busy := []pawlv1.ThreadStatus{pawlv1.ThreadStatus_THREAD_STATUS_BUSY}
	found, next, err := client.Threads.List(ctx, ThreadFilter{Metadata: ada, Statuses: busy}, Page{Token: "t"})
	if err != nil || len(found) != 1 || next != "next" {
		t.Errorf("got %v, %v, %v", found, next, err)
	}
	edited, err := client.Threads.Update(ctx, "a", map[string]any{}, MutationOptions{})
	if err != nil || string(edited.GetMetadataJson()) != `{}` {
		t.Errorf("got %v, %v", edited, err)
	}
	state, err := client.Threads.State(ctx, "a", ThreadMoment{RunID: "r", AtEventID: 7})
	if err != nil || string(state.GetMemoryJson()) != `{"said":[1]}` {
		t.Errorf("got %v, %v", state, err)
	}
	fork, err := client.Threads.Fork(ctx, "a", ForkOptions{NewThreadID: "b", At: ThreadMoment{RunID: "r", AtEventID: 7}})
	if err != nil || fork.GetForkedFrom() != "a" {
		t.Errorf("got %v, %v", fork, err)
	}
	err = client.Threads.Delete(ctx, "a", DeleteThreadOptions{})
	if !isReason(err, "THREAD_BUSY") || err.(*Error).Code != codes.Aborted {
		t.Errorf("got %v", err)
	}
	listed, forked := server.asked[1].(*pawlv1.ListThreadsRequest), server.asked[4].(*pawlv1.ForkThreadRequest)
	if listed.GetStatuses()[0] != busy[0] || string(listed.GetMetadataJson()) != `{"user":"ada"}` || listed.GetPageToken() != "t" {
		t.Errorf("got %v", listed)
	}
	if forked.GetRunId() != "r" || forked.GetAtEventId() != 7 || forked.GetMetadataJson() != nil || forked.GetRequestId() == "" {
		t.Errorf("got %v", forked)
	}
}

type threadRuns struct {
	pawlv1.UnimplementedRunServiceServer
	started   *pawlv1.StartRunRequest
	cancelled *pawlv1.CancelRunRequest
	listed    *pawlv1.ListRunsRequest
}

func (s *threadRuns) StartRun(_ context.Context, req *pawlv1.StartRunRequest) (*pawlv1.StartRunResponse, error) {
	s.started = req
	return &pawlv1.StartRunResponse{Run: &pawlv1.Run{RunId: "r", ThreadId: req.GetThreadId()}}, nil
}

func (s *threadRuns) CancelRun(_ context.Context, req *pawlv1.CancelRunRequest) (*pawlv1.CancelRunResponse, error) {
	s.cancelled = req
	return &pawlv1.CancelRunResponse{Run: &pawlv1.Run{Stop: req.GetMode()}}, nil
}

func (s *threadRuns) ListRuns(_ context.Context, req *pawlv1.ListRunsRequest) (*pawlv1.ListRunsResponse, error) {
	s.listed = req
	return &pawlv1.ListRunsResponse{}, nil
}

func TestAStartNamesItsThreadAndWhatHappensWhenItIsBusyAndAStopNamesItsMode(t *testing.T) {
	server := &threadRuns{}
	client, _ := serveGateway(t, &gateway{runs: server})
	ctx := t.Context()
	for _, strategy := range []Multitask{MultitaskReject, MultitaskEnqueue, MultitaskInterrupt, MultitaskRollback} {
		options := StartOptions{ThreadID: "a", CreateThread: true, Multitask: strategy}
		started, err := client.Runs.Start(ctx, "w", nil, options)
		if err != nil || started.Run.GetThreadId() != "a" || !server.started.GetCreateThread() || server.started.GetMultitaskStrategy() != strategy {
			t.Fatalf("got %v, %v", server.started, err)
		}
	}
	stopped, err := client.Runs.Cancel(ctx, "r", CancelOptions{Mode: StopInterrupt})
	if err != nil || stopped.GetStop() != StopInterrupt {
		t.Errorf("got %v, %v", stopped, err)
	}
	if _, _, err := client.Runs.List(ctx, RunFilter{ThreadID: "a", Stops: []StopMode{StopRollback}}, Page{}); err != nil {
		t.Error(err)
	}
	if server.listed.GetThreadId() != "a" || server.listed.GetStops()[0] != StopRollback {
		t.Errorf("got %v", server.listed)
	}
}

func TestAStartSaysWhenTheRunStartsAndThatItIsTemporary(t *testing.T) {
	server := &threadRuns{}
	client, _ := serveGateway(t, &gateway{runs: server})
	at := time.Date(2026, 12, 1, 6, 0, 0, 0, time.UTC)
	for _, options := range []StartOptions{{After: 1500 * time.Millisecond, Temporary: true}, {StartAt: at, Deadline: time.Hour}} {
		if _, err := client.Runs.Start(t.Context(), "w", nil, options); err != nil {
			t.Fatal(err)
		}
		isLater := server.started.GetAfterSeconds() == 1.5 && server.started.GetTemporary() && server.started.GetStartAt() == nil
		isAt := server.started.AfterSeconds == nil && server.started.GetStartAt().AsTime().Equal(at) && server.started.GetDeadline().AsDuration() == time.Hour
		if !isLater && !isAt {
			t.Errorf("got %v", server.started)
		}
	}
}
