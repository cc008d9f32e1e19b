package pawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

func streamed(id uint64, mode pawlv1.StreamMode, data string) *pawlv1.StreamItem {
	return &pawlv1.StreamItem{EventId: id, RunId: runID, Mode: mode, DataJson: []byte(data)}
}

func logged(id uint64, eventType string) *pawlv1.StreamItem {
	event := &Event{EventId: id, RunId: runID, Type: eventType}
	return &pawlv1.StreamItem{EventId: id, RunId: runID, Mode: pawlv1.StreamMode_STREAM_MODE_DEBUG, Event: event}
}

const (
	updates = pawlv1.StreamMode_STREAM_MODE_UPDATES
	values  = pawlv1.StreamMode_STREAM_MODE_VALUES
)

func fourItems() [][]*pawlv1.StreamItem {
	return [][]*pawlv1.StreamItem{
		{logged(1, "run.started"), streamed(1, updates, `{"status":"running"}`), streamed(1, values, `{"state":{},"context":{}}`)},
		{logged(2, "node.started"), streamed(2, updates, `{"nodeId":"a","iteration":0,"attempt":1,"status":"running"}`)},
		{
			logged(3, "node.completed"),
			streamed(3, updates, `{"nodeId":"a","iteration":0,"attempt":1,"status":"completed","output":{"n":1}}`),
			streamed(3, values, `{"state":{},"context":{"nodes":{"a":{"n":1}}}}`),
		},
		{logged(4, "run.completed"), streamed(4, pawlv1.StreamMode_STREAM_MODE_CONTROL, `{"signal":"done","status":"completed"}`)},
	}
}

// cutOnce is a gateway whose first connection is cut after two events; the second one repeats the second event.
func cutOnce() *gateway {
	return &gateway{script: func(_ *pawlv1.WatchRunRequest, n int) []step {
		items := fourItems()
		if n == 0 {
			return []step{{items: items[0]}, {items: items[1]}, {fail: refusal(codes.Unavailable, "DRAINING", "stopping")}}
		}
		return []step{{items: items[1]}, {items: items[2]}, {items: items[3]}}
	}}
}

func TestAStreamInModesResumesAfterTheLastEventAndEndsAfterDone(t *testing.T) {
	g := cutOnce()
	client, _ := serveGateway(t, g)
	var seen []string
	options := WatchOptions{NodeIDs: []string{"a"}}
	for item, err := range client.Runs.Stream(t.Context(), runID, []Mode{Debug, Updates, Values}, options) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, fmt.Sprint(item.EventID, " ", item.Mode))
	}
	must(t, "items", seen, []string{
		"1 debug", "1 updates", "1 values", "2 debug", "2 updates", "3 debug", "3 updates", "3 values", "4 debug", "4 control",
	})
	must(t, "cursors", g.afterIDs(), []uint64{0, 2})
	must(t, "nodes", g.watched[1].GetNodeIds(), []string{"a"})
}

func TestCallbacksGetEachStepAndEachResultOnceAcrossACut(t *testing.T) {
	g := cutOnce()
	client, _ := serveGateway(t, g)
	var events, results []string
	var checkpoints []uint64
	var last json.RawMessage
	for event, err := range client.Runs.Watch(t.Context(), runID, WatchOptions{
		Types: []string{"node.started"},
		OnCheckpoint: func(checkpoint Checkpoint) error {
			checkpoints, last = append(checkpoints, checkpoint.EventID), checkpoint.Context
			return nil
		},
		OnTaskResult: func(result TaskResult) error {
			results = append(results, fmt.Sprint(result.NodeID, " ", result.Status, " ", string(result.Output)))
			return nil
		},
	}) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event.GetType())
	}
	must(t, "events", events, []string{"node.started", "run.completed"})
	must(t, "checkpoints", checkpoints, []uint64{1, 3})
	must(t, "context", []string{string(last)}, []string{`{"nodes":{"a":{"n":1}}}`})
	must(t, "results", results, []string{`a completed {"n":1}`})
	must(t, "types", g.watched[0].GetTypes(), nil)
}

func TestAnErrorOfACallbackEndsTheWatchWithIt(t *testing.T) {
	client, _ := serveGateway(t, cutOnce())
	full := errors.New("the disk is full")
	for _, err := range client.Runs.Watch(t.Context(), runID, WatchOptions{OnCheckpoint: func(Checkpoint) error { return full }}) {
		if err == nil {
			continue
		}
		if !errors.Is(err, full) {
			t.Errorf("got %v", err)
		}
		return
	}
	t.Error("the watch ended without an error")
}

// manyServer answers Watch: the first connection is cut after the end of one run.
type manyServer struct {
	pawlv1.UnimplementedEventServiceServer
	asked []map[string]uint64
}

func (s *manyServer) Watch(req *pawlv1.WatchRequest, stream pawlv1.EventService_WatchServer) error {
	asked := map[string]uint64{}
	for _, run := range req.GetRuns() {
		asked[run.GetRunId()] = run.GetAfterEventId()
	}
	s.asked = append(s.asked, asked)
	send := func(runID string, isDone bool, types ...string) {
		message := &pawlv1.WatchResponse{RunId: runID, Done: isDone}
		for i, eventType := range types {
			message.Events = append(message.Events, &Event{RunId: runID, EventId: uint64(i + 1), Type: eventType})
		}
		_ = stream.Send(message)
	}
	if len(s.asked) == 1 {
		send("a", true, "run.started", "run.completed")
		send("b", false, "run.started")
		return refusal(codes.Unavailable, "DRAINING", "stopping")
	}
	_ = stream.Send(&pawlv1.WatchResponse{RunId: "c", Done: true, Reason: "RUN_NOT_FOUND"})
	send("b", true, "run.started", "run.completed")
	return nil
}

func TestManyRunsOverOneConnectionContinueWithTheLastEventOfEachRun(t *testing.T) {
	server := &manyServer{}
	client, _ := serveGateway(t, &gateway{events: server})
	var seen, lost []string
	options := WatchManyOptions{OnLost: func(runID, reason string) { lost = append(lost, runID+" "+reason) }}
	for event, err := range client.Runs.WatchMany(t.Context(), map[string]uint64{"a": 0, "b": 0, "c": 3}, options) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, fmt.Sprint(event.GetRunId(), event.GetEventId()))
	}
	must(t, "events", seen, []string{"a1", "a2", "b1", "b2"})
	must(t, "lost", lost, []string{"c RUN_NOT_FOUND"})
	if asked := fmt.Sprint(server.asked); asked != "[map[a:0 b:0 c:3] map[b:1 c:3]]" {
		t.Errorf("asked %s", asked)
	}
}

// gapServer answers Watch: it ends the first connection at once. Later run b has news each time, and an event of run a is missing.
type gapServer struct {
	pawlv1.UnimplementedEventServiceServer
	opened uint64
}

func (s *gapServer) Watch(_ *pawlv1.WatchRequest, stream pawlv1.EventService_WatchServer) error {
	s.opened++
	if s.opened == 1 {
		return nil
	}
	for _, event := range []*Event{{RunId: "b", EventId: s.opened - 1, Type: "x"}, {RunId: "a", EventId: 2, Type: "x"}} {
		_ = stream.Send(&pawlv1.WatchResponse{RunId: event.GetRunId(), Events: []*Event{event}})
	}
	return nil
}

func TestAGapThatStaysEndsAStreamOfManyRunsAndAnEarlyEndDoesNot(t *testing.T) {
	server := &gapServer{}
	client, _ := serveGateway(t, &gateway{events: server})
	var last error
	for _, err := range client.Runs.WatchMany(t.Context(), map[string]uint64{"a": 0, "b": 0}, WatchManyOptions{}) {
		last = err
	}
	var failure *Error
	if !errors.As(last, &failure) || failure.Reason != "EVENT_LOG_CORRUPTION" || server.opened != 5 {
		t.Errorf("got %v after %d connections", last, server.opened)
	}
}
