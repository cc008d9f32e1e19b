// Package session implements the handler protocol for one process: sessions that outlive their streams, and the invocations in them.
// docs/reference/handler-protocol.md has the rules.
package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

// Handler is one handler of a process. Run never panics.
type Handler struct {
	Descriptor *handlerv1.Handler
	Run        func(ctx context.Context, inv *Invocation) Outcome
}

// Config describes a process and the addresses of its hosts; it serves one of them at a time. NewID makes ids of sessions.
type Config struct {
	Addresses []string
	Token     string
	Hello     *handlerv1.Hello
	Handlers  map[string]Handler
	Logger    *slog.Logger
	OnState   func(State)
	NewID     func() string
}

// State is the state of a process, for people.
type State string

// The states of a process.
const (
	Connecting State = "connecting"
	Open       State = "open"
	Cut        State = "cut"
	Draining   State = "draining"
	Stopped    State = "stopped"
)

// How long a newer invocation waits for the older one with its effect key.
const replaceWait = 5 * time.Second

// Process runs handlers for a host.
//
// Races: the stream breaks at any moment; items repeat; Cancel, Lost, Leaving and results cross. One lock guards the queues and the states
// of all invocations. The reader of the stream takes it for each message, functions for each item. No holder of it waits.
type Process struct {
	config Config

	mu    sync.Mutex
	state State
	// The place of the present host in the addresses. Only Serve uses it.
	host    int
	session *session
	gate    gate
	// The newest invocation of each effect key whose function has not returned, also of lost sessions.
	byKey     map[string]*Invocation
	isLeaving bool
	// Has a token when there is something to send.
	wake chan struct{}
	// Ends the open stream once a leaving process has no more work.
	leaveTimer *time.Timer
	closeIdle  func()
}

// session is the state of one session_id.
type session struct {
	id          string
	outbox      outbox
	heard       uint64
	told        uint64
	heardSince  time.Time
	welcome     atomic.Pointer[handlerv1.Welcome]
	isLost      bool
	invocations map[string]*Invocation
}

// isWelcome reports whether the host knows the session.
func (s *session) isWelcome() bool { return s.welcome.Load() != nil }

// limits are set before the first Invoke. Every Welcome of a session has the same limits.
func (s *session) limits() *handlerv1.Limits { return s.welcome.Load().GetLimits() }

// New gives a process that is not connected yet.
func New(config Config) *Process {
	return &Process{
		config: config,
		state:  Connecting,
		gate:   gate{slots: int(config.Hello.GetSlots())},
		byKey:  map[string]*Invocation{},
		wake:   make(chan struct{}, 1),
	}
}

// State is the present state.
func (p *Process) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// setState shows a new state. A process that leaves is draining whatever its stream does, and stopped is the last state.
func (p *Process) setState(state State) {
	p.mu.Lock()
	if p.isLeaving && state != Stopped {
		state = Draining
	}
	isNew := p.state != state && p.state != Stopped
	if isNew {
		p.state = state
	}
	p.mu.Unlock()
	if isNew && p.config.OnState != nil {
		p.config.OnState(state)
	}
}

// Resize changes how many invocations run at once.
func (p *Process) Resize(slots int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.config.Hello.Slots = uint32(slots)
	p.gate.resize(slots)
	if p.session != nil && p.session.isWelcome() {
		p.queue(p.session, &handlerv1.ProcessItem{Item: &handlerv1.ProcessItem_Room{Room: &handlerv1.Room{Slots: uint32(slots)}}})
	}
}

// queue adds an item to the queue of a session. The caller holds the lock.
func (p *Process) queue(s *session, item *handlerv1.ProcessItem) {
	s.outbox.add(item)
	p.signal()
}

func (p *Process) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// leave sends Leaving, once. Without a session there is nothing to leave. The caller holds the lock.
func (p *Process) leave() {
	if p.isLeaving {
		return
	}
	p.isLeaving = true
	if p.session != nil && p.session.isWelcome() {
		p.sayLeaving(p.session)
	}
}

func (p *Process) sayLeaving(s *session) {
	p.queue(s, &handlerv1.ProcessItem{Item: &handlerv1.ProcessItem_Leaving{Leaving: &handlerv1.Leaving{}}})
}

// lose cancels every invocation of a session. The caller holds the lock.
func (p *Process) lose(s *session) {
	s.isLost = true
	for _, inv := range s.invocations {
		inv.stop(claimLost)
	}
	if p.session == s {
		p.session = nil
	}
}

// take handles one message of the host. It reports a gap in the numbers.
func (p *Process) take(s *session, message *handlerv1.ServeResponse) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.outbox.forget(message.GetHeardSeq())
	if len(message.GetItems()) > 0 && message.GetFirstSeq() == 0 {
		return errors.New("items of the host have no number")
	}
	for i, item := range message.GetItems() {
		seq := message.GetFirstSeq() + uint64(i)
		if seq <= s.heard {
			continue
		}
		if seq != s.heard+1 {
			return fmt.Errorf("item %d of the host came, %d was due", seq, s.heard+1)
		}
		if s.heard == s.told {
			s.heardSince = time.Now()
		}
		s.heard = seq
		p.handle(s, item)
	}
	p.signal()
	return nil
}

func (p *Process) handle(s *session, item *handlerv1.HostItem) {
	switch item := item.GetItem().(type) {
	case *handlerv1.HostItem_Invoke:
		p.invoke(s, item.Invoke)
	case *handlerv1.HostItem_Cancel:
		if inv := s.invocations[item.Cancel.GetInvocationId()]; inv != nil {
			inv.stop(&Cancelled{Reason: reasonName(item.Cancel.GetReason())})
		}
	case *handlerv1.HostItem_EffectBegun:
		if inv := s.invocations[item.EffectBegun.GetInvocationId()]; inv != nil {
			inv.answered("begin/"+item.EffectBegun.GetName(), answer{item.EffectBegun.GetState(), item.EffectBegun.GetResultJson()})
		}
	case *handlerv1.HostItem_EffectCommitted:
		if inv := s.invocations[item.EffectCommitted.GetInvocationId()]; inv != nil {
			inv.answered("commit/"+item.EffectCommitted.GetName(), answer{state: item.EffectCommitted.GetState()})
		}
	case *handlerv1.HostItem_Streamed:
		if inv := s.invocations[item.Streamed.GetInvocationId()]; inv != nil {
			inv.pass(item.Streamed.GetCount())
		}
	case *handlerv1.HostItem_Refused:
		refused := item.Refused
		p.config.Logger.Error("pawl: the host does not serve a node type", "type", refused.GetType(), "reason", refused.GetReason(), "message", refused.GetMessage())
	case *handlerv1.HostItem_Ping:
		p.queue(s, &handlerv1.ProcessItem{Item: &handlerv1.ProcessItem_Pong{Pong: &handlerv1.Pong{}}})
	}
}

// invoke begins an invocation. The reader does not wait for it.
func (p *Process) invoke(s *session, invoke *handlerv1.Invoke) {
	ctx, cancel := context.WithCancelCause(context.Background())
	inv := &Invocation{
		Invoke: invoke, process: p, session: s, ctx: ctx, cancel: cancel,
		admitted: make(chan struct{}), done: make(chan struct{}), emitting: make(chan struct{}, 1),
		streamed: make(chan struct{}), effects: map[string]chan answer{},
	}
	inv.emitting <- struct{}{}
	var older *Invocation
	// Work without an effect key is not a second delivery of other work without one.
	if key := invoke.GetEffectKey(); key != "" {
		if older = p.byKey[key]; older != nil {
			older.stop(claimLost)
		}
		p.byKey[key] = inv
	}
	s.invocations[invoke.GetInvocationId()] = inv
	p.gate.enter(inv)
	go p.run(inv, older)
}

func (p *Process) run(inv, older *Invocation) {
	// This outcome counts if the function ends its goroutine with runtime.Goexit.
	outcome := Outcome{Failure: &handlerv1.Failure{Cause: "provider_error", Message: "the handler ended its goroutine"}}
	defer func() { p.end(inv, outcome) }()
	if !p.mayBegin(inv, older) {
		return
	}
	if handler, isKnown := p.config.Handlers[inv.GetType()]; isKnown {
		outcome = handler.Run(inv.ctx, inv)
		return
	}
	message := fmt.Sprintf("this process does not serve the node type %q", inv.GetType())
	outcome.Failure = &handlerv1.Failure{Cause: "unknown_node_type", Message: message, Permanent: true}
}

// mayBegin waits for a slot and for the older invocation with the same effect key. It returns false if a cancel comes first.
func (p *Process) mayBegin(inv, older *Invocation) bool {
	select {
	case <-inv.admitted:
	case <-inv.ctx.Done():
		return false
	}
	if older != nil {
		timer := time.NewTimer(replaceWait)
		defer timer.Stop()
		select {
		case <-older.done:
		case <-timer.C:
		case <-inv.ctx.Done():
		}
	}
	return inv.ctx.Err() == nil
}

// end queues the outcome, and frees the slot.
func (p *Process) end(inv *Invocation, outcome Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := inv.GetInvocationId()
	switch {
	case inv.session.isLost:
	case inv.isCancelled:
		p.queue(inv.session, &handlerv1.ProcessItem{Item: &handlerv1.ProcessItem_Ended{Ended: &handlerv1.Ended{InvocationId: id}}})
	default:
		p.queue(inv.session, outcome.item(id, inv.session.limits()))
	}
	inv.isOver = true
	delete(inv.session.invocations, id)
	if p.byKey[inv.GetEffectKey()] == inv {
		delete(p.byKey, inv.GetEffectKey())
	}
	p.gate.leave(inv)
	inv.cancel(nil)
	close(inv.done)
}
