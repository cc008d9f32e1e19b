package pawl

// Starts runs and waits for their ends over standing streams of SubmitRuns. A lane is one stream at a time (lane.go). One lane is enough
// for a thousand submissions under way. Further lanes open when all are full, and spread over the gateways.
//
// A gateway may not have the stream, or a proxy may not carry it: UNIMPLEMENTED. Then each submission is its own call with the same request
// id. So a submission that the stream had already delivered starts nothing new. A minute later the client tries the stream again.
//
// Race: a caller uses one request id in two calls at once. An answer names only the id, so the second one does not use the stream.

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

const (
	lanesMax = 16
	// A submission of this size fits no message. The gateway's own limit of an input is far below.
	startBytesMax = 3 << 20
	// How long the client uses single calls after a gateway refused the stream.
	callsFor = time.Minute
)

// submission is a start under way. The lock of the submitter guards it until done is closed.
type submission struct {
	wire  *pawlv1.Submission
	bytes int
	lane  *lane
	// The time of the submission, or of the last answer about it.
	since time.Time
	// How often a gateway refused it with an error that may pass.
	tries int
	// How many streams were lost under it.
	losses int
	// Whether it is in the line of its lane.
	isQueued bool
	// Whether it waits for the time that a refusal named.
	isResting bool

	// Closed when the run is accepted.
	accepted chan struct{}
	// Closed with the final answer.
	done chan struct{}
	run  *pawlv1.AcceptedSubmission
	end  *pawlv1.RunEnd
	err  *Error
	// Whether it must be a single call.
	isCall bool
}

func newSubmission(start *pawlv1.StartRunRequest, wait bool) *submission {
	wire := &pawlv1.Submission{Start: start, Wait: wait}
	return &submission{wire: wire, bytes: proto.Size(wire), accepted: make(chan struct{}), done: make(chan struct{})}
}

func (sub *submission) id() string { return sub.wire.GetStart().GetRequestId() }

// accept records the run, once.
func (sub *submission) accept(run *pawlv1.AcceptedSubmission) {
	if sub.run == nil {
		sub.run = run
		close(sub.accepted)
	}
}

func (sub *submission) isDone() bool {
	select {
	case <-sub.done:
		return true
	default:
		return false
	}
}

// submitter has the lanes, and the queue of submissions for which no lane has room.
type submitter struct {
	client  *Client
	silence time.Duration
	ctx     context.Context
	cancel  context.CancelFunc

	mu         sync.Mutex
	lanes      []*lane
	line       []*submission
	byID       map[string]*submission
	callsUntil time.Time
}

func newSubmitter(c *Client) *submitter {
	s := &submitter{client: c, silence: silenceDefault, byID: map[string]*submission{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// add takes submissions. Those of one call share messages.
func (s *submitter) add(list ...*submission) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.client.clock.now()
	for _, sub := range list {
		sub.since = now
		switch _, isTaken := s.byID[sub.id()]; {
		case s.ctx.Err() != nil:
			s.settle(sub, closedError())
		case sub.bytes > startBytesMax:
			s.settle(sub, tooLarge(sub.bytes))
		case isTaken || now.Before(s.callsUntil):
			sub.isCall = true
			s.settle(sub, nil)
		default:
			s.byID[sub.id()] = sub
			s.line = append(s.line, sub)
		}
	}
	s.advance()
}

// await waits for the final answer, and calls onAccepted before it returns if the run was accepted. When the context ends, it drops the
// submission, and the run continues.
func (s *submitter) await(ctx context.Context, sub *submission, onAccepted func(*pawlv1.AcceptedSubmission)) {
	accepted := sub.accepted
	for {
		select {
		case <-accepted:
			accepted = nil
			onAccepted(sub.run)
			continue
		case <-sub.done:
		case <-ctx.Done():
			s.mu.Lock()
			s.settle(sub, leftError(ctx))
			s.mu.Unlock()
		}
		if accepted != nil && sub.run != nil {
			onAccepted(sub.run)
		}
		return
	}
}

// settle ends a submission, once. The caller holds the lock.
func (s *submitter) settle(sub *submission, err *Error) {
	if sub.isDone() {
		return
	}
	sub.err = err
	close(sub.done)
	if s.byID[sub.id()] == sub {
		delete(s.byID, sub.id())
	}
	if l := sub.lane; l != nil {
		delete(l.entries, sub.id())
		if len(l.entries) == 0 {
			// The pauses of an outage are over with the last call that met it.
			l.failures = 0
		}
		sub.lane = nil
		s.advance()
	}
}

// advance moves submissions from the line into lanes. The caller holds the lock.
func (s *submitter) advance() {
	for len(s.line) > 0 {
		next := s.line[0]
		if !next.isDone() {
			l := s.laneWithRoom()
			if l == nil {
				return
			}
			l.add(next)
		}
		s.line = s.line[1:]
	}
}

func (s *submitter) laneWithRoom() *lane {
	for _, l := range s.lanes {
		if len(l.entries) < submissionsMax {
			return l
		}
	}
	if len(s.lanes) == lanesMax {
		return nil
	}
	l := &lane{submitter: s, entries: map[string]*submission{}, wake: make(chan struct{}, 1), address: len(s.lanes)}
	s.lanes = append(s.lanes, l)
	go l.serve(s.ctx)
	return l
}

func (s *submitter) close() {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.byID {
		s.settle(sub, closedError())
	}
}

func closedError() *Error {
	return &Error{Reason: "CALLER_CANCELLED", Code: codes.Canceled, Message: "the client is closed"}
}

func tooLarge(bytes int) *Error {
	message := "the submission takes %d bytes, at most %d; send less, or a link to it"
	return failed("LIMIT_EXCEEDED", codes.ResourceExhausted, message, bytes, startBytesMax)
}
