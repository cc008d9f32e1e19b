package pawl

import (
	"context"
	"fmt"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// Thread is a line of runs that share a memory, such as a conversation.
type Thread = pawlv1.Thread

// ThreadState is what the next run of a thread begins with.
type ThreadState = pawlv1.ThreadState

// Multitask says what a new run does with the runs of its thread that have not ended. The zero value is MultitaskReject.
type Multitask = pawlv1.MultitaskStrategy

const (
	// MultitaskReject refuses the new run: THREAD_BUSY.
	MultitaskReject = pawlv1.MultitaskStrategy_MULTITASK_STRATEGY_REJECT
	// MultitaskEnqueue lets the new run wait behind them.
	MultitaskEnqueue = pawlv1.MultitaskStrategy_MULTITASK_STRATEGY_ENQUEUE
	// MultitaskInterrupt stops them. They keep their results, and Resume continues each.
	MultitaskInterrupt = pawlv1.MultitaskStrategy_MULTITASK_STRATEGY_INTERRUPT
	// MultitaskRollback stops and undoes them. The thread keeps the memory from before.
	MultitaskRollback = pawlv1.MultitaskStrategy_MULTITASK_STRATEGY_ROLLBACK
)

// ThreadRelease says whether a run gives its thread up while it only waits for people or signals. The zero value is ReleaseNever.
type ThreadRelease = pawlv1.ThreadRelease

const (
	// ReleaseNever lets the run hold its thread until it ends.
	ReleaseNever = pawlv1.ThreadRelease_THREAD_RELEASE_NEVER
	// ReleaseWhenWanted interrupts the run if it only waits and another run wants the thread.
	ReleaseWhenWanted = pawlv1.ThreadRelease_THREAD_RELEASE_WHEN_WANTED
)

// StopMode says how to stop a run, or how it was stopped. The zero value is a plain cancellation.
type StopMode = pawlv1.StopMode

const (
	// StopInterrupt keeps the results of the run, and Resume continues it.
	StopInterrupt = pawlv1.StopMode_STOP_MODE_INTERRUPT
	// StopRollback undoes what can be undone. The thread forgets the run.
	StopRollback = pawlv1.StopMode_STOP_MODE_ROLLBACK
)

// Threads keeps threads. A start names the thread of its run in StartOptions.
type Threads struct {
	client *Client
	rpc    pawlv1.ThreadServiceClient
}

// ThreadOptions are the options of Create.
type ThreadOptions struct {
	// Metadata describes the thread. Nil means an empty object.
	Metadata map[string]any
	// AssistantID is the assistant of starts that name no workflow.
	AssistantID string
	// RequestID names the request in traces. Empty means a new one.
	RequestID string
}

// Create creates a thread. With an empty id the scheduler makes one. THREAD_EXISTS.
func (t *Threads) Create(ctx context.Context, threadID string, options ThreadOptions) (*Thread, error) {
	metadata, err := metadataOf(options.Metadata)
	if err != nil {
		return nil, err
	}
	req := &pawlv1.CreateThreadRequest{
		ThreadId: threadID, MetadataJson: metadata, AssistantId: options.AssistantID, RequestId: identified(options.RequestID),
	}
	res, err := call(ctx, t.client, t.rpc.CreateThread, req)
	return res.GetThread(), err
}

// Get reads one thread. THREAD_NOT_FOUND.
func (t *Threads) Get(ctx context.Context, threadID string) (*Thread, error) {
	res, err := call(ctx, t.client, t.rpc.GetThread, &pawlv1.GetThreadRequest{ThreadId: threadID})
	return res.GetThread(), err
}

// ThreadFilter selects the threads to list. The zero value means all.
type ThreadFilter struct {
	// Metadata is an object that the metadata of the thread contains.
	Metadata map[string]any
	Statuses []pawlv1.ThreadStatus
}

// List reads a page of threads in order of id, and the token of the next page.
func (t *Threads) List(ctx context.Context, filter ThreadFilter, page Page) ([]*Thread, string, error) {
	metadata, err := metadataOf(filter.Metadata)
	if err != nil {
		return nil, "", err
	}
	res, err := call(ctx, t.client, t.rpc.ListThreads, &pawlv1.ListThreadsRequest{
		MetadataJson: metadata, Statuses: filter.Statuses, PageSize: page.Size, PageToken: page.Token,
	})
	return res.GetThreads(), res.GetNextPageToken(), err
}

// Update replaces the metadata of a thread. THREAD_NOT_FOUND.
func (t *Threads) Update(ctx context.Context, threadID string, metadata map[string]any, options MutationOptions) (*Thread, error) {
	text, err := metadataOf(metadata)
	if err != nil {
		return nil, err
	}
	req := &pawlv1.UpdateThreadRequest{ThreadId: threadID, MetadataJson: text, RequestId: identified(options.RequestID)}
	res, err := call(ctx, t.client, t.rpc.UpdateThread, req)
	return res.GetThread(), err
}

// SetAssistant sets the assistant of starts on the thread that name no workflow. An empty id removes it. THREAD_NOT_FOUND, ASSISTANT_NOT_FOUND.
func (t *Threads) SetAssistant(ctx context.Context, threadID, assistantID string, options MutationOptions) (*Thread, error) {
	req := &pawlv1.UpdateThreadRequest{ThreadId: threadID, AssistantId: &assistantID, RequestId: identified(options.RequestID)}
	res, err := call(ctx, t.client, t.rpc.UpdateThread, req)
	return res.GetThread(), err
}

// DeleteThreadOptions are the options of Delete.
type DeleteThreadOptions struct {
	// Force cancels the runs that have not ended. Otherwise they make the call fail with THREAD_BUSY.
	Force bool
	// RequestID names the request in traces. Empty means a new one.
	RequestID string
}

// Delete removes a thread with its runs and their logs. THREAD_NOT_FOUND, THREAD_BUSY.
func (t *Threads) Delete(ctx context.Context, threadID string, options DeleteThreadOptions) error {
	req := &pawlv1.DeleteThreadRequest{ThreadId: threadID, Force: options.Force, RequestId: identified(options.RequestID)}
	_, err := call(ctx, t.client, t.rpc.DeleteThread, req)
	return err
}

// ThreadMoment is a moment of a thread: after a run of it, or after an event of that run. The zero value means now.
type ThreadMoment struct {
	RunID     string
	AtEventID uint64
}

// State reads what the next run begins with, or what the thread held at a moment. THREAD_NOT_FOUND.
func (t *Threads) State(ctx context.Context, threadID string, at ThreadMoment) (*ThreadState, error) {
	req := &pawlv1.GetThreadStateRequest{ThreadId: threadID, RunId: at.RunID, AtEventId: at.AtEventID}
	res, err := call(ctx, t.client, t.rpc.GetThreadState, req)
	return res.GetState(), err
}

// ForkOptions are the options of Fork.
type ForkOptions struct {
	// NewThreadID is the id of the new thread. Empty lets the scheduler make one.
	NewThreadID string
	// At is the moment to copy.
	At ThreadMoment
	// Metadata of the new thread. Nil means that of the other one.
	Metadata map[string]any
	// RequestID names the request in traces. Empty means a new one.
	RequestID string
}

// Fork creates a thread with the state of another one, which stays as it is. THREAD_NOT_FOUND, THREAD_EXISTS.
func (t *Threads) Fork(ctx context.Context, threadID string, options ForkOptions) (*Thread, error) {
	metadata, err := metadataOf(options.Metadata)
	if err != nil {
		return nil, err
	}
	res, err := call(ctx, t.client, t.rpc.ForkThread, &pawlv1.ForkThreadRequest{
		ThreadId: threadID, NewThreadId: options.NewThreadID, RunId: options.At.RunID, AtEventId: options.At.AtEventID,
		MetadataJson: metadata, RequestId: identified(options.RequestID),
	})
	return res.GetThread(), err
}

// metadataOf is the JSON of metadata. Nil gives no bytes.
func metadataOf(metadata map[string]any) ([]byte, error) {
	if metadata == nil {
		return nil, nil
	}
	text, err := jsonOf(metadata)
	if err != nil {
		return nil, fmt.Errorf("pawl: the metadata are not JSON: %w", err)
	}
	return text, nil
}
