package pawl

// A stream of a run in modes: the log in the forms that a caller wants; and the callbacks of a watch. It reconnects as a watch does.
//
// Race: a connection breaks between the items of two events. All items of one event are in one message, so the event id is a cursor between
// events and never inside one.

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// Mode is a form in which a stream shows the log of a run.
type Mode string

// The modes of a stream.
const (
	Values   Mode = "values"
	Updates  Mode = "updates"
	Debug    Mode = "debug"
	Metadata Mode = "metadata"
	Control  Mode = "control"
	Messages Mode = "messages"
)

// StreamItem is one event of the log in one mode.
type StreamItem struct {
	Mode Mode
	// EventID is the event of the log: the cursor of every mode.
	EventID uint64
	RunID   string
	// Event is the event, in the mode debug.
	Event *Event
	// Data is the item as a JSON object, in every other mode.
	Data json.RawMessage
}

// Checkpoint is the whole state and context of a run after a step.
type Checkpoint struct {
	RunID   string          `json:"-"`
	EventID uint64          `json:"-"`
	State   json.RawMessage `json:"state"`
	Context json.RawMessage `json:"context"`
}

// TaskResult tells how one node execution ended. Output is absent unless it completed, and Error is empty if it did.
type TaskResult struct {
	RunID     string          `json:"-"`
	EventID   uint64          `json:"-"`
	NodeID    string          `json:"nodeId"`
	Iteration uint32          `json:"iteration"`
	Attempt   uint32          `json:"attempt"`
	Status    string          `json:"status"`
	Output    json.RawMessage `json:"output"`
	Error     string          `json:"error"`
}

// Stream yields a run in modes. It ends after the control item done, which comes in every mode. It reconnects and fails as Watch does. It
// does not call the callbacks of the options.
func (r *Runs) Stream(ctx context.Context, runID string, modes []Mode, options WatchOptions) iter.Seq2[StreamItem, error] {
	return func(yield func(StreamItem, error) bool) {
		form := formOf(runID, options)
		form.Modes = wireModes(modes)
		follow(ctx, r, form, &itemTaker{options.AfterEventID}, options, nil, yield)
	}
}

func wireModes(modes []Mode) []pawlv1.StreamMode {
	wire := make([]pawlv1.StreamMode, len(modes))
	for i, mode := range modes {
		// The gateway refuses a mode that it does not know.
		wire[i] = pawlv1.StreamMode(-1)
		if number, isKnown := pawlv1.StreamMode_value["STREAM_MODE_"+strings.ToUpper(string(mode))]; isKnown {
			wire[i] = pawlv1.StreamMode(number)
		}
	}
	return wire
}

// itemTaker takes the items of each event once.
type itemTaker struct{ lastEventID uint64 }

func (t *itemTaker) last() uint64 { return t.lastEventID }

func (t *itemTaker) take(message batch) iter.Seq[taken[StreamItem]] {
	return func(yield func(taken[StreamItem]) bool) {
		if len(message.events) > 0 && !yield(taken[StreamItem]{isProgress: true}) {
			return
		}
		before := t.lastEventID
		for _, wire := range message.items {
			if wire.GetEventId() <= before {
				continue
			}
			t.lastEventID = wire.GetEventId()
			item := itemOf(wire)
			if !yield(taken[StreamItem]{entry: item, isShown: true, isProgress: true, isOver: item.isDone()}) {
				return
			}
		}
	}
}

func itemOf(wire *pawlv1.StreamItem) StreamItem {
	mode := Mode(strings.ToLower(strings.TrimPrefix(wire.GetMode().String(), "STREAM_MODE_")))
	return StreamItem{mode, wire.GetEventId(), wire.GetRunId(), wire.GetEvent(), wire.GetDataJson()}
}

func (i StreamItem) isDone() bool {
	var control struct {
		Signal string `json:"signal"`
	}
	return i.Mode == Control && json.Unmarshal(i.Data, &control) == nil && control.Signal == "done"
}

// callbackForm is the request of a watch with callbacks. The filter on types holds for the events and not for the callbacks.
func callbackForm(runID string, options WatchOptions) *pawlv1.WatchRunRequest {
	modes := []Mode{Debug}
	if options.OnTaskResult != nil {
		modes = append(modes, Updates)
	}
	if options.OnCheckpoint != nil {
		modes = append(modes, Values)
	}
	form := formOf(runID, options)
	form.Types, form.Modes = nil, wireModes(modes)
	return form
}

// callbackTaker takes the events of a watch, and calls the callbacks in between.
type callbackTaker struct {
	itemTaker
	options WatchOptions
}

func newCallbackTaker(options WatchOptions) *callbackTaker {
	return &callbackTaker{itemTaker{options.AfterEventID}, options}
}

func (t *callbackTaker) take(message batch) iter.Seq[taken[*Event]] {
	return func(yield func(taken[*Event]) bool) {
		for part := range t.itemTaker.take(message) {
			event := part.entry.Event
			isWanted := event != nil && (len(t.options.Types) == 0 || slices.Contains(t.options.Types, event.GetType()) || slices.Contains(terminalTypes, event.GetType()))
			if !yield(taken[*Event]{entry: event, isShown: isWanted, isOver: part.isOver, isProgress: part.isProgress, err: t.call(part.entry)}) {
				return
			}
		}
	}
}

var settled = []string{"completed", "failed", "timed_out", "cancelled", "skipped"}

func (t *callbackTaker) call(item StreamItem) error {
	switch {
	case item.Mode == Values && t.options.OnCheckpoint != nil:
		checkpoint := Checkpoint{RunID: item.RunID, EventID: item.EventID}
		if err := json.Unmarshal(item.Data, &checkpoint); err != nil {
			return fmt.Errorf("pawl: event %d has no readable state: %w", item.EventID, err)
		}
		return t.options.OnCheckpoint(checkpoint)
	case item.Mode == Updates && t.options.OnTaskResult != nil:
		result := TaskResult{RunID: item.RunID, EventID: item.EventID}
		if err := json.Unmarshal(item.Data, &result); err != nil {
			return fmt.Errorf("pawl: event %d has no readable result: %w", item.EventID, err)
		}
		if result.NodeID == "" || !slices.Contains(settled, result.Status) {
			return nil
		}
		return t.options.OnTaskResult(result)
	}
	return nil
}
