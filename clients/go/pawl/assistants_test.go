package pawl

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// assistantServer writes down what it is asked, and has one assistant.
type assistantServer struct {
	pawlv1.UnimplementedAssistantServiceServer
	asked []proto.Message
}

func (s *assistantServer) CreateAssistant(_ context.Context, req *pawlv1.CreateAssistantRequest) (*pawlv1.CreateAssistantResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.CreateAssistantResponse{Assistant: &Assistant{AssistantId: req.GetAssistantId(), Spec: req.GetSpec(), Version: 1}}, nil
}

func (s *assistantServer) GetAssistant(_ context.Context, req *pawlv1.GetAssistantRequest) (*pawlv1.GetAssistantResponse, error) {
	return &pawlv1.GetAssistantResponse{Assistant: &Assistant{AssistantId: req.GetAssistantId(), Version: 7}}, nil
}

func (s *assistantServer) ListAssistants(_ context.Context, req *pawlv1.ListAssistantsRequest) (*pawlv1.ListAssistantsResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.ListAssistantsResponse{Assistants: []*Assistant{{AssistantId: "tutor"}}, NextPageToken: "next"}, nil
}

func (s *assistantServer) UpdateAssistant(_ context.Context, req *pawlv1.UpdateAssistantRequest) (*pawlv1.UpdateAssistantResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.UpdateAssistantResponse{Assistant: &Assistant{Version: req.GetExpectedVersion() + 1}}, nil
}

func (s *assistantServer) DeleteAssistant(context.Context, *pawlv1.DeleteAssistantRequest) (*pawlv1.DeleteAssistantResponse, error) {
	return nil, refusal(codes.Aborted, "ASSISTANT_BUSY", "run r has not ended")
}

func TestAssistantsAreMadeFoundEditedAndRefusedWhileBusyAndStartsNameThem(t *testing.T) {
	server, runs, threads := &assistantServer{}, &threadRuns{}, &threadServer{}
	client, _ := serveGateway(t, &gateway{runs: runs, more: func(s *grpc.Server) {
		pawlv1.RegisterAssistantServiceServer(s, server)
		pawlv1.RegisterThreadServiceServer(s, threads)
	}})
	ctx := t.Context()
	input := AssistantInput{
		WorkflowID: "ask", Config: map[string]any{"tone": "kind"}, Goal: "teach", Multitask: MultitaskEnqueue, Budget: Budget{Tokens: 7},
	}
	made, err := client.Assistants.Create(ctx, "tutor", input, MutationOptions{})
	spec := made.GetSpec()
	if err != nil || string(spec.GetConfigJson()) != `{"tone":"kind"}` || spec.GetDefaults().GetBudget().GetTokens() != 7 {
		t.Fatalf("got %v, %v", made, err)
	}
	if got, err := client.Assistants.Get(ctx, "tutor"); err != nil || got.GetVersion() != 7 {
		t.Errorf("got %v, %v", got, err)
	}
	found, next, err := client.Assistants.List(ctx, AssistantFilter{WorkflowID: "ask"}, Page{Token: "t"})
	if err != nil || len(found) != 1 || next != "next" {
		t.Errorf("got %v, %v, %v", found, next, err)
	}
	edited, err := client.Assistants.Update(ctx, "tutor", input, UpdateAssistantOptions{ExpectedVersion: 7})
	if err != nil || edited.GetVersion() != 8 {
		t.Errorf("got %v, %v", edited, err)
	}
	err = client.Assistants.Delete(ctx, "tutor", DeleteAssistantOptions{})
	if !isReason(err, "ASSISTANT_BUSY") || err.(*Error).Code != codes.Aborted {
		t.Errorf("got %v", err)
	}
	if _, err := client.Runs.Start(ctx, "", "hello", StartOptions{AssistantID: "tutor", ThreadRelease: ReleaseWhenWanted}); err != nil ||
		runs.started.GetAssistantId() != "tutor" || runs.started.GetThreadRelease() != ReleaseWhenWanted {
		t.Errorf("got %v, %v", runs.started, err)
	}
	if _, _, err := client.Runs.List(ctx, RunFilter{AssistantID: "tutor"}, Page{}); err != nil || runs.listed.GetAssistantId() != "tutor" {
		t.Errorf("got %v, %v", runs.listed, err)
	}
	if _, err := client.Threads.SetAssistant(ctx, "chat", "", MutationOptions{}); err != nil {
		t.Error(err)
	}
	if set := threads.asked[0].(*pawlv1.UpdateThreadRequest); set.AssistantId == nil || set.GetMetadataJson() != nil {
		t.Errorf("got %v", set)
	}
}
