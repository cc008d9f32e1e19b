package pawl

// Runs as functions: start a run and get its output. The calls share standing streams (submit.go). With a gateway that has no such stream,
// each is its own call.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// Accepted names a run that was accepted.
type Accepted struct {
	RunID string
	// IsDuplicate is true if the gateway had accepted the request, or the same input, before.
	IsDuplicate bool
}

// RunOptions are the options of RunWith.
type RunOptions struct {
	StartOptions
	// OnStart is called once, when the run is accepted.
	OnStart func(Accepted)
	// OnResult is called with the record of the run when it has ended, however it ended: status, output, exception, state, times and webhooks.
	OnResult func(*RunResult)
}

// RunFailed is the error of Run for a run that did not complete. The call itself succeeded.
type RunFailed struct {
	RunID string
	// Status is failed, cancelled or timeout.
	Status pawlv1.RunStatus
	// NodeID is the node that failed first. Empty if none did.
	NodeID string
	// Message is for people.
	Message string
	// Cause says why, for programs: the cause of the node, or cancelled, interrupted, rolled_back or deadline_passed.
	Cause string
	// FailureClass is what Pawl promises after this failure. Unspecified if the gateway does not tell.
	FailureClass pawlv1.FailureClass

	runs *Runs
}

// Result reads the record of the run: its state, times, webhooks, and what the handler added to its failure.
func (f *RunFailed) Result(ctx context.Context) (*RunResult, error) {
	if f.runs == nil {
		return nil, fmt.Errorf("pawl: no client returned this error; read the record with Runs.Result(ctx, %q)", f.RunID)
	}
	return f.runs.Result(ctx, f.RunID)
}

func (f *RunFailed) Error() string {
	status := strings.ToLower(strings.TrimPrefix(f.Status.String(), "RUN_STATUS_"))
	text := fmt.Sprintf("pawl: run %s ended as %s", f.RunID, status)
	if f.NodeID != "" {
		text += " at node " + f.NodeID
	}
	if f.Message != "" {
		text += ": " + f.Message
	}
	return text
}

// Run starts a workflow, waits for its end and returns its output, across reconnects. The error is *RunFailed for a run that did not
// complete, and *Error for a call that failed. When the context ends, Run returns and the run continues.
func Run[In, Out any](ctx context.Context, client *Client, workflowID string, in In) (Out, error) {
	return RunWith[In, Out](ctx, client, workflowID, in, RunOptions{})
}

// RunWith is Run with options.
func RunWith[In, Out any](ctx context.Context, client *Client, workflowID string, in In, options RunOptions) (Out, error) {
	var out Out
	req, err := startRequest(workflowID, in, options.StartOptions)
	if err != nil {
		return out, err
	}
	end, err := client.run(ctx, req, options.OnStart)
	if err != nil {
		return out, err
	}
	if options.OnResult != nil {
		record, err := client.Runs.Result(ctx, end.GetRunId())
		if err != nil {
			return out, err
		}
		options.OnResult(record)
	}
	if end.GetStatus() != pawlv1.RunStatus_RUN_STATUS_COMPLETED {
		return out, &RunFailed{
			RunID: end.GetRunId(), Status: end.GetStatus(), NodeID: end.GetFailedNodeId(), Message: end.GetErrorMessage(),
			Cause: end.GetCause(), FailureClass: end.GetFailureClass(), runs: client.Runs,
		}
	}
	if len(end.GetOutputJson()) == 0 {
		return out, nil
	}
	if err := json.Unmarshal(end.GetOutputJson(), &out); err != nil {
		return out, fmt.Errorf("pawl: the output of run %s does not fit %T: %w", end.GetRunId(), out, err)
	}
	return out, nil
}

// run returns the end of a new run.
func (c *Client) run(ctx context.Context, req *pawlv1.StartRunRequest, onStart func(Accepted)) (*pawlv1.RunEnd, error) {
	report := func(run *pawlv1.AcceptedSubmission) {
		if onStart != nil {
			onStart(acceptedOf(run))
		}
	}
	sub := newSubmission(req, true)
	c.submitter.add(sub)
	c.submitter.await(ctx, sub, report)
	switch {
	case sub.err != nil:
		return nil, sub.err
	case !sub.isCall:
		return sub.end, nil
	case sub.run != nil:
		report = func(*pawlv1.AcceptedSubmission) {} // the stream has named the run
	}
	return c.Runs.executeToEnd(ctx, req, report)
}

// Start accepts a run and returns at once. It shares the standing stream with Run, and costs less than Runs.Start, which also returns the
// run.
func (c *Client) Start(ctx context.Context, workflowID string, input any, options StartOptions) (Accepted, error) {
	outcome := c.Runs.StartMany(ctx, []StartItem{{workflowID, input, options}})[0]
	return outcome.Accepted, outcome.Err
}

// StartItem is one of many starts.
type StartItem struct {
	WorkflowID string
	// Input is a value that encodes to JSON; json.RawMessage is sent to the letter.
	Input any
	StartOptions
}

// StartOutcome is the answer to one of many starts: the run, or the error.
type StartOutcome struct {
	Accepted
	Err error
}

// How many calls of StartMany are under way at once if there is no stream.
const startCallsMax = 16

// StartMany starts many runs, in batches. Every start has its own outcome, in the order of the list. A refused start does not affect
// others.
func (r *Runs) StartMany(ctx context.Context, items []StartItem) []StartOutcome {
	outcomes := make([]StartOutcome, len(items))
	all := make([]*submission, len(items))
	var valid []*submission
	for n, item := range items {
		req, err := startRequest(item.WorkflowID, item.Input, item.StartOptions)
		if err != nil {
			outcomes[n].Err = err
			continue
		}
		all[n] = newSubmission(req, false)
		valid = append(valid, all[n])
	}
	submitter := r.client.submitter
	submitter.add(valid...)
	calls := make(chan struct{}, startCallsMax)
	var under sync.WaitGroup
	for n, sub := range all {
		if sub == nil {
			continue
		}
		submitter.await(ctx, sub, func(*pawlv1.AcceptedSubmission) {})
		switch {
		case sub.err != nil:
			outcomes[n].Err = sub.err
		case !sub.isCall:
			outcomes[n].Accepted = acceptedOf(sub.run)
		default:
			calls <- struct{}{}
			under.Go(func() {
				outcomes[n] = r.startByCall(ctx, sub.wire.GetStart())
				<-calls
			})
		}
	}
	under.Wait()
	return outcomes
}

func (r *Runs) startByCall(ctx context.Context, req *pawlv1.StartRunRequest) StartOutcome {
	res, err := call(ctx, r.client, r.rpc.StartRun, req)
	return StartOutcome{Accepted{res.GetRun().GetRunId(), res.GetDuplicate()}, err}
}

func acceptedOf(run *pawlv1.AcceptedSubmission) Accepted {
	return Accepted{run.GetRunId(), run.GetDuplicate()}
}
