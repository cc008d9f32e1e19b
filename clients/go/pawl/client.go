package pawl

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

const (
	defaultGateway  = "127.0.0.1:7400"
	defaultAttempts = 5
	defaultTimeout  = 30 * time.Second
	// The gateway's largest message, with room for the envelope.
	messageBytesMax = 8 << 20
)

// Client calls a gateway. It is safe for concurrent use. Close it when you are done.
type Client struct {
	Workflows *Workflows
	Runs      *Runs
	Approvals *Approvals

	conn     *grpc.ClientConn
	attempts int
	timeout  time.Duration
	clock    clock
	dial     []grpc.DialOption
}

// Option changes how a client calls.
type Option func(*Client)

// Attempts sets how often a call is made in all while it fails in a way that may pass. The default is 5.
func Attempts(n int) Option { return func(c *Client) { c.attempts = max(1, n) } }

// Timeout bounds each attempt of a unary call. The default is 30 s.
func Timeout(d time.Duration) Option { return func(c *Client) { c.timeout = d } }

// DialOptions passes options to gRPC, such as interceptors or credentials.
func DialOptions(options ...grpc.DialOption) Option {
	return func(c *Client) { c.dial = append(c.dial, options...) }
}

// Connect gives a client of the gateway at addr: host:port, http://host:port or https://host:port. An empty addr means the variable
// PAWL_ADDRESS, or 127.0.0.1:7400. Connect does not wait for the gateway; the first call does.
func Connect(addr string, options ...Option) (*Client, error) {
	if addr == "" {
		addr = os.Getenv("PAWL_ADDRESS")
	}
	if addr == "" {
		addr = defaultGateway
	}
	target, secured, err := targetOf(addr)
	if err != nil {
		return nil, err
	}
	c := &Client{attempts: defaultAttempts, timeout: defaultTimeout, clock: systemClock}
	for _, option := range options {
		option(c)
	}
	dial := append([]grpc.DialOption{
		grpc.WithTransportCredentials(secured),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytesMax)),
		grpc.WithUnaryInterceptor(exactUnary),
		grpc.WithStreamInterceptor(exactStream),
	}, c.dial...)
	if c.conn, err = grpc.NewClient(target, dial...); err != nil {
		return nil, fmt.Errorf("pawl: address %q: %w", addr, err)
	}
	c.Workflows = &Workflows{c, pawlv1.NewWorkflowServiceClient(c.conn)}
	c.Runs = &Runs{c, pawlv1.NewRunServiceClient(c.conn), pawlv1.NewEventServiceClient(c.conn)}
	c.Approvals = &Approvals{c, pawlv1.NewApprovalServiceClient(c.conn)}
	return c, nil
}

// Close closes the connection. Calls that are under way fail; runs continue.
func (c *Client) Close() error { return c.conn.Close() }

// targetOf reads an address. A target without a scheme is passed to the resolver as it is, so that no name service is asked for a number.
func targetOf(addr string) (string, credentials.TransportCredentials, error) {
	if !strings.Contains(addr, "://") {
		return "passthrough:///" + addr, insecure.NewCredentials(), nil
	}
	parsed, err := url.Parse(addr)
	if err != nil || parsed.Host == "" {
		return "", nil, fmt.Errorf("pawl: address %q is not valid; write host:port or https://host:port", addr)
	}
	port := parsed.Port()
	switch {
	case parsed.Scheme == "https" && port == "":
		port = "443"
	case parsed.Scheme == "http" && port == "":
		port = "80"
	}
	switch parsed.Scheme {
	case "http":
		return "dns:///" + parsed.Hostname() + ":" + port, insecure.NewCredentials(), nil
	case "https":
		return "dns:///" + parsed.Hostname() + ":" + port, credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12}), nil
	}
	return "", nil, fmt.Errorf("pawl: address %q has the scheme %q; use http or https", addr, parsed.Scheme)
}

// Every call asks for the bytes of the users' JSON only. The gateway otherwise also makes readable values of the …_json fields.
func exactJSON(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "pawl-json", "bytes")
}

func exactUnary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return invoke(exactJSON(ctx), method, req, reply, cc, opts...)
}

func exactStream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return open(exactJSON(ctx), desc, cc, method, opts...)
}

// call repeats a call that may succeed later. That is safe for mutations too: each one carries a request id, by which the server recognises
// a repeat. The race it survives: an answer is lost after the server committed.
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

// jsonOf is the JSON of a value; json.RawMessage goes to the server to the letter. Nil gives no bytes.
func jsonOf(value any) ([]byte, error) {
	switch value := value.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return value, nil
	}
	return encode(value)
}
