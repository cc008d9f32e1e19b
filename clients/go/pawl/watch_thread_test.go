package pawl

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// threadNews are events of a run, from an id on. The cursor of a run is its name.
func threadNews(runID string, first int, types ...string) *pawlv1.WatchThreadResponse {
	message := &pawlv1.WatchThreadResponse{RunId: runID, Cursor: fmt.Sprintf("%s.%d", runID, first+len(types)-1)}
	for i, eventType := range types {
		message.Events = append(message.Events, &Event{RunId: runID, EventId: uint64(first + i), Type: eventType})
	}
	return message
}

func threadItems(runID string, last uint64, items ...*pawlv1.StreamItem) *pawlv1.WatchThreadResponse {
	for _, item := range items {
		item.RunId = runID
	}
	return &pawlv1.WatchThreadResponse{RunId: runID, Items: items, Cursor: fmt.Sprintf("%s.%d", runID, last)}
}

// threadStreamServer plays the connections in order and notes their requests. An error fails its connection.
type threadStreamServer struct {
	pawlv1.UnimplementedEventServiceServer
	connections [][]any
	asked       []*pawlv1.WatchThreadRequest
}

func (s *threadStreamServer) WatchThread(req *pawlv1.WatchThreadRequest, stream pawlv1.EventService_WatchThreadServer) error {
	s.asked = append(s.asked, req)
	for _, step := range s.connections[len(s.asked)-1] {
		if err, isError := step.(error); isError {
			return err
		}
		if message, isMessage := step.(*pawlv1.WatchThreadResponse); isMessage {
			_ = stream.Send(message)
		}
	}
	return nil
}

func (s *threadStreamServer) cursors() []string {
	cursors := make([]string, len(s.asked))
	for i, req := range s.asked {
		cursors[i] = req.GetCursor()
	}
	return cursors
}

func TestAStreamOfAThreadContinuesAfterItsLastEventWhenItIsCutDropsRepeatsAndReopensOnAGap(t *testing.T) {
	server := &threadStreamServer{connections: [][]any{
		{threadNews("a", 1, "run.started", "run.completed"), threadNews("b", 1, "run.started"), refusal(codes.Unavailable, "DRAINING", "stops")},
		{threadNews("b", 1, "run.started"), threadNews("b", 3, "node.completed")},
		{&pawlv1.WatchThreadResponse{Cursor: "b.1"}, threadNews("b", 2, "node.started", "run.completed")},
	}}
	client, _ := serveGateway(t, &gateway{events: server})
	var seen, reconnects []string
	options := WatchThreadOptions{UntilIdle: true, OnReconnect: func(at string, _ *Error) { reconnects = append(reconnects, at) }}
	for entry, err := range client.Threads.Watch(t.Context(), "chat", options) {
		if err != nil {
			t.Fatal(err)
		}
		if at := fmt.Sprintf("%s.%d", entry.Event.GetRunId(), entry.Event.GetEventId()); at != entry.Cursor {
			t.Errorf("event %s has the cursor %s", at, entry.Cursor)
		}
		seen = append(seen, entry.Cursor)
	}
	must(t, "events", seen, []string{"a.1", "a.2", "b.1", "b.2", "b.3"})
	must(t, "cursors", server.cursors(), []string{"", "b.1", "b.1"})
	must(t, "reconnects", reconnects, []string{"b.1", "b.1"})
}

func TestWithoutAnEndAtIdleAStreamOfAThreadThatTheServerEndsIsOpenedAgain(t *testing.T) {
	server := &threadStreamServer{connections: [][]any{
		{threadNews("a", 5, "node.completed")},
		{threadNews("a", 6, "run.completed"), threadNews("b", 1, "run.started")},
	}}
	client, _ := serveGateway(t, &gateway{events: server})
	var seen []string
	for entry, err := range client.Threads.Watch(t.Context(), "chat", WatchThreadOptions{Cursor: "a.4"}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, entry.Cursor)
		if entry.Cursor == "b.1" {
			break
		}
	}
	must(t, "events", seen, []string{"a.5", "a.6", "b.1"})
	must(t, "cursors", server.cursors(), []string{"a.4", "a.5"})
}

func TestAStreamOfAThreadInModesHasACursorBetweenEventsAndNeverInsideOne(t *testing.T) {
	control := streamed(3, pawlv1.StreamMode_STREAM_MODE_CONTROL, `{"signal":"done"}`)
	server := &threadStreamServer{connections: [][]any{
		{threadItems("a", 2, logged(1, "x"), streamed(1, updates, `{}`), logged(2, "x")), refusal(codes.Unavailable, "DRAINING", "stops")},
		{threadItems("a", 3, logged(2, "x"), logged(3, "x"), control), threadItems("b", 1, logged(1, "x"))},
	}}
	client, _ := serveGateway(t, &gateway{events: server})
	var seen []string
	for item, err := range client.Threads.Stream(t.Context(), "chat", []Mode{Debug, Updates}, WatchThreadOptions{UntilIdle: true}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, fmt.Sprintf("%s.%d %s %s", item.RunID, item.EventID, item.Mode, item.Cursor))
	}
	must(t, "items", seen, []string{"a.1 debug ", "a.1 updates a.1", "a.2 debug a.2", "a.3 debug a.2", "a.3 control a.3", "b.1 debug b.1"})
	must(t, "cursors", server.cursors(), []string{"", "a.2"})
}

func TestADeletedThreadEndsItsStreamWithThreadNotFoundAndNoReconnectFollows(t *testing.T) {
	server := &threadStreamServer{connections: [][]any{{threadNews("a", 1, "run.completed"), refusal(codes.NotFound, "THREAD_NOT_FOUND", "deleted")}}}
	client, _ := serveGateway(t, &gateway{events: server})
	var last error
	for _, err := range client.Threads.Watch(t.Context(), "chat", WatchThreadOptions{}) {
		last = err
	}
	var failure *Error
	if !errors.As(last, &failure) || failure.Reason != "THREAD_NOT_FOUND" || len(server.asked) != 1 {
		t.Errorf("got %v after %d connections", last, len(server.asked))
	}
}

func TestAGapThatStaysEndsAStreamOfAThread(t *testing.T) {
	late := []any{threadNews("a", 2, "node.completed")}
	server := &threadStreamServer{connections: [][]any{late, late, late, late, late}}
	client, _ := serveGateway(t, &gateway{events: server})
	var last error
	for _, err := range client.Threads.Watch(t.Context(), "chat", WatchThreadOptions{}) {
		last = err
	}
	var failure *Error
	if !errors.As(last, &failure) || failure.Reason != "EVENT_LOG_CORRUPTION" || len(server.asked) != 4 {
		t.Errorf("got %v after %d connections", last, len(server.asked))
	}
}
