package pawl

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// QueuedCommand is a command of the workflow queue.
type QueuedCommand = pawlv1.QueuedCommand

// CommandState is waiting, active, paused, completed, dead letter, cancelled or discarded.
type CommandState = pawlv1.CommandState

// Commands enqueues commands that a scheduler carries out later, and handles those that were given up.
type Commands struct {
	client *Client
	rpc    pawlv1.QueueServiceClient
}

// EnqueueOptions are the options of EnqueueStart and EnqueueResume.
type EnqueueOptions struct {
	// Priority is sooner for lower numbers; -1000 to 1000.
	Priority int32
	// MaxAttempts is how many deliveries may fail before the command is given up. 0 means 3.
	MaxAttempts uint32
	// Delay is how long the command waits at least.
	Delay time.Duration
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
}

func (o EnqueueOptions) request(kind pawlv1.CommandType, workflowID, runID string) *pawlv1.EnqueueCommandRequest {
	req := &pawlv1.EnqueueCommandRequest{
		Type: kind, WorkflowId: workflowID, RunId: runID, Priority: o.Priority, MaxAttempts: o.MaxAttempts,
		RequestId: identified(o.RequestID),
	}
	if o.Delay > 0 {
		req.Delay = durationpb.New(o.Delay)
	}
	return req
}

// Start enqueues the start of a run. The input encodes to JSON; json.RawMessage is sent to the letter. The name of the run is a UUID for a
// later Resume. An empty name means the id of the command. REQUEST_ID_REUSED.
func (c *Commands) Start(ctx context.Context, workflowID string, input any, runName string, options EnqueueOptions) (*QueuedCommand, error) {
	req := options.request(pawlv1.CommandType_COMMAND_TYPE_START, workflowID, runName)
	var err error
	if req.InputJson, err = jsonOf(input); err != nil {
		return nil, err
	}
	res, err := call(ctx, c.client, c.rpc.EnqueueCommand, req)
	return res.GetCommand(), err
}

// CommandAnswer is the answer of a person that Resume enqueues.
type CommandAnswer struct {
	// RunID is the id of the run, or the name of its start.
	RunID  string
	NodeID string
	// Iteration is 0 outside loops and maps.
	Iteration uint32
	// Approve is false for a rejection.
	Approve bool
	// Response is a value that encodes to JSON. json.RawMessage is sent to the letter. nil means none.
	Response any
	// Comment is the reason, for people.
	Comment string
	// DecidedBy is the name of the person.
	DecidedBy string
}

// Resume enqueues the answer to a node that waits for a person. REQUEST_ID_REUSED.
func (c *Commands) Resume(ctx context.Context, workflowID string, answer CommandAnswer, options EnqueueOptions) (*QueuedCommand, error) {
	response, err := jsonOf(answer.Response)
	if err != nil {
		return nil, err
	}
	decision := pawlv1.Decision_DECISION_REJECT
	if answer.Approve {
		decision = pawlv1.Decision_DECISION_APPROVE
	}
	req := options.request(pawlv1.CommandType_COMMAND_TYPE_RESUME, workflowID, answer.RunID)
	req.Answer = &pawlv1.CommandAnswer{
		NodeId: answer.NodeID, Iteration: answer.Iteration, Decision: decision, ResponseJson: response,
		Comment: answer.Comment, DecidedBy: answer.DecidedBy,
	}
	res, err := call(ctx, c.client, c.rpc.EnqueueCommand, req)
	return res.GetCommand(), err
}

// Get reads a command with its state and its run. QUEUE_JOB_NOT_FOUND.
func (c *Commands) Get(ctx context.Context, commandID string) (*QueuedCommand, error) {
	res, err := call(ctx, c.client, c.rpc.GetCommand, &pawlv1.GetCommandRequest{CommandId: commandID})
	return res.GetCommand(), err
}

// List reads a page of commands, newest first, and the token of the next page. No states means all.
func (c *Commands) List(ctx context.Context, states []CommandState, page Page) ([]*QueuedCommand, string, error) {
	res, err := call(ctx, c.client, c.rpc.ListCommands, &pawlv1.ListCommandsRequest{
		States: states, PageSize: page.Size, PageToken: page.Token,
	})
	return res.GetCommands(), res.GetNextPageToken(), err
}

// Cancel ends a command that waits. An empty request id means a new one. QUEUE_JOB_NOT_FOUND, QUEUE_JOB_NOT_CANCELLABLE.
func (c *Commands) Cancel(ctx context.Context, commandID, requestID string) (*QueuedCommand, error) {
	res, err := call(ctx, c.client, c.rpc.CancelCommand, &pawlv1.CancelCommandRequest{
		CommandId: commandID, RequestId: identified(requestID),
	})
	return res.GetCommand(), err
}

// Redrive lets a command that was given up wait again. QUEUE_JOB_NOT_FOUND, QUEUE_JOB_NOT_DEAD.
func (c *Commands) Redrive(ctx context.Context, commandID, requestID string) (*QueuedCommand, error) {
	res, err := call(ctx, c.client, c.rpc.RedriveCommand, &pawlv1.RedriveCommandRequest{
		CommandId: commandID, RequestId: identified(requestID),
	})
	return res.GetCommand(), err
}

// Discard closes a command that was given up. QUEUE_JOB_NOT_FOUND, QUEUE_JOB_NOT_DEAD.
func (c *Commands) Discard(ctx context.Context, commandID, requestID string) (*QueuedCommand, error) {
	res, err := call(ctx, c.client, c.rpc.DiscardCommand, &pawlv1.DiscardCommandRequest{
		CommandId: commandID, RequestId: identified(requestID),
	})
	return res.GetCommand(), err
}
