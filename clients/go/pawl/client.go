package pawl

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

const (
	defaultGateway  = "127.0.0.1:7400"
	defaultAttempts = 4
	defaultTimeout  = 30 * time.Second
)

// Client calls a gateway, or one of several. It is safe for concurrent use. Close it when you are done.
type Client struct {
	Workflows   *Workflows
	Runs        *Runs
	Approvals   *Approvals
	Schedules   *Schedules
	Threads     *Threads
	Assistants  *Assistants
	Webhooks    *Webhooks
	Queues      *Queues
	Commands    *Commands
	DeadLetters *DeadLetters
	NodeTypes   *NodeTypes
	Archive     *Archive

	conn      *gateways
	submitter *submitter
	attempts  int
	timeout   time.Duration
	clock     clock
	dial      []grpc.DialOption
}

// Option changes how a client calls.
type Option func(*Client)

// Attempts sets how often a call is made in all while it fails in a way that may pass. The default is 4.
func Attempts(n int) Option { return func(c *Client) { c.attempts = max(1, n) } }

// Timeout bounds each attempt of a unary call. The default is 30 s.
func Timeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// DialOptions passes options to gRPC, such as interceptors or credentials.
func DialOptions(options ...grpc.DialOption) Option {
	return func(c *Client) { c.dial = append(c.dial, options...) }
}

// Connect returns a client of the gateway at addr: host:port, http://host:port or https://host:port, or several of them with commas
// between. An empty addr means the variable PAWL_ADDRESS, or 127.0.0.1:7400. Connect does not wait for a gateway. The first call does.
func Connect(addr string, options ...Option) (*Client, error) {
	if addr == "" {
		addr = os.Getenv("PAWL_ADDRESS")
	}
	if addr == "" {
		addr = defaultGateway
	}
	c := &Client{attempts: defaultAttempts, timeout: defaultTimeout, clock: systemClock}
	for _, option := range options {
		option(c)
	}
	var err error
	if c.conn, err = gatewaysOf(addr, c.dial); err != nil {
		return nil, err
	}
	c.submitter = newSubmitter(c)
	c.Workflows = &Workflows{c, pawlv1.NewWorkflowServiceClient(c.conn)}
	c.Runs = &Runs{c, pawlv1.NewRunServiceClient(c.conn), pawlv1.NewEventServiceClient(c.conn)}
	c.Approvals = &Approvals{c, pawlv1.NewApprovalServiceClient(c.conn)}
	c.Schedules = &Schedules{c, pawlv1.NewScheduleServiceClient(c.conn)}
	c.Assistants = &Assistants{c, pawlv1.NewAssistantServiceClient(c.conn)}
	c.Threads = &Threads{c, pawlv1.NewThreadServiceClient(c.conn)}
	c.Webhooks = &Webhooks{c, pawlv1.NewWebhookServiceClient(c.conn)}
	c.Commands = &Commands{c, pawlv1.NewQueueServiceClient(c.conn)}
	c.Queues = &Queues{c, pawlv1.NewQueueServiceClient(c.conn)}
	c.DeadLetters = &DeadLetters{c, pawlv1.NewQueueServiceClient(c.conn)}
	c.NodeTypes = &NodeTypes{c, pawlv1.NewNodeTypeServiceClient(c.conn)}
	c.Archive = &Archive{c, pawlv1.NewArchiveServiceClient(c.conn)}
	return c, nil
}

// Close closes the connections. Calls that are under way fail; runs continue.
func (c *Client) Close() error {
	c.submitter.close()
	return c.conn.close()
}

// call repeats a call that may succeed later. That is safe for mutations too: each one carries a request id, by which the server recognises
// a repeat. Race: an answer is lost after the server committed.
func call[Req, Res any](ctx context.Context, c *Client, method func(context.Context, Req, ...grpc.CallOption) (Res, error), req Req) (Res, error) {
	for attempt := 1; ; attempt++ {
		limited, cancel := context.WithTimeout(ctx, c.timeout)
		res, err := method(limited, req)
		cancel()
		if err == nil {
			return res, nil
		}
		failure := errorFrom(ctx, err)
		if !failure.Retryable() || attempt >= c.attempts {
			return res, failure
		}
		c.clock.pause(ctx, max(backoff(attempt, c.clock.random()), failure.RetryDelay))
		if ctx.Err() != nil {
			failure.cause = errors.Join(context.Cause(ctx), failure.cause)
			return res, failure
		}
	}
}

// identified gives the caller's request id, or a fresh one.
func identified(requestID string) string {
	if requestID != "" {
		return requestID
	}
	return freshID()
}

// freshID makes a random UUID.
func freshID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails; see crypto/rand
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// jsonOf is the JSON of a value. json.RawMessage is sent to the letter. Nil gives no bytes.
func jsonOf(value any) ([]byte, error) {
	switch value := value.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return value, nil
	}
	return encode(value)
}
