package pawl

// One connection over several gateways. Calls use one gateway until it cannot be reached, and then the next one. The caller repeats the
// failed call, as with a single gateway.
//
// Race: many calls fail at once when a gateway dies. Only the first of them switches to the next gateway.
//
// A gateway allows 100 calls at once on an HTTP/2 connection, and gRPC would let the next call wait: a hundred open watches would block
// every other call. So another connection opens when one is full.

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	// How many calls share a connection.
	callsMax = 90
	// The gateway's largest message, with room for the envelope.
	messageBytesMax = 8 << 20
	connectTimeout  = 5 * time.Second
)

// address is one gateway, and the connections to it.
type address struct {
	target  string
	dial    []grpc.DialOption
	members []*member
}

type member struct {
	conn  *grpc.ClientConn
	calls int
}

// gateways is a grpc.ClientConnInterface.
type gateways struct {
	addresses []*address

	mu       sync.Mutex
	at       int
	isClosed bool
}

// gatewaysOf reads addresses with commas between them. It connects to none.
func gatewaysOf(list string, dial []grpc.DialOption) (*gateways, error) {
	g := &gateways{}
	for text := range strings.SplitSeq(list, ",") {
		target, secured, err := targetOf(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		a := &address{target: target, dial: append([]grpc.DialOption{
			grpc.WithTransportCredentials(secured),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytesMax)),
			grpc.WithConnectParams(grpc.ConnectParams{
				Backoff:           grpcbackoff.Config{BaseDelay: backoffBase, Multiplier: 1.6, Jitter: 0.2, MaxDelay: connectTimeout},
				MinConnectTimeout: connectTimeout,
			}),
		}, dial...)}
		conn, err := a.open()
		if err != nil {
			return nil, fmt.Errorf("pawl: address %q: %w", text, err)
		}
		a.members = []*member{{conn: conn}}
		g.addresses = append(g.addresses, a)
	}
	return g, nil
}

// open makes a new connection.
func (a *address) open() (*grpc.ClientConn, error) { return grpc.NewClient(a.target, a.dial...) }

// openAt makes a new connection to the n-th gateway, counted around.
func (g *gateways) openAt(n int) (*grpc.ClientConn, error) {
	return g.addresses[n%len(g.addresses)].open()
}

// take returns a connection with room. Call the returned function with the error of the call.
func (g *gateways) take() (*grpc.ClientConn, func(error), error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isClosed {
		return nil, nil, status.Error(codes.Canceled, "the client is closed")
	}
	at := g.at
	m, err := g.addresses[at%len(g.addresses)].withRoom()
	if err != nil {
		return nil, nil, err
	}
	m.calls++
	return m.conn, func(err error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		m.calls--
		if err != nil && g.at == at && errorFrom(context.Background(), err).Retryable() {
			g.at++
		}
	}, nil
}

func (a *address) withRoom() (*member, error) {
	for _, m := range a.members {
		if m.calls < callsMax {
			return m, nil
		}
	}
	conn, err := a.open()
	if err != nil {
		return nil, err
	}
	m := &member{conn: conn}
	a.members = append(a.members, m)
	return m, nil
}

// Invoke makes a unary call.
func (g *gateways) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	conn, done, err := g.take()
	if err != nil {
		return err
	}
	err = conn.Invoke(exactJSON(ctx), method, args, reply, opts...)
	done(err)
	return err
}

// NewStream opens a stream. It counts as a call until it ends.
func (g *gateways) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	conn, done, err := g.take()
	if err != nil {
		return nil, err
	}
	var once sync.Once
	finish := func(err error) { once.Do(func() { done(err) }) }
	stream, err := conn.NewStream(exactJSON(ctx), desc, method, append(opts, grpc.OnFinish(finish))...)
	if err != nil {
		finish(err) // gRPC does not call it for a stream that never opened
	}
	return stream, err
}

func (g *gateways) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.isClosed = true
	var failure error
	for _, a := range g.addresses {
		for _, m := range a.members {
			if err := m.conn.Close(); err != nil {
				failure = err
			}
		}
		a.members = nil
	}
	return failure
}

// targetOf reads an address. A target without a scheme is passed to the resolver unchanged, so no name service is queried for a number.
func targetOf(addr string) (string, credentials.TransportCredentials, error) {
	if addr == "" {
		return "", nil, fmt.Errorf("pawl: an address is empty; write host:port or https://host:port, with commas between several")
	}
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

// exactJSON requests only the bytes of the users' JSON. Otherwise the gateway also makes readable values of the …_json fields.
func exactJSON(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "pawl-json", "bytes")
}
