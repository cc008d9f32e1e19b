// Program conformance is the program under test of the conformance kit: the twelve handlers of test/handler-kit/PROGRAM.md, in Go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"pawl.dev/sdk/go/pawl"
)

type typedIn struct {
	Text  string `json:"text"`
	Count int    `json:"count" pawl:"min=1"`
}

type typedConfig struct {
	Prefix string `json:"prefix,omitempty"`
}

type typedOut struct {
	Text string `json:"text"`
}

type counted struct {
	Count int `json:"count"`
}

type streamIn struct {
	Pieces []string `json:"pieces"`
}

type logIn struct {
	Lines []struct {
		Level   string `json:"level"`
		Message string `json:"message"`
	} `json:"lines"`
	Context bool `json:"context,omitempty"`
}

type failIn struct {
	Mode         string `json:"mode"`
	Message      string `json:"message"`
	Cause        string `json:"cause,omitempty"`
	RetryAfterMs int    `json:"retry_after_ms,omitempty"`
}

type effectIn struct {
	Name  string `json:"name"`
	Class string `json:"class"`
}

type effectOut struct {
	Result any `json:"result"`
}

type named struct {
	Name string `json:"name"`
}

type waited struct {
	Cancelled bool `json:"cancelled"`
}

type stubbornIn struct {
	Name string `json:"name"`
	Ms   int    `json:"ms"`
}

type stubbornOut struct {
	Ms int `json:"ms"`
}

type bigIn struct {
	Bytes int `json:"bytes"`
}

func note(format string, args ...any) { fmt.Printf("kit: "+format+"\n", args...) }

func echo(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil }

func typed(_ context.Context, in typedIn, config typedConfig) (typedOut, error) {
	return typedOut{config.Prefix + strings.Repeat(in.Text, in.Count)}, nil
}

func stream(ctx context.Context, in streamIn) (counted, error) {
	for _, piece := range in.Pieces {
		if err := pawl.From(ctx).Emit(ctx, piece); err != nil {
			return counted{}, err
		}
	}
	return counted{len(in.Pieces)}, nil
}

var levels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

func logLines(ctx context.Context, in logIn) (counted, error) {
	task := pawl.From(ctx)
	for _, line := range in.Lines {
		task.Log(levels[line.Level], line.Message)
	}
	if in.Context {
		task.Log(slog.LevelInfo, fmt.Sprintf("attempt=%d effect_key=%s run=%s node=%s iteration=%d trace=%s",
			task.Attempt, task.EffectKey, task.RunID, task.NodeID, task.Iteration, task.Traceparent))
	}
	return counted{len(in.Lines)}, nil
}

// deep calls itself, so that a stack has more frames than a failure may carry.
func deep(times int, message string) error {
	if times == 0 {
		panic(errors.New(message))
	}
	return deep(times-1, message)
}

func fail(ctx context.Context, in failIn) (any, error) {
	switch in.Mode {
	case "throw":
		return nil, deep(30, in.Message)
	case "timeout":
		limited, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		<-limited.Done()
		return nil, fmt.Errorf("a service: %w", limited.Err())
	case "permanent":
		return nil, pawl.Fail("kit.permanent", in.Message).Permanent()
	case "retry_after":
		return nil, pawl.Fail("kit.busy", in.Message).RetryAfter(time.Duration(in.RetryAfterMs) * time.Millisecond)
	case "cause":
		return nil, pawl.Fail(in.Cause, in.Message).Details(map[string]string{"mode": "cause"})
	}
	return func() {}, nil
}

var classes = map[string]pawl.EffectClass{
	"transactional": pawl.Transactional, "idempotent": pawl.Idempotent, "at_most_once": pawl.AtMostOnce,
}

func effect(ctx context.Context, in effectIn) (effectOut, error) {
	made, err := pawl.Once(ctx, in.Name, classes[in.Class], func(context.Context) (any, error) {
		note("made %s", in.Name)
		return map[string]string{"made": in.Name}, nil
	})
	return effectOut{made}, err
}

func wait(ctx context.Context, in named) (waited, error) {
	if err := pawl.From(ctx).Emit(ctx, "started"); err != nil {
		return waited{}, err
	}
	<-ctx.Done()
	var cancelled *pawl.Cancelled
	if errors.As(context.Cause(ctx), &cancelled) {
		note("cancelled %s %s", in.Name, cancelled.Reason)
	}
	note("returned %s", in.Name)
	return waited{true}, nil
}

func stubborn(ctx context.Context, in stubbornIn) (stubbornOut, error) {
	if err := pawl.From(ctx).Emit(ctx, "started"); err != nil {
		return stubbornOut{}, err
	}
	time.Sleep(time.Duration(in.Ms) * time.Millisecond)
	note("returned %s", in.Name)
	return stubbornOut{in.Ms}, nil
}

func big(_ context.Context, in bigIn) (string, error) { return strings.Repeat("x", in.Bytes), nil }

type asksIn struct {
	Asks []string `json:"asks"`
}

type memoryOut struct {
	Memory any `json:"memory"`
	State  any `json:"state,omitempty"`
}

type stateOut struct {
	Goal    string   `json:"goal"`
	Nodes   []string `json:"nodes"`
	Retries int      `json:"retries"`
	Memory  any      `json:"memory"`
}

type number struct {
	N int `json:"n"`
}

var asks = map[string]func(*pawl.Task){
	"remember": func(task *pawl.Task) {
		task.Remember("city", "Oslo")
		task.Remember("count", 2)
	},
	"set_status": func(task *pawl.Task) {
		task.SetStatus(pawl.StatusCompleted, "done", map[string]bool{"ok": true})
	},
	"goto":          func(task *pawl.Task) { task.Goto("next", "again") },
	"hand_off_node": func(task *pawl.Task) { task.HandOff(pawl.HandOff{Node: "next", Reason: "busy"}) },
	"hand_off_workflow": func(task *pawl.Task) {
		task.HandOff(pawl.HandOff{Workflow: "billing", Version: 2, Input: number{1}})
	},
	"ask_human": func(task *pawl.Task) {
		task.AskHuman(pawl.Question{Message: "Ship it?", Details: number{1}, Assignees: []string{"ada"}, Deadline: time.Minute})
	},
	"answer_human": func(task *pawl.Task) {
		task.AnswerHuman(pawl.HumanAnswer{Node: "review", Approve: true, Response: map[string]bool{"ok": true}, Comment: "fine"})
	},
	"merge_results": func(task *pawl.Task) { task.MergeKeys("all", pawl.Array, "a", "b") },
	"spend": func(task *pawl.Task) {
		cost := uint64(7)
		task.AddUsage(pawl.Usage{InputTokens: 3, OutputTokens: 4, Model: "kit-model"})
		task.AddUsage(pawl.Usage{InputTokens: 1, CostMicros: &cost, Model: "kit-model"})
	},
	"not_json": func(task *pawl.Task) { task.Remember("bad", math.NaN()) },
}

func act(ctx context.Context, in asksIn) (memoryOut, error) {
	task := pawl.From(ctx)
	for _, ask := range in.Asks {
		if ask != "state" {
			asks[ask](task)
		}
	}
	out := memoryOut{Memory: task.Memory()}
	if at := task.State(); at != nil && slices.Contains(in.Asks, "state") {
		out.State = stateOut{at.Goal, at.CurrentNodes, at.RetryCount, at.Memory}
	}
	return out, nil
}

type labelsOut struct {
	Labels []string `json:"labels"`
}

func taint(ctx context.Context, _ any) (labelsOut, error) {
	task := pawl.From(ctx)
	task.AddTaint("kit")
	labels := append([]string{}, task.Taint...)
	slices.Sort(labels)
	return labelsOut{labels}, nil
}

func crash(context.Context, any) (any, error) {
	os.Exit(3)
	return nil, nil
}

func main() {
	pawl.Main(
		pawl.Handle("kit.echo@1", echo, pawl.Describe("Returns its input.")),
		pawl.HandleWithConfig("kit.typed@1", typed, pawl.Describe("Repeats a text.")),
		pawl.Handle("kit.stream@1", stream, pawl.Describe("Streams pieces of text.")),
		pawl.Handle("kit.log@1", logLines, pawl.Describe("Logs lines.")),
		pawl.Handle("kit.fail@1", fail, pawl.Describe("Fails as the input says.")),
		pawl.Handle("kit.effect@1", effect, pawl.Describe("Makes one effect.")),
		pawl.Handle("kit.wait@1", wait, pawl.Describe("Waits for its cancel.")),
		pawl.Handle("kit.stubborn@1", stubborn, pawl.Describe("Ignores its cancel."), pawl.Stall(10*time.Minute)),
		pawl.Handle("kit.big@1", big, pawl.Describe("Returns a long text.")),
		pawl.Handle("kit.act@1", act, pawl.Describe("Asks the engine for actions."), pawl.WithState()),
		pawl.Handle("kit.taint@1", taint, pawl.Describe("Adds a label to its output."), pawl.External()),
		pawl.Handle("kit.crash@1", crash, pawl.Describe("Ends the process.")),
		pawl.Name("kit"), pawl.Build("kit-build"), pawl.Slots(8),
	)
}
