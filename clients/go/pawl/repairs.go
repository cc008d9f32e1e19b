package pawl

import (
	"context"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// RepairPlan says what a repair reuses of a finished run, and what it runs.
type RepairPlan = pawlv1.RepairPlan

// RetryOptions are the options of Retry.
type RetryOptions struct {
	// Latest uses the newest saved version of the workflow.
	Latest bool
	// KeepEffects does not repeat effects that happened: the new run gets the records of the effect ledger.
	KeepEffects bool
	// PlanDigest is the digest of a plan. REPAIR_PLAN_STALE if the plan is another one by now.
	PlanDigest string
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
}

// SetOutput is the output of a node, set by hand.
type SetOutput struct {
	NodeID string
	// Output is any value that encodes to JSON. A json.RawMessage goes to the server to the letter.
	Output any
	// Handle is the handle by which the node leaves. Empty means none.
	Handle string
}

// RepairOptions are the options of PlanRepair and Repair.
type RepairOptions struct {
	RetryOptions
	// FromNodes run again, with everything that was decided on them.
	FromNodes []string
	// FromEventID is the last event to reuse. 0 means the whole log.
	FromEventID uint64
	// Definition is the definition of the new run, as Workflows.Apply takes it. Nil means that of the finished run.
	Definition any
	// Input is the input of the new run. Nil means that of the finished run.
	Input any
	// Outputs are set by hand. Their nodes do not run.
	Outputs []SetOutput
	// KeepNodes are reused although their definition changed.
	KeepNodes []string
	// By and Reason are recorded with outputs that are set by hand.
	By, Reason string
}

// Repaired is a run that repairs a finished one.
type Repaired struct {
	Started
	// Plan is nil if the gateway had accepted the request before.
	Plan *RepairPlan
}

// PlanRepair says what a repair would reuse and run. It starts nothing. RUN_NOT_FINISHED, NODE_NOT_FOUND, NOTHING_TO_REPAIR.
func (r *Runs) PlanRepair(ctx context.Context, runID string, options RepairOptions) (*RepairPlan, error) {
	req, err := repairRequest(runID, options)
	if err != nil {
		return nil, err
	}
	req.DryRun = true
	res, err := call(ctx, r.client, r.rpc.RepairRun, req)
	return res.GetPlan(), err
}

// Repair starts a run that repairs a finished one: it reuses the results that still hold. Also REPAIR_PLAN_STALE.
func (r *Runs) Repair(ctx context.Context, runID string, options RepairOptions) (*Repaired, error) {
	req, err := repairRequest(runID, options)
	if err != nil {
		return nil, err
	}
	res, err := call(ctx, r.client, r.rpc.RepairRun, req)
	if err != nil {
		return nil, err
	}
	return &Repaired{Started{res.GetRun(), res.GetDuplicate()}, res.GetPlan()}, nil
}

// Retry repairs a finished run from the nodes that did not complete. RUN_NOT_FINISHED, NOTHING_TO_REPAIR.
func (r *Runs) Retry(ctx context.Context, runID string, options RetryOptions) (*Repaired, error) {
	res, err := call(ctx, r.client, r.rpc.RetryRun, &pawlv1.RetryRunRequest{
		RunId: runID, Latest: options.Latest, KeepEffects: options.KeepEffects, PlanDigest: options.PlanDigest,
		RequestId: identified(options.RequestID),
	})
	if err != nil {
		return nil, err
	}
	return &Repaired{Started{res.GetRun(), res.GetDuplicate()}, res.GetPlan()}, nil
}

func repairRequest(runID string, options RepairOptions) (*pawlv1.RepairRunRequest, error) {
	input, err := jsonOf(options.Input)
	if err != nil {
		return nil, err
	}
	req := &pawlv1.RepairRunRequest{
		RunId: runID, FromNodes: options.FromNodes, FromEventId: options.FromEventID, Latest: options.Latest, InputJson: input,
		KeepNodes: options.KeepNodes, KeepEffects: options.KeepEffects, PlanDigest: options.PlanDigest, By: options.By,
		Reason: options.Reason, RequestId: identified(options.RequestID),
	}
	if options.Definition != nil {
		if req.Definition, err = sourceOf(options.Definition); err != nil {
			return nil, err
		}
	}
	for _, set := range options.Outputs {
		output, err := encode(set.Output)
		if err != nil {
			return nil, err
		}
		req.Outputs = append(req.Outputs, &pawlv1.SetOutputRequest{NodeId: set.NodeID, OutputJson: output, Handle: set.Handle})
	}
	return req, nil
}
