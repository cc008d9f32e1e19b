// Program conformance-watch is the caller under test of the conformance kit: it watches runs as test/handler-kit/PROGRAM.md describes, in Go.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"time"

	"pawl.dev/sdk/go/pawl"
)

type command struct {
	Watch      string `json:"watch"`
	After      uint64 `json:"after"`
	SilenceMs  int64  `json:"silence_ms"`
	GiveUpMs   int64  `json:"give_up_ms"`
	LeaveAfter int    `json:"leave_after"`
}

type eventLine struct {
	EventID    uint64  `json:"event_id"`
	Type       string  `json:"type"`
	NodeID     string  `json:"node_id"`
	Iteration  uint32  `json:"iteration"`
	DeltaIndex *uint32 `json:"delta_index,omitempty"`
	Text       string  `json:"text,omitempty"`
}

type endLine struct {
	End bool `json:"end"`
}

type failure struct {
	Reason string `json:"reason"`
}

type errorLine struct {
	Error failure `json:"error"`
}

func lineOf(event *pawl.Event) eventLine {
	line := eventLine{
		EventID: event.GetEventId(), Type: event.GetType(),
		NodeID: event.GetNodeId(), Iteration: event.GetIteration(),
	}
	if delta := event.GetNodeStreamDelta(); delta != nil {
		index := delta.GetDeltaIndex()
		line.DeltaIndex, line.Text = &index, delta.GetText()
	}
	return line
}

// watch prints the events of one run, and gives the last line.
func watch(client *pawl.Client, c command, out *json.Encoder) any {
	count := 0
	options := pawl.WatchOptions{
		AfterEventID: c.After,
		Silence:      time.Duration(c.SilenceMs) * time.Millisecond,
		GiveUp:       time.Duration(c.GiveUpMs) * time.Millisecond,
	}
	for event, err := range client.Runs.Watch(context.Background(), c.Watch, options) {
		var failed *pawl.Error
		if errors.As(err, &failed) {
			return errorLine{failure{failed.Reason}}
		}
		if err := out.Encode(lineOf(event)); err != nil {
			log.Fatal(err)
		}
		if count++; count == c.LeaveAfter {
			break
		}
	}
	return endLine{true}
}

func main() {
	client, err := pawl.Connect("")
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(watch(client, c, out)); err != nil {
			log.Fatal(err)
		}
	}
}
