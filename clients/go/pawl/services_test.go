package pawl

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

var newYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

type scheduleServer struct {
	pawlv1.UnimplementedScheduleServiceServer
	created   []*pawlv1.CreateScheduleRequest
	previewed []*pawlv1.PreviewScheduleRequest
}

func (s *scheduleServer) CreateSchedule(_ context.Context, req *pawlv1.CreateScheduleRequest) (*pawlv1.CreateScheduleResponse, error) {
	s.created = append(s.created, req)
	return &pawlv1.CreateScheduleResponse{Schedule: &Schedule{ScheduleId: req.GetScheduleId()}}, nil
}

func (s *scheduleServer) PreviewSchedule(_ context.Context, req *pawlv1.PreviewScheduleRequest) (*pawlv1.PreviewScheduleResponse, error) {
	s.previewed = append(s.previewed, req)
	return &pawlv1.PreviewScheduleResponse{Times: []*timestamppb.Timestamp{timestamppb.New(newYear)}}, nil
}

func serveSchedules(t *testing.T) (*Client, *scheduleServer) {
	server := &scheduleServer{}
	client, _ := serveGateway(t, &gateway{more: func(s *grpc.Server) { pawlv1.RegisterScheduleServiceServer(s, server) }})
	return client, server
}

func TestAScheduleGoesToTheServerWithItsPoliciesByNameAndItsInputToTheLetter(t *testing.T) {
	client, server := serveSchedules(t)
	input := json.RawMessage(`{"n": 1.0}`)
	full := ScheduleSpec{WorkflowID: "w", Expression: "@daily", Input: input, Missed: MissedRunAll, Overlap: OverlapSkip}
	for id, spec := range map[string]ScheduleSpec{"a": full, "b": {WorkflowID: "w", Expression: "@daily"}} {
		made, err := client.Schedules.Create(t.Context(), id, spec, MutationOptions{})
		if err != nil || made.GetScheduleId() != id {
			t.Fatalf("got %v, %v", made, err)
		}
	}
	slices.SortFunc(server.created, func(a, b *pawlv1.CreateScheduleRequest) int {
		return len(b.GetSpec().GetInputJson()) - len(a.GetSpec().GetInputJson())
	})
	a, b := server.created[0], server.created[1]
	if string(a.GetSpec().GetInputJson()) != string(input) || a.GetRequestId() == b.GetRequestId() {
		t.Errorf("got %v and %v", a, b)
	}
	must(t, "missed", []pawlv1.MissedPolicy{a.GetSpec().GetMissed(), b.GetSpec().GetMissed()},
		[]pawlv1.MissedPolicy{pawlv1.MissedPolicy_MISSED_POLICY_RUN_ALL, pawlv1.MissedPolicy_MISSED_POLICY_SKIP})
	must(t, "overlap", []pawlv1.OverlapPolicy{a.GetSpec().GetOverlap(), b.GetSpec().GetOverlap()},
		[]pawlv1.OverlapPolicy{pawlv1.OverlapPolicy_OVERLAP_POLICY_SKIP, pawlv1.OverlapPolicy_OVERLAP_POLICY_ALLOW})
	for _, bad := range []ScheduleSpec{{Missed: "never"}, {Overlap: "queue"}} {
		if _, err := client.Schedules.Create(t.Context(), "c", bad, MutationOptions{}); !isReason(err, "INPUT_INVALID") {
			t.Errorf("%v: got %v", bad, err)
		}
	}
	if len(server.created) != 2 {
		t.Errorf("%d schedules", len(server.created))
	}
}

func TestTheTimesOfAPreviewAreTimes(t *testing.T) {
	client, server := serveSchedules(t)
	times, err := client.Schedules.Preview(t.Context(), SchedulePreview{Expression: "@daily", Count: 1, From: newYear})
	if err != nil || len(times) != 1 || !times[0].Equal(newYear) {
		t.Errorf("got %v, %v", times, err)
	}
	asked := server.previewed[0]
	if asked.GetExpression() != "@daily" || asked.GetScheduleId() != "" || asked.GetCount() != 1 || !asked.GetFromTime().AsTime().Equal(newYear) {
		t.Errorf("got %v", asked)
	}
}

type approvalPages struct {
	pawlv1.UnimplementedApprovalServiceServer
}

func (approvalPages) ListApprovals(_ context.Context, req *pawlv1.ListApprovalsRequest) (*pawlv1.ListApprovalsResponse, error) {
	id := req.GetStates()[0].String() + " " + req.GetAssignee() + " " + req.GetPageToken()
	return &pawlv1.ListApprovalsResponse{Approvals: []*Approval{{ApprovalId: id}}, NextPageToken: "more"}, nil
}

func (approvalPages) GetApproval(_ context.Context, req *pawlv1.GetApprovalRequest) (*pawlv1.GetApprovalResponse, error) {
	schema := []byte(`{"type":"object"}`)
	return &pawlv1.GetApprovalResponse{Approval: &Approval{ApprovalId: req.GetApprovalId(), ResponseSchemaJson: schema}}, nil
}

func TestApprovalsComeByPageAndOneByOneWithTheSchemaOfTheResponse(t *testing.T) {
	client, _ := serveGateway(t, &gateway{approvals: approvalPages{}})
	filter := ApprovalFilter{States: []pawlv1.ApprovalState{pawlv1.ApprovalState_APPROVAL_STATE_OPEN}, Assignee: "finance"}
	found, next, err := client.Approvals.List(t.Context(), filter, Page{Token: "t"})
	if err != nil || len(found) != 1 || found[0].GetApprovalId() != "APPROVAL_STATE_OPEN finance t" || next != "more" {
		t.Errorf("got %v, %s, %v", found, next, err)
	}
	one, err := client.Approvals.Get(t.Context(), "a")
	if err != nil || string(one.GetResponseSchemaJson()) != `{"type":"object"}` {
		t.Errorf("got %v, %v", one, err)
	}
}

// pauseServer writes down the pauses of runs, workflows and queues.
type pauseServer struct {
	pawlv1.UnimplementedRunServiceServer
	pawlv1.UnimplementedWorkflowServiceServer
	queueServer
	asked []proto.Message
}

func (s *pauseServer) PauseRun(_ context.Context, req *pawlv1.PauseRunRequest) (*pawlv1.PauseRunResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.PauseRunResponse{Run: &pawlv1.Run{Status: pawlv1.RunStatus_RUN_STATUS_PAUSED}}, nil
}

func (s *pauseServer) ResumeRun(_ context.Context, req *pawlv1.ResumeRunRequest) (*pawlv1.ResumeRunResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.ResumeRunResponse{Run: &pawlv1.Run{Status: pawlv1.RunStatus_RUN_STATUS_RUNNING}}, nil
}

func (s *pauseServer) PauseWorkflow(_ context.Context, req *pawlv1.PauseWorkflowRequest) (*pawlv1.PauseWorkflowResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.PauseWorkflowResponse{Pause: &Pause{Name: req.GetWorkflowId(), Pausing: true}}, nil
}

func (s *pauseServer) ResumeWorkflow(context.Context, *pawlv1.ResumeWorkflowRequest) (*pawlv1.ResumeWorkflowResponse, error) {
	return &pawlv1.ResumeWorkflowResponse{Resuming: true}, nil
}

func servePauses(t *testing.T) (*Client, *pauseServer) {
	server := &pauseServer{}
	g := &gateway{runs: server, workflows: server, more: func(s *grpc.Server) { pawlv1.RegisterQueueServiceServer(s, &server.queueServer) }}
	client, _ := serveGateway(t, g)
	return client, server
}

var aLook = PauseOptions{By: "ada", Reason: "a look", RequestID: "p"}

func same(t *testing.T, got, want proto.Message) {
	t.Helper()
	if !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAPauseOfARunSaysWhoWhyAndWhetherTheRunsBelowAreMeant(t *testing.T) {
	client, server := servePauses(t)
	paused, err := client.Runs.Pause(t.Context(), "r", PauseRunOptions{aLook, true})
	if err != nil || paused.GetStatus() != pawlv1.RunStatus_RUN_STATUS_PAUSED {
		t.Fatalf("got %v, %v", paused, err)
	}
	resumed, err := client.Runs.Resume(t.Context(), "r", PauseRunOptions{PauseOptions: PauseOptions{RequestID: "q"}})
	if err != nil || resumed.GetStatus() != pawlv1.RunStatus_RUN_STATUS_RUNNING {
		t.Fatalf("got %v, %v", resumed, err)
	}
	same(t, server.asked[0], &pawlv1.PauseRunRequest{RunId: "r", By: "ada", Reason: "a look", Children: true, RequestId: "p"})
	same(t, server.asked[1], &pawlv1.ResumeRunRequest{RunId: "r", RequestId: "q"})
}

func (s *pauseServer) TopUpRun(_ context.Context, req *pawlv1.TopUpRunRequest) (*pawlv1.TopUpRunResponse, error) {
	s.asked = append(s.asked, req)
	return &pawlv1.TopUpRunResponse{Run: &pawlv1.Run{Status: pawlv1.RunStatus_RUN_STATUS_RUNNING}}, nil
}

func TestATopUpSendsItsAmountsAndARequestID(t *testing.T) {
	client, server := servePauses(t)
	run, err := client.Runs.TopUp(t.Context(), "r", Budget{Tokens: 5, CostMicros: 250_000}, aLook)
	if err != nil || run.GetStatus() != pawlv1.RunStatus_RUN_STATUS_RUNNING {
		t.Fatalf("got %v, %v", run, err)
	}
	same(t, server.asked[0], &pawlv1.TopUpRunRequest{
		RunId: "r", By: "ada", Reason: "a look", RequestId: "p", Amounts: &pawlv1.Amounts{Tokens: 5, CostMicros: 250_000},
	})
}

func (s *pauseServer) ListDailyBudgets(_ context.Context, req *pawlv1.ListDailyBudgetsRequest) (*pawlv1.ListDailyBudgetsResponse, error) {
	s.asked = append(s.asked, req)
	limited := &DailyBudget{Day: "2026-01-02", Limit: &pawlv1.Amounts{Tokens: 5}, Used: &pawlv1.Amounts{Tokens: 3}}
	return &pawlv1.ListDailyBudgetsResponse{DailyBudgets: []*DailyBudget{limited, {Day: "2026-01-01"}}, NextPageToken: "t"}, nil
}

func TestDailyBudgetsComeByPageAndADayWithoutALimitSaysSo(t *testing.T) {
	client, server := servePauses(t)
	days, next, err := client.Workflows.DailyBudgets(t.Context(), "w", Page{Size: 2, Token: "s"})
	if err != nil || len(days) != 2 || next != "t" {
		t.Fatalf("got %v, %q, %v", days, next, err)
	}
	if days[0].GetLimit().GetTokens() != 5 || days[0].GetUsed().GetTokens() != 3 || days[1].GetLimit() != nil {
		t.Errorf("got %v", days)
	}
	same(t, server.asked[0], &pawlv1.ListDailyBudgetsRequest{WorkflowId: "w", PageSize: 2, PageToken: "s"})
}

func TestPausesOfWorkflowsAndQueuesSayWhoAndWhyAndAreListed(t *testing.T) {
	client, server := servePauses(t)
	pause, err := client.Workflows.Pause(t.Context(), "w", aLook)
	if err != nil || pause.GetName() != "w" || !pause.GetPausing() {
		t.Errorf("got %v, %v", pause, err)
	}
	isResuming, err := client.Workflows.Resume(t.Context(), "w", PauseOptions{})
	if err != nil || !isResuming {
		t.Errorf("got %v, %v", isResuming, err)
	}
	pause, err = client.Queues.Pause(t.Context(), "http", aLook)
	if err != nil || pause.GetName() != "http" {
		t.Errorf("got %v, %v", pause, err)
	}
	if err := client.Queues.Resume(t.Context(), "http", PauseOptions{}); err != nil {
		t.Error(err)
	}
	pauses, err := client.Queues.Pauses(t.Context())
	if err != nil || len(pauses) != 1 || pauses[0].GetScope() != pawlv1.PauseScope_PAUSE_SCOPE_QUEUE {
		t.Errorf("got %v, %v", pauses, err)
	}
	same(t, server.asked[0], &pawlv1.PauseWorkflowRequest{WorkflowId: "w", By: "ada", Reason: "a look", RequestId: "p"})
	same(t, server.paused[0], &pawlv1.PauseQueueRequest{NodeType: "http", By: "ada", Reason: "a look", RequestId: "p"})
}

func TestARedriveGoesToTheServerWithItsFilterAndKeepsItsRequestID(t *testing.T) {
	client, server := serveLetters(t, &queueServer{letters: 1, perCall: 1, failures: 1})
	filter := DeadLetterFilter{WorkflowID: "w", NodeType: "http", Before: newYear}
	done, err := client.DeadLetters.Redrive(t.Context(), filter, RedriveOptions{Limit: 7, MaxPerSecond: 2})
	if err != nil || len(done.GetRedriven()) != 1 {
		t.Fatalf("got %v, %v", done, err)
	}
	if len(server.asked) != 2 || server.asked[0].GetRequestId() == "" {
		t.Fatalf("got %v", server.asked)
	}
	same(t, server.asked[0], &pawlv1.RedriveDeadLettersRequest{
		Filter: &pawlv1.DeadLetterFilter{WorkflowId: "w", NodeType: "http", BeforeTime: timestamppb.New(newYear)},
		Limit:  7, MaxPerSecond: 2, RequestId: server.asked[1].GetRequestId(),
	})
}

func redriveAll(t *testing.T, client *Client, options RedriveOptions) (letters []string, counts []int) {
	for step, err := range client.DeadLetters.RedriveAll(t.Context(), DeadLetterFilter{}, options) {
		if err != nil {
			t.Fatal(err)
		}
		for _, letter := range step.Redriven {
			letters = append(letters, letter.GetDeadLetterId())
		}
		counts = append(counts, step.Count)
	}
	return letters, counts
}

func TestARedriveOfManyContinuesCallAfterCallUntilNothingIsLeft(t *testing.T) {
	client, server := serveLetters(t, &queueServer{letters: 2_100, perCall: 600})
	letters, counts := redriveAll(t, client, RedriveOptions{RequestID: "all"})
	var want, asked []string
	for n := range 2_100 {
		want = append(want, letterID(n))
	}
	for _, req := range server.asked {
		asked = append(asked, req.GetRequestId())
	}
	must(t, "letters", letters, want)
	must(t, "counts", counts, []int{600, 1_000, 1_600, 2_000, 2_100})
	must(t, "requests", asked, []string{"all", "all", "all.2", "all.2", "all.3"})
}

func TestARedriveOfSoManyEndsWithThemAndARepeatDoublesNothing(t *testing.T) {
	client, _ := serveLetters(t, &queueServer{letters: 50, perCall: 3})
	first, _ := redriveAll(t, client, RedriveOptions{RequestID: "seven", Limit: 7})
	again, _ := redriveAll(t, client, RedriveOptions{RequestID: "seven", Limit: 7})
	must(t, "first", first, []string{"d0", "d1", "d2", "d3", "d4", "d5", "d6"})
	must(t, "again", again, first)
}

func TestACallOfARedriveThatIsRefusedIsItsLastValue(t *testing.T) {
	client, _ := serveLetters(t, &queueServer{letters: 9, perCall: 3, refusal: refusal(codes.InvalidArgument, "INPUT_INVALID", "no")})
	var failures []error
	for _, err := range client.DeadLetters.RedriveAll(t.Context(), DeadLetterFilter{}, RedriveOptions{}) {
		failures = append(failures, err)
	}
	if len(failures) != 1 || !isReason(failures[0], "INPUT_INVALID") {
		t.Errorf("got %v", failures)
	}
}
