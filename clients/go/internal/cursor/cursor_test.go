package cursor

import (
	"slices"
	"testing"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

func event(id uint64) *pawlv1.RunEvent {
	return &pawlv1.RunEvent{EventId: id, Type: "node.queued"}
}

func delta(id uint64, index uint32, epoch uint64) *pawlv1.RunEvent {
	return &pawlv1.RunEvent{
		EventId: id, Type: "node.stream.delta", NodeId: "write", Epoch: epoch,
		Fact: &pawlv1.RunEvent_NodeStreamDelta{NodeStreamDelta: &pawlv1.NodeStreamDelta{DeltaIndex: index}},
	}
}

func of(e *pawlv1.RunEvent, nodeID string, iteration uint32) *pawlv1.RunEvent {
	e.NodeId, e.Iteration = nodeID, iteration
	return e
}

func TestJudge(t *testing.T) {
	cases := []struct {
		name       string
		after      uint64
		isFiltered bool
		events     []*pawlv1.RunEvent
		want       []Verdict
		last       uint64
	}{
		{
			name:   "an event that came before is dropped",
			events: []*pawlv1.RunEvent{event(1), event(2), event(1), event(2), event(3)},
			want:   []Verdict{Take, Take, Drop, Drop, Take}, last: 3,
		},
		{
			name: "a heartbeat is not an event of the log (S1.45)", after: 7,
			events: []*pawlv1.RunEvent{{Type: "heartbeat"}}, want: []Verdict{Drop}, last: 7,
		},
		{
			name:   "a missing event is a gap and leaves the cursor where it was (S1.51)",
			events: []*pawlv1.RunEvent{event(1), event(3)}, want: []Verdict{Take, Gap}, last: 1,
		},
		{
			name: "with a filter on types a hole in the ids says nothing", isFiltered: true,
			events: []*pawlv1.RunEvent{event(4), event(9)}, want: []Verdict{Take, Take}, last: 9,
		},
		{
			name: "a delta at or below the high-water mark of its node is dropped (S1.49, S1.50)", isFiltered: true,
			events: []*pawlv1.RunEvent{delta(2, 0, 1), delta(3, 1, 1), delta(4, 1, 1), delta(5, 0, 1), delta(6, 2, 1)},
			want:   []Verdict{Take, Take, Drop, Drop, Take}, last: 6,
		},
		{
			name: "every node and every iteration has its own mark (S1.50)", after: 1,
			events: []*pawlv1.RunEvent{
				delta(2, 0, 1), of(delta(3, 0, 1), "other", 0), of(delta(4, 0, 1), "write", 1), delta(5, 1, 1), of(delta(6, 1, 1), "other", 0),
			},
			want: []Verdict{Take, Take, Take, Take, Take}, last: 6,
		},
		{
			name:   "the index grows over the claims of a node; a delta of an older claim is dropped (S1.49, S1.50)",
			events: []*pawlv1.RunEvent{event(1), delta(2, 0, 1), delta(3, 1, 1), event(4), delta(5, 2, 4), delta(6, 2, 1), delta(7, 3, 4)},
			want:   []Verdict{Take, Take, Take, Take, Take, Drop, Take}, last: 7,
		},
		{
			name:   "a delta that is missing between two claims is a gap (S1.51)",
			events: []*pawlv1.RunEvent{event(1), delta(2, 0, 1), event(3), delta(4, 2, 3)},
			want:   []Verdict{Take, Take, Take, Gap}, last: 3,
		},
		{
			name:   "in a log of an older release a new claim counts from 0 again (S1.50)",
			events: []*pawlv1.RunEvent{event(1), delta(2, 0, 1), delta(3, 1, 1), event(4), delta(5, 0, 4), delta(6, 2, 1), delta(7, 1, 4)},
			want:   []Verdict{Take, Take, Take, Take, Take, Drop, Take}, last: 7,
		},
		{
			name:   "a missing delta is a gap once; there again after the reopening it is the log's own (S1.51)",
			events: []*pawlv1.RunEvent{event(1), delta(2, 0, 1), delta(3, 2, 1), delta(3, 2, 1), delta(4, 3, 1)},
			want:   []Verdict{Take, Take, Gap, Take, Take}, last: 4,
		},
		{
			name: "a watch that joins in the middle knows no index of a claim that begins later", after: 10,
			events: []*pawlv1.RunEvent{event(11), delta(12, 7, 11)}, want: []Verdict{Take, Take}, last: 12,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cursor := New(c.after, c.isFiltered)
			var got []Verdict
			for _, e := range c.events {
				got = append(got, cursor.Judge(e))
			}
			if !slices.Equal(got, c.want) || cursor.Last() != c.last {
				t.Errorf("got %v at %d, want %v at %d", got, cursor.Last(), c.want, c.last)
			}
		})
	}
}
