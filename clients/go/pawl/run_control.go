package pawl

import (
	"context"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// MutationOptions are the options of a change.
type MutationOptions struct {
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
}

// UpdateOptions are the options of an update.
type UpdateOptions struct {
	// ExpectedVersion is the version that the edit was made on. 0 means that the last writer wins.
	ExpectedVersion uint32
	// Strict refuses a definition that has warnings. Only for workflows.
	Strict bool
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
}

// PauseOptions name the user who pauses or resumes, and the reason.
type PauseOptions struct {
	By, Reason string
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
}

// PauseRunOptions are the options of a pause of a run.
type PauseRunOptions struct {
	PauseOptions
	// Children also pauses the child runs.
	Children bool
}

// Pause stops planning and claiming. Running nodes finish. A repeat is harmless. RUN_ALREADY_FINISHED.
func (r *Runs) Pause(ctx context.Context, runID string, options PauseRunOptions) (*RunState, error) {
	res, err := call(ctx, r.client, r.rpc.PauseRun, &pawlv1.PauseRunRequest{
		RunId: runID, By: options.By, Reason: options.Reason, Children: options.Children, RequestId: identified(options.RequestID),
	})
	return res.GetRun(), err
}

// Resume resumes a paused run, or continues an interrupted one as a new run. WORKFLOW_PAUSED, RUN_ALREADY_FINISHED.
func (r *Runs) Resume(ctx context.Context, runID string, options PauseRunOptions) (*RunState, error) {
	res, err := call(ctx, r.client, r.rpc.ResumeRun, &pawlv1.ResumeRunRequest{
		RunId: runID, By: options.By, Reason: options.Reason, Children: options.Children, RequestId: identified(options.RequestID),
	})
	return res.GetRun(), err
}

// SignalOptions are the options of Signal.
type SignalOptions struct {
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
}

// Signalled is a run that got a signal.
type Signalled struct {
	Run *RunState
	// Duplicate tells whether the gateway had accepted this request before.
	Duplicate bool
	// Kept tells whether the run keeps the signal, because no node waits for it yet.
	Kept bool
}

// Signal sends the run a signal. The node that has waited longest for the name takes it; if none waits, the run keeps it. The payload is
// any value that JSON can express, or json.RawMessage. SIGNAL_NOT_AWAITED, TOO_MANY_SIGNALS, INPUT_INVALID, RUN_ALREADY_FINISHED.
func (r *Runs) Signal(ctx context.Context, runID, name string, payload any, options SignalOptions) (*Signalled, error) {
	text, err := jsonOf(payload)
	if err != nil {
		return nil, err
	}
	res, err := call(ctx, r.client, r.rpc.SignalRun, &pawlv1.SignalRunRequest{
		RunId: runID, Name: name, PayloadJson: text, RequestId: identified(options.RequestID),
	})
	if err != nil {
		return nil, err
	}
	return &Signalled{res.GetRun(), res.GetDuplicate(), res.GetKept()}, nil
}

// TopUp raises the budget of a run. A run that paused because its budget was short continues. BUDGET_NOT_LIMITED, RUN_ALREADY_FINISHED.
func (r *Runs) TopUp(ctx context.Context, runID string, add Budget, options PauseOptions) (*RunState, error) {
	res, err := call(ctx, r.client, r.rpc.TopUpRun, &pawlv1.TopUpRunRequest{
		RunId: runID, By: options.By, Reason: options.Reason, RequestId: identified(options.RequestID),
		Amounts: &pawlv1.Amounts{Tokens: add.Tokens, CostMicros: add.CostMicros, NodeExecutions: add.NodeExecutions},
	})
	return res.GetRun(), err
}

// Decision is Approve or Reject.
type Decision = pawlv1.Decision

const (
	Approve = pawlv1.Decision_DECISION_APPROVE
	Reject  = pawlv1.Decision_DECISION_REJECT
)

// DecideOptions are the options of Decide.
type DecideOptions struct {
	// Comment is the reason, for people.
	Comment string
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
}

// Decide approves or rejects a node that waits for a person. NODE_NOT_HELD, NODE_ALREADY_DECIDED.
func (r *Runs) Decide(ctx context.Context, node NodeOf, decision Decision, options DecideOptions) (*RunState, error) {
	res, err := call(ctx, r.client, r.rpc.DecideNode, &pawlv1.DecideNodeRequest{
		RunId: node.RunID, NodeId: node.NodeID, Iteration: node.Iteration, Decision: decision, Comment: options.Comment,
		RequestId: identified(options.RequestID),
	})
	return res.GetRun(), err
}

// Recheck checks the whole log again, and lifts the quarantine when the log is intact. EVENT_LOG_CORRUPTION.
func (r *Runs) Recheck(ctx context.Context, runID string, options MutationOptions) (*RunState, error) {
	req := &pawlv1.RecheckRunRequest{RunId: runID, RequestId: identified(options.RequestID)}
	res, err := call(ctx, r.client, r.rpc.RecheckRun, req)
	return res.GetRun(), err
}

// Delete removes a test run with its history. It cancels a live one first. RUN_NOT_DELETABLE.
func (r *Runs) Delete(ctx context.Context, runID string, options MutationOptions) error {
	req := &pawlv1.DeleteRunRequest{RunId: runID, RequestId: identified(options.RequestID)}
	_, err := call(ctx, r.client, r.rpc.DeleteRun, req)
	return err
}
