package pawl

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
	"pawl.dev/sdk/go/internal/session"
)

// Cancelled is the cause of the context of a cancelled handler: use errors.As on context.Cause(ctx). Its Reason is cancelled, timeout,
// claim_lost, blocked or drained. errors.Is(err, context.Canceled) is true for it.
type Cancelled = session.Cancelled

// port is the interface of a running handler to its host.
type port interface {
	Emit(ctx context.Context, text string) error
	EmitMedia(ctx context.Context, url, mime string) error
	Log(level handlerv1.LogLevel, message string)
	Spend(usage *handlerv1.Usage)
	Begin(ctx context.Context, name string, class handlerv1.EffectClass) (handlerv1.EffectState, string, error)
	Commit(ctx context.Context, name, result string) (handlerv1.EffectState, error)
}

// Task is the present work of a handler.
type Task struct {
	// Type is the node type.
	Type string
	// Attempt counts from 1.
	Attempt int
	// EffectKey is the same for every attempt and delivery: send it to receivers as their idempotency key.
	EffectKey string
	// Deadline is when the host cancels the handler; zero without a limit.
	Deadline time.Time
	// RunID, NodeID and Iteration name the work. WorkflowID is empty for a test run.
	RunID, NodeID, WorkflowID string
	Iteration                 int
	// Traceparent is the W3C trace context of the attempt. Empty without tracing.
	Traceparent string
	// Taint has the labels of the data that the handler gets, such as web. It is empty if the data is trusted. The output gets them too.
	Taint []string

	port   port
	result handlerv1.Result
	memory map[string]json.RawMessage
	state  *WorkflowState
	acts   acts
}

type taskKey struct{}

// From returns the task of a handler's context. Outside of a handler it panics, because that is a mistake of the program.
func From(ctx context.Context) *Task {
	task, isTask := ctx.Value(taskKey{}).(*Task)
	if !isTask {
		panic("pawl: From needs the context of a handler")
	}
	return task
}

func taskOf(invoke *handlerv1.Invoke, port port) *Task {
	task := &Task{
		Type: invoke.GetType(), Attempt: int(invoke.GetAttempt()), EffectKey: invoke.GetEffectKey(),
		RunID: invoke.GetRunId(), NodeID: invoke.GetNodeId(), WorkflowID: invoke.GetWorkflowId(),
		Iteration: int(invoke.GetIteration()), Traceparent: invoke.GetTraceparent(), port: port,
		Taint:  invoke.GetTaint(),
		memory: map[string]json.RawMessage{},
	}
	if memory := invoke.GetMemoryJson(); memory != "" {
		// The host writes a JSON object; a memory that is none has no keys.
		_ = json.Unmarshal([]byte(memory), &task.memory)
	}
	if state := invoke.GetStateJson(); state != "" {
		task.state = &WorkflowState{}
		// The host writes a JSON object with the fields of WorkflowState.
		_ = json.Unmarshal([]byte(state), task.state)
	}
	if timeout := invoke.GetTimeoutMs(); timeout > 0 {
		task.Deadline = time.Now().Add(time.Duration(timeout) * time.Millisecond)
	}
	return task
}

// Emit streams text that watchers see at once. It waits while the host has not forwarded enough.
func (t *Task) Emit(ctx context.Context, text string) error { return t.port.Emit(ctx, text) }

// EmitMedia streams a picture, a sound or another file: its address or a data: URL, and its media type.
func (t *Task) EmitMedia(ctx context.Context, url, mime string) error {
	return t.port.EmitMedia(ctx, url, mime)
}

// Log writes a line to the log of the run.
func (t *Task) Log(level slog.Level, message string) {
	wire := handlerv1.LogLevel_LOG_LEVEL_DEBUG
	switch {
	case level >= slog.LevelError:
		wire = handlerv1.LogLevel_LOG_LEVEL_ERROR
	case level >= slog.LevelWarn:
		wire = handlerv1.LogLevel_LOG_LEVEL_WARN
	case level >= slog.LevelInfo:
		wire = handlerv1.LogLevel_LOG_LEVEL_INFO
	}
	t.port.Log(wire, message)
}

// LeaveBy sets the handle by which the run leaves the node.
func (t *Task) LeaveBy(handle string) { t.result.Handle = handle }

// Usage is what a handler used.
type Usage struct {
	InputTokens, OutputTokens uint64
	// CostMicros is the cost in micro-dollars. Nil if the handler does not know it.
	CostMicros *uint64
	// Model is the name of the model. The executor looks its price up.
	Model string
}

// AddUsage adds what the handler used since its last report. It counts however the attempt ends, also if it fails.
func (t *Task) AddUsage(usage Usage) {
	t.port.Spend(&handlerv1.Usage{
		InputTokens: usage.InputTokens, OutputTokens: usage.OutputTokens, CostMicros: usage.CostMicros,
		Model: strings.ToValidUTF8(usage.Model, "\uFFFD"),
	})
}

// Used records the tokens that a model used, as a part of the result. AddUsage also counts if the handler fails.
func (t *Task) Used(inputTokens, outputTokens uint64) {
	t.result.Usage = &handlerv1.Usage{InputTokens: inputTokens, OutputTokens: outputTokens}
}

// AddTaint adds labels to the output, beside those of the data that the handler got. No handler can remove one.
func (t *Task) AddTaint(labels ...string) { t.result.Taint = append(t.result.Taint, labels...) }

// DelayNext makes the next nodes wait.
func (t *Task) DelayNext(d time.Duration) {
	t.result.QueueDelayMs = uint64(max(0, d.Milliseconds()))
}
