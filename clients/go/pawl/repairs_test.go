package pawl

import (
	"context"
	"encoding/json"
	"testing"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// repairServer writes down repairs.
type repairServer struct {
	pawlv1.UnimplementedRunServiceServer
	asked   []*pawlv1.RepairRunRequest
	retried *pawlv1.RetryRunRequest
}

func (s *repairServer) RepairRun(_ context.Context, req *pawlv1.RepairRunRequest) (*pawlv1.RepairRunResponse, error) {
	s.asked = append(s.asked, req)
	plan := &pawlv1.RepairPlan{Digest: "d"}
	if req.GetDryRun() {
		return &pawlv1.RepairRunResponse{Plan: plan}, nil
	}
	return &pawlv1.RepairRunResponse{Plan: plan, Run: &pawlv1.Run{RunId: "new", RepairOf: req.GetRunId()}}, nil
}

func (s *repairServer) RetryRun(_ context.Context, req *pawlv1.RetryRunRequest) (*pawlv1.RetryRunResponse, error) {
	s.retried = req
	return &pawlv1.RetryRunResponse{Run: &pawlv1.Run{RunId: "new"}, Duplicate: true}, nil
}

func TestARepairShowsItsPlanFirstAndStartsARunByItsDigest(t *testing.T) {
	server := &repairServer{}
	client, _ := serveGateway(t, &gateway{runs: server})
	options := RepairOptions{
		FromNodes: []string{"b"}, Definition: map[string]any{"id": "w"}, Input: map[string]any{"n": 1},
		Outputs: []SetOutput{{NodeID: "a", Output: json.RawMessage("1.0"), Handle: "yes"}}, By: "ada", Reason: "fix",
	}
	options.RequestID = "q"
	plan, err := client.Runs.PlanRepair(t.Context(), "r", options)
	if err != nil || plan.GetDigest() != "d" {
		t.Fatalf("got %v, %v", plan, err)
	}
	options.PlanDigest = plan.GetDigest()
	repaired, err := client.Runs.Repair(t.Context(), "r", options)
	if err != nil || repaired.Run.GetRepairOf() != "r" || repaired.Plan.GetDigest() != "d" {
		t.Fatalf("got %v, %v", repaired, err)
	}
	want := &pawlv1.RepairRunRequest{
		RunId: "r", FromNodes: []string{"b"}, Definition: &pawlv1.DefinitionSource{Text: `{"id":"w"}`}, InputJson: []byte(`{"n":1}`),
		Outputs: []*pawlv1.SetOutputRequest{{NodeId: "a", OutputJson: []byte("1.0"), Handle: "yes"}}, By: "ada", Reason: "fix",
		RequestId: "q", DryRun: true,
	}
	same(t, server.asked[0], want)
	want.DryRun, want.PlanDigest = false, "d"
	same(t, server.asked[1], want)
	retried, err := client.Runs.Retry(t.Context(), "r", RetryOptions{Latest: true, RequestID: "q"})
	if err != nil || !retried.IsDuplicate || retried.Run.GetRunId() != "new" {
		t.Fatalf("got %v, %v", retried, err)
	}
	same(t, server.retried, &pawlv1.RetryRunRequest{RunId: "r", Latest: true, RequestId: "q"})
}
