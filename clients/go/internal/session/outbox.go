package session

import (
	"google.golang.org/protobuf/proto"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

// outbox numbers items from 1 and keeps each until the other side has it. It is not safe for concurrent use.
type outbox struct {
	items []*handlerv1.ProcessItem
	// The number of the last item that the other side has. items[0] has the number after it.
	heard uint64
}

func (o *outbox) add(item *handlerv1.ProcessItem) { o.items = append(o.items, item) }

// last is the number of the newest item.
func (o *outbox) last() uint64 { return o.heard + uint64(len(o.items)) }

// forget drops items that the other side has. It ignores a number that was never used.
func (o *outbox) forget(heard uint64) {
	if heard <= o.heard || heard > o.last() {
		return
	}
	count := heard - o.heard
	clear(o.items[:count]) // so that the array below keeps no item alive
	o.items = o.items[count:]
	o.heard = heard
}

// after returns the items above a number that fit into one message, and the number of the first. One item always fits.
func (o *outbox) after(sent, messageBytes uint64) (first uint64, items []*handlerv1.ProcessItem) {
	sent = max(sent, o.heard)
	waiting := o.items[sent-o.heard:]
	var size uint64
	for i, item := range waiting {
		size += uint64(proto.Size(item)) + itemOverhead
		if i > 0 && size > messageBytes {
			return sent + 1, waiting[:i]
		}
	}
	return sent + 1, waiting
}

// The tag and the length of an item inside of a message.
const itemOverhead = 8
