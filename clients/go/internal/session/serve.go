package session

// The loop of a process: one stream after the other, until the user stops it and the host has received everything. With several addresses it
// goes to the next one when a host does not answer; with unfinished work only once that host has given the session up.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	backoffBase = 100 * time.Millisecond
	backoffMax  = 5 * time.Second
)

// Serve runs until the context ends, and then until the host has received everything. It fails only if the host refuses the process before
// its first Welcome.
func (p *Process) Serve(ctx context.Context) error {
	defer p.setState(Stopped)
	stop := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		p.leave()
		p.settle()
		p.mu.Unlock()
		p.setState(Draining)
	})
	defer stop()
	wasWelcome := false
	var cutAt time.Time
	for retry := 0; ; retry++ {
		s, isNew := p.current()
		end := p.stream(ctx, s)
		p.config.Logger.Debug("pawl: a stream ended", "error", end.err)
		if !wasWelcome && !end.isWelcome && isRefusal(end.err) {
			return fmt.Errorf("pawl: the host at %s refuses this process: %w", p.address(), end.err)
		}
		wasWelcome = wasWelcome || end.isWelcome
		if end.isWelcome {
			retry = 0
			cutAt = time.Now()
		}
		if p.isDone(ctx, s, end, cutAt) {
			return nil
		}
		if wasWelcome {
			p.setState(Cut)
		}
		if end.isLost && !isNew {
			retry = -1 // the new session begins at once
			continue
		}
		p.moveOn(s, cutAt)
		if isNew && !end.isWelcome {
			p.forgetSession(s)
		}
		p.pause(ctx, retry, s, cutAt)
	}
}

// address is where the present host is.
func (p *Process) address() string { return p.config.Addresses[p.host] }

// moveOn chooses the next host, unless the present one may still have a session with unfinished work.
func (p *Process) moveOn(s *session, cutAt time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	resume := time.Duration(s.welcome.Load().GetResumeMs()) * time.Millisecond
	isFree := len(s.invocations) == 0 && len(s.outbox.items) == 0
	if isFree || time.Since(cutAt) >= resume {
		p.host = (p.host + 1) % len(p.config.Addresses)
	}
}

// current gives the session to resume, or a new one.
func (p *Process) current() (s *session, isNew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == nil {
		p.session = &session{id: p.config.NewID(), invocations: map[string]*Invocation{}}
	}
	return p.session, !p.session.isWelcome()
}

// forgetSession drops a session whose Hello got no Welcome. Its id is never used again.
func (p *Process) forgetSession(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == s {
		p.session = nil
	}
}

// isDone reports whether a process that leaves has nothing more to do. After resume_ms the host has given the session up.
func (p *Process) isDone(ctx context.Context, s *session, end ending, cutAt time.Time) bool {
	if ctx.Err() == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	resume := time.Duration(s.welcome.Load().GetResumeMs()) * time.Millisecond
	isOver := !s.isWelcome() || s.isLost || errors.Is(end.err, errIdle) ||
		errors.Is(end.err, io.EOF) && len(s.invocations) == 0 || time.Since(cutAt) > resume
	if isOver {
		p.lose(s)
	}
	return isOver
}

// pause waits before the next stream, with full jitter. A process that leaves does not wait beyond the time of its session.
func (p *Process) pause(ctx context.Context, retry int, s *session, cutAt time.Time) {
	delay := backoff(retry, rand.Float64())
	done := ctx.Done()
	if ctx.Err() != nil {
		done = nil
		resume := time.Duration(s.welcome.Load().GetResumeMs()) * time.Millisecond
		delay = min(delay, max(0, resume-time.Since(cutAt)))
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
}

// backoff is how long to wait before another stream; chance is from 0 to 1.
func backoff(retry int, chance float64) time.Duration {
	return time.Duration(chance * float64(min(backoffMax, backoffBase<<min(retry, 16))))
}

func isRefusal(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied, codes.FailedPrecondition:
		return true
	}
	return false
}
