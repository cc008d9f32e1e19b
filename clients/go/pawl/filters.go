package pawl

import (
	"context"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// KeptFilter is a filter of List that is kept under a name.
type KeptFilter = pawlv1.RunFilter

// UpdateMetadata merges a change into the metadata of a live run, as RFC 7396 says: objects merge, null deletes a key. A repeat is
// harmless. RUN_ALREADY_FINISHED, LIMIT_EXCEEDED.
func (r *Runs) UpdateMetadata(ctx context.Context, runID string, change map[string]any, options MutationOptions) (*RunState, error) {
	text, err := jsonOf(change)
	if err != nil {
		return nil, err
	}
	res, err := call(ctx, r.client, r.rpc.UpdateRunMetadata, &pawlv1.UpdateRunMetadataRequest{
		RunId: runID, MetadataJson: text, RequestId: identified(options.RequestID),
	})
	return res.GetRun(), err
}

// SaveFilter keeps a filter under a name, in place of the one that has the name. FILTER_INVALID.
func (r *Runs) SaveFilter(ctx context.Context, name, filter string, options MutationOptions) (*KeptFilter, error) {
	res, err := call(ctx, r.client, r.rpc.SaveRunFilter, &pawlv1.SaveRunFilterRequest{
		Name: name, Filter: filter, RequestId: identified(options.RequestID),
	})
	return res.GetRunFilter(), err
}

// Filters reads a page of the kept filters by name, and the token of the next page.
func (r *Runs) Filters(ctx context.Context, page Page) ([]*KeptFilter, string, error) {
	res, err := call(ctx, r.client, r.rpc.ListRunFilters, &pawlv1.ListRunFiltersRequest{PageSize: page.Size, PageToken: page.Token})
	return res.GetRunFilters(), res.GetNextPageToken(), err
}

// DeleteFilter deletes a kept filter. RUN_FILTER_NOT_FOUND.
func (r *Runs) DeleteFilter(ctx context.Context, name string, options MutationOptions) error {
	req := &pawlv1.DeleteRunFilterRequest{Name: name, RequestId: identified(options.RequestID)}
	_, err := call(ctx, r.client, r.rpc.DeleteRunFilter, req)
	return err
}
