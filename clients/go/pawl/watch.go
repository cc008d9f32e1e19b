package pawl

// One stream of events over many connections. States: connecting → reading → (lost → pausing → connecting)* → over.
//
// Races: a connection breaks, a gateway drains or restarts, a gateway cuts off a slow reader, a peer is silent, events repeat or are
// missing. The watch keeps only the last event id. So every event of the log comes once and in order, and the terminal event is the last.

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
	"pawl.dev/sdk/go/internal/cursor"
)

// Event is one fact of the log of a run.
type Event = pawlv1.RunEvent

// WatchOptions are the options of Watch.
type WatchOptions struct {
	// AfterEventID is the last event that the caller has. 0 means from the start.
	AfterEventID uint64
	// Types are the dotted types to read. Empty means all. The terminal event always comes.
	Types []string
	// NodeIDs are the nodes whose events to read. Empty means all. The terminal event always comes.
	NodeIDs []string
	// NodeTypes are the types of nodes whose events to read. Empty means all. The terminal event always comes.
	NodeTypes []string
	// Silence is the longest time without a message or a heartbeat. 0 means 45 s, three heartbeats.
	Silence time.Duration
	// GiveUp is the longest time without progress. 0 means 5 minutes. Then the watch yields its last error.
	GiveUp time.Duration
	// OnReconnect is called before every pause.
	OnReconnect func(Reconnect)
	// OnCheckpoint is called after each step of the run. Types does not filter it. An error ends the watch with it.
	OnCheckpoint func(Checkpoint) error
	// OnTaskResult is called when a node execution has ended. Types does not filter it. An error ends the watch with it.
	OnTaskResult func(TaskResult) error
}

// Reconnect tells why a connection was lost, and when the next one opens.
type Reconnect struct {
	// Cause is closed, error, gap or silence.
	Cause string
	Err   *Error
	// Retry counts reconnects in a row without progress, from 1.
	Retry int
	Delay time.Duration
	// AfterEventID is the cursor that the watch resumes after.
	AfterEventID uint64
}

const (
	silenceDefault = 45 * time.Second
	giveUpDefault  = 5 * time.Minute
	// The time in which a server must end a stream after the terminal event.
	endTimeout = time.Second
)

var terminalTypes = []string{"run.completed", "run.failed", "run.cancelled", "run.timed_out"}

// Watch yields the events of a run, each once and in order, and ends after the terminal event. It reconnects by itself. It yields one
// error, as its last value, for a failure that no reconnect removes and when the context ends. Leaving the loop does not affect the run.
func (r *Runs) Watch(ctx context.Context, runID string, options WatchOptions) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		r.watch(ctx, runID, options, nil, yield)
	}
}

// batch is a message of a stream.
type batch struct {
	events []*Event
	// Instead of events, if the request names modes.
	items []*pawlv1.StreamItem
}

// receiver is an open stream: of WatchRun, or of ExecuteRun.
type receiver interface {
	recv() (batch, error)
	close()
}

// taken is what a stream shows of a part of a message.
type taken[E any] struct {
	entry   E
	isShown bool
	isOver  bool
	// A heartbeat and an event that a filter hides are progress; a repeat is not.
	isProgress bool
	// An event before which one is missing.
	gap *Event
	// The error of a callback. It ends the stream.
	err error
}

// taker takes the messages of a stream in order, and keeps its place in the log.
type taker[E any] interface {
	last() uint64
	take(batch) iter.Seq[taken[E]]
}

// eventTaker takes every event once and in order.
type eventTaker struct{ cursor *cursor.Cursor }

func (t eventTaker) last() uint64 { return t.cursor.Last() }

func (t eventTaker) take(message batch) iter.Seq[taken[*Event]] {
	return func(yield func(taken[*Event]) bool) {
		for _, event := range message.events {
			part := taken[*Event]{entry: event, isShown: true, isProgress: true, isOver: slices.Contains(terminalTypes, event.GetType())}
			switch t.cursor.Judge(event) {
			case cursor.Gap:
				part = taken[*Event]{gap: event}
			case cursor.Drop:
				part = taken[*Event]{isProgress: event.GetEventId() == 0}
			}
			if !yield(part) {
				return
			}
		}
	}
}

// follower is one stream over many connections.
type follower[E any] struct {
	runs    *Runs
	form    *pawlv1.WatchRunRequest
	taker   taker[E]
	options WatchOptions
	yield   func(E, error) bool
}

// lost tells how a connection ended. A nil *lost means that the watch is over.
type lost struct {
	cause       string
	err         *Error
	hasProgress bool
}

func (r *Runs) watch(ctx context.Context, runID string, options WatchOptions, first receiver, yield func(*Event, error) bool) {
	if options.OnCheckpoint != nil || options.OnTaskResult != nil {
		follow(ctx, r, callbackForm(runID, options), newCallbackTaker(options), options, first, yield)
		return
	}
	isFiltered := len(options.Types)+len(options.NodeIDs)+len(options.NodeTypes) > 0
	follow(ctx, r, formOf(runID, options), eventTaker{cursor.New(options.AfterEventID, isFiltered)}, options, first, yield)
}

// formOf is the request of a stream, without its cursor.
func formOf(runID string, options WatchOptions) *pawlv1.WatchRunRequest {
	return &pawlv1.WatchRunRequest{RunId: runID, Types: options.Types, NodeIds: options.NodeIDs, NodeTypes: options.NodeTypes}
}

func follow[E any](ctx context.Context, r *Runs, form *pawlv1.WatchRunRequest, taker taker[E], options WatchOptions, first receiver, yield func(E, error) bool) {
	var none E
	w := &follower[E]{r, form, taker, options, yield}
	if w.options.Silence == 0 {
		w.options.Silence = silenceDefault
	}
	if w.options.GiveUp == 0 {
		w.options.GiveUp = giveUpDefault
	}
	time := r.client.clock
	failingSince := time.now()
	isFailing := false
	retry, gaps := 0, gapCount{}
	for ctx.Err() == nil {
		ending := w.readOnce(ctx, first)
		first = nil
		if ending == nil {
			return
		}
		if ctx.Err() != nil {
			break
		}
		if ending.hasProgress {
			retry, isFailing = 0, false
		}
		if !isFailing {
			isFailing, failingSince = true, time.now()
		}
		isOut := time.now().Sub(failingSince) > w.options.GiveUp
		if gaps.isFinal(ending.err) || isOut {
			yield(none, ending.err)
			return
		}
		retry++
		delay := max(backoff(retry, time.random()), ending.err.RetryDelay)
		if options.OnReconnect != nil {
			options.OnReconnect(Reconnect{ending.cause, ending.err, retry, delay, taker.last()})
		}
		time.pause(ctx, delay)
	}
	yield(none, leftError(ctx))
}

// readOnce reads one connection from the cursor to its end.
func (w *follower[E]) readOnce(ctx context.Context, stream receiver) *lost {
	streamCtx, cancel := context.WithCancelCause(ctx)
	if stream == nil {
		w.form.AfterEventId = w.taker.last()
		opened, err := w.runs.events.WatchRun(streamCtx, w.form)
		if err != nil {
			cancel(nil)
			return &lost{"error", errorFrom(ctx, err), false}
		}
		stream = watchStream{opened, func() { cancel(nil) }}
	}
	isOver := false
	defer func() {
		if isOver {
			go readToEnd(stream)
		} else {
			stream.close()
			cancel(nil)
		}
	}()
	hasBegun, hasProgress := false, false
	for {
		message, isSilent, err := w.next(stream)
		switch {
		case isSilent:
			return &lost{"silence", unreachable("nothing came for %v", w.options.Silence), hasProgress}
		case errors.Is(err, io.EOF):
			return w.closed(ctx, hasProgress)
		case err != nil:
			return &lost{"error", streamError(ctx, err, hasBegun), hasProgress}
		}
		hasBegun = true
		hasProgress = hasProgress || len(message.events)+len(message.items) == 0 // a heartbeat
		for part := range w.taker.take(message) {
			if part.gap != nil {
				return &lost{"gap", gapError(w.form.GetRunId(), w.taker.last(), part.gap), hasProgress}
			}
			if part.err != nil {
				var none E
				w.yield(none, part.err)
				return nil
			}
			hasProgress = hasProgress || part.isProgress
			// Set before the yield: a consumer that has the terminal event may leave the loop at once.
			isOver = part.isOver
			if part.isShown && !w.yield(part.entry, nil) || isOver {
				return nil
			}
		}
	}
}

// next waits for a message. The timer runs only during the wait, so a consumer may take its time with an event.
func (w *follower[E]) next(stream receiver) (message batch, isSilent bool, err error) {
	timer := time.AfterFunc(w.options.Silence, stream.close)
	message, err = stream.recv()
	return message, !timer.Stop() && err != nil, err
}

// closed judges a stream that the server ended. That is correct if the caller already had the terminal event.
func (w *follower[E]) closed(ctx context.Context, hasProgress bool) *lost {
	run, err := w.runs.Get(ctx, w.form.GetRunId())
	if err != nil {
		return &lost{"error", errorFrom(ctx, err), hasProgress}
	}
	if run.GetEndTime() != nil && run.GetLastEventId() <= w.taker.last() {
		return nil
	}
	return &lost{"closed", unreachable("the stream ended before the run did"), hasProgress}
}

// readToEnd lets the server end a stream after its terminal event. A cancel would reset the stream, and a gateway closes an HTTP/2
// connection on which a client resets many streams.
func readToEnd(stream receiver) {
	timer := time.AfterFunc(endTimeout, stream.close)
	defer timer.Stop()
	defer stream.close()
	for {
		if _, err := stream.recv(); err != nil {
			return
		}
	}
}

// streamError reads the error of a stream. After its first message the request was valid, so an error without a reason of the server comes
// from the connection. So does a cancel that the caller did not ask for.
func streamError(ctx context.Context, err error, hasBegun bool) *Error {
	failure := errorFrom(ctx, err)
	if failure.ServerReason != "" || !hasBegun && failure.Code != codes.Canceled {
		return failure
	}
	cut := unreachable("the stream was cut: %s", failure.Message)
	cut.cause = err
	return cut
}

func unreachable(format string, args ...any) *Error {
	return failed(Unreachable, codes.Unavailable, format, args...)
}

type watchStream struct {
	stream pawlv1.EventService_WatchRunClient
	cancel func()
}

func (s watchStream) close() { s.cancel() }
func (s watchStream) recv() (batch, error) {
	res, err := s.stream.Recv()
	return batch{res.GetEvents(), res.GetItems()}, err
}
