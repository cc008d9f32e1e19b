// Package cursor keeps the place of a watch in the log of one run: the last event, and the last delta of each node execution.
//
// Race: the stream repeats, skips or resumes. The index of a delta grows over all claims of an execution. In logs of older releases each
// claim counts from 0.
package cursor

import pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"

// Verdict tells what to do with an event.
type Verdict int

const (
	// Take means that the event is new and in order.
	Take Verdict = iota
	// Drop means that the event came before, or is not in the log.
	Drop
	// Gap means that something is missing before the event. The cursor stays.
	Gap
)

type execution struct {
	nodeID    string
	iteration uint32
}

type mark struct {
	epoch uint64
	index uint32
}

// Cursor is the place of one watch.
type Cursor struct {
	last       uint64
	start      uint64
	isFiltered bool
	marks      map[execution]mark
	// The event before which deltas are missing. If they are missing again after a reconnect, the log itself has the gap.
	questioned uint64
}

// New returns a cursor after an event. A filter on types makes holes in the ids, so a hole does not mean a lost event.
func New(afterEventID uint64, isFiltered bool) *Cursor {
	return &Cursor{last: afterEventID, start: afterEventID, isFiltered: isFiltered, marks: map[execution]mark{}}
}

// Last is the id of the newest event. A resumed stream begins after it.
func (c *Cursor) Last() uint64 { return c.last }

// Judge judges one event, and moves past it unless there is a gap.
func (c *Cursor) Judge(event *pawlv1.RunEvent) Verdict {
	id := event.GetEventId()
	if id == 0 || id <= c.last {
		return Drop
	}
	if !c.isFiltered && id != c.last+1 {
		return Gap
	}
	verdict := Take
	if delta := event.GetNodeStreamDelta(); delta != nil {
		verdict = c.judgeDelta(event, delta.GetDeltaIndex())
	}
	if verdict != Gap {
		c.last = id
	}
	return verdict
}

func (c *Cursor) judgeDelta(event *pawlv1.RunEvent, index uint32) Verdict {
	key := execution{event.GetNodeId(), event.GetIteration()}
	known, isKnown := c.marks[key]
	if isKnown && (event.GetEpoch() < known.epoch || event.GetEpoch() == known.epoch && index <= known.index) {
		return Drop
	}
	if c.skips(known, isKnown, index) && c.questioned != event.GetEventId() {
		c.questioned = event.GetEventId()
		return Gap
	}
	c.marks[key] = mark{event.GetEpoch(), index}
	return Take
}

// skips reports whether deltas are missing before index. A watch that joined in the middle of a log does not know the first index.
func (c *Cursor) skips(known mark, isKnown bool, index uint32) bool {
	if isKnown {
		return index > known.index+1
	}
	return c.start == 0 && index > 0
}
