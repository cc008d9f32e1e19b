package pawl

import (
	"context"
	"time"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// TestRunOptions are the options of Test. Each means the same as in StartOptions.
type TestRunOptions struct {
	// Deadline is how long the run may take from its start. 0 means the definition's own, or one hour.
	Deadline time.Duration
	// After is how long after its acceptance the run starts. 0 means at once. The run is pending until then. It excludes StartAt.
	After time.Duration
	// StartAt is when the run starts, by the clock of the database. The zero value, or a time in the past, means at once.
	StartAt time.Time
	// Temporary deletes the run with everything that belongs to it, soon after its end. Otherwise it stays until Delete.
	Temporary bool
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
}

// Tested is an accepted test run.
type Tested struct {
	Started
	// Warnings are about parts of the graph that are allowed but contain a likely mistake.
	Warnings []*pawlv1.Violation
}

// Test runs a graph that is not saved. It takes the same definitions as Workflows.Apply.
func (r *Runs) Test(ctx context.Context, definition, input any, options TestRunOptions) (*Tested, error) {
	source, err := sourceOf(definition)
	if err != nil {
		return nil, err
	}
	text, err := jsonOf(input)
	if err != nil {
		return nil, err
	}
	res, err := call(ctx, r.client, r.rpc.TestRun, &pawlv1.TestRunRequest{
		Definition: source, InputJson: text, RequestId: identified(options.RequestID),
		Deadline: deadlineOf(options.Deadline), AfterSeconds: secondsOf(options.After), StartAt: timestampOf(options.StartAt),
		Temporary: options.Temporary, Goal: options.Goal, Constraints: options.Constraints,
		MaxIterations: options.MaxIterations, MaxRetries: options.MaxRetries, Budget: options.Budget.wire(),
		UntrustedInput: options.UntrustedInput,
	})
	if err != nil {
		return nil, err
	}
	return &Tested{Started{res.GetRun(), res.GetDuplicate()}, res.GetWarnings()}, nil
}
