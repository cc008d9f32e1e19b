package pawl

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

// RunStatus is a status that a handler may give its run.
type RunStatus string

// The statuses that a handler may give its run.
const (
	StatusCompleted RunStatus = "completed"
	StatusFailed    RunStatus = "failed"
	StatusCancelled RunStatus = "cancelled"
	StatusPaused    RunStatus = "paused"
)

// Merge says how several values become one.
type Merge string

// The ways to merge values.
const (
	LastWriteWins Merge = "last_write_wins"
	Concat        Merge = "concat"
	Array         Merge = "array"
	JSONObject    Merge = "json_object"
)

// acts are the actions of one invocation. They commit with its output: a handler that fails, or that is cancelled, has done none of them.
// Goroutines of one handler may ask at the same time, so a lock orders them. The first value that is not JSON fails the handler.
type acts struct {
	mu      sync.Mutex
	actions []*handlerv1.Action
	values  map[string]json.RawMessage
	fault   *Failure
}

// text gives the JSON of a value; the empty text for nil. The caller holds the lock.
func (a *acts) text(value any, what string) string {
	if value == nil {
		return ""
	}
	text, err := encode(value)
	if err != nil && a.fault == nil {
		a.fault = Fail("action_invalid", fmt.Sprintf("%s is not JSON: %v", what, err)).Permanent()
	}
	return string(text)
}

// end gives all actions. The memory comes first, so that a merge sees what the handler wrote.
func (a *acts) end() ([]*handlerv1.Action, *Failure) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.values) == 0 || a.fault != nil {
		return a.actions, a.fault
	}
	written := &handlerv1.UpdateMemory{ValuesJson: a.text(a.values, "memory")}
	first := &handlerv1.Action{Action: &handlerv1.Action_UpdateMemory{UpdateMemory: written}}
	return append([]*handlerv1.Action{first}, a.actions...), a.fault
}

// Memory has the keys of the run's memory that the node reads, as JSON. It is never nil.
func (t *Task) Memory() map[string]json.RawMessage { return t.memory }

// Recall reads a key of the run's memory into a value. It reports whether the node reads the key and the key has a value.
func (t *Task) Recall(key string, value any) (bool, error) {
	text, isThere := t.memory[key]
	if !isThere {
		return false, nil
	}
	return true, json.Unmarshal(text, value)
}

// Remember writes a key of the run's memory when the handler completes. The last value of a key counts.
func (t *Task) Remember(key string, value any) {
	t.acts.mu.Lock()
	defer t.acts.mu.Unlock()
	text := t.acts.text(value, "memory."+key)
	if value == nil {
		text = "null"
	}
	if t.acts.values == nil {
		t.acts.values = map[string]json.RawMessage{}
	}
	t.acts.values[key] = json.RawMessage(text)
}

// SetStatus ends or pauses the run when the handler completes. With StatusCompleted, output is the output of the run; nil means the output of
// the handler.
func (t *Task) SetStatus(status RunStatus, message string, output any) {
	t.acts.mu.Lock()
	defer t.acts.mu.Unlock()
	action := &handlerv1.SetStatus{Status: string(status), Message: message, OutputJson: t.acts.text(output, "output")}
	t.acts.actions = append(t.acts.actions, &handlerv1.Action{Action: &handlerv1.Action_SetStatus{SetStatus: action}})
}

// Goto runs another node next.
func (t *Task) Goto(node, reason string) {
	t.acts.mu.Lock()
	defer t.acts.mu.Unlock()
	action := &handlerv1.GotoNode{Node: node, Reason: reason}
	t.acts.actions = append(t.acts.actions, &handlerv1.Action{Action: &handlerv1.Action_GotoNode{GotoNode: action}})
}

// HandOff names the receiver of the work: a node, or a workflow whose output becomes the output of this node.
type HandOff struct {
	Node, Workflow string
	// Version of the workflow; 0 means the current one.
	Version uint32
	// Input of the workflow; nil means the output of the handler.
	Input  any
	Reason string
}

// HandOff gives the work to a node or to a workflow.
func (t *Task) HandOff(to HandOff) {
	t.acts.mu.Lock()
	defer t.acts.mu.Unlock()
	action := &handlerv1.Handoff{
		Node: to.Node, Workflow: to.Workflow, Version: to.Version, InputJson: t.acts.text(to.Input, "input"), Reason: to.Reason,
	}
	t.acts.actions = append(t.acts.actions, &handlerv1.Action{Action: &handlerv1.Action_Handoff{Handoff: action}})
}

// Question is a question to a person.
type Question struct {
	Message string
	// Details for the person who answers; nil means the output of the handler.
	Details   any
	Assignees []string
	// Deadline is how long the question stays open; 0 means without a limit.
	Deadline time.Duration
}

// AskHuman asks a person when the handler completes. The answer becomes the output of the node.
func (t *Task) AskHuman(question Question) {
	t.acts.mu.Lock()
	defer t.acts.mu.Unlock()
	action := &handlerv1.RequestHumanInput{
		Message: question.Message, DetailsJson: t.acts.text(question.Details, "details"), Assignees: question.Assignees,
		DeadlineMs: uint64(max(0, question.Deadline.Milliseconds())),
	}
	t.acts.actions = append(t.acts.actions, &handlerv1.Action{Action: &handlerv1.Action_RequestHumanInput{RequestHumanInput: action}})
}

// HumanAnswer is the answer to a question of another node of the same run. It has a node or the id of an approval.
type HumanAnswer struct {
	Node       string
	Iteration  uint32
	ApprovalID string
	// Approve is false for a rejection.
	Approve  bool
	Response any
	Comment  string
}

// AnswerHuman answers the question of another node.
func (t *Task) AnswerHuman(answer HumanAnswer) {
	t.acts.mu.Lock()
	defer t.acts.mu.Unlock()
	decision := "reject"
	if answer.Approve {
		decision = "approve"
	}
	action := &handlerv1.ResumeFromHuman{
		Node: answer.Node, Iteration: answer.Iteration, ApprovalId: answer.ApprovalID, Decision: decision,
		ResponseJson: t.acts.text(answer.Response, "response"), Comment: answer.Comment,
	}
	t.acts.actions = append(t.acts.actions, &handlerv1.Action{Action: &handlerv1.Action_ResumeFromHuman{ResumeFromHuman: action}})
}

// MergeKeys merges values of the memory into one key of the memory.
func (t *Task) MergeKeys(into string, merge Merge, keys ...string) {
	t.mergeResults(&handlerv1.MergeParallelResults{Keys: keys, Into: into, Strategy: string(merge)})
}

// MergeNodes merges outputs of nodes into one key of the memory.
func (t *Task) MergeNodes(into string, merge Merge, nodes ...string) {
	t.mergeResults(&handlerv1.MergeParallelResults{Nodes: nodes, Into: into, Strategy: string(merge)})
}

func (t *Task) mergeResults(action *handlerv1.MergeParallelResults) {
	t.acts.mu.Lock()
	defer t.acts.mu.Unlock()
	t.acts.actions = append(t.acts.actions, &handlerv1.Action{Action: &handlerv1.Action_MergeParallelResults{MergeParallelResults: action}})
}
