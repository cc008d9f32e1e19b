package pawl

import (
	"context"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// Approval is a question that waits for a person, or its answer.
type Approval = pawlv1.Approval

// Approvals finds questions to people, and answers them.
type Approvals struct {
	client *Client
	rpc    pawlv1.ApprovalServiceClient
}

// ApprovalFilter selects the approvals to list. The zero value means all.
type ApprovalFilter struct {
	States     []pawlv1.ApprovalState
	WorkflowID string
	RunID      string
	Assignee   string
}

// Answer is the answer of a person.
type Answer struct {
	// Response is a value that encodes to JSON. json.RawMessage is sent to the letter. nil means none.
	Response any
	// Comment is the reason, for people.
	Comment string
	// DecidedBy is the name of the person.
	DecidedBy string
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
}

// List reads a page of approvals, newest first, and the token of the next page. It leaves out the schemas of their responses.
func (a *Approvals) List(ctx context.Context, filter ApprovalFilter, page Page) ([]*Approval, string, error) {
	res, err := call(ctx, a.client, a.rpc.ListApprovals, &pawlv1.ListApprovalsRequest{
		States: filter.States, WorkflowId: filter.WorkflowID, RunId: filter.RunID, Assignee: filter.Assignee,
		PageSize: page.Size, PageToken: page.Token,
	})
	return res.GetApprovals(), res.GetNextPageToken(), err
}

// Get reads one approval with the schema of its response. APPROVAL_NOT_FOUND when there is none.
func (a *Approvals) Get(ctx context.Context, approvalID string) (*Approval, error) {
	res, err := call(ctx, a.client, a.rpc.GetApproval, &pawlv1.GetApprovalRequest{ApprovalId: approvalID})
	return res.GetApproval(), err
}

// Approve answers yes. INPUT_INVALID for a response that does not fit, NODE_ALREADY_DECIDED, APPROVAL_CLOSED.
func (a *Approvals) Approve(ctx context.Context, approvalID string, answer Answer) (*Approval, error) {
	response, err := jsonOf(answer.Response)
	if err != nil {
		return nil, err
	}
	res, err := call(ctx, a.client, a.rpc.ApproveApproval, &pawlv1.ApproveApprovalRequest{
		ApprovalId: approvalID, ResponseJson: response, Comment: answer.Comment, DecidedBy: answer.DecidedBy,
		RequestId: identified(answer.RequestID),
	})
	return res.GetApproval(), err
}

// Reject answers no. The rules of Approve apply.
func (a *Approvals) Reject(ctx context.Context, approvalID string, answer Answer) (*Approval, error) {
	response, err := jsonOf(answer.Response)
	if err != nil {
		return nil, err
	}
	res, err := call(ctx, a.client, a.rpc.RejectApproval, &pawlv1.RejectApprovalRequest{
		ApprovalId: approvalID, ResponseJson: response, Comment: answer.Comment, DecidedBy: answer.DecidedBy,
		RequestId: identified(answer.RequestID),
	})
	return res.GetApproval(), err
}
