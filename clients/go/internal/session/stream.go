package session

// Streams of a process, one after the other. Each stream has its own connection, so a new stream never waits behind a dead connection.

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

const (
	// A message that only acknowledges items waits this long for items of its own.
	heardDelay = 40 * time.Millisecond
	// How long the first answer of a host may take.
	welcomeWait = 15 * time.Second
	// How long a process that has left waits for the host to close the stream.
	closeWait = 5 * time.Second
	// The host's largest message.
	receiveBytesMax = 64 << 20
)

var (
	errSilent = errors.New("the host sent nothing for too long")
	errIdle   = errors.New("the host keeps the stream open although nothing is left")
)

// ending tells how a stream ended.
type ending struct {
	err       error
	isWelcome bool
	isLost    bool
}

// stream opens one stream for a session and reads it to its end.
func (p *Process) stream(user context.Context, s *session) ending {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if !s.isWelcome() {
		// Without a session there is nothing to finish: a stop by the user ends the attempt.
		stop := context.AfterFunc(user, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if !s.isWelcome() {
				cancel(nil)
			}
		})
		defer stop()
	}
	silence := time.AfterFunc(welcomeWait, func() { cancel(errSilent) })
	defer silence.Stop()
	conn, err := grpc.NewClient("passthrough:///"+p.address(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(receiveBytesMax)))
	if err != nil {
		return ending{err: err}
	}
	defer conn.Close()
	stream, err := p.open(ctx, conn, s)
	if err != nil {
		return ending{err: err}
	}
	return p.read(ctx, cancel, silence, stream, s)
}

type serveStream = handlerv1.HandlerService_ServeClient

func (p *Process) open(ctx context.Context, conn *grpc.ClientConn, s *session) (serveStream, error) {
	if p.config.Token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+p.config.Token)
	}
	stream, err := handlerv1.NewHandlerServiceClient(conn).Serve(ctx)
	if err != nil {
		return nil, err
	}
	if err := stream.Send(p.opening(s)); err != nil && !errors.Is(err, io.EOF) { // EOF: Recv has the reason
		return nil, err
	}
	return stream, nil
}

func (p *Process) opening(s *session) *handlerv1.ServeRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !s.isWelcome() {
		hello := proto.CloneOf(p.config.Hello)
		hello.SessionId = s.id
		return &handlerv1.ServeRequest{Opening: &handlerv1.ServeRequest_Hello{Hello: hello}}
	}
	s.told = s.heard
	return &handlerv1.ServeRequest{Opening: &handlerv1.ServeRequest_Resume{Resume: &handlerv1.Resume{SessionId: s.id}}, HeardSeq: s.heard}
}

// read waits for the first message, starts the writer and reads to the end of the stream.
func (p *Process) read(ctx context.Context, cancel context.CancelCauseFunc, silence *time.Timer, stream serveStream, s *session) ending {
	end := ending{}
	written := make(chan struct{})
	close(written)
	defer func() {
		cancel(nil)
		<-written
		p.mu.Lock()
		p.closeIdle = nil
		p.mu.Unlock()
	}()
	for {
		message, err := stream.Recv()
		if err != nil {
			end.err = err
			if cause := context.Cause(ctx); cause != nil {
				end.err = cause
			}
			return end
		}
		switch opening := message.GetOpening().(type) {
		case *handlerv1.ServeResponse_Lost:
			p.mu.Lock()
			p.lose(s)
			p.mu.Unlock()
			end.isLost, end.err = true, errors.New("the host does not know the session")
			return end
		case *handlerv1.ServeResponse_Welcome:
			end.isWelcome = true
			p.welcomed(s, opening.Welcome, message.GetHeardSeq(), cancel)
			written = make(chan struct{})
			go func() {
				defer close(written)
				p.write(ctx, cancel, stream, s)
			}()
		}
		if !end.isWelcome {
			end.err = errors.New("the first message of the host has no welcome")
			return end
		}
		if limit := s.welcome.Load().GetSilenceMs(); limit > 0 {
			silence.Reset(time.Duration(limit) * time.Millisecond)
		} else {
			silence.Stop()
		}
		if err := p.take(s, message); err != nil {
			end.err = err
			return end
		}
		p.mu.Lock()
		p.settle()
		p.mu.Unlock()
	}
}

func (p *Process) welcomed(s *session, welcome *handlerv1.Welcome, heard uint64, cancel context.CancelCauseFunc) {
	p.mu.Lock()
	isFirst := !s.isWelcome()
	s.welcome.Store(welcome)
	s.outbox.forget(heard)
	p.closeIdle = func() { cancel(errIdle) }
	if isFirst && p.isLeaving {
		p.sayLeaving(s)
	}
	p.mu.Unlock()
	p.setState(Open)
}

// settle starts the last wait of a process that leaves, once the host has received everything. The caller holds the lock.
func (p *Process) settle() {
	s := p.session
	if !p.isLeaving || p.closeIdle == nil || s == nil || len(s.invocations) > 0 || len(s.outbox.items) > 0 {
		return
	}
	if p.leaveTimer == nil {
		p.leaveTimer = time.AfterFunc(closeWait, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.leaveTimer = nil
			if p.closeIdle != nil {
				p.closeIdle()
			}
		})
	}
}

// write sends the queued items until the stream ends.
func (p *Process) write(ctx context.Context, cancel context.CancelCauseFunc, stream serveStream, s *session) {
	p.mu.Lock()
	sent := s.outbox.heard
	p.mu.Unlock()
	for {
		message, wait := p.next(s, &sent, time.Now())
		if message != nil {
			if err := stream.Send(message); err != nil {
				if !errors.Is(err, io.EOF) { // EOF: the reader gets the reason
					cancel(err)
				}
				return
			}
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-p.wake:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// next is the next message of a stream, or the time to wait for one.
func (p *Process) next(s *session, sent *uint64, now time.Time) (*handlerv1.ServeRequest, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first, items := s.outbox.after(*sent, s.limits().GetMessageBytes())
	if len(items) > 0 {
		*sent = first + uint64(len(items)) - 1
		s.told = s.heard
		// A copy: the array of the queue changes while gRPC encodes the message.
		return &handlerv1.ServeRequest{FirstSeq: first, HeardSeq: s.heard, Items: append([]*handlerv1.ProcessItem(nil), items...)}, 0
	}
	if s.heard == s.told {
		return nil, time.Hour
	}
	if wait := heardDelay - now.Sub(s.heardSince); wait > 0 {
		return nil, wait
	}
	s.told = s.heard
	return &handlerv1.ServeRequest{HeardSeq: s.heard}, 0
}
