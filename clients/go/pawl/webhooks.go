package pawl

import (
	"context"
	"encoding/base64"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// WebhookEndpoint is a receiver of webhooks for many runs.
type WebhookEndpoint = pawlv1.WebhookEndpoint

// WebhookDelivery is one event that is sent to one receiver.
type WebhookDelivery = pawlv1.WebhookDelivery

// RunResult is the record of a run: how it ended, why, when, and what its webhooks got.
type RunResult = pawlv1.RunResult

// Webhooks manages receivers of webhooks, and shows what was delivered to them.
type Webhooks struct {
	client *Client
	rpc    pawlv1.WebhookServiceClient
}

// RunWebhook is a receiver of events of one run. It has a URL, an endpoint id, or both.
type RunWebhook struct {
	URL string
	// Events are dotted types, such as run.completed. None means the terminal ones.
	Events []string
	// EndpointID names the endpoint whose secrets sign the calls, and whose headers they have.
	EndpointID string
	// Secret signs the calls if no endpoint does: whsec_ and base64.
	Secret string
	// Headers of every call.
	Headers map[string]string
}

func (w *RunWebhook) wire() *pawlv1.RunWebhook {
	if w == nil {
		return nil
	}
	return &pawlv1.RunWebhook{
		Url: w.URL, Events: w.Events, EndpointId: w.EndpointID, Secret: w.Secret, Headers: w.Headers,
	}
}

// WebhookEndpointSpec says where an endpoint is, and what it gets.
type WebhookEndpointSpec struct {
	URL         string
	Description string
	// Events are dotted types. None means the terminal ones.
	Events []string
	// WorkflowIDs: none means all saved workflows.
	WorkflowIDs []string
	// ByReference means that it gets nothing by itself, only from runs and workflows that name it.
	ByReference bool
	// Headers of every call. An update with an empty value keeps the value.
	Headers map[string]string
}

func (s *WebhookEndpointSpec) wire() *pawlv1.WebhookEndpointSpec {
	if s == nil {
		return nil
	}
	return &pawlv1.WebhookEndpointSpec{
		Url: s.URL, Description: s.Description, Events: s.Events, WorkflowIds: s.WorkflowIDs,
		ByReference: s.ByReference, Headers: s.Headers,
	}
}

// WebhookSecret is an endpoint with its secret. No other call returns the secret again.
type WebhookSecret struct {
	Endpoint *WebhookEndpoint
	Secret   string
}

// SecretOptions are the options of calls that set a secret.
type SecretOptions struct {
	// Secret is whsec_ and base64. Empty lets the scheduler make one.
	Secret string
	// Overlap is how long the secret before signs too. 0 means a day.
	Overlap time.Duration
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
}

// Create saves a receiver. WEBHOOK_ENDPOINT_EXISTS, INPUT_INVALID.
func (w *Webhooks) Create(ctx context.Context, endpointID string, spec WebhookEndpointSpec, options SecretOptions) (*WebhookSecret, error) {
	res, err := call(ctx, w.client, w.rpc.CreateEndpoint, &pawlv1.CreateEndpointRequest{
		EndpointId: endpointID, Spec: spec.wire(), Secret: options.Secret, RequestId: identified(options.RequestID),
	})
	if err != nil {
		return nil, err
	}
	return &WebhookSecret{res.GetEndpoint(), res.GetSecret()}, nil
}

// Get reads one receiver. WEBHOOK_ENDPOINT_NOT_FOUND when there is none.
func (w *Webhooks) Get(ctx context.Context, endpointID string) (*WebhookEndpoint, error) {
	res, err := call(ctx, w.client, w.rpc.GetEndpoint, &pawlv1.GetEndpointRequest{EndpointId: endpointID})
	return res.GetEndpoint(), err
}

// List reads a page of receivers, and the token of the next page.
func (w *Webhooks) List(ctx context.Context, page Page) ([]*WebhookEndpoint, string, error) {
	res, err := call(ctx, w.client, w.rpc.ListEndpoints, &pawlv1.ListEndpointsRequest{PageSize: page.Size, PageToken: page.Token})
	return res.GetEndpoints(), res.GetNextPageToken(), err
}

// Update replaces the spec, unless it is nil, and switches the receiver on or off. VERSION_MISMATCH when ExpectedVersion is not the newest.
func (w *Webhooks) Update(ctx context.Context, endpointID string, spec *WebhookEndpointSpec, disabled bool, options UpdateOptions) (*WebhookEndpoint, error) {
	res, err := call(ctx, w.client, w.rpc.UpdateEndpoint, &pawlv1.UpdateEndpointRequest{
		EndpointId: endpointID, Spec: spec.wire(), Disabled: disabled,
		ExpectedVersion: options.ExpectedVersion, RequestId: identified(options.RequestID),
	})
	return res.GetEndpoint(), err
}

// Delete removes a receiver. Its pending deliveries end as dead.
func (w *Webhooks) Delete(ctx context.Context, endpointID string, options MutationOptions) error {
	req := &pawlv1.DeleteEndpointRequest{EndpointId: endpointID, RequestId: identified(options.RequestID)}
	_, err := call(ctx, w.client, w.rpc.DeleteEndpoint, req)
	return err
}

// RotateSecret gives the receiver another secret. The one before signs beside it for a time.
func (w *Webhooks) RotateSecret(ctx context.Context, endpointID string, options SecretOptions) (*WebhookSecret, error) {
	req := &pawlv1.RotateSecretRequest{
		EndpointId: endpointID, Secret: options.Secret, RequestId: identified(options.RequestID),
	}
	if options.Overlap > 0 {
		req.Overlap = durationpb.New(options.Overlap)
	}
	res, err := call(ctx, w.client, w.rpc.RotateSecret, req)
	if err != nil {
		return nil, err
	}
	return &WebhookSecret{res.GetEndpoint(), res.GetSecret()}, nil
}

// DeliveryFilter selects deliveries. The zero value means all.
type DeliveryFilter struct {
	RunID      string
	EndpointID string
	States     []pawlv1.WebhookDeliveryState
}

// Deliveries reads a page of deliveries, newest first, and the token of the next page.
func (w *Webhooks) Deliveries(ctx context.Context, filter DeliveryFilter, page Page) ([]*WebhookDelivery, string, error) {
	res, err := call(ctx, w.client, w.rpc.ListDeliveries, &pawlv1.ListDeliveriesRequest{
		RunId: filter.RunID, EndpointId: filter.EndpointID, States: filter.States, PageSize: page.Size, PageToken: page.Token,
	})
	return res.GetDeliveries(), res.GetNextPageToken(), err
}

// Delivery reads a delivery with its body and its calls. WEBHOOK_DELIVERY_NOT_FOUND when there is none.
func (w *Webhooks) Delivery(ctx context.Context, deliveryID string) (*pawlv1.GetDeliveryResponse, error) {
	return call(ctx, w.client, w.rpc.GetDelivery, &pawlv1.GetDeliveryRequest{DeliveryId: deliveryID})
}

// Redeliver sends a delivery again under the same id.
func (w *Webhooks) Redeliver(ctx context.Context, deliveryID string, options MutationOptions) (*WebhookDelivery, error) {
	req := &pawlv1.RedeliverRequest{DeliveryId: deliveryID, RequestId: identified(options.RequestID)}
	res, err := call(ctx, w.client, w.rpc.Redeliver, req)
	return res.GetDelivery(), err
}

// Result waits for the end of a run and returns its record.
func (r *Runs) Result(ctx context.Context, runID string) (*RunResult, error) {
	for {
		res, err := call(ctx, r.client, r.rpc.WaitRun, &pawlv1.WaitRunRequest{RunId: runID, WithResult: true})
		if err != nil {
			return nil, err
		}
		if res.GetHasEnded() {
			return res.GetResult(), nil
		}
	}
}

// keyOf decodes a secret.
func keyOf(secret string) ([]byte, bool) {
	const prefix = "whsec_"
	if len(secret) <= len(prefix) || secret[:len(prefix)] != prefix {
		return nil, false
	}
	key, err := base64.StdEncoding.DecodeString(secret[len(prefix):])
	return key, err == nil && len(key) > 0
}
