package pawl

import (
	"context"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// NodeType is a node type and the executors that serve it.
type NodeType = pawlv1.NodeType

// Executor is a connected executor, or the handler process behind it.
type Executor = pawlv1.Executor

// NodeTypes reads the catalogue of node types and the executors that serve them.
type NodeTypes struct {
	client *Client
	rpc    pawlv1.NodeTypeServiceClient
}

// List reads a page of node types by name, and the token of the next page. The list has the built-in types and all types that an executor
// ever registered, without schemas.
func (n *NodeTypes) List(ctx context.Context, page Page) ([]*NodeType, string, error) {
	req := &pawlv1.ListNodeTypesRequest{PageSize: uint32(max(0, page.Size)), PageToken: page.Token}
	res, err := call(ctx, n.client, n.rpc.ListNodeTypes, req)
	return res.GetNodeTypes(), res.GetNextPageToken(), err
}

// Get reads one type with its schemas. NODE_TYPE_NOT_FOUND when there is none.
func (n *NodeTypes) Get(ctx context.Context, nodeType string) (*NodeType, error) {
	res, err := call(ctx, n.client, n.rpc.GetNodeType, &pawlv1.GetNodeTypeRequest{Type: nodeType})
	return res.GetNodeType(), err
}

// Executors lists the executors and handler processes that are connected to any scheduler.
func (n *NodeTypes) Executors(ctx context.Context) ([]*Executor, error) {
	res, err := call(ctx, n.client, n.rpc.ListExecutors, &pawlv1.ListExecutorsRequest{})
	return res.GetExecutors(), err
}
