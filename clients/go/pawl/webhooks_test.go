package pawl

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

const (
	ownSecret   = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	otherSecret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
)

func signedHeaders(body string) http.Header {
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(i)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("msg.1800000000." + body))
	headers := http.Header{}
	headers.Set("webhook-id", "msg")
	headers.Set("webhook-timestamp", "1800000000")
	headers.Set("webhook-signature", "v1,AAAA v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return headers
}

func TestAReceiverTakesAWebhookThatOneOfItsSecretsSigned(t *testing.T) {
	body := `{"type":"run.completed","timestamp":"2026-01-01T00:00:00.000Z","data":{"event_id":7,"result":{"output":1.0}}}`
	event, err := verifyWebhookAt(time.Unix(1_800_000_060, 0), signedHeaders(body), []byte(body), otherSecret, ownSecret)
	if err != nil || event.Type != "run.completed" || event.Data.EventID != 7 || string(event.Data.Result) != `{"output":1.0}` {
		t.Fatalf("got %v, %v", event, err)
	}
}

func TestAReceiverRefusesAWebhookThatIsChangedOldOrSignedByAnother(t *testing.T) {
	body := `{"type":"run.completed"}`
	bare := signedHeaders(body)
	bare.Del("webhook-signature")
	for name, one := range map[string]struct {
		now     int64
		headers http.Header
		body    string
		secret  string
	}{
		"changed":   {1_800_000_000, signedHeaders(body), body + " ", ownSecret},
		"other":     {1_800_000_000, signedHeaders(body), body, otherSecret},
		"old":       {1_800_000_301, signedHeaders(body), body, ownSecret},
		"early":     {1_799_999_699, signedHeaders(body), body, ownSecret},
		"no secret": {1_800_000_000, signedHeaders(body), body, "secret"},
		"unsigned":  {1_800_000_000, bare, body, ownSecret},
	} {
		if _, err := verifyWebhookAt(time.Unix(one.now, 0), one.headers, []byte(one.body), one.secret); !errors.Is(err, ErrWebhookRefused) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

type webhookServer struct {
	pawlv1.UnimplementedWebhookServiceServer
	created *pawlv1.CreateEndpointRequest
	updated *pawlv1.UpdateEndpointRequest
	rotated *pawlv1.RotateSecretRequest
}

func (s *webhookServer) CreateEndpoint(_ context.Context, req *pawlv1.CreateEndpointRequest) (*pawlv1.CreateEndpointResponse, error) {
	s.created = req
	return &pawlv1.CreateEndpointResponse{Endpoint: &WebhookEndpoint{EndpointId: req.GetEndpointId()}, Secret: ownSecret}, nil
}

func (s *webhookServer) UpdateEndpoint(_ context.Context, req *pawlv1.UpdateEndpointRequest) (*pawlv1.UpdateEndpointResponse, error) {
	s.updated = req
	return &pawlv1.UpdateEndpointResponse{Endpoint: &WebhookEndpoint{Disabled: req.GetDisabled()}}, nil
}

func (s *webhookServer) RotateSecret(_ context.Context, req *pawlv1.RotateSecretRequest) (*pawlv1.RotateSecretResponse, error) {
	s.rotated = req
	return &pawlv1.RotateSecretResponse{Secret: otherSecret}, nil
}

func (s *webhookServer) ListDeliveries(context.Context, *pawlv1.ListDeliveriesRequest) (*pawlv1.ListDeliveriesResponse, error) {
	return &pawlv1.ListDeliveriesResponse{Deliveries: []*WebhookDelivery{{DeliveryId: "d", Attempts: 12}}, NextPageToken: "next"}, nil
}

func (s *webhookServer) GetDelivery(context.Context, *pawlv1.GetDeliveryRequest) (*pawlv1.GetDeliveryResponse, error) {
	return &pawlv1.GetDeliveryResponse{Attempts: []*pawlv1.WebhookAttempt{{StatusCode: 503}}}, nil
}

func (s *webhookServer) Redeliver(_ context.Context, req *pawlv1.RedeliverRequest) (*pawlv1.RedeliverResponse, error) {
	return &pawlv1.RedeliverResponse{Delivery: &WebhookDelivery{DeliveryId: req.GetDeliveryId()}}, nil
}

func TestEndpointsAreMadeRotatedAndSwitchedOffAndADeliveryIsSentAgain(t *testing.T) {
	server := &webhookServer{}
	client, _ := serveGateway(t, &gateway{more: func(s *grpc.Server) { pawlv1.RegisterWebhookServiceServer(s, server) }})
	ctx := t.Context()
	spec := WebhookEndpointSpec{URL: "https://example.com/", WorkflowIDs: []string{"orders"}}
	made, err := client.Webhooks.Create(ctx, "e", spec, SecretOptions{})
	if err != nil || made.Secret != ownSecret || server.created.GetSpec().GetWorkflowIds()[0] != "orders" || server.created.GetRequestId() == "" {
		t.Fatalf("got %v, %v", made, err)
	}
	off, err := client.Webhooks.Update(ctx, "e", nil, true, UpdateOptions{})
	if err != nil || !off.GetDisabled() || server.updated.GetSpec() != nil {
		t.Errorf("got %v, %v", off, err)
	}
	rotated, err := client.Webhooks.RotateSecret(ctx, "e", SecretOptions{Overlap: time.Minute})
	if err != nil || rotated.Secret != otherSecret || server.rotated.GetOverlap().AsDuration() != time.Minute {
		t.Errorf("got %v, %v", rotated, err)
	}
	dead, next, err := client.Webhooks.Deliveries(ctx, DeliveryFilter{}, Page{})
	if err != nil || next != "next" || dead[0].GetAttempts() != 12 {
		t.Errorf("got %v, %v", dead, err)
	}
	one, err := client.Webhooks.Delivery(ctx, "d")
	if err != nil || one.GetAttempts()[0].GetStatusCode() != 503 {
		t.Errorf("got %v, %v", one, err)
	}
	again, err := client.Webhooks.Redeliver(ctx, "d", MutationOptions{})
	if err != nil || again.GetDeliveryId() != "d" {
		t.Errorf("got %v, %v", again, err)
	}
}

type resultServer struct {
	pawlv1.UnimplementedRunServiceServer
	webhook *pawlv1.RunWebhook
	waits   int
}

func (s *resultServer) StartRun(_ context.Context, req *pawlv1.StartRunRequest) (*pawlv1.StartRunResponse, error) {
	s.webhook = req.GetWebhook()
	return &pawlv1.StartRunResponse{Run: &pawlv1.Run{RunId: "r"}}, nil
}

func (s *resultServer) WaitRun(_ context.Context, req *pawlv1.WaitRunRequest) (*pawlv1.WaitRunResponse, error) {
	s.waits++
	failure := &pawlv1.RunException{Cause: "js_error", NodeId: "work"}
	result := &RunResult{RunId: req.GetRunId(), Exception: failure, Webhooks: []*pawlv1.RunWebhookStatus{{DeliveryId: "d"}}}
	return &pawlv1.WaitRunResponse{HasEnded: s.waits > 1 && req.GetWithResult(), Result: result}, nil
}

func TestAStartNamesItsWebhookAndTheResultOfARunHasItsCause(t *testing.T) {
	server := &resultServer{}
	client, _ := serveGateway(t, &gateway{runs: server})
	options := StartOptions{Webhook: &RunWebhook{URL: "https://example.com/", Events: []string{"run.failed"}}}
	started, err := client.Runs.Start(t.Context(), "w", nil, options)
	if err != nil || server.webhook.GetUrl() != "https://example.com/" || server.webhook.GetEvents()[0] != "run.failed" {
		t.Fatalf("got %v, %v", started, err)
	}
	result, err := client.Runs.Result(t.Context(), started.Run.GetRunId())
	if err != nil || result.GetException().GetNodeId() != "work" || result.GetWebhooks()[0].GetDeliveryId() != "d" || server.waits != 2 {
		t.Errorf("got %v, %v", result, err)
	}
}

func (s *resultServer) ExecuteRun(_ *pawlv1.ExecuteRunRequest, stream pawlv1.RunService_ExecuteRunServer) error {
	failed := &pawlv1.RunEvent_RunFailed{RunFailed: &pawlv1.RunFailed{Message: "no luck"}}
	end := &Event{EventId: 9, RunId: "r", Type: "run.failed", Fact: failed}
	_ = stream.Send(&pawlv1.ExecuteRunResponse{Run: &pawlv1.Run{RunId: "r"}})
	return stream.Send(&pawlv1.ExecuteRunResponse{Events: []*Event{end}})
}

func TestWithAnOptionRunGivesTheRecordHoweverTheRunEndedAndRunFailedReadsTheSameRecord(t *testing.T) {
	client, _ := serveGateway(t, &gateway{runs: &resultServer{}})
	var record *RunResult
	options := RunOptions{OnResult: func(result *RunResult) { record = result }}
	_, err := RunWith[any, any](t.Context(), client, "orders", nil, options)
	var failed *RunFailed
	if !errors.As(err, &failed) || record.GetException().GetNodeId() != "work" {
		t.Fatalf("got %v, %v", record, err)
	}
	again, err := failed.Result(t.Context())
	if err != nil || again.GetRunId() != "r" || again.GetException().GetCause() != "js_error" {
		t.Errorf("got %v, %v", again, err)
	}
	if _, err := (&RunFailed{RunID: "r"}).Result(t.Context()); err == nil {
		t.Error("an error without a client read a record")
	}
}
