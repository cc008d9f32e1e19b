package pawl

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"
)

func TestAHandlerReadsItsMemoryAndAsksForActions(t *testing.T) {
	handler := Handle("acme.act@1", func(ctx context.Context, key string) (bool, error) {
		task := From(ctx)
		var seen []string
		isThere, err := task.Recall("seen", &seen)
		task.Remember(key, seen)
		task.Remember("none", nil)
		task.SetStatus(StatusFailed, "no stock", nil)
		return isThere, err
	})
	ran, err := RunHandler(t.Context(), handler, "city", Trial{Memory: map[string]any{"seen": []string{"Oslo"}}})
	if err != nil || !ran.Output || len(ran.Actions) != 2 || string(ran.Memory["city"]) != `["Oslo"]` || string(ran.Memory["none"]) != "null" {
		t.Errorf("got %+v, %v", ran, err)
	}
	if status := ran.Actions[1].GetSetStatus(); status.GetStatus() != "failed" || status.GetMessage() != "no stock" {
		t.Errorf("got %v", status)
	}
}

func TestAKeyThatIsNotThereLeavesTheValueAlone(t *testing.T) {
	handler := Handle("acme.read@1", func(ctx context.Context, _ string) (string, error) {
		value := "before"
		_, err := From(ctx).Recall("gone", &value)
		return value, err
	})
	if ran, err := RunHandler(t.Context(), handler, "", Trial{}); err != nil || ran.Output != "before" {
		t.Errorf("got %+v, %v", ran, err)
	}
}

func TestEveryActionHasItsFields(t *testing.T) {
	handler := Handle("acme.all@1", func(ctx context.Context, _ string) (string, error) {
		task := From(ctx)
		task.Goto("next", "again")
		task.HandOff(HandOff{Workflow: "billing", Version: 2, Input: 1})
		task.AskHuman(Question{Message: "Ship it?", Assignees: []string{"ada"}, Deadline: 1500 * time.Millisecond})
		task.AnswerHuman(HumanAnswer{Node: "review", Response: true})
		task.MergeNodes("all", Concat, "a", "b")
		return "", nil
	})
	ran, err := RunHandler(t.Context(), handler, "", Trial{})
	if err != nil || len(ran.Actions) != 5 {
		t.Fatalf("got %+v, %v", ran, err)
	}
	ask, answer, merge := ran.Actions[2].GetRequestHumanInput(), ran.Actions[3].GetResumeFromHuman(), ran.Actions[4].GetMergeParallelResults()
	if ran.Actions[0].GetGotoNode().GetReason() != "again" || ran.Actions[1].GetHandoff().GetInputJson() != "1" || ask.GetDeadlineMs() != 1500 {
		t.Errorf("got %v", ran.Actions)
	}
	if answer.GetDecision() != "reject" || answer.GetResponseJson() != "true" || merge.GetStrategy() != "concat" || len(merge.GetNodes()) != 2 {
		t.Errorf("got %v", ran.Actions)
	}
}

func TestAValueThatIsNoJSONIsActionInvalid(t *testing.T) {
	for _, value := range []any{math.NaN(), func() {}, make(chan int)} {
		handler := Handle("acme.bad@1", func(ctx context.Context, _ string) (string, error) {
			From(ctx).Remember("bad", value)
			return "", nil
		})
		if failed := trialFailure(t, handler, "", Trial{}); failed.Cause != "action_invalid" || !failed.Permanent {
			t.Errorf("%v: got %+v", value, failed)
		}
	}
}

func TestAHandlerThatAsksForTheStateReadsIt(t *testing.T) {
	handler := Handle("acme.plan@1", func(ctx context.Context, _ string) (string, error) {
		state := From(ctx).State()
		return state.Goal + " " + state.CurrentNode + " " + string(state.Memory["k"]), nil
	}, WithState())
	state := &WorkflowState{Goal: "sell", CurrentNode: "a", Memory: map[string]json.RawMessage{"k": []byte("1")}}
	ran, err := RunHandler(t.Context(), handler, "", Trial{State: state})
	if err != nil || ran.Output != "sell a 1" {
		t.Errorf("got %+v, %v", ran, err)
	}
}

func TestUsageCountsAlthoughTheHandlerFails(t *testing.T) {
	cost := uint64(7)
	model := Handle("acme.model@1", func(ctx context.Context, _ any) (any, error) {
		From(ctx).AddUsage(Usage{InputTokens: 3, OutputTokens: 4, Model: "m"})
		From(ctx).AddUsage(Usage{CostMicros: &cost})
		return nil, Fail("acme.bad_answer", "no")
	})
	ran, err := RunHandler(t.Context(), model, nil, Trial{})
	if err == nil || len(ran.Used) != 2 || ran.Used[0].GetModel() != "m" || ran.Used[1].GetCostMicros() != 7 {
		t.Errorf("got %v, %v", ran.Used, err)
	}
}

func TestATestSaysWhereAHandlerBelievesToRun(t *testing.T) {
	handler := Handle("acme.where@1", func(ctx context.Context, _ any) ([]string, error) {
		task := From(ctx)
		return []string{task.RunID, task.NodeID, task.WorkflowID}, nil
	})
	for _, trial := range []Trial{{RunID: "r", NodeID: "pay", WorkflowID: "order"}, {}} {
		want := []string{cmp.Or(trial.RunID, "test"), cmp.Or(trial.NodeID, "test"), trial.WorkflowID}
		if ran, err := RunHandler(t.Context(), handler, nil, trial); err != nil || !slices.Equal(ran.Output, want) {
			t.Errorf("got %v, %v, want %v", ran.Output, err, want)
		}
	}
}
