package pawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
	"pawl.dev/sdk/go/internal/session"
)

// Version is the version of this SDK.
const Version = "0.1.0"

const (
	defaultHost  = "127.0.0.1:7404"
	defaultSlots = 16
	slotsMax     = 10_000
	handlersMax  = 64
)

// State is the state of a server: connecting, open, cut, draining or stopped.
type State = session.State

// Part is a part of a server: a handler or an option.
type Part interface{ addTo(*Server) error }

type serveOption func(*Server)

func (o serveOption) addTo(s *Server) error {
	o(s)
	return nil
}

func (h Handler[In, Out]) addTo(s *Server) error {
	d := h.definition
	if d == nil {
		return errors.New("pawl: a handler is empty; make it with Handle")
	}
	if d.fault != nil {
		return d.fault
	}
	if _, isTwice := s.config.Handlers[d.nodeType]; isTwice {
		return fmt.Errorf("pawl: two handlers have the type %s", d.nodeType)
	}
	run := func(ctx context.Context, inv *session.Invocation) session.Outcome { return d.run(ctx, inv.Invoke, inv) }
	s.config.Handlers[d.nodeType] = session.Handler{Descriptor: d.descriptor(), Run: run}
	s.config.Hello.Handlers = append(s.config.Hello.Handlers, d.descriptor())
	return nil
}

// HostAddress is the host:port of the executor, or of several, separated by commas. The default is PAWL_HANDLER_ADDRESS, or 127.0.0.1:7404.
func HostAddress(addr string) Part {
	return serveOption(func(s *Server) { s.config.Addresses = addressesOf(addr) })
}

// addressesOf gives the addresses of a text, without spaces.
func addressesOf(text string) []string {
	var addresses []string
	for _, each := range strings.Split(text, ",") {
		if each = strings.TrimSpace(each); each != "" {
			addresses = append(addresses, each)
		}
	}
	return addresses
}

// Token is the token of the host; the default is PAWL_HANDLER_TOKEN.
func Token(token string) Part { return serveOption(func(s *Server) { s.config.Token = token }) }

// Slots is how many invocations run at once. The default is 16.
func Slots(n int) Part { return serveOption(func(s *Server) { s.slots = n }) }

// Name is the name of the process, for people; the default is PAWL_HANDLER_NAME, or the name of the program.
func Name(name string) Part { return serveOption(func(s *Server) { s.config.Hello.Name = name }) }

// Build is your build, such as a git commit; the default is PAWL_HANDLER_BUILD.
func Build(build string) Part { return serveOption(func(s *Server) { s.config.Hello.Build = build }) }

// Logger receives what the server reports; the default is slog.Default.
func Logger(logger *slog.Logger) Part {
	return serveOption(func(s *Server) { s.config.Logger = logger })
}

// OnState is called with every new state.
func OnState(f func(State)) Part { return serveOption(func(s *Server) { s.config.OnState = f }) }

// NoSignals leaves SIGINT and SIGTERM to the program; the end of the context stops the server.
func NoSignals() Part { return serveOption(func(s *Server) { s.ignoresSignals = true }) }

// Server serves handlers to a host.
type Server struct {
	config         session.Config
	slots          int
	ignoresSignals bool
	process        *session.Process
}

// NewServer makes a server of handlers and options. It does not connect yet.
func NewServer(parts ...Part) (*Server, error) {
	s := &Server{slots: defaultSlots, config: session.Config{
		Addresses: addressesOf(envOr("PAWL_HANDLER_ADDRESS", defaultHost)),
		Token:     os.Getenv("PAWL_HANDLER_TOKEN"),
		Handlers:  map[string]session.Handler{},
		Logger:    slog.Default(),
		NewID:     freshID,
		Hello: &handlerv1.Hello{
			Protocol: 1, Name: envOr("PAWL_HANDLER_NAME", filepath.Base(os.Args[0])), Build: os.Getenv("PAWL_HANDLER_BUILD"),
			Sdk: "pawl-go " + Version, Language: "go " + strings.TrimPrefix(runtime.Version(), "go"),
		},
	}}
	for _, part := range parts {
		if err := part.addTo(s); err != nil {
			return nil, err
		}
	}
	if count := len(s.config.Handlers); count == 0 || count > handlersMax {
		return nil, fmt.Errorf("pawl: a server has 1 to %d handlers, this one has %d", handlersMax, count)
	}
	if len(s.config.Addresses) == 0 {
		return nil, fmt.Errorf("pawl: a server needs the address of an executor, such as %s", defaultHost)
	}
	if err := checkSlots(s.slots); err != nil {
		return nil, err
	}
	s.config.Hello.Slots = uint32(s.slots)
	s.process = session.New(s.config)
	return s, nil
}

// State is the present state.
func (s *Server) State() State { return s.process.State() }

// Resize changes how many invocations run at once.
func (s *Server) Resize(slots int) error {
	if err := checkSlots(slots); err != nil {
		return err
	}
	s.process.Resize(slots)
	return nil
}

// Serve runs handlers until the context ends or the process gets SIGINT or SIGTERM. Then it takes no more work, finishes what runs and returns
// nil. A second signal has its default effect: it ends the process. Serve fails only if the host refuses the process before its first session.
func (s *Server) Serve(ctx context.Context) error {
	if !s.ignoresSignals {
		signalled, stop := untilSignal(ctx)
		defer stop()
		ctx = signalled
	}
	return s.process.Serve(ctx)
}

// untilSignal gives a context that ends with the first signal. Signals have their default effect again before the context ends. So a second
// signal ends the process, however soon it comes.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer cancel()
		select {
		case <-signals:
		case <-ctx.Done():
		}
		// No signal enters the channel after Stop; a second one may be in it already.
		signal.Stop(signals)
		select {
		case second := <-signals:
			if self, err := os.FindProcess(os.Getpid()); err == nil && parent.Err() == nil {
				_ = self.Signal(second)
			}
		default:
		}
	}()
	return ctx, cancel
}

// Serve is NewServer and Server.Serve.
func Serve(ctx context.Context, parts ...Part) error {
	s, err := NewServer(parts...)
	if err != nil {
		return err
	}
	return s.Serve(ctx)
}

// Main is Serve for a program that does nothing else. It ends the program with code 1 if Serve fails.
func Main(parts ...Part) {
	if err := Serve(context.Background(), parts...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func checkSlots(slots int) error {
	if slots < 1 || slots > slotsMax {
		return fmt.Errorf("pawl: a server has 1 to %d slots, not %d", slotsMax, slots)
	}
	return nil
}

func envOr(name, absent string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return absent
}
