package pawl

import (
	"context"
	"encoding/json"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// Workflow is a saved workflow with one of its versions.
type Workflow = pawlv1.Workflow

// Workflows saves and reads workflows.
type Workflows struct {
	client *Client
	rpc    pawlv1.WorkflowServiceClient
}

// ApplyOptions are the options of Apply.
type ApplyOptions struct {
	// WorkflowID is the id of the workflow. Empty means the id in the definition.
	WorkflowID string
	// Strict refuses a definition that has warnings.
	Strict bool
	// RequestID makes a repeat of a create harmless. Empty means a new one.
	RequestID string
}

// Applied is the outcome of Apply.
type Applied struct {
	Workflow *Workflow
	// Outcome is created, updated or unchanged.
	Outcome string
	// Warnings are about parts that are allowed but contain a likely mistake.
	Warnings []*pawlv1.Violation
}

// Apply creates or updates a workflow. The definition is JSON or YAML text (string or []byte), or a value that encodes to JSON. The last
// writer wins. Race: another client creates the workflow after the read. Apply then updates it.
func (w *Workflows) Apply(ctx context.Context, definition any, options ApplyOptions) (*Applied, error) {
	source, err := sourceOf(definition)
	if err != nil {
		return nil, err
	}
	id := options.WorkflowID
	if id == "" {
		if id, err = w.ownID(ctx, source); err != nil {
			return nil, err
		}
	}
	var known *Workflow
	if id != "" {
		known, err = w.Get(ctx, id, 0)
		if err != nil && !isReason(err, "WORKFLOW_NOT_FOUND") {
			return nil, err
		}
	}
	if known == nil {
		req := &pawlv1.CreateWorkflowRequest{WorkflowId: id, Definition: source, Strict: options.Strict, RequestId: identified(options.RequestID)}
		made, err := call(ctx, w.client, w.rpc.CreateWorkflow, req)
		if err == nil {
			return &Applied{made.GetWorkflow(), "created", made.GetWarnings()}, nil
		}
		if id == "" || !isReason(err, "WORKFLOW_EXISTS") {
			return nil, err
		}
	}
	req := &pawlv1.UpdateWorkflowRequest{WorkflowId: id, Definition: source, Strict: options.Strict, RequestId: freshID()}
	updated, err := call(ctx, w.client, w.rpc.UpdateWorkflow, req)
	if err != nil {
		return nil, err
	}
	outcome := "updated"
	if updated.GetWorkflow().GetVersion() == known.GetVersion() {
		outcome = "unchanged"
	}
	return &Applied{updated.GetWorkflow(), outcome, updated.GetWarnings()}, nil
}

// ownID reads the id from the definition. The server parses the text, so this client needs no YAML parser.
func (w *Workflows) ownID(ctx context.Context, source *pawlv1.DefinitionSource) (string, error) {
	checked, err := call(ctx, w.client, w.rpc.ValidateWorkflow, &pawlv1.ValidateWorkflowRequest{Definition: source})
	if err != nil {
		return "", err
	}
	var definition struct{ ID string }
	if len(checked.GetDefinitionJson()) > 0 {
		if err := json.Unmarshal(checked.GetDefinitionJson(), &definition); err != nil {
			return "", &Error{Reason: Unrecognised, Message: "the server's definition is not JSON", cause: err}
		}
	}
	return definition.ID, nil
}

// Get reads one version of a workflow. 0 means the newest. WORKFLOW_NOT_FOUND when there is none.
func (w *Workflows) Get(ctx context.Context, workflowID string, version uint32) (*Workflow, error) {
	res, err := call(ctx, w.client, w.rpc.GetWorkflow, &pawlv1.GetWorkflowRequest{WorkflowId: workflowID, Version: version})
	return res.GetWorkflow(), err
}

// Page selects the part of a list to read. The zero value is the first page.
type Page struct {
	// Size is the largest number of items. 0 means 50.
	Size int32
	// Token is the next token of the page before.
	Token string
}

// List reads a page of workflows in order of id, and the token of the next page, which is empty on the last one.
func (w *Workflows) List(ctx context.Context, page Page) ([]*Workflow, string, error) {
	res, err := call(ctx, w.client, w.rpc.ListWorkflows, &pawlv1.ListWorkflowsRequest{PageSize: page.Size, PageToken: page.Token})
	return res.GetWorkflows(), res.GetNextPageToken(), err
}

// DailyBudget is what all runs of a workflow may use, have reserved and have used on one day.
type DailyBudget = pawlv1.DailyBudget

// DailyBudgets reads a page of days, the newest first, and the token of the next page. An empty id means all workflows with a daily budget.
// WORKFLOW_NOT_FOUND when there is none.
func (w *Workflows) DailyBudgets(ctx context.Context, workflowID string, page Page) ([]*DailyBudget, string, error) {
	res, err := call(ctx, w.client, w.rpc.ListDailyBudgets, &pawlv1.ListDailyBudgetsRequest{
		WorkflowId: workflowID, PageSize: page.Size, PageToken: page.Token,
	})
	return res.GetDailyBudgets(), res.GetNextPageToken(), err
}

func sourceOf(definition any) (*pawlv1.DefinitionSource, error) {
	switch text := definition.(type) {
	case string:
		return &pawlv1.DefinitionSource{Text: text}, nil
	case []byte:
		return &pawlv1.DefinitionSource{Text: string(text)}, nil
	}
	text, err := encode(definition)
	return &pawlv1.DefinitionSource{Text: string(text)}, err
}
