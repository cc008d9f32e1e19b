package pawl

import (
	"context"
	"encoding/json"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// Create saves version 1 of a workflow. WORKFLOW_EXISTS, DEFINITION_INVALID, CYCLE_DETECTED.
func (w *Workflows) Create(ctx context.Context, definition any, options ApplyOptions) (*Workflow, error) {
	source, err := sourceOf(definition)
	if err != nil {
		return nil, err
	}
	req := &pawlv1.CreateWorkflowRequest{
		WorkflowId: options.WorkflowID, Definition: source, Strict: options.Strict, RequestId: identified(options.RequestID),
	}
	res, err := call(ctx, w.client, w.rpc.CreateWorkflow, req)
	return res.GetWorkflow(), err
}

// Update saves a new version of a workflow. VERSION_MISMATCH when ExpectedVersion is not the newest.
func (w *Workflows) Update(ctx context.Context, workflowID string, definition any, options UpdateOptions) (*Workflow, error) {
	source, err := sourceOf(definition)
	if err != nil {
		return nil, err
	}
	res, err := call(ctx, w.client, w.rpc.UpdateWorkflow, &pawlv1.UpdateWorkflowRequest{
		WorkflowId: workflowID, Definition: source, ExpectedVersion: options.ExpectedVersion, Strict: options.Strict,
		RequestId: identified(options.RequestID),
	})
	return res.GetWorkflow(), err
}

// Validation is the outcome of Validate.
type Validation struct {
	// Violations are all broken rules. Empty when the definition is valid.
	Violations []*pawlv1.Violation
	// Warnings are about parts that are allowed but contain a likely mistake. Empty if a rule is broken.
	Warnings []*pawlv1.Violation
	// Definition is the canonical form. Empty when a rule is broken.
	Definition json.RawMessage
}

// Validate checks a definition and saves nothing. Broken rules are a value here, not an error.
func (w *Workflows) Validate(ctx context.Context, definition any) (*Validation, error) {
	source, err := sourceOf(definition)
	if err != nil {
		return nil, err
	}
	res, err := call(ctx, w.client, w.rpc.ValidateWorkflow, &pawlv1.ValidateWorkflowRequest{Definition: source})
	if err != nil {
		return nil, err
	}
	return &Validation{res.GetViolations(), res.GetWarnings(), res.GetDefinitionJson()}, nil
}

// DeleteWorkflowOptions are the options of Workflows.Delete.
type DeleteWorkflowOptions struct {
	// Force also deletes a workflow that has live runs.
	Force bool
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
}

// Delete removes a workflow. HAS_LIVE_RUNS unless forced.
func (w *Workflows) Delete(ctx context.Context, workflowID string, options DeleteWorkflowOptions) error {
	req := &pawlv1.DeleteWorkflowRequest{WorkflowId: workflowID, Force: options.Force, RequestId: identified(options.RequestID)}
	_, err := call(ctx, w.client, w.rpc.DeleteWorkflow, req)
	return err
}

// Pause pauses all runs of a workflow, also those that start while it is paused. Running nodes finish. WORKFLOW_NOT_FOUND.
func (w *Workflows) Pause(ctx context.Context, workflowID string, options PauseOptions) (*Pause, error) {
	res, err := call(ctx, w.client, w.rpc.PauseWorkflow, &pawlv1.PauseWorkflowRequest{
		WorkflowId: workflowID, By: options.By, Reason: options.Reason, RequestId: identified(options.RequestID),
	})
	return res.GetPause(), err
}

// Resume resumes the runs of a workflow, except runs paused one by one. It reports whether some still wait. WORKFLOW_NOT_FOUND.
func (w *Workflows) Resume(ctx context.Context, workflowID string, options PauseOptions) (isResuming bool, err error) {
	res, err := call(ctx, w.client, w.rpc.ResumeWorkflow, &pawlv1.ResumeWorkflowRequest{
		WorkflowId: workflowID, By: options.By, Reason: options.Reason, RequestId: identified(options.RequestID),
	})
	return res.GetResuming(), err
}
