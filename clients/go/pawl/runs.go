package pawl

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// RunState is a run, described by the gateway.
type RunState = pawlv1.Run

// Runs starts runs, reads them and ends them.
type Runs struct {
	client *Client
	rpc    pawlv1.RunServiceClient
	events pawlv1.EventServiceClient
}

// StartOptions are the options of Start.
type StartOptions struct {
	// Version of the workflow. 0 means the newest.
	Version uint32
	// Priority is from -1000 to 1000. A lower number is sooner.
	Priority int32
	// Deadline is how long the run may take from its start. 0 means the definition's own, or one hour.
	Deadline time.Duration
	// After is how long after its acceptance the run starts. 0 means at once. The run is pending until then. It excludes StartAt.
	After time.Duration
	// StartAt is when the run starts, by the clock of the database. The zero value, or a time in the past, means at once.
	StartAt time.Time
	// Temporary deletes the run with everything that belongs to it, soon after its end. It excludes ThreadID and DedupeInput.
	Temporary bool
	// DedupeInput makes a second start with the same input return the run of the first, for this long. 0 means never.
	DedupeInput time.Duration
	// Goal is what the run is for. Empty means the definition's own. Templates read it as ctx.goal.
	Goal string
	// Constraints are the rules that the nodes of the run respect. None means the definition's own. Templates read ctx.constraints.
	Constraints []string
	// MaxIterations is how often the run may repeat. 0 means the definition's own.
	MaxIterations uint32
	// MaxRetries is how often an execution may be retried at most. Nil means the definition's own, or the policy of each node.
	MaxRetries *uint32
	// Budget is how much the run may use. It can lower the limits of the definition, and not raise them.
	Budget Budget
	// RequestID makes a repeat harmless. Empty means a new one. The client keeps it across its own retries.
	RequestID string
	// UntrustedInput gives the input the label input.
	UntrustedInput bool
	// Webhook calls a URL at events of the run. Nil means none.
	Webhook *RunWebhook
	// Metadata is what to find the run by. Templates read it as ctx.metadata.
	Metadata map[string]any
	// ThreadID is the thread that the run belongs to. The run begins with the memory of the thread.
	ThreadID string
	// CreateThread creates the thread if there is none. Otherwise the start is refused with THREAD_NOT_FOUND.
	CreateThread bool
	// Multitask says what happens if the thread has runs that have not ended. The zero value refuses the start: THREAD_BUSY.
	Multitask Multitask
	// ThreadRelease says whether the run gives its thread up while it only waits for people or signals.
	ThreadRelease ThreadRelease
	// AssistantID is the assistant in place of a workflow: the workflow id is empty then.
	AssistantID string
}

// Budget is how much a run may use, or what to add to it. 0 means no limit, or nothing.
type Budget struct {
	// Tokens that models read and write.
	Tokens uint64
	// CostMicros is the cost in micro-dollars.
	CostMicros uint64
	// NodeExecutions is how often executors may start a node.
	NodeExecutions uint64
	// OnExceeded is what happens when the run needs more. The zero value means the definition's own.
	OnExceeded pawlv1.OnExceeded
}

// wire is nil for a budget that limits nothing.
func (b Budget) wire() *pawlv1.Budget {
	if b == (Budget{}) {
		return nil
	}
	return &pawlv1.Budget{Tokens: b.Tokens, CostMicros: b.CostMicros, NodeExecutions: b.NodeExecutions, OnExceeded: b.OnExceeded}
}

// Started is an accepted run.
type Started struct {
	Run *RunState
	// IsDuplicate is true if the gateway had accepted the request, or the same input, before.
	IsDuplicate bool
}

func startRequest(workflowID string, input any, options StartOptions) (*pawlv1.StartRunRequest, error) {
	text, err := jsonOf(input)
	if err != nil {
		return nil, fmt.Errorf("pawl: the input of workflow %s is not JSON: %w", workflowID, err)
	}
	req := &pawlv1.StartRunRequest{
		WorkflowId: workflowID, Version: options.Version, InputJson: text,
		RequestId: identified(options.RequestID), Priority: options.Priority,
		UntrustedInput: options.UntrustedInput, Webhook: options.Webhook.wire(),
		Goal: options.Goal, Constraints: options.Constraints, MaxIterations: options.MaxIterations, MaxRetries: options.MaxRetries,
		ThreadId: options.ThreadID, CreateThread: options.CreateThread, MultitaskStrategy: options.Multitask,
		AssistantId: options.AssistantID, ThreadRelease: options.ThreadRelease,
		Deadline: deadlineOf(options.Deadline), AfterSeconds: secondsOf(options.After), StartAt: timestampOf(options.StartAt),
		Temporary: options.Temporary, Budget: options.Budget.wire(),
	}
	if req.MetadataJson, err = metadataOf(options.Metadata); err != nil {
		return nil, err
	}
	if options.DedupeInput > 0 {
		req.Idempotency = &pawlv1.Idempotency{
			Scope: pawlv1.IdempotencyScope_IDEMPOTENCY_SCOPE_INPUT_HASH, Ttl: durationpb.New(options.DedupeInput),
		}
	}
	return req, nil
}

// deadlineOf is nil for no deadline of the run's own.
func deadlineOf(deadline time.Duration) *durationpb.Duration {
	if deadline <= 0 {
		return nil
	}
	return durationpb.New(deadline)
}

// secondsOf is nil for a start at once.
func secondsOf(delay time.Duration) *float64 {
	if delay == 0 {
		return nil
	}
	seconds := delay.Seconds()
	return &seconds
}

// Start accepts a run of a saved workflow and returns at once. The input is a value that encodes to JSON; json.RawMessage is sent to the
// letter.
func (r *Runs) Start(ctx context.Context, workflowID string, input any, options StartOptions) (*Started, error) {
	req, err := startRequest(workflowID, input, options)
	if err != nil {
		return nil, err
	}
	res, err := call(ctx, r.client, r.rpc.StartRun, req)
	if err != nil {
		return nil, err
	}
	return &Started{res.GetRun(), res.GetDuplicate()}, nil
}

// Get reads one run with its nodes. RUN_NOT_FOUND when there is none.
func (r *Runs) Get(ctx context.Context, runID string) (*RunState, error) {
	res, err := call(ctx, r.client, r.rpc.GetRun, &pawlv1.GetRunRequest{RunId: runID})
	return res.GetRun(), err
}

// GetAt reads one run as it was after an event of its log. INPUT_INVALID for event 0, CURSOR_OUT_OF_RANGE beyond the log.
func (r *Runs) GetAt(ctx context.Context, runID string, eventID uint64) (*RunState, error) {
	if eventID == 0 {
		return nil, &Error{Reason: "INPUT_INVALID", Message: "0 is no event id; events count from 1", Code: codes.InvalidArgument}
	}
	res, err := call(ctx, r.client, r.rpc.GetRun, &pawlv1.GetRunRequest{RunId: runID, AtEventId: eventID})
	return res.GetRun(), err
}

// RunFilter selects the runs to list. The zero value means all.
type RunFilter struct {
	Statuses   []pawlv1.RunStatus
	WorkflowID string
	ScheduleID string
	// ThreadID selects the runs of a thread: its history.
	ThreadID string
	// AssistantID selects the runs of an assistant.
	AssistantID string
	// Stops: of cancelled runs, only those that were stopped in one of these ways. None means all. Other runs pass: name the status too.
	Stops []StopMode
	// Query is the beginning of a workflow id, of a word of its title or of a run id, or the last eight digits of a run id.
	Query string
	// Filter is a filter such as: status = failed AND metadata.team = "billing".
	Filter string
	// SavedFilter is the name of a kept filter, which must hold as well.
	SavedFilter string
}

// List reads a page of runs, newest first, without inputs, outputs and nodes, and the token of the next page.
func (r *Runs) List(ctx context.Context, filter RunFilter, page Page) ([]*RunState, string, error) {
	res, err := call(ctx, r.client, r.rpc.ListRuns, &pawlv1.ListRunsRequest{
		Statuses: filter.Statuses, WorkflowId: filter.WorkflowID, ScheduleId: filter.ScheduleID, Query: filter.Query,
		Filter: filter.Filter, SavedFilter: filter.SavedFilter,
		ThreadId: filter.ThreadID, AssistantId: filter.AssistantID, Stops: filter.Stops, PageSize: page.Size, PageToken: page.Token,
	})
	return res.GetRuns(), res.GetNextPageToken(), err
}

// CancelOptions are the options of Cancel.
type CancelOptions struct {
	// Reason is for people.
	Reason string
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
	// Compensate says whether to undo completed nodes first. Nil lets the workflow's compensate_on decide.
	Compensate *bool
	// Mode says how to stop the run. The zero value is a plain cancellation.
	Mode StopMode
}

// Cancel aborts running nodes and ends the run. Completed nodes that have a compensation are undone first, and another Cancel stops that.
// RUN_ALREADY_FINISHED when it has ended.
func (r *Runs) Cancel(ctx context.Context, runID string, options CancelOptions) (*RunState, error) {
	req := &pawlv1.CancelRunRequest{
		RunId: runID, Reason: options.Reason, RequestId: identified(options.RequestID), Compensate: options.Compensate,
		Mode: options.Mode,
	}
	res, err := call(ctx, r.client, r.rpc.CancelRun, req)
	return res.GetRun(), err
}

// Wait returns the run after its end, across reconnects. It fails when the context ends first. The run continues.
func (r *Runs) Wait(ctx context.Context, runID string) (*RunState, error) {
	for _, err := range r.Watch(ctx, runID, WatchOptions{Types: terminalTypes}) {
		if err != nil {
			return nil, err
		}
	}
	return r.Get(ctx, runID)
}
