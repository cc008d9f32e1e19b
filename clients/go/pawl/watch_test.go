package pawl

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

const runID = "0199-run"

func piece(index uint32) *Event {
	delta := &pawlv1.NodeStreamDelta{DeltaIndex: index, Text: "x"}
	return &Event{Type: "node.stream.delta", NodeId: "write", Epoch: 2, Fact: &pawlv1.RunEvent_NodeStreamDelta{NodeStreamDelta: delta}}
}

func sixEvents() []*Event {
	end := &pawlv1.RunEvent_RunCompleted{RunCompleted: &pawlv1.RunCompleted{OutputJson: []byte(`{"greeting":"hi"}`)}}
	events := []*Event{
		{Type: "run.started"}, {Type: "node.started", NodeId: "write", Epoch: 2}, piece(0), piece(1),
		{Type: "node.completed", NodeId: "write"}, {Type: "run.completed", Fact: end},
	}
	for i, event := range events {
		event.RunId, event.EventId = runID, uint64(i+1)
	}
	return events
}

var heartbeat = &Event{Type: "heartbeat", Fact: &pawlv1.RunEvent_Heartbeat{Heartbeat: &pawlv1.Heartbeat{}}}

// collect gives the ids of all events, the causes of all reconnects and the error at the end.
func collect(t *testing.T, client *Client, options WatchOptions) (ids []uint64, causes []string, err error) {
	t.Helper()
	options.OnReconnect = func(r Reconnect) { causes = append(causes, r.Cause) }
	for event, failure := range client.Runs.Watch(t.Context(), runID, options) {
		if failure != nil {
			return ids, causes, failure
		}
		ids = append(ids, event.GetEventId())
	}
	return ids, causes, nil
}

func must[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

var oneToSix = []uint64{1, 2, 3, 4, 5, 6}

func TestAConnectionThatIsCutIsResumedAfterTheLastEvent(t *testing.T) {
	log, thirdSeen := sixEvents(), make(chan struct{})
	g := &gateway{script: func(req *pawlv1.WatchRunRequest, n int) []step {
		if n == 0 {
			return []step{{send: log[:3]}, {until: thirdSeen}, {cut: true}}
		}
		return []step{{send: log[req.GetAfterEventId():]}}
	}}
	client, _ := serveGateway(t, g)
	var ids []uint64
	for event, err := range client.Runs.Watch(t.Context(), runID, WatchOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, event.GetEventId())
		if event.GetEventId() == 3 {
			close(thirdSeen)
		}
	}
	must(t, "events", ids, oneToSix)
	must(t, "cursors", g.afterIDs(), []uint64{0, 3})
}

func TestAReaderCutOffWithStreamLimitComesBackNotSoonerThanAsked(t *testing.T) {
	log := sixEvents()
	wait := &errdetails.RetryInfo{RetryDelay: durationpb.New(3 * time.Second)}
	client, written := serveGateway(t, &gateway{script: func(_ *pawlv1.WatchRunRequest, n int) []step {
		if n == 0 {
			return []step{{send: log[:4]}, {fail: refusal(codes.ResourceExhausted, "STREAM_LIMIT", "too slow", wait)}}
		}
		return []step{{send: log[4:]}}
	}})
	ids, _, err := collect(t, client, WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	must(t, "events", ids, oneToSix)
	must(t, "pauses", written.list, []time.Duration{3 * time.Second})
}

func TestPausesGrowWhileNothingNewComesAndStartOverAfterProgress(t *testing.T) {
	log, draining := sixEvents(), refusal(codes.Unavailable, "DRAINING", "stopping")
	client, written := serveGateway(t, &gateway{script: func(_ *pawlv1.WatchRunRequest, n int) []step {
		switch {
		case n == 3:
			return []step{{send: log[:1]}, {fail: draining}}
		case n < 5:
			return []step{{fail: draining}}
		}
		return []step{{send: log[1:]}}
	}})
	ids, _, err := collect(t, client, WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	must(t, "events", ids, oneToSix)
	ms := time.Millisecond
	must(t, "pauses", written.list, []time.Duration{200 * ms, 400 * ms, 800 * ms, 200 * ms, 400 * ms})
}

func TestRepeatsAfterAResumeAreDropped(t *testing.T) {
	log := sixEvents()
	client, _ := serveGateway(t, &gateway{script: func(_ *pawlv1.WatchRunRequest, n int) []step {
		if n == 0 {
			return []step{{send: log[:4]}, {fail: refusal(codes.Unavailable, "DRAINING", "stopping")}}
		}
		return []step{{send: log}}
	}})
	ids, _, err := collect(t, client, WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	must(t, "events", ids, oneToSix)
}

func TestAGapTearsTheConnectionDownAndReopensItWithTheCursor(t *testing.T) {
	log := sixEvents()
	g := &gateway{script: func(req *pawlv1.WatchRunRequest, n int) []step {
		if n == 0 {
			return []step{{send: append(slices.Clone(log[:2]), log[3:]...)}, {stall: true}}
		}
		return []step{{send: log[req.GetAfterEventId():]}}
	}}
	client, _ := serveGateway(t, g)
	ids, causes, err := collect(t, client, WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	must(t, "events", ids, oneToSix)
	must(t, "cursors", g.afterIDs(), []uint64{0, 2})
	must(t, "causes", causes, []string{"gap"})
}

func TestAGapThatEveryReopeningShowsAgainIsEventLogCorruption(t *testing.T) {
	log := sixEvents()
	g := &gateway{script: func(*pawlv1.WatchRunRequest, int) []step { return []step{{send: log[1:]}} }}
	client, _ := serveGateway(t, g)
	_, _, err := collect(t, client, WatchOptions{})
	if !isReason(err, "EVENT_LOG_CORRUPTION") || len(g.afterIDs()) != 4 {
		t.Errorf("got %v after %d connections", err, len(g.afterIDs()))
	}
}

func TestAPeerThatSendsNothingIsLeftAndHeartbeatsCount(t *testing.T) {
	log := sixEvents()
	client, _ := serveGateway(t, &gateway{script: func(req *pawlv1.WatchRunRequest, n int) []step {
		if n == 0 {
			return []step{{send: log[:1]}, {send: []*Event{heartbeat}}, {stall: true}}
		}
		return []step{{send: log[req.GetAfterEventId():]}}
	}})
	ids, causes, err := collect(t, client, WatchOptions{Silence: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	must(t, "events", ids, oneToSix)
	must(t, "causes", causes, []string{"silence"})
}

func TestAnErrorNoReconnectCanMendIsYieldedWithItsReason(t *testing.T) {
	g := &gateway{script: func(*pawlv1.WatchRunRequest, int) []step {
		return []step{{fail: refusal(codes.NotFound, "RUN_NOT_FOUND", "no such run")}}
	}}
	client, _ := serveGateway(t, g)
	_, _, err := collect(t, client, WatchOptions{})
	if !isReason(err, "RUN_NOT_FOUND") || len(g.afterIDs()) != 1 {
		t.Errorf("got %v after %d connections", err, len(g.afterIDs()))
	}
}

func TestAWatchWithoutProgressForLongEnoughYieldsItsLastError(t *testing.T) {
	client, _ := serveGateway(t, &gateway{script: func(*pawlv1.WatchRunRequest, int) []step {
		return []step{{fail: refusal(codes.Unavailable, "STORE_UNAVAILABLE", "no database")}}
	}})
	if _, _, err := collect(t, client, WatchOptions{GiveUp: time.Second}); !isReason(err, "STORE_UNAVAILABLE") {
		t.Errorf("got %v", err)
	}
}

func TestAStreamThatEndsWithoutTheTerminalEventIsReopenedWhileTheRunLives(t *testing.T) {
	log := sixEvents()
	client, _ := serveGateway(t, &gateway{
		script: func(_ *pawlv1.WatchRunRequest, n int) []step {
			if n == 0 {
				return []step{{send: log[:4]}}
			}
			return []step{{send: log[4:]}}
		},
		get: func() *pawlv1.Run { return &pawlv1.Run{LastEventId: 4} },
	})
	ids, causes, err := collect(t, client, WatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	must(t, "events", ids, oneToSix)
	must(t, "causes", causes, []string{"closed"})
}

func TestAWatchThatHasTheTerminalEventAlreadyEndsAtOnce(t *testing.T) {
	client, _ := serveGateway(t, &gateway{
		script: func(*pawlv1.WatchRunRequest, int) []step { return nil },
		get:    func() *pawlv1.Run { return &pawlv1.Run{LastEventId: 6, EndTime: timestamppb.Now()} },
	})
	ids, _, err := collect(t, client, WatchOptions{AfterEventID: 6})
	if len(ids) != 0 || err != nil {
		t.Errorf("got %v, %v", ids, err)
	}
}

func TestTheEndOfTheContextEndsTheWatchWithItsError(t *testing.T) {
	log := sixEvents()
	client, _ := serveGateway(t, &gateway{script: func(*pawlv1.WatchRunRequest, int) []step {
		return []step{{send: log[:2]}, {stall: true}}
	}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for event, err := range client.Runs.Watch(ctx, runID, WatchOptions{}) {
		last = err
		if event.GetEventId() == 2 {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got %v", last)
	}
}

// lastStream has one message with the terminal event, and ends when the test releases it.
type lastStream struct {
	isRead    bool
	isClosed  atomic.Bool
	release   chan struct{}
	wasClosed chan bool
}

func (s *lastStream) close() { s.isClosed.Store(true) }
func (s *lastStream) recv() (batch, error) {
	if !s.isRead {
		s.isRead = true
		return batch{events: sixEvents()}, nil
	}
	<-s.release
	s.wasClosed <- s.isClosed.Load()
	return batch{}, io.EOF
}

func TestAfterTheTerminalEventTheServerEndsTheStreamAndTheClientDoesNotResetIt(t *testing.T) {
	client, _ := serveGateway(t, &gateway{})
	stream := &lastStream{release: make(chan struct{}), wasClosed: make(chan bool, 1)}
	client.Runs.watch(t.Context(), runID, WatchOptions{}, stream, func(_ *Event, err error) bool { return err == nil })
	close(stream.release)
	if <-stream.wasClosed {
		t.Error("the client closed the stream before the server ended it")
	}
}
