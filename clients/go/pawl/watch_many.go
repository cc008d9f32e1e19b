package pawl

// One stream of many runs over many connections.
//
// Race: a connection breaks between the messages of two runs. The stream keeps the last event id of each run, and continues with all of
// them. A run that has ended is left out of the next connection.

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"time"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
	"pawl.dev/sdk/go/internal/cursor"
)

// WatchManyOptions are the options of WatchMany.
type WatchManyOptions struct {
	// Types are the dotted types to read. Empty means all. The terminal event of each run always comes.
	Types []string
	// Silence is the longest time without a message or a heartbeat. 0 means 45 s.
	Silence time.Duration
	// OnLost is called for a run that cannot be read, for example because a user deleted it. The others continue.
	OnLost func(runID, reason string)
}

// Connections in a row without news, until the last error is yielded.
const manyAttemptsMax = 30

// WatchMany yields the events of at most 100 runs over one connection, each once and in the order of its run. It ends when all runs have
// ended. The map has the last event that the caller has of each run, 0 for none. To add or remove runs, leave the loop and call it again. It
// reconnects by itself. It yields one error, as its last value, for a failure that no reconnect removes and when the context ends.
func (r *Runs) WatchMany(ctx context.Context, runs map[string]uint64, options WatchManyOptions) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		open := map[string]*cursor.Cursor{}
		for runID, after := range runs {
			open[runID] = cursor.New(after, len(options.Types) > 0)
		}
		if options.Silence == 0 {
			options.Silence = silenceDefault
		}
		clock := r.client.clock
		var gaps gapCount
		for retry := 0; len(open) > 0 && ctx.Err() == nil; {
			hasNews, hasLeft, failure := r.readMany(ctx, open, options, yield)
			if hasLeft || len(open) == 0 {
				return
			}
			if hasNews {
				retry = 0
			}
			retry++
			if ctx.Err() == nil && (gaps.isFinal(failure) || retry > manyAttemptsMax) {
				yield(nil, failure)
				return
			}
			clock.pause(ctx, max(backoff(retry, clock.random()), failure.RetryDelay))
		}
		if ctx.Err() != nil {
			yield(nil, leftError(ctx))
		}
	}
}

// readMany reads one connection to its end. It removes the runs that are done from open.
func (r *Runs) readMany(ctx context.Context, open map[string]*cursor.Cursor, options WatchManyOptions, yield func(*Event, error) bool) (hasNews, hasLeft bool, failure *Error) {
	streamCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	req := &pawlv1.WatchRequest{Types: options.Types}
	for runID, place := range open {
		req.Runs = append(req.Runs, &pawlv1.WatchedRun{RunId: runID, AfterEventId: place.Last()})
	}
	stream, err := r.events.Watch(streamCtx, req)
	if err != nil {
		return false, false, errorFrom(ctx, err)
	}
	for {
		timer := time.AfterFunc(options.Silence, cancel)
		message, err := stream.Recv()
		timer.Stop()
		switch {
		case err == nil:
		case len(open) == 0 || ctx.Err() != nil:
			return hasNews, false, leftError(ctx)
		case errors.Is(err, io.EOF):
			return hasNews, false, unreachable("the stream ended before the runs did")
		default:
			return hasNews, false, streamError(ctx, err, hasNews)
		}
		hasNews = true
		runID := message.GetRunId()
		place, isOpen := open[runID]
		if !isOpen {
			continue
		}
		for _, event := range message.GetEvents() {
			switch place.Judge(event) {
			case cursor.Gap:
				return hasNews, false, gapError(runID, place.Last(), event)
			case cursor.Drop:
				continue
			}
			if slices.Contains(terminalTypes, event.GetType()) {
				delete(open, runID)
			}
			if !yield(event, nil) {
				return hasNews, true, nil
			}
		}
		if !message.GetDone() {
			continue
		}
		delete(open, runID)
		if message.GetReason() != "" && options.OnLost != nil {
			options.OnLost(runID, message.GetReason())
		}
	}
}
