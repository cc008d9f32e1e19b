package pawl

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrWebhookRefused is the error for a webhook that Pawl did not send, or that is too old. Answer it with the status 400.
var ErrWebhookRefused = errors.New("pawl: the webhook is refused")

// webhookTolerance bounds the age of a call.
const webhookTolerance = 5 * time.Minute

// WebhookEvent is the event of a webhook.
type WebhookEvent struct {
	// Type is dotted, such as run.completed.
	Type string `json:"type"`
	// Timestamp is when the event was committed.
	Timestamp time.Time `json:"timestamp"`
	// Data has the event, and the record of its run under result. Names are in snake_case.
	Data struct {
		EventID uint64          `json:"event_id"`
		NodeID  string          `json:"node_id"`
		Result  json.RawMessage `json:"result"`
	} `json:"data"`
}

// VerifyWebhook checks that a body was sent by Pawl, less than five minutes ago, and returns its event. Pass the body exactly as it arrived.
// Several secrets may be valid during a rotation. Store the header webhook-id: a delivery may come twice.
func VerifyWebhook(headers http.Header, body []byte, secrets ...string) (*WebhookEvent, error) {
	return verifyWebhookAt(time.Now(), headers, body, secrets...)
}

func verifyWebhookAt(now time.Time, headers http.Header, body []byte, secrets ...string) (*WebhookEvent, error) {
	id, stamp, signatures := headers.Get("webhook-id"), headers.Get("webhook-timestamp"), headers.Get("webhook-signature")
	if id == "" || stamp == "" || signatures == "" {
		return nil, fmt.Errorf("%w: a header is missing: webhook-id, webhook-timestamp or webhook-signature", ErrWebhookRefused)
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > webhookTolerance {
		return nil, fmt.Errorf("%w: the timestamp is more than five minutes from now", ErrWebhookRefused)
	}
	for _, secret := range secrets {
		key, isSecret := keyOf(secret)
		if !isSecret {
			return nil, fmt.Errorf("%w: the secret is not whsec_ and base64", ErrWebhookRefused)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + stamp + "."))
		mac.Write(body)
		own := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		for _, given := range strings.Fields(signatures) {
			if hmac.Equal([]byte(given), own) {
				var event WebhookEvent
				if err := json.Unmarshal(body, &event); err != nil {
					return nil, fmt.Errorf("%w: the body is not JSON", ErrWebhookRefused)
				}
				return &event, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: no signature matches", ErrWebhookRefused)
}
