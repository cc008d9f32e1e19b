package pawl

import (
	"context"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// Assistant is a workflow with fixed values, under an id of its own. A run keeps what it began with, whatever becomes of the assistant.
type Assistant = pawlv1.Assistant

// Assistants keeps assistants. A start names the assistant of its run in StartOptions, with an empty workflow id.
type Assistants struct {
	client *Client
	rpc    pawlv1.AssistantServiceClient
}

// AssistantInput is what the author of an assistant writes.
type AssistantInput struct {
	// WorkflowID is the workflow that its runs are of.
	WorkflowID string
	// WorkflowVersion is the version that its runs begin with. 0 means the newest at each start.
	WorkflowVersion uint32
	// Config is what every run gets beside its input. Templates and handlers read it as ctx.config.
	Config map[string]any
	// ConfigJSON is the config as JSON text, kept to the letter. It takes precedence.
	ConfigJSON []byte
	// Metadata is what to find it by.
	Metadata map[string]any
	// Goal, Constraints, Budget, Multitask and ThreadRelease count for a start that does not set them itself.
	Goal          string
	Constraints   []string
	Budget        Budget
	Multitask     Multitask
	ThreadRelease ThreadRelease
}

func (a AssistantInput) wire() (*pawlv1.AssistantSpec, error) {
	config, err := metadataOf(a.Config)
	if err != nil {
		return nil, err
	}
	if a.ConfigJSON != nil {
		config = a.ConfigJSON
	}
	metadata, err := metadataOf(a.Metadata)
	if err != nil {
		return nil, err
	}
	return &pawlv1.AssistantSpec{
		WorkflowId: a.WorkflowID, WorkflowVersion: a.WorkflowVersion, ConfigJson: config, MetadataJson: metadata,
		Defaults: &pawlv1.StartDefaults{
			Goal: a.Goal, Constraints: a.Constraints, Budget: a.Budget.wire(), MultitaskStrategy: a.Multitask,
			ThreadRelease: a.ThreadRelease,
		},
	}, nil
}

// Create creates an assistant. With an empty id the scheduler makes one. ASSISTANT_EXISTS, WORKFLOW_NOT_FOUND.
func (a *Assistants) Create(ctx context.Context, assistantID string, input AssistantInput, options MutationOptions) (*Assistant, error) {
	spec, err := input.wire()
	if err != nil {
		return nil, err
	}
	req := &pawlv1.CreateAssistantRequest{AssistantId: assistantID, Spec: spec, RequestId: identified(options.RequestID)}
	res, err := call(ctx, a.client, a.rpc.CreateAssistant, req)
	return res.GetAssistant(), err
}

// Get reads one assistant. ASSISTANT_NOT_FOUND.
func (a *Assistants) Get(ctx context.Context, assistantID string) (*Assistant, error) {
	res, err := call(ctx, a.client, a.rpc.GetAssistant, &pawlv1.GetAssistantRequest{AssistantId: assistantID})
	return res.GetAssistant(), err
}

// AssistantFilter selects the assistants to list. The zero value means all.
type AssistantFilter struct {
	// Metadata is an object that the metadata of the assistant contains.
	Metadata   map[string]any
	WorkflowID string
}

// List reads a page of assistants in order of id, and the token of the next page.
func (a *Assistants) List(ctx context.Context, filter AssistantFilter, page Page) ([]*Assistant, string, error) {
	metadata, err := metadataOf(filter.Metadata)
	if err != nil {
		return nil, "", err
	}
	res, err := call(ctx, a.client, a.rpc.ListAssistants, &pawlv1.ListAssistantsRequest{
		MetadataJson: metadata, WorkflowId: filter.WorkflowID, PageSize: page.Size, PageToken: page.Token,
	})
	return res.GetAssistants(), res.GetNextPageToken(), err
}

// UpdateAssistantOptions are the options of Update.
type UpdateAssistantOptions struct {
	// ExpectedVersion is the version that the edit was made on. 0 skips the check. VERSION_MISMATCH when another edit came first.
	ExpectedVersion uint32
	// RequestID names the request in traces. Empty means a new one.
	RequestID string
}

// Update replaces everything about an assistant. No run that has begun changes. ASSISTANT_NOT_FOUND.
func (a *Assistants) Update(ctx context.Context, assistantID string, input AssistantInput, options UpdateAssistantOptions) (*Assistant, error) {
	spec, err := input.wire()
	if err != nil {
		return nil, err
	}
	req := &pawlv1.UpdateAssistantRequest{
		AssistantId: assistantID, Spec: spec, ExpectedVersion: options.ExpectedVersion, RequestId: identified(options.RequestID),
	}
	res, err := call(ctx, a.client, a.rpc.UpdateAssistant, req)
	return res.GetAssistant(), err
}

// DeleteAssistantOptions are the options of Delete.
type DeleteAssistantOptions struct {
	// Force cancels the runs that have not ended. Otherwise they make the call fail with ASSISTANT_BUSY.
	Force bool
	// RequestID names the request in traces. Empty means a new one.
	RequestID string
}

// Delete removes an assistant with its runs and their logs. ASSISTANT_NOT_FOUND, ASSISTANT_BUSY.
func (a *Assistants) Delete(ctx context.Context, assistantID string, options DeleteAssistantOptions) error {
	req := &pawlv1.DeleteAssistantRequest{AssistantId: assistantID, Force: options.Force, RequestId: identified(options.RequestID)}
	_, err := call(ctx, a.client, a.rpc.DeleteAssistant, req)
	return err
}
