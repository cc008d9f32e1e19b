package pawl

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// Pause names a pause, the user who made it, and the reason.
type Pause = pawlv1.Pause

// QueueDepths counts node executions by node type and in all. They wait, are claimed, wait for a person or are dead letters.
type QueueDepths = pawlv1.GetQueueDepthResponse

// Queues reads and pauses the queues of node types.
type Queues struct {
	client *Client
	rpc    pawlv1.QueueServiceClient
}

// Depth counts the node executions of the queues.
func (q *Queues) Depth(ctx context.Context) (*QueueDepths, error) {
	return call(ctx, q.client, q.rpc.GetQueueDepth, &pawlv1.GetQueueDepthRequest{})
}

// QueueStats is what schedulers counted at regular times: the newest sample, and points of the past.
type QueueStats = pawlv1.GetQueueStatsResponse

// StatsQuestion selects the points of Stats. A zero field means the default.
type StatsQuestion struct {
	// NodeType is the type of the points; empty means all together.
	NodeType string
	// Range is how far back the points go; 0 means one hour, the most is 31 days.
	Range time.Duration
	// Step is the time between two points; 0 means a sixtieth of the range.
	Step time.Duration
}

// Stats reads the samples of workers, waiting nodes, runs and connections.
func (q *Queues) Stats(ctx context.Context, question StatsQuestion) (*QueueStats, error) {
	req := &pawlv1.GetQueueStatsRequest{NodeType: question.NodeType}
	if question.Range > 0 {
		req.Range = durationpb.New(question.Range)
	}
	if question.Step > 0 {
		req.Step = durationpb.New(question.Step)
	}
	return call(ctx, q.client, q.rpc.GetQueueStats, req)
}

// Pause stops executors from claiming nodes of this type; running nodes finish. NODE_TYPE_NOT_FOUND.
func (q *Queues) Pause(ctx context.Context, nodeType string, options PauseOptions) (*Pause, error) {
	res, err := call(ctx, q.client, q.rpc.PauseQueue, &pawlv1.PauseQueueRequest{
		NodeType: nodeType, By: options.By, Reason: options.Reason, RequestId: identified(options.RequestID),
	})
	return res.GetPause(), err
}

// Resume lets executors claim nodes of this type again. NODE_TYPE_NOT_FOUND.
func (q *Queues) Resume(ctx context.Context, nodeType string, options PauseOptions) error {
	_, err := call(ctx, q.client, q.rpc.ResumeQueue, &pawlv1.ResumeQueueRequest{
		NodeType: nodeType, By: options.By, Reason: options.Reason, RequestId: identified(options.RequestID),
	})
	return err
}

// Pauses lists the workflows and queues that are paused, queues first.
func (q *Queues) Pauses(ctx context.Context) ([]*Pause, error) {
	res, err := call(ctx, q.client, q.rpc.ListPauses, &pawlv1.ListPausesRequest{})
	return res.GetPauses(), err
}
