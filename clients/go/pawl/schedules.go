package pawl

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// Schedule is a saved schedule with its last and next occurrence.
type Schedule = pawlv1.Schedule

// Schedules starts runs at times.
type Schedules struct {
	client *Client
	rpc    pawlv1.ScheduleServiceClient
}

// Missed is the policy for occurrences that came due while no scheduler ran.
type Missed string

// Overlap is the policy for an occurrence while the run of the previous one is live.
type Overlap string

const (
	MissedSkip    Missed = "skip"
	MissedRunOnce Missed = "run_once"
	MissedRunAll  Missed = "run_all"

	OverlapAllow Overlap = "allow"
	OverlapSkip  Overlap = "skip"
)

var missedPolicies = map[Missed]pawlv1.MissedPolicy{
	"": pawlv1.MissedPolicy_MISSED_POLICY_SKIP, MissedSkip: pawlv1.MissedPolicy_MISSED_POLICY_SKIP,
	MissedRunOnce: pawlv1.MissedPolicy_MISSED_POLICY_RUN_ONCE, MissedRunAll: pawlv1.MissedPolicy_MISSED_POLICY_RUN_ALL,
}

var overlapPolicies = map[Overlap]pawlv1.OverlapPolicy{
	"": pawlv1.OverlapPolicy_OVERLAP_POLICY_ALLOW, OverlapAllow: pawlv1.OverlapPolicy_OVERLAP_POLICY_ALLOW,
	OverlapSkip: pawlv1.OverlapPolicy_OVERLAP_POLICY_SKIP,
}

// ScheduleSpec names the workflow that a schedule starts, and the times.
type ScheduleSpec struct {
	WorkflowID string
	// WorkflowVersion: 0 means the newest at each occurrence.
	WorkflowVersion uint32
	// Expression is cron (five fields, six with seconds first, or a macro) or an RFC 5545 rule.
	Expression string
	// TimeZone is an IANA name. Empty means UTC.
	TimeZone string
	// Input of every run: a value that encodes to JSON; json.RawMessage is sent to the letter.
	Input any
	// Priority: sooner for lower numbers; -1000 to 1000.
	Priority int32
	// Missed: empty means skip.
	Missed Missed
	// Overlap: empty means allow.
	Overlap Overlap
}

func (s ScheduleSpec) wire() (*pawlv1.ScheduleSpec, error) {
	missed, isMissed := missedPolicies[s.Missed]
	if !isMissed {
		return nil, failed("INPUT_INVALID", codes.InvalidArgument, "missed %q is not one of skip, run_once, run_all", s.Missed)
	}
	overlap, isOverlap := overlapPolicies[s.Overlap]
	if !isOverlap {
		return nil, failed("INPUT_INVALID", codes.InvalidArgument, "overlap %q is not one of allow, skip", s.Overlap)
	}
	input, err := jsonOf(s.Input)
	if err != nil {
		return nil, fmt.Errorf("pawl: the input of a schedule is not JSON: %w", err)
	}
	return &pawlv1.ScheduleSpec{
		WorkflowId: s.WorkflowID, WorkflowVersion: s.WorkflowVersion, Expression: s.Expression, TimeZone: s.TimeZone,
		InputJson: input, Priority: s.Priority, Missed: missed, Overlap: overlap,
	}, nil
}

// Create saves a schedule. SCHEDULE_EXISTS, INPUT_INVALID, WORKFLOW_NOT_FOUND.
func (s *Schedules) Create(ctx context.Context, scheduleID string, spec ScheduleSpec, options MutationOptions) (*Schedule, error) {
	wire, err := spec.wire()
	if err != nil {
		return nil, err
	}
	req := &pawlv1.CreateScheduleRequest{ScheduleId: scheduleID, Spec: wire, RequestId: identified(options.RequestID)}
	res, err := call(ctx, s.client, s.rpc.CreateSchedule, req)
	return res.GetSchedule(), err
}

// Update replaces the whole specification. VERSION_MISMATCH when ExpectedVersion is not the newest.
func (s *Schedules) Update(ctx context.Context, scheduleID string, spec ScheduleSpec, options UpdateOptions) (*Schedule, error) {
	wire, err := spec.wire()
	if err != nil {
		return nil, err
	}
	res, err := call(ctx, s.client, s.rpc.UpdateSchedule, &pawlv1.UpdateScheduleRequest{
		ScheduleId: scheduleID, Spec: wire, ExpectedVersion: options.ExpectedVersion, RequestId: identified(options.RequestID),
	})
	return res.GetSchedule(), err
}

// Get reads one schedule. SCHEDULE_NOT_FOUND when there is none.
func (s *Schedules) Get(ctx context.Context, scheduleID string) (*Schedule, error) {
	res, err := call(ctx, s.client, s.rpc.GetSchedule, &pawlv1.GetScheduleRequest{ScheduleId: scheduleID})
	return res.GetSchedule(), err
}

// List reads a page of schedules, and the token of the next page. An empty workflow id means all workflows.
func (s *Schedules) List(ctx context.Context, workflowID string, page Page) ([]*Schedule, string, error) {
	req := &pawlv1.ListSchedulesRequest{WorkflowId: workflowID, PageSize: page.Size, PageToken: page.Token}
	res, err := call(ctx, s.client, s.rpc.ListSchedules, req)
	return res.GetSchedules(), res.GetNextPageToken(), err
}

// Pause stops the occurrences of a schedule. Its runs continue.
func (s *Schedules) Pause(ctx context.Context, scheduleID string, options PauseOptions) (*Schedule, error) {
	res, err := call(ctx, s.client, s.rpc.PauseSchedule, &pawlv1.PauseScheduleRequest{
		ScheduleId: scheduleID, PausedBy: options.By, Reason: options.Reason, RequestId: identified(options.RequestID),
	})
	return res.GetSchedule(), err
}

// Resume lets the occurrences of a schedule start runs again.
func (s *Schedules) Resume(ctx context.Context, scheduleID string, options MutationOptions) (*Schedule, error) {
	req := &pawlv1.ResumeScheduleRequest{ScheduleId: scheduleID, RequestId: identified(options.RequestID)}
	res, err := call(ctx, s.client, s.rpc.ResumeSchedule, req)
	return res.GetSchedule(), err
}

// Delete removes a schedule. Its runs stay.
func (s *Schedules) Delete(ctx context.Context, scheduleID string, options MutationOptions) error {
	req := &pawlv1.DeleteScheduleRequest{ScheduleId: scheduleID, RequestId: identified(options.RequestID)}
	_, err := call(ctx, s.client, s.rpc.DeleteSchedule, req)
	return err
}

// SchedulePreview selects an expression, or a saved schedule, for a preview of its times.
type SchedulePreview struct {
	Expression string
	ScheduleID string
	// TimeZone is an IANA name. Empty means UTC.
	TimeZone string
	// Count is how many at most. 0 means 5, the most is 50.
	Count uint32
	// From gives times strictly after it; zero means now.
	From time.Time
}

// Preview returns the next times of an expression, or of a saved schedule.
func (s *Schedules) Preview(ctx context.Context, preview SchedulePreview) ([]time.Time, error) {
	req := &pawlv1.PreviewScheduleRequest{
		Expression: preview.Expression, ScheduleId: preview.ScheduleID, TimeZone: preview.TimeZone, Count: preview.Count,
		FromTime: timestampOf(preview.From),
	}
	res, err := call(ctx, s.client, s.rpc.PreviewSchedule, req)
	var times []time.Time
	for _, t := range res.GetTimes() {
		times = append(times, t.AsTime())
	}
	return times, err
}

// Trigger starts a run now. It does not change the occurrences.
func (s *Schedules) Trigger(ctx context.Context, scheduleID string, options MutationOptions) (*Started, error) {
	req := &pawlv1.TriggerScheduleRequest{ScheduleId: scheduleID, RequestId: identified(options.RequestID)}
	res, err := call(ctx, s.client, s.rpc.TriggerSchedule, req)
	if err != nil {
		return nil, err
	}
	return &Started{res.GetRun(), res.GetDuplicate()}, nil
}

// timestampOf leaves a zero time unset.
func timestampOf(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}
