package pawl

import (
	"context"
	"encoding/json"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// Explanation explains the status of a node, with the events that prove it.
type Explanation = pawlv1.Explanation

// TaintTrace has the events from the origins of labels to a value.
type TaintTrace = pawlv1.TaintTrace

// Invocation is the last start of a handler, and its outcome.
type Invocation = pawlv1.Invocation

// Effect is an effect of a run on the outside world.
type Effect = pawlv1.Effect

// Tag is one status transition of a run.
type Tag = pawlv1.ExecutionTag

// NodeOf names an execution of a node.
type NodeOf struct {
	RunID, NodeID string
	// Iteration is 0 outside loops and maps.
	Iteration uint32
}

// Explain explains the state of a node. NODE_NOT_FOUND.
func (r *Runs) Explain(ctx context.Context, node NodeOf) (*Explanation, error) {
	req := &pawlv1.ExplainNodeRequest{RunId: node.RunID, NodeId: node.NodeID, Iteration: node.Iteration}
	res, err := call(ctx, r.client, r.rpc.ExplainNode, req)
	return res.GetExplanation(), err
}

// ExplainTaint explains the labels of a node. NODE_NOT_FOUND.
func (r *Runs) ExplainTaint(ctx context.Context, node NodeOf) (*TaintTrace, error) {
	req := &pawlv1.ExplainTaintRequest{RunId: node.RunID, NodeId: node.NodeID, Iteration: node.Iteration}
	res, err := call(ctx, r.client, r.rpc.ExplainTaint, req)
	return res.GetTrace(), err
}

// ExplainMemoryTaint explains the labels of a key of the memory. MEMORY_KEY_NOT_FOUND.
func (r *Runs) ExplainMemoryTaint(ctx context.Context, runID, key string) (*TaintTrace, error) {
	res, err := call(ctx, r.client, r.rpc.ExplainTaint, &pawlv1.ExplainTaintRequest{RunId: runID, MemoryKey: key})
	return res.GetTrace(), err
}

// Invocation reads the input and the config of the last start of a node, and its outcome. NODE_NOT_FOUND, NODE_NOT_INVOKED.
func (r *Runs) Invocation(ctx context.Context, node NodeOf) (*Invocation, error) {
	req := &pawlv1.GetInvocationRequest{RunId: node.RunID, NodeId: node.NodeID, Iteration: node.Iteration}
	res, err := call(ctx, r.client, r.rpc.GetInvocation, req)
	return res.GetInvocation(), err
}

// ValueText reads the JSON text of a value that is too large for the log, by the digest in its reference. VALUE_NOT_FOUND, VALUE_CORRUPT.
func (r *Runs) ValueText(ctx context.Context, runID, sha256 string) ([]byte, error) {
	var data []byte
	for part := uint32(0); ; part++ {
		req := &pawlv1.GetValueRequest{RunId: runID, Sha256: sha256, Part: part}
		res, err := call(ctx, r.client, r.rpc.GetValue, req)
		if err != nil {
			return nil, err
		}
		data = append(data, res.GetData()...)
		if uint64(len(data)) >= res.GetTotalBytes() {
			return data, nil
		}
	}
}

// Effects reads a page of the effects of a run, and the token of the next page. An empty node id means all nodes.
func (r *Runs) Effects(ctx context.Context, runID, nodeID string, page Page) ([]*Effect, string, error) {
	req := &pawlv1.ListEffectsRequest{RunId: runID, NodeId: nodeID, PageSize: page.Size, PageToken: page.Token}
	res, err := call(ctx, r.client, r.rpc.ListEffects, req)
	return res.GetEffects(), res.GetNextPageToken(), err
}

// Definition reads the definition of a run, as canonical JSON.
func (r *Runs) Definition(ctx context.Context, runID string) (json.RawMessage, error) {
	res, err := call(ctx, r.client, r.rpc.GetRun, &pawlv1.GetRunRequest{RunId: runID})
	return res.GetDefinitionJson(), err
}

// Events reads a page of the log of a run after an event, in order. It also reports whether the log has more.
func (r *Runs) Events(ctx context.Context, runID string, afterEventID uint64, pageSize int32) ([]*Event, bool, error) {
	req := &pawlv1.ListEventsRequest{RunId: runID, AfterEventId: afterEventID, PageSize: pageSize}
	res, err := call(ctx, r.client, r.events.ListEvents, req)
	return res.GetEvents(), res.GetHasMore(), err
}

// Tags reads a page of the status transitions of a run after an event, and reports whether there are more. An empty node id means all
// nodes.
func (r *Runs) Tags(ctx context.Context, runID, nodeID string, afterEventID uint64, pageSize int32) ([]*Tag, bool, error) {
	req := &pawlv1.ListTagsRequest{RunId: runID, NodeId: nodeID, AfterEventId: afterEventID, PageSize: pageSize}
	res, err := call(ctx, r.client, r.events.ListTags, req)
	return res.GetTags(), res.GetHasMore(), err
}
