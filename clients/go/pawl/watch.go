package pawl

// One stream of events over many connections. States: connecting → reading → (lost → pausing → connecting)* → over.
//
// Races: a connection breaks, a gateway drains or restarts, a gateway cuts off a slow reader, a peer is silent, events repeat or are
// missing. The watch keeps only the last event id. So every event of the log comes once and in order, and the terminal event is the last.

import (
	"context"
	"errors"
	"fmt"
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
	// Silence is the longest time without a message or a heartbeat. 0 means 45 s, three heartbeats.
	Silence time.Duration
	// GiveUp is the longest time without progress. 0 means 5 minutes. Then the watch yields its last error.
	GiveUp time.Duration
	// OnReconnect is called before every pause.
	OnReconnect func(Reconnect)
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
	// A gap that stays after this many reconnects is in the log, not in the transport.
	gapReopenings = 3
)

var terminalTypes = []string{"run.completed", "run.failed", "run.cancelled", "run.timed_out"}

// Watch yields the events of a run, each once and in order, and ends after the terminal event. It reconnects by itself. It yields one
// error, as its last value, for a failure that no reconnect removes and when the context ends. Leaving the loop does not affect the run.
func (r *Runs) Watch(ctx context.Context, runID string, options WatchOptions) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		r.watch(ctx, runID, options, nil, yield)
	}
}

// receiver is an open stream of events: of WatchRun, or of ExecuteRun.
type receiver interface {
	recv() ([]*Event, error)
	close()
}

type watcher struct {
	runs    *Runs
	runID   string
	options WatchOptions
	cursor  *cursor.Cursor
	yield   func(*Event, error) bool
}

// lost tells how a connection ended. A nil *lost means that the watch is over.
type lost struct {
	cause       string
	err         *Error
	hasProgress bool
}

func (r *Runs) watch(ctx context.Context, runID string, options WatchOptions, first receiver, yield func(*Event, error) bool) {
	w := &watcher{r, runID, options, cursor.New(options.AfterEventID, len(options.Types) > 0), yield}
	if w.options.Silence == 0 {
		w.options.Silence = silenceDefault
	}
	if w.options.GiveUp == 0 {
		w.options.GiveUp = giveUpDefault
	}
	time := r.client.clock
	failingSince := time.now()
	isFailing := false
	retry, gaps := 0, 0
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
			retry, gaps, isFailing = 0, 0, false
		}
		if ending.cause == "gap" {
			gaps++
		} else {
			gaps = 0
		}
		if !isFailing {
			isFailing, failingSince = true, time.now()
		}
		isOut := time.now().Sub(failingSince) > w.options.GiveUp
		if ending.cause == "error" && !ending.err.Retryable() || gaps > gapReopenings || isOut {
			yield(nil, ending.err)
			return
		}
		retry++
		delay := max(backoff(retry, time.random()), ending.err.RetryDelay)
		if options.OnReconnect != nil {
			options.OnReconnect(Reconnect{ending.cause, ending.err, retry, delay, w.cursor.Last()})
		}
		time.pause(ctx, delay)
	}
	yield(nil, leftError(ctx))
}

// readOnce reads one connection from the cursor to its end.
func (w *watcher) readOnce(ctx context.Context, stream receiver) *lost {
	streamCtx, cancel := context.WithCancelCause(ctx)
	if stream == nil {
		opened, err := w.runs.events.WatchRun(streamCtx, &pawlv1.WatchRunRequest{
			RunId: w.runID, AfterEventId: w.cursor.Last(), Types: w.options.Types,
		})
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
		events, isSilent, err := w.next(stream)
		switch {
		case isSilent:
			return &lost{"silence", unreachable("nothing came for %v", w.options.Silence), hasProgress}
		case errors.Is(err, io.EOF):
			return w.closed(ctx, hasProgress)
		case err != nil:
			return &lost{"error", streamError(ctx, err, hasBegun), hasProgress}
		}
		hasBegun = true
		hasProgress = hasProgress || len(events) == 0 // a heartbeat
		for _, event := range events {
			verdict := w.cursor.Judge(event)
			if verdict == cursor.Gap {
				return &lost{"gap", w.gapError(event), hasProgress}
			}
			hasProgress = hasProgress || verdict == cursor.Take || event.GetEventId() == 0
			if verdict == cursor.Drop {
				continue
			}
			// Set before the yield: a consumer that has the terminal event may leave the loop at once.
			isOver = slices.Contains(terminalTypes, event.GetType())
			if !w.yield(event, nil) || isOver {
				return nil
			}
		}
	}
}

// next waits for a message. The timer runs only during the wait, so a consumer may take its time with an event.
func (w *watcher) next(stream receiver) (events []*Event, isSilent bool, err error) {
	timer := time.AfterFunc(w.options.Silence, stream.close)
	events, err = stream.recv()
	return events, !timer.Stop() && err != nil, err
}

// closed judges a stream that the server ended. That is correct if the caller already had the terminal event.
func (w *watcher) closed(ctx context.Context, hasProgress bool) *lost {
	run, err := w.runs.Get(ctx, w.runID)
	if err != nil {
		return &lost{"error", errorFrom(ctx, err), hasProgress}
	}
	if run.GetEndTime() != nil && run.GetLastEventId() <= w.cursor.Last() {
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

func (w *watcher) gapError(event *Event) *Error {
	due := w.cursor.Last() + 1
	what := fmt.Sprintf("%d was due", due)
	if event.GetEventId() == due {
		what = "a delta is missing before it"
	}
	return &Error{
		Reason: "EVENT_LOG_CORRUPTION", Code: codes.DataLoss,
		Message:  fmt.Sprintf("run %s: event %d came, %s", w.runID, event.GetEventId(), what),
		Metadata: map[string]string{"run_id": w.runID, "last_event_id": fmt.Sprint(w.cursor.Last())},
	}
}

type watchStream struct {
	stream pawlv1.EventService_WatchRunClient
	cancel func()
}

func (s watchStream) close() { s.cancel() }
func (s watchStream) recv() ([]*Event, error) {
	res, err := s.stream.Recv()
	return res.GetEvents(), err
}
