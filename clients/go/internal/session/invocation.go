package session

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

// Invocation is one delivery of work. A function calls its methods from any goroutine.
//
// Race: a Cancel, a Lost or a newer invocation comes while the function emits, waits for the ledger or returns. The lock of the process
// decides which is first. After the end or a cancel nothing more is queued, except Ended.
type Invocation struct {
	*handlerv1.Invoke
	process *Process
	session *session
	ctx     context.Context
	cancel  context.CancelCauseFunc
	// Closed when the gate has a slot.
	admitted chan struct{}
	// Closed when the function has returned, or will never run.
	done chan struct{}
	// Has one token: the right to emit, so that pieces keep their order.
	emitting chan struct{}

	// The lock of the process guards the rest.
	isCancelled bool
	isOver      bool
	// Sizes of the pieces that the host has not forwarded, oldest first, and their sum.
	pieces  []int
	pending int
	// How many pieces the function has made, and how many of them the host has forwarded.
	emitted, passed uint32
	// Closed and made again by every Streamed.
	streamed chan struct{}
	logLines uint32
	effects  map[string]chan answer
}

type answer struct {
	state  handlerv1.EffectState
	result string
}

// queue adds an item unless the invocation is over. It reports whether it did. The caller holds the lock.
func (inv *Invocation) queue(item *handlerv1.ProcessItem) bool {
	if inv.isOver || inv.isCancelled || inv.session.isLost {
		return false
	}
	inv.process.queue(inv.session, item)
	return true
}

// stop cancels the function. The caller holds the lock.
func (inv *Invocation) stop(cause *Cancelled) {
	inv.isCancelled = true
	inv.cancel(cause)
}

// gone is the error of a call after the end.
func (inv *Invocation) gone() error {
	if cause := context.Cause(inv.ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("pawl: invocation %s is over; its handler has returned", inv.GetInvocationId())
}

// Emit streams text. It waits while the host has not forwarded enough.
func (inv *Invocation) Emit(ctx context.Context, text string) error {
	text = strings.ToValidUTF8(text, "\uFFFD")
	limit := int(inv.session.limits().GetPartialBytes())
	for text != "" {
		piece := cut(text, limit)
		text = text[len(piece):]
		partial := &handlerv1.Partial{InvocationId: inv.GetInvocationId(), Piece: &handlerv1.Partial_Text{Text: piece}}
		if err := inv.emit(ctx, partial, len(piece)); err != nil {
			return err
		}
	}
	return nil
}

// EmitMedia streams a picture, a sound or another file.
func (inv *Invocation) EmitMedia(ctx context.Context, url, mime string) error {
	size, limit := len(url)+len(mime), int(inv.session.limits().GetPartialBytes())
	if limit > 0 && size > limit {
		return fmt.Errorf("pawl: the media has %d bytes, at most %d; emit an address instead of the data", size, limit)
	}
	media := &handlerv1.Media{Url: strings.ToValidUTF8(url, "\uFFFD"), Mime: strings.ToValidUTF8(mime, "\uFFFD")}
	partial := &handlerv1.Partial{InvocationId: inv.GetInvocationId(), Piece: &handlerv1.Partial_Media{Media: media}}
	return inv.emit(ctx, partial, size)
}

func (inv *Invocation) emit(ctx context.Context, partial *handlerv1.Partial, size int) error {
	select {
	case <-inv.emitting:
		defer func() { inv.emitting <- struct{}{} }()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-inv.ctx.Done():
		return inv.gone()
	}
	for {
		inv.process.mu.Lock()
		window := int(inv.session.limits().GetWindowBytes())
		if window == 0 || inv.pending == 0 || inv.pending+size <= window {
			isQueued := inv.queue(&handlerv1.ProcessItem{Item: &handlerv1.ProcessItem_Partial{Partial: partial}})
			inv.emitted++
			if isQueued && inv.emitted > inv.passed {
				inv.pieces = append(inv.pieces, size)
				inv.pending += size
			}
			inv.process.mu.Unlock()
			if !isQueued {
				return inv.gone()
			}
			return nil
		}
		streamed := inv.streamed
		inv.process.mu.Unlock()
		select {
		case <-streamed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-inv.ctx.Done():
			return inv.gone()
		}
	}
}

// pass notes that the host has forwarded pieces. The caller holds the lock.
func (inv *Invocation) pass(count uint32) {
	inv.passed = max(inv.passed, count)
	for len(inv.pieces) > int(inv.emitted-min(inv.passed, inv.emitted)) {
		inv.pending -= inv.pieces[0]
		inv.pieces = inv.pieces[1:]
	}
	close(inv.streamed)
	inv.streamed = make(chan struct{})
}

// Log sends a log line. Lines above the limit are dropped, and the last line reports that.
func (inv *Invocation) Log(level handlerv1.LogLevel, message string) {
	inv.process.mu.Lock()
	defer inv.process.mu.Unlock()
	limits := inv.session.limits()
	inv.logLines++
	if most := limits.GetLogLines(); most > 0 && inv.logLines >= most {
		if inv.logLines > most {
			return
		}
		level, message = handlerv1.LogLevel_LOG_LEVEL_WARN, fmt.Sprintf("further log lines are dropped: at most %d", most)
	}
	message = cut(strings.ToValidUTF8(message, "\uFFFD"), int(limits.GetLogBytes()))
	line := &handlerv1.Log{InvocationId: inv.GetInvocationId(), Level: level, Message: message}
	inv.queue(&handlerv1.ProcessItem{Item: &handlerv1.ProcessItem_Log{Log: line}})
}

// Spend sends what the handler used. The host adds it up.
func (inv *Invocation) Spend(usage *handlerv1.Usage) {
	inv.process.mu.Lock()
	defer inv.process.mu.Unlock()
	spent := &handlerv1.Spent{InvocationId: inv.GetInvocationId(), Usage: usage}
	inv.queue(&handlerv1.ProcessItem{Item: &handlerv1.ProcessItem_Spent{Spent: spent}})
}

// Begin asks the ledger for an effect.
func (inv *Invocation) Begin(ctx context.Context, name string, class handlerv1.EffectClass) (handlerv1.EffectState, string, error) {
	begin := &handlerv1.EffectBegin{InvocationId: inv.GetInvocationId(), Name: name, EffectClass: class}
	return inv.ask(ctx, "begin/"+name, &handlerv1.ProcessItem{Item: &handlerv1.ProcessItem_EffectBegin{EffectBegin: begin}})
}

// Commit records the result of an effect.
func (inv *Invocation) Commit(ctx context.Context, name, result string) (handlerv1.EffectState, error) {
	if limit := inv.session.limits().GetEffectBytes(); limit > 0 && uint64(len(result)) > limit {
		return 0, fmt.Errorf("the result of effect %q has %d bytes, at most %d; return less from its function", name, len(result), limit)
	}
	commit := &handlerv1.EffectCommit{InvocationId: inv.GetInvocationId(), Name: name, ResultJson: strings.ToValidUTF8(result, "\uFFFD")}
	state, _, err := inv.ask(ctx, "commit/"+name, &handlerv1.ProcessItem{Item: &handlerv1.ProcessItem_EffectCommit{EffectCommit: commit}})
	return state, err
}

// ask queues a question to the ledger and waits for its answer. It sends each question once.
func (inv *Invocation) ask(ctx context.Context, key string, item *handlerv1.ProcessItem) (handlerv1.EffectState, string, error) {
	inv.process.mu.Lock()
	if _, isAsked := inv.effects[key]; isAsked {
		inv.process.mu.Unlock()
		_, name, _ := strings.Cut(key, "/")
		return 0, "", fmt.Errorf("effect %q is used twice in one invocation; give each effect its own name", name)
	}
	if !inv.queue(item) {
		inv.process.mu.Unlock()
		return 0, "", inv.gone()
	}
	waiter := make(chan answer, 1)
	inv.effects[key] = waiter
	inv.process.mu.Unlock()
	select {
	case got := <-waiter:
		return got.state, got.result, nil
	case <-ctx.Done():
		return 0, "", context.Cause(ctx)
	case <-inv.ctx.Done():
		return 0, "", inv.gone()
	}
}

// answered delivers an answer of the ledger. REVOKED is a cancel. The caller holds the lock.
func (inv *Invocation) answered(key string, got answer) {
	if got.state == handlerv1.EffectState_EFFECT_STATE_REVOKED {
		inv.stop(claimLost)
		return
	}
	if waiter := inv.effects[key]; waiter != nil && len(waiter) == 0 {
		waiter <- got
	}
}

// cut returns the longest beginning of at most limit bytes that ends between two characters. Without a limit it returns the whole text.
func cut(text string, limit int) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if end == 0 {
		_, end = utf8.DecodeRuneInString(text)
	}
	return text[:end]
}
