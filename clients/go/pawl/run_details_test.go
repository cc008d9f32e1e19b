package pawl

import (
	"context"
	"encoding/json"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// detailServer answers calls about one run, about workflows and about node types, and keeps their requests.
type detailServer struct {
	pawlv1.UnimplementedRunServiceServer
	pawlv1.UnimplementedWorkflowServiceServer
	pawlv1.UnimplementedNodeTypeServiceServer
	asked []proto.Message
}

func (s *detailServer) note(req proto.Message) *pawlv1.Run {
	s.asked = append(s.asked, req)
	return &pawlv1.Run{RunId: "r"}
}

func (s *detailServer) ExplainNode(_ context.Context, req *pawlv1.ExplainNodeRequest) (*pawlv1.ExplainNodeResponse, error) {
	s.note(req)
	evidence := []*pawlv1.Evidence{{EventId: 4, Type: "node.queued", NodeId: "n"}}
	wait := &pawlv1.SlotWait{Key: "k", AheadCount: 3}
	return &pawlv1.ExplainNodeResponse{Explanation: &Explanation{
		Reason: pawlv1.ExplainReason_EXPLAIN_REASON_WAITING_SLOT, Evidence: evidence, SlotWait: wait,
	}}, nil
}

func (s *detailServer) ExplainTaint(_ context.Context, req *pawlv1.ExplainTaintRequest) (*pawlv1.ExplainTaintResponse, error) {
	s.note(req)
	steps := []*pawlv1.TaintStep{{EventId: 4, Type: "node.completed", NodeId: "n", Added: []string{"web"}}}
	return &pawlv1.ExplainTaintResponse{Trace: &TaintTrace{Steps: steps}}, nil
}

func (s *detailServer) StartRun(_ context.Context, req *pawlv1.StartRunRequest) (*pawlv1.StartRunResponse, error) {
	return &pawlv1.StartRunResponse{Run: s.note(req)}, nil
}

func (s *detailServer) GetInvocation(_ context.Context, req *pawlv1.GetInvocationRequest) (*pawlv1.GetInvocationResponse, error) {
	s.note(req)
	effects := []*pawlv1.InvocationEffect{{Name: "charge", Committed: true}}
	return &pawlv1.GetInvocationResponse{Invocation: &Invocation{Type: "acme.pay@1", InputJson: []byte("1"), Effects: effects}}, nil
}

func (s *detailServer) GetValue(_ context.Context, req *pawlv1.GetValueRequest) (*pawlv1.GetValueResponse, error) {
	s.note(req)
	return &pawlv1.GetValueResponse{Data: []byte([]string{`{"a":`, `"b"}`}[req.GetPart()]), TotalBytes: 9}, nil
}

func (s *detailServer) ListEffects(_ context.Context, req *pawlv1.ListEffectsRequest) (*pawlv1.ListEffectsResponse, error) {
	s.note(req)
	return &pawlv1.ListEffectsResponse{Effects: []*Effect{{Name: "charge"}}, NextPageToken: "t"}, nil
}

func (s *detailServer) TestRun(_ context.Context, req *pawlv1.TestRunRequest) (*pawlv1.TestRunResponse, error) {
	return &pawlv1.TestRunResponse{Run: s.note(req), Duplicate: true, Warnings: []*pawlv1.Violation{{Reason: "UNUSED"}}}, nil
}

func (s *detailServer) DecideNode(_ context.Context, req *pawlv1.DecideNodeRequest) (*pawlv1.DecideNodeResponse, error) {
	return &pawlv1.DecideNodeResponse{Run: s.note(req)}, nil
}

func (s *detailServer) SignalRun(_ context.Context, req *pawlv1.SignalRunRequest) (*pawlv1.SignalRunResponse, error) {
	return &pawlv1.SignalRunResponse{Run: s.note(req), Duplicate: true, Kept: true}, nil
}

func (s *detailServer) RecheckRun(_ context.Context, req *pawlv1.RecheckRunRequest) (*pawlv1.RecheckRunResponse, error) {
	return &pawlv1.RecheckRunResponse{Run: s.note(req)}, nil
}

func (s *detailServer) DeleteRun(_ context.Context, req *pawlv1.DeleteRunRequest) (*pawlv1.DeleteRunResponse, error) {
	s.note(req)
	return &pawlv1.DeleteRunResponse{}, nil
}

func (s *detailServer) DeleteWorkflow(_ context.Context, req *pawlv1.DeleteWorkflowRequest) (*pawlv1.DeleteWorkflowResponse, error) {
	s.note(req)
	return &pawlv1.DeleteWorkflowResponse{}, nil
}

func (s *detailServer) ListNodeTypes(_ context.Context, req *pawlv1.ListNodeTypesRequest) (*pawlv1.ListNodeTypesResponse, error) {
	s.note(req)
	return &pawlv1.ListNodeTypesResponse{NodeTypes: []*NodeType{{Type: "acme.pay@1"}}, NextPageToken: "t"}, nil
}

func (s *detailServer) GetNodeType(_ context.Context, req *pawlv1.GetNodeTypeRequest) (*pawlv1.GetNodeTypeResponse, error) {
	s.note(req)
	return &pawlv1.GetNodeTypeResponse{NodeType: &NodeType{Type: req.GetType(), InputSchema: "true"}}, nil
}

func (s *detailServer) ListExecutors(context.Context, *pawlv1.ListExecutorsRequest) (*pawlv1.ListExecutorsResponse, error) {
	return &pawlv1.ListExecutorsResponse{Executors: []*Executor{{ProcessName: "pay"}}}, nil
}

// logServer answers pages of the log.
type logServer struct {
	pawlv1.UnimplementedEventServiceServer
	asked []proto.Message
}

func (s *logServer) ListEvents(_ context.Context, req *pawlv1.ListEventsRequest) (*pawlv1.ListEventsResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.ListEventsResponse{Events: []*Event{{EventId: 4}, {EventId: 5}}, HasMore: true}, nil
}

func (s *logServer) ListTags(_ context.Context, req *pawlv1.ListTagsRequest) (*pawlv1.ListTagsResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.ListTagsResponse{Tags: []*Tag{{Tag: "node_started"}}}, nil
}

func serveDetails(t *testing.T) (*Client, *detailServer) {
	server := &detailServer{}
	client, _ := serveGateway(t, &gateway{runs: server, workflows: server, more: func(s *grpc.Server) {
		pawlv1.RegisterNodeTypeServiceServer(s, server)
	}})
	return client, server
}

// mustAsk compares the requests of a server with those expected.
func mustAsk(t *testing.T, asked []proto.Message, want ...proto.Message) {
	t.Helper()
	if len(asked) != len(want) {
		t.Fatalf("%d requests, not %d: %v", len(asked), len(want), asked)
	}
	for n, req := range asked {
		if !proto.Equal(req, want[n]) {
			t.Errorf("request %d is %v, not %v", n, req, want[n])
		}
	}
}

func TestNodeTypesComeByPageAndOneByOneAndExecutorsInOneList(t *testing.T) {
	client, server := serveDetails(t)
	types, token, err := client.NodeTypes.List(t.Context(), Page{Size: 7, Token: "s"})
	if err != nil || len(types) != 1 || token != "t" {
		t.Errorf("got %v, %q, %v", types, token, err)
	}
	if one, err := client.NodeTypes.Get(t.Context(), "acme.pay@1"); err != nil || one.GetInputSchema() != "true" {
		t.Errorf("got %v, %v", one, err)
	}
	if executors, err := client.NodeTypes.Executors(t.Context()); err != nil || executors[0].GetProcessName() != "pay" {
		t.Errorf("got %v, %v", executors, err)
	}
	mustAsk(t, server.asked, &pawlv1.ListNodeTypesRequest{PageSize: 7, PageToken: "s"}, &pawlv1.GetNodeTypeRequest{Type: "acme.pay@1"})
}

func TestAnExplanationHasItsReasonItsEvidenceAndItsPlaceInLine(t *testing.T) {
	client, server := serveDetails(t)
	why, err := client.Runs.Explain(t.Context(), NodeOf{"r", "n", 2})
	if err != nil || why.GetReason() != pawlv1.ExplainReason_EXPLAIN_REASON_WAITING_SLOT || why.GetSlotWait().GetAheadCount() != 3 {
		t.Errorf("got %v, %v", why, err)
	}
	if evidence := why.GetEvidence(); len(evidence) != 1 || evidence[0].GetEventId() != 4 {
		t.Errorf("got %v", evidence)
	}
	mustAsk(t, server.asked, &pawlv1.ExplainNodeRequest{RunId: "r", NodeId: "n", Iteration: 2})
}

func TestTheWayOfLabelsIsAskedForByNodeOrByKeyAndAnUntrustedInputIsNamedInAStart(t *testing.T) {
	client, server := serveDetails(t)
	trace, err := client.Runs.ExplainTaint(t.Context(), NodeOf{"r", "n", 2})
	if err != nil || len(trace.GetSteps()) != 1 || trace.GetSteps()[0].GetAdded()[0] != "web" {
		t.Errorf("got %v, %v", trace, err)
	}
	if _, err := client.Runs.ExplainMemoryTaint(t.Context(), "r", "k"); err != nil {
		t.Error(err)
	}
	if _, err := client.Runs.Start(t.Context(), "w", nil, StartOptions{RequestID: "q", UntrustedInput: true}); err != nil {
		t.Error(err)
	}
	mustAsk(t, server.asked,
		&pawlv1.ExplainTaintRequest{RunId: "r", NodeId: "n", Iteration: 2},
		&pawlv1.ExplainTaintRequest{RunId: "r", MemoryKey: "k"},
		&pawlv1.StartRunRequest{WorkflowId: "w", RequestId: "q", UntrustedInput: true})
}

func TestAnInvocationHasWhatTheHandlerGotAndWhatCameOfIt(t *testing.T) {
	client, server := serveDetails(t)
	got, err := client.Runs.Invocation(t.Context(), NodeOf{"r", "n", 1})
	if err != nil || got.GetType() != "acme.pay@1" || string(got.GetInputJson()) != "1" || !got.GetEffects()[0].GetCommitted() {
		t.Errorf("got %v, %v", got, err)
	}
	mustAsk(t, server.asked, &pawlv1.GetInvocationRequest{RunId: "r", NodeId: "n", Iteration: 1})
}

func TestAValueThatIsTooLargeForTheLogIsReadPartByPart(t *testing.T) {
	client, server := serveDetails(t)
	got, err := client.Runs.ValueText(t.Context(), "r", "ab")
	if err != nil || string(got) != `{"a":"b"}` {
		t.Errorf("got %s, %v", got, err)
	}
	mustAsk(t, server.asked, &pawlv1.GetValueRequest{RunId: "r", Sha256: "ab"}, &pawlv1.GetValueRequest{RunId: "r", Sha256: "ab", Part: 1})
}

func TestEffectsEventsAndTagsOfARunComeByPage(t *testing.T) {
	client, server := serveDetails(t)
	effects, token, err := client.Runs.Effects(t.Context(), "r", "n", Page{Size: 2, Token: "s"})
	if err != nil || len(effects) != 1 || token != "t" {
		t.Errorf("got %v, %q, %v", effects, token, err)
	}
	mustAsk(t, server.asked, &pawlv1.ListEffectsRequest{RunId: "r", NodeId: "n", PageSize: 2, PageToken: "s"})
	log := &logServer{}
	client, _ = serveGateway(t, &gateway{events: log})
	if events, hasMore, err := client.Runs.Events(t.Context(), "r", 3, 2); err != nil || len(events) != 2 || !hasMore {
		t.Errorf("got %v, %v, %v", events, hasMore, err)
	}
	if tags, hasMore, err := client.Runs.Tags(t.Context(), "r", "n", 4, 7); err != nil || tags[0].GetTag() != "node_started" || hasMore {
		t.Errorf("got %v, %v, %v", tags, hasMore, err)
	}
	mustAsk(t, log.asked,
		&pawlv1.ListEventsRequest{RunId: "r", AfterEventId: 3, PageSize: 2},
		&pawlv1.ListTagsRequest{RunId: "r", NodeId: "n", AfterEventId: 4, PageSize: 7})
}

func TestADecisionAboutANodeGoesWithItsComment(t *testing.T) {
	client, server := serveDetails(t)
	node := NodeOf{"r", "n", 1}
	run, err := client.Runs.Decide(t.Context(), node, Reject, DecideOptions{Comment: "no", RequestID: "q"})
	if err != nil || run.GetRunId() != "r" {
		t.Errorf("got %v, %v", run, err)
	}
	mustAsk(t, server.asked, &pawlv1.DecideNodeRequest{
		RunId: "r", NodeId: "n", Iteration: 1, Decision: Reject, Comment: "no", RequestId: "q",
	})
}

func TestASignalGoesToItsRunByNameWithItsPayloadToTheLetter(t *testing.T) {
	client, server := serveDetails(t)
	payload := json.RawMessage(`{"n": 1.50}`)
	sent, err := client.Runs.Signal(t.Context(), "r", "paid", payload, SignalOptions{RequestID: "q"})
	if err != nil || sent.Run.GetRunId() != "r" || !sent.Duplicate || !sent.Kept {
		t.Errorf("got %v, %v", sent, err)
	}
	mustAsk(t, server.asked, &pawlv1.SignalRunRequest{RunId: "r", Name: "paid", PayloadJson: payload, RequestId: "q"})
	if _, err := client.Runs.Signal(t.Context(), "r", "paid", make(chan int), SignalOptions{}); err == nil {
		t.Error("a payload that is no JSON was sent")
	}
}

func TestARecheckAndTheDeletionsOfRunsAndWorkflowsCarryRequestIDs(t *testing.T) {
	client, server := serveDetails(t)
	if run, err := client.Runs.Recheck(t.Context(), "r", MutationOptions{RequestID: "a"}); err != nil || run.GetRunId() != "r" {
		t.Errorf("got %v, %v", run, err)
	}
	if err := client.Runs.Delete(t.Context(), "r", MutationOptions{RequestID: "b"}); err != nil {
		t.Error(err)
	}
	if err := client.Workflows.Delete(t.Context(), "w", DeleteWorkflowOptions{Force: true}); err != nil {
		t.Error(err)
	}
	last := server.asked[2].(*pawlv1.DeleteWorkflowRequest)
	if last.GetRequestId() == "" || !last.GetForce() || last.GetWorkflowId() != "w" {
		t.Errorf("got %v", last)
	}
	mustAsk(t, server.asked[:2],
		&pawlv1.RecheckRunRequest{RunId: "r", RequestId: "a"}, &pawlv1.DeleteRunRequest{RunId: "r", RequestId: "b"})
}
