package pawl

// One stream of SubmitRuns at a time, and the submissions that wait for answers on it.
//
// States: idle → open (by the first submission) → lost (cut, drained, silent) → pausing → open …, or idle again without submissions.
//
// Races. A stream breaks between any two messages: every submission without a final answer is sent again on the next stream, to the next
// gateway. Its request id makes it the same run, so a repeat starts nothing and gives the same end. An answer comes twice: the first
// counts. An answer of an old stream never meets the state of a new one, because the reader of a lost stream ends before the next stream
// opens. A caller leaves: its submission is dropped, and its run continues.

import (
	"context"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

const (
	// The gateway's limit for a stream.
	submissionsMax = 1_000
	messageBytes   = 256 << 10
)

// The lock of the submitter guards everything except serve's own goroutine and wake.
type lane struct {
	submitter *submitter
	entries   map[string]*submission
	outgoing  []*submission
	// Has a token while outgoing may have something.
	wake         chan struct{}
	hasConnected bool
	// Streams in a row that brought nothing.
	failures int
	address  int
}

// add takes a submission. The caller holds the lock.
func (l *lane) add(sub *submission) {
	sub.lane = l
	l.entries[sub.id()] = sub
	l.queue(sub)
}

// queue adds a submission to the queue to be sent. The caller holds the lock.
func (l *lane) queue(sub *submission) {
	if sub.isQueued {
		return
	}
	sub.isQueued = true
	l.outgoing = append(l.outgoing, sub)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *lane) count() int {
	l.submitter.mu.Lock()
	defer l.submitter.mu.Unlock()
	return len(l.entries)
}

// serve keeps a stream open from the first submission on.
func (l *lane) serve(ctx context.Context) {
	time := l.submitter.client.clock
	for {
		select {
		case <-l.wake:
		case <-ctx.Done():
			return
		}
		for l.count() > 0 {
			reason := l.connect(ctx)
			if ctx.Err() != nil {
				return
			}
			if pause, isNeeded := l.lost(reason); isNeeded {
				time.pause(ctx, pause)
			}
			l.queueAll()
		}
	}
}

// connect opens a stream and serves it until it is lost. It returns the reason.
func (l *lane) connect(ctx context.Context) *Error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	conn, err := l.submitter.client.conn.openAt(l.address)
	if err != nil {
		return errorFrom(ctx, err)
	}
	defer conn.Close()
	silence := l.submitter.silence
	timer := time.AfterFunc(silence, func() { cancel(unreachable("the gateway sent nothing for %v", silence)) })
	defer timer.Stop()
	stream, err := pawlv1.NewRunServiceClient(conn).SubmitRuns(exactJSON(ctx))
	if err != nil {
		return lossOf(ctx, err, false)
	}
	received := make(chan *Error, 1)
	go func() {
		reason := l.receive(ctx, stream, func() { timer.Reset(silence) })
		received <- reason
		cancel(reason)
	}()
	if err := l.send(ctx, stream); err != nil && !errors.Is(err, io.EOF) {
		cancel(errorFrom(ctx, err))
	}
	return <-received
}

// lossOf returns why a stream ended: the reason of the client's own cancel, or the error of the stream.
func lossOf(ctx context.Context, err error, hasBegun bool) *Error {
	var own *Error
	if errors.As(context.Cause(ctx), &own) {
		return own
	}
	if errors.Is(err, io.EOF) {
		return unreachable("the gateway ended the stream")
	}
	return streamError(ctx, err, hasBegun)
}

func (l *lane) receive(ctx context.Context, stream pawlv1.RunService_SubmitRunsClient, isAlive func()) *Error {
	for hasBegun := false; ; hasBegun = true {
		res, err := stream.Recv()
		if err != nil {
			return lossOf(ctx, err, hasBegun)
		}
		isAlive()
		l.answered(res.GetAnswers())
	}
}

// send sends the queued submissions until the stream ends. A lone submission leaves at once. If others are under way, the goroutines that
// are ready to submit do so first, and their submissions leave together.
func (l *lane) send(ctx context.Context, stream pawlv1.RunService_SubmitRunsClient) error {
	for {
		for _, message := range l.take() {
			if err := stream.Send(message); err != nil {
				return err
			}
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			return nil
		}
		if l.count() > 1 {
			runtime.Gosched()
		}
	}
}

// take makes messages of the queued submissions.
func (l *lane) take() []*pawlv1.SubmitRunsRequest {
	l.submitter.mu.Lock()
	defer l.submitter.mu.Unlock()
	var messages []*pawlv1.SubmitRunsRequest
	bytes := 0
	for _, sub := range l.outgoing {
		sub.isQueued = false
		if sub.isDone() {
			continue
		}
		if len(messages) == 0 || bytes+sub.bytes > messageBytes {
			messages = append(messages, &pawlv1.SubmitRunsRequest{})
			bytes = 0
		}
		last := messages[len(messages)-1]
		last.Submissions = append(last.Submissions, sub.wire)
		bytes += sub.bytes
	}
	l.outgoing = nil
	return messages
}

func (l *lane) answered(answers []*pawlv1.SubmissionAnswer) {
	s := l.submitter
	s.mu.Lock()
	defer s.mu.Unlock()
	l.failures = 0
	l.hasConnected = true
	now := s.client.clock.now()
	for _, answer := range answers {
		sub := l.entries[answer.GetRequestId()]
		if sub == nil {
			continue
		}
		sub.since = now
		end := answer.GetEnd()
		if run := answer.GetAccepted(); run != nil {
			sub.accept(run)
		} else if end != nil {
			sub.accept(&pawlv1.AcceptedSubmission{RunId: end.GetRunId()})
		}
		switch refusal := answer.GetRefused(); {
		case refusal != nil:
			l.refused(sub, refusalError(refusal))
		case end != nil || sub.run != nil && !sub.wire.GetWait():
			sub.end = end
			s.settle(sub, nil)
		}
	}
}

// refused sends a submission again later if that may help, and ends it otherwise. The caller holds the lock.
func (l *lane) refused(sub *submission, reason *Error) {
	s := l.submitter
	sub.tries++
	if !reason.Retryable() || sub.tries >= s.client.attempts {
		s.settle(sub, reason)
		return
	}
	time := s.client.clock
	delay := max(fullJitter(sub.tries, time.random()), reason.RetryDelay)
	sub.isResting = true
	go func() {
		time.pause(s.ctx, delay)
		s.mu.Lock()
		defer s.mu.Unlock()
		sub.isResting = false
		if !sub.isDone() {
			l.queue(sub)
		}
	}()
}

// lost ends the submissions that no further stream can help. It returns the pause before the next stream.
func (l *lane) lost(reason *Error) (pause time.Duration, isNeeded bool) {
	s := l.submitter
	s.mu.Lock()
	defer s.mu.Unlock()
	l.failures++
	l.address++
	pause = fullJitter(l.failures, s.client.clock.random())
	hasNoStream := reason.Code == codes.Unimplemented
	// A copy: an end lets the next submission of the line into the lane.
	under := slices.Collect(maps.Values(l.entries))
	if hasNoStream {
		s.callsUntil = s.client.clock.now().Add(callsFor)
		under = append(under, s.line...)
	}
	for _, sub := range under {
		sub.losses++
		if hasNoStream {
			sub.isCall = true
			s.settle(sub, nil)
		} else if l.isHopeless(sub, reason) {
			s.settle(sub, reason)
		}
	}
	return pause, len(l.entries) > 0
}

func (l *lane) isHopeless(sub *submission, reason *Error) bool {
	c := l.submitter.client
	silent := c.clock.now().Sub(sub.since)
	switch {
	case !reason.Retryable():
		return true
	case sub.run != nil:
		return silent > giveUpDefault
	case l.hasConnected:
		return silent > c.timeout
	}
	// Where no gateway ever answered, the address is most likely wrong.
	return sub.losses >= c.attempts
}

// queueAll queues every submission, except those that rest.
func (l *lane) queueAll() {
	l.submitter.mu.Lock()
	defer l.submitter.mu.Unlock()
	for _, sub := range l.entries {
		if !sub.isResting {
			l.queue(sub)
		}
	}
}
