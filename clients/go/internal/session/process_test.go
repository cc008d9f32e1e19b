package session

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

type functions = map[string]func(context.Context, *Invocation) Outcome

func waiting(ctx context.Context, _ *Invocation) Outcome {
	<-ctx.Done()
	return done(`"late"`)
}

func TestACutLosesNoResultAndRepeatsItsNumber(t *testing.T) {
	isCut := make(chan struct{})
	h, process := start(t, 4, functions{"slow": func(context.Context, *Invocation) Outcome {
		<-isCut
		return done(`"ok"`)
	}})
	first, hello := h.accept(t)
	first.send(t, greet(0))
	first.send(t, invoke(1, "a", "slow", "k"))
	if heard := first.recv(t); heard.GetHeardSeq() != 1 {
		t.Fatalf("got %v", heard)
	}
	first.end <- status.Error(codes.Unavailable, "cut")
	second, resume := h.accept(t)
	if resume.GetResume().GetSessionId() != hello.GetHello().GetSessionId() || resume.GetHeardSeq() != 1 {
		t.Fatalf("got %v", resume)
	}
	close(isCut)
	second.send(t, greet(0))
	if got := (&reader{link: second}).next(t).GetResult(); got.GetOutputJson() != `"ok"` {
		t.Errorf("got %v", got)
	}
	// The host never confirmed the result, so the next stream has it again.
	second.end <- nil
	third, _ := h.accept(t)
	third.send(t, greet(0))
	if got := (&reader{link: third}).next(t).GetResult(); got.GetInvocationId() != "a" {
		t.Errorf("got %v", got)
	}
	third.send(t, &handlerv1.ServeResponse{HeardSeq: 1})
	process.stop(t, third)
}

func TestLostCancelsEverythingAndBeginsANewSession(t *testing.T) {
	causes := make(chan error, 1)
	h, process := start(t, 4, functions{"wait": func(ctx context.Context, inv *Invocation) Outcome {
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return done("1")
	}})
	first, hello := h.accept(t)
	first.send(t, greet(0))
	first.send(t, invoke(1, "a", "wait", "k"))
	first.recv(t)
	first.end <- status.Error(codes.Unavailable, "cut")
	second, _ := h.accept(t)
	second.send(t, &handlerv1.ServeResponse{Opening: &handlerv1.ServeResponse_Lost{Lost: &handlerv1.Lost{}}})
	if cause, isCancelled := (<-causes).(*Cancelled); !isCancelled || cause.Reason != "claim_lost" {
		t.Errorf("got %v", cause)
	}
	third, again := h.accept(t)
	if id := again.GetHello().GetSessionId(); id == "" || id == hello.GetHello().GetSessionId() {
		t.Errorf("got %v", again)
	}
	third.send(t, greet(0))
	third.send(t, invoke(1, "b", "none", "k2"))
	if got := (&reader{link: third}).next(t).GetFailure(); got.GetCause() != "unknown_node_type" {
		t.Errorf("got %v", got)
	}
	process.stop(t, third)
}

func TestAfterACancelOnlyEndedIsSent(t *testing.T) {
	h, process := start(t, 1, functions{"wait": func(ctx context.Context, inv *Invocation) Outcome {
		<-ctx.Done()
		inv.Log(handlerv1.LogLevel_LOG_LEVEL_INFO, "late")
		if err := inv.Emit(context.Background(), "late"); err == nil {
			t.Error("a cancelled invocation emits")
		}
		return done("1")
	}})
	l, _ := h.accept(t)
	l.send(t, greet(0))
	l.send(t, invoke(1, "a", "wait", "k"))
	l.send(t, invoke(2, "b", "wait", "k2")) // waits for the only slot
	cancel := func(id string) *handlerv1.HostItem {
		reason := handlerv1.CancelReason_CANCEL_REASON_TIMEOUT
		return &handlerv1.HostItem{Item: &handlerv1.HostItem_Cancel{Cancel: &handlerv1.Cancel{InvocationId: id, Reason: reason}}}
	}
	r := &reader{link: l}
	for i, id := range []string{"b", "a"} {
		l.send(t, items(uint64(3+i), cancel(id)))
		if got := r.next(t).GetEnded(); got.GetInvocationId() != id {
			t.Errorf("got %v, want the end of %s", got, id)
		}
	}
	process.stop(t, l)
}

func TestEmitWaitsForTheWindow(t *testing.T) {
	h, process := start(t, 1, functions{"stream": func(ctx context.Context, inv *Invocation) Outcome {
		if err := inv.Emit(ctx, "12345678abcdefghABCDEFGH"); err != nil {
			t.Error(err)
		}
		return done("1")
	}})
	l, _ := h.accept(t)
	l.send(t, greet(0))
	l.send(t, invoke(1, "a", "stream", "k"))
	r := &reader{link: l}
	for _, want := range []string{"12345678", "abcdefgh"} {
		if got := r.next(t).GetPartial().GetText(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	l.send(t, items(2, &handlerv1.HostItem{Item: &handlerv1.HostItem_Ping{Ping: &handlerv1.Ping{}}}))
	if pong := r.next(t); pong.GetPong() == nil {
		t.Fatalf("the third piece did not wait: %v", pong)
	}
	l.send(t, items(3, &handlerv1.HostItem{Item: &handlerv1.HostItem_Streamed{Streamed: &handlerv1.Streamed{InvocationId: "a", Count: 1}}}))
	if got := r.next(t).GetPartial().GetText(); got != "ABCDEFGH" {
		t.Errorf("got %q", got)
	}
	if r.next(t).GetResult() == nil {
		t.Error("no result")
	}
	process.stop(t, l)
}

func TestAnInvocationReplacesTheOlderOneWithItsEffectKey(t *testing.T) {
	h, process := start(t, 4, functions{"wait": waiting, "quick": func(context.Context, *Invocation) Outcome { return done("2") }})
	l, _ := h.accept(t)
	l.send(t, greet(0))
	l.send(t, invoke(1, "a", "wait", "k"))
	l.send(t, invoke(2, "b", "quick", "k"))
	r := &reader{link: l}
	if got := r.next(t).GetEnded(); got.GetInvocationId() != "a" {
		t.Errorf("got %v", got)
	}
	if got := r.next(t).GetResult(); got.GetInvocationId() != "b" {
		t.Errorf("got %v", got)
	}
	process.stop(t, l)
}

func TestARefusalBeforeTheFirstWelcomeEndsServe(t *testing.T) {
	h, process := start(t, 1, functions{"wait": waiting})
	l, _ := h.accept(t)
	l.end <- status.Error(codes.Unauthenticated, "the token is wrong")
	if err := process.ended(t); status.Code(err) != codes.Unauthenticated {
		t.Errorf("got %v", err)
	}
	if process.State() != Stopped {
		t.Errorf("state %s", process.State())
	}
}

func TestALeavingProcessFinishesWhatRuns(t *testing.T) {
	release := make(chan struct{})
	h, process := start(t, 1, functions{"slow": func(context.Context, *Invocation) Outcome {
		<-release
		return done("1")
	}})
	l, _ := h.accept(t)
	l.send(t, greet(0))
	l.send(t, invoke(1, "a", "slow", "k"))
	l.recv(t)
	process.leave()
	r := &reader{link: l}
	if r.next(t).GetLeaving() == nil {
		t.Error("no Leaving")
	}
	close(release)
	if r.next(t).GetResult() == nil {
		t.Error("no result")
	}
	l.send(t, &handlerv1.ServeResponse{HeardSeq: 2})
	process.stop(t, l)
}

func TestOfSeveralHostsAProcessLeavesOneThatDoesNotAnswerButWaitsForItWhileWorkIsUnfinished(t *testing.T) {
	release := make(chan struct{})
	one, process := start(t, 1, functions{"hold": func(context.Context, *Invocation) Outcome {
		<-release
		return done("1")
	}})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	other := serveHost(t, listener)
	first, hello := one.accept(t)
	process.config.Addresses = append(process.config.Addresses, listener.Addr().String())
	first.send(t, greet(0))
	first.send(t, invoke(1, "a", "hold", "k"))
	first.recv(t)
	first.end <- status.Error(codes.Unavailable, "cut")
	again, resume := one.accept(t)
	if resume.GetResume().GetSessionId() != hello.GetHello().GetSessionId() {
		t.Fatalf("got %v", resume)
	}
	again.send(t, greet(0))
	close(release)
	r := &reader{link: again}
	if got := r.next(t).GetResult(); got.GetInvocationId() != "a" {
		t.Fatalf("got %v", got)
	}
	again.send(t, &handlerv1.ServeResponse{HeardSeq: 1, FirstSeq: 2, Items: []*handlerv1.HostItem{{Item: &handlerv1.HostItem_Ping{Ping: &handlerv1.Ping{}}}}})
	r.next(t)
	again.send(t, &handlerv1.ServeResponse{HeardSeq: 2})
	again.end <- status.Error(codes.Unavailable, "gone")
	elsewhere, resume := other.accept(t)
	if resume.GetResume() == nil {
		t.Fatalf("got %v", resume)
	}
	elsewhere.send(t, &handlerv1.ServeResponse{Opening: &handlerv1.ServeResponse_Lost{Lost: &handlerv1.Lost{}}})
	last, opening := other.accept(t)
	if opening.GetHello() == nil {
		t.Fatalf("got %v", opening)
	}
	last.send(t, greet(0))
	process.stop(t, last)
}
