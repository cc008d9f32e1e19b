package pawl

// One stream of all runs of a thread over many connections.
//
// Races: a connection breaks between two runs, a gateway drains or is killed, runs begin or are stopped while the client is away. The stream
// keeps the cursor of the last event, and the gateway continues after it. So every event of every run comes once and in order.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
	"pawl.dev/sdk/go/internal/cursor"
)

// WatchThreadOptions are the options of Threads.Watch and Threads.Stream.
type WatchThreadOptions struct {
	// Cursor is the cursor of the last event that the caller has. Empty means from the first run that the thread still has.
	Cursor string
	// SkipFinished begins with the run that holds the thread, or with the next one, if there is no cursor.
	SkipFinished bool
	// UntilIdle ends the stream when the caller has everything and no run holds the thread. Otherwise it stays open between runs.
	UntilIdle bool
	// Types are the dotted types to read. Empty means all. The terminal event of each run always comes.
	Types []string
	// NodeIDs are the nodes whose events to read. Empty means all.
	NodeIDs []string
	// NodeTypes are the types of nodes whose events to read. Empty means all.
	NodeTypes []string
	// Silence is the longest time without a message or a heartbeat. 0 means 45 s.
	Silence time.Duration
	// OnReconnect is called before every reconnect, with the cursor after which the stream continues.
	OnReconnect func(cursor string, err *Error)
}

// ThreadEvent is an event of a run of a thread.
type ThreadEvent struct {
	// Cursor continues after this event. Keep it as it is.
	Cursor string
	Event  *Event
}

// ThreadItem is an event of a run of a thread in one mode.
type ThreadItem struct {
	// Cursor continues after this item. If more items of its event follow, the event comes again with all its items.
	Cursor string
	StreamItem
}

// Watch yields the events of all runs of a thread, each run whole, in the order in which they took the thread. It stays open between runs.
// It reconnects by itself. It yields one error, as its last value, for a failure that no reconnect removes and when the context ends:
// THREAD_NOT_FOUND, also when the thread is deleted, and CURSOR_OUT_OF_RANGE.
func (t *Threads) Watch(ctx context.Context, threadID string, options WatchThreadOptions) iter.Seq2[ThreadEvent, error] {
	return func(yield func(ThreadEvent, error) bool) {
		isFiltered := len(options.Types)+len(options.NodeIDs)+len(options.NodeTypes) > 0
		place := &eventPlace{at: options.Cursor, isFiltered: isFiltered, isStartKnown: options.Cursor == ""}
		followThread(ctx, t, threadForm(threadID, nil, options), place, options, yield)
	}
}

// Stream yields the runs of a thread in modes, as Watch yields their events. Each run ends with its control item done.
func (t *Threads) Stream(ctx context.Context, threadID string, modes []Mode, options WatchThreadOptions) iter.Seq2[ThreadItem, error] {
	return func(yield func(ThreadItem, error) bool) {
		form := threadForm(threadID, wireModes(modes), options)
		followThread(ctx, t, form, &itemPlace{at: options.Cursor}, options, yield)
	}
}

func threadForm(threadID string, modes []pawlv1.StreamMode, options WatchThreadOptions) *pawlv1.WatchThreadRequest {
	return &pawlv1.WatchThreadRequest{
		ThreadId: threadID, Modes: modes, Types: options.Types, NodeIds: options.NodeIDs, NodeTypes: options.NodeTypes,
		UntilIdle: options.UntilIdle, SkipFinished: options.SkipFinished,
	}
}

// threadPlace takes the messages of a stream in order, and keeps its place in the thread.
type threadPlace[E any] interface {
	cursor() string
	take(*pawlv1.WatchThreadResponse) iter.Seq2[E, *Error]
}

// cursorAt is the cursor of an event of a message.
func cursorAt(message *pawlv1.WatchThreadResponse, eventID uint64) string {
	whole := message.GetCursor()
	return fmt.Sprint(whole[:strings.LastIndex(whole, ".")+1], eventID)
}

// eventPlace takes every event once and in order.
type eventPlace struct {
	at         string
	isFiltered bool
	runID      string
	log        *cursor.Cursor
	// The first event after a cursor of the caller may be any event of its run.
	isStartKnown bool
}

func (p *eventPlace) cursor() string { return p.at }

func (p *eventPlace) take(message *pawlv1.WatchThreadResponse) iter.Seq2[ThreadEvent, *Error] {
	return func(yield func(ThreadEvent, *Error) bool) {
		for _, event := range message.GetEvents() {
			if p.log == nil || p.runID != message.GetRunId() {
				var after uint64
				if !p.isStartKnown {
					after = event.GetEventId() - 1
				}
				p.runID, p.log, p.isStartKnown = message.GetRunId(), cursor.New(after, p.isFiltered), true
			}
			switch p.log.Judge(event) {
			case cursor.Gap:
				yield(ThreadEvent{}, gapError(message.GetRunId(), p.log.Last(), event))
				return
			case cursor.Drop:
				continue
			}
			p.at = cursorAt(message, event.GetEventId())
			if !yield(ThreadEvent{p.at, event}, nil) {
				return
			}
		}
	}
}

// itemPlace takes the items of each event once.
type itemPlace struct {
	at          string
	runID       string
	lastEventID uint64
}

func (p *itemPlace) cursor() string { return p.at }

func (p *itemPlace) take(message *pawlv1.WatchThreadResponse) iter.Seq2[ThreadItem, *Error] {
	return func(yield func(ThreadItem, *Error) bool) {
		items := message.GetItems()
		if len(items) > 0 && p.runID != message.GetRunId() {
			p.runID, p.lastEventID = message.GetRunId(), 0
		}
		before := p.lastEventID
		for i, wire := range items {
			if wire.GetEventId() <= before {
				continue
			}
			if i+1 == len(items) || items[i+1].GetEventId() != wire.GetEventId() {
				p.at, p.lastEventID = cursorAt(message, wire.GetEventId()), wire.GetEventId()
			}
			if !yield(ThreadItem{p.at, itemOf(wire)}, nil) {
				return
			}
		}
	}
}

func followThread[E any](
	ctx context.Context, t *Threads, form *pawlv1.WatchThreadRequest, place threadPlace[E], options WatchThreadOptions, yield func(E, error) bool,
) {
	var none E
	if options.Silence == 0 {
		options.Silence = silenceDefault
	}
	clock := t.client.clock
	var gaps gapCount
	for retry := 0; ctx.Err() == nil; {
		form.Cursor = place.cursor()
		hasNews, isOver, failure := readThread(ctx, t, form, place, options.Silence, yield)
		if isOver {
			return
		}
		if hasNews {
			retry = 0
		}
		retry++
		if ctx.Err() != nil {
			break
		}
		if gaps.isFinal(failure) || retry > manyAttemptsMax {
			yield(none, failure)
			return
		}
		if options.OnReconnect != nil {
			options.OnReconnect(place.cursor(), failure)
		}
		clock.pause(ctx, max(backoff(retry, clock.random()), failure.RetryDelay))
	}
	yield(none, leftError(ctx))
}

// readThread reads one connection to its end. isOver is true if the consumer has left, or the thread is idle and the caller wants no more.
func readThread[E any](
	ctx context.Context, t *Threads, form *pawlv1.WatchThreadRequest, place threadPlace[E], silence time.Duration, yield func(E, error) bool,
) (hasNews, isOver bool, failure *Error) {
	streamCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := t.client.Runs.events.WatchThread(streamCtx, form)
	if err != nil {
		return false, false, errorFrom(ctx, err)
	}
	for {
		timer := time.AfterFunc(silence, cancel)
		message, err := stream.Recv()
		timer.Stop()
		switch {
		case errors.Is(err, io.EOF):
			return hasNews, form.GetUntilIdle(), unreachable("the stream ended before the thread was idle")
		case err != nil:
			return hasNews, false, streamError(ctx, err, hasNews)
		}
		hasNews = true
		for entry, gap := range place.take(message) {
			if gap != nil {
				return hasNews, false, gap
			}
			if !yield(entry, nil) {
				return hasNews, true, nil
			}
		}
	}
}
