package pawl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

// Trial has the options of RunHandler. The zero value is a first attempt with an empty ledger.
type Trial struct {
	// Attempt counts from 1. 0 means 1.
	Attempt int
	// EffectKey is the key of the work. Empty means "test".
	EffectKey string
	// Config is the config of the node: a value that encodes to JSON.
	Config any
	// Committed has the results of effects that earlier attempts made, by name.
	Committed map[string]any
	// Begun names effects that earlier attempts began, with unknown results.
	Begun []string
	// Memory is the part of the run's memory that the handler reads.
	Memory map[string]any
	// Taint has the labels of the data that the handler gets.
	Taint []string
	// State is the state of the run, for a handler that asks for it.
	State *WorkflowState
	// RunID, NodeID and WorkflowID say where the handler believes to run. Empty means "test" for the run and the node, and no workflow.
	RunID, NodeID, WorkflowID string
	// CancelAfter cancels the handler after this time with the reason cancelled. 0 means never.
	CancelAfter time.Duration
}

// Ran is the result of RunHandler.
type Ran[Out any] struct {
	Output Out
	// Text is the whole text that the handler emitted.
	Text string
	// Logs are its log lines.
	Logs []string
	// Used is what it reported by AddUsage, in order.
	Used []*handlerv1.Usage
	// Effects has the results of all committed effects as JSON, by name.
	Effects map[string]json.RawMessage
	// Handle is the handle by which it left.
	Handle string
	// Memory has what it remembers as JSON, by key.
	Memory map[string]json.RawMessage
	// Taint has the labels that it adds.
	Taint []string
	// Actions are all its actions, as the host gets them.
	Actions []*handlerv1.Action
}

// TrialFailed is the error of RunHandler: the failure that the host would get.
type TrialFailed struct {
	Cause, Message string
	Permanent      bool
	RetryAfter     time.Duration
	Details        json.RawMessage
}

func (f *TrialFailed) Error() string { return f.Cause + ": " + f.Message }

// RunHandler runs a handler once, without network. It checks the schemas, and effects use a ledger in memory. The error is *TrialFailed for
// a handler that failed, and *Cancelled for one that was cancelled.
func RunHandler[In, Out any](ctx context.Context, handler Handler[In, Out], in In, trial Trial) (Ran[Out], error) {
	ran := Ran[Out]{Effects: map[string]json.RawMessage{}}
	if handler.definition == nil {
		return ran, errors.New("pawl: the handler is empty; make it with Handle")
	}
	if handler.fault != nil {
		return ran, handler.fault
	}
	invoke, err := invokeOf(handler.nodeType, in, trial)
	if err != nil {
		return ran, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if trial.CancelAfter > 0 {
		timer := time.AfterFunc(trial.CancelAfter, func() { cancel(&Cancelled{Reason: "cancelled"}) })
		defer timer.Stop()
	}
	desk, err := newDesk(trial)
	if err != nil {
		return ran, err
	}
	outcome := handler.run(ctx, invoke, desk)
	ran.Text, ran.Logs, ran.Used, ran.Effects = desk.text, desk.logs, desk.spent, desk.committed
	if cause := context.Cause(ctx); cause != nil {
		return ran, cause
	}
	if failure := outcome.Failure; failure != nil {
		wait := time.Duration(failure.GetRetryAfterMs()) * time.Millisecond
		details := json.RawMessage(failure.GetDetailsJson())
		return ran, &TrialFailed{failure.GetCause(), failure.GetMessage(), failure.GetPermanent(), wait, details}
	}
	ran.Handle, ran.Actions = outcome.Result.GetHandle(), outcome.Result.GetActions()
	ran.Taint = outcome.Result.GetTaint()
	for _, action := range ran.Actions {
		if written := action.GetUpdateMemory(); written != nil {
			if err := json.Unmarshal([]byte(written.GetValuesJson()), &ran.Memory); err != nil {
				return ran, err
			}
		}
	}
	return ran, json.Unmarshal([]byte(outcome.Result.GetOutputJson()), &ran.Output)
}

func invokeOf(nodeType string, in any, trial Trial) (*handlerv1.Invoke, error) {
	input, err := encode(in)
	if err != nil {
		return nil, fmt.Errorf("pawl: the input is not JSON: %w", err)
	}
	invoke := &handlerv1.Invoke{
		InvocationId: "test", Type: nodeType, InputJson: string(input), Attempt: uint32(max(1, trial.Attempt)),
		EffectKey: cmp.Or(trial.EffectKey, "test"), Taint: trial.Taint,
		RunId: cmp.Or(trial.RunID, "test"), NodeId: cmp.Or(trial.NodeID, "test"), WorkflowId: trial.WorkflowID,
	}
	if len(trial.Memory) > 0 {
		memory, err := encode(trial.Memory)
		if err != nil {
			return nil, fmt.Errorf("pawl: the memory is not JSON: %w", err)
		}
		invoke.MemoryJson = string(memory)
	}
	if trial.State != nil {
		state, err := encode(trial.State)
		if err != nil {
			return nil, fmt.Errorf("pawl: the state is not JSON: %w", err)
		}
		invoke.StateJson = string(state)
	}
	if trial.Config != nil {
		config, err := encode(trial.Config)
		if err != nil {
			return nil, fmt.Errorf("pawl: the config is not JSON: %w", err)
		}
		invoke.ConfigJson = string(config)
	}
	return invoke, nil
}

// desk is a host in memory.
type desk struct {
	mu        sync.Mutex
	text      string
	logs      []string
	spent     []*handlerv1.Usage
	begun     map[string]bool
	used      map[string]bool
	committed map[string]json.RawMessage
}

func newDesk(trial Trial) (*desk, error) {
	d := &desk{begun: map[string]bool{}, used: map[string]bool{}, committed: map[string]json.RawMessage{}}
	for _, name := range trial.Begun {
		d.begun[name] = true
	}
	for name, value := range trial.Committed {
		text, err := encode(value)
		if err != nil {
			return nil, fmt.Errorf("pawl: the result of effect %q is not JSON: %w", name, err)
		}
		d.committed[name] = text
	}
	return d, nil
}

func (d *desk) Emit(ctx context.Context, text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.text += text
	return context.Cause(ctx)
}

func (d *desk) EmitMedia(ctx context.Context, url, _ string) error { return d.Emit(ctx, url) }

func (d *desk) Log(_ handlerv1.LogLevel, message string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.logs = append(d.logs, message)
}

func (d *desk) Spend(usage *handlerv1.Usage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.spent = append(d.spent, usage)
}

func (d *desk) Begin(ctx context.Context, name string, _ handlerv1.EffectClass) (handlerv1.EffectState, string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if cause := context.Cause(ctx); cause != nil {
		return 0, "", cause
	}
	if d.used[name] {
		return 0, "", fmt.Errorf("effect %q is used twice in one invocation; give each effect its own name", name)
	}
	d.used[name] = true
	if result, isMade := d.committed[name]; isMade {
		return handlerv1.EffectState_EFFECT_STATE_COMMITTED, string(result), nil
	}
	if d.begun[name] {
		return handlerv1.EffectState_EFFECT_STATE_BEGUN_BEFORE, "", nil
	}
	d.begun[name] = true
	return handlerv1.EffectState_EFFECT_STATE_NEW, "", nil
}

func (d *desk) Commit(ctx context.Context, name, result string) (handlerv1.EffectState, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if cause := context.Cause(ctx); cause != nil {
		return 0, cause
	}
	d.committed[name] = json.RawMessage(result)
	return handlerv1.EffectState_EFFECT_STATE_COMMITTED, nil
}
