package pawl

import (
	"context"
	"encoding/json"
	"testing"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

func (s *detailServer) UpdateRunMetadata(_ context.Context, req *pawlv1.UpdateRunMetadataRequest) (*pawlv1.UpdateRunMetadataResponse, error) {
	return &pawlv1.UpdateRunMetadataResponse{Run: s.note(req)}, nil
}

func (s *detailServer) SaveRunFilter(_ context.Context, req *pawlv1.SaveRunFilterRequest) (*pawlv1.SaveRunFilterResponse, error) {
	s.note(req)
	return &pawlv1.SaveRunFilterResponse{RunFilter: &KeptFilter{Name: req.GetName(), Filter: req.GetFilter()}}, nil
}

func (s *detailServer) ListRunFilters(_ context.Context, req *pawlv1.ListRunFiltersRequest) (*pawlv1.ListRunFiltersResponse, error) {
	s.note(req)
	return &pawlv1.ListRunFiltersResponse{RunFilters: []*KeptFilter{{Name: "late"}}, NextPageToken: "t"}, nil
}

func (s *detailServer) DeleteRunFilter(_ context.Context, req *pawlv1.DeleteRunFilterRequest) (*pawlv1.DeleteRunFilterResponse, error) {
	s.note(req)
	return &pawlv1.DeleteRunFilterResponse{}, nil
}

func TestMetadataAreSentAsJSONAndFiltersAreKeptByName(t *testing.T) {
	client, server := serveDetails(t)
	change := map[string]any{"team": "billing", "old": nil}
	if _, err := client.Runs.UpdateMetadata(t.Context(), "r", change, MutationOptions{RequestID: "m"}); err != nil {
		t.Fatal(err)
	}
	kept, err := client.Runs.SaveFilter(t.Context(), "late", "duration > 1h", MutationOptions{RequestID: "s"})
	if err != nil || kept.GetFilter() != "duration > 1h" {
		t.Fatalf("got %v, %v", kept, err)
	}
	filters, token, err := client.Runs.Filters(t.Context(), Page{Size: 5})
	if err != nil || len(filters) != 1 || token != "t" {
		t.Fatalf("got %v, %q, %v", filters, token, err)
	}
	if err := client.Runs.DeleteFilter(t.Context(), "late", MutationOptions{RequestID: "d"}); err != nil {
		t.Fatal(err)
	}
	start := StartOptions{RequestID: "q", Metadata: map[string]any{"team": "billing"}}
	if _, err := client.Runs.Start(t.Context(), "w", nil, start); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(change)
	if err != nil {
		t.Fatal(err)
	}
	same(t, server.asked[0], &pawlv1.UpdateRunMetadataRequest{RunId: "r", MetadataJson: text, RequestId: "m"})
	same(t, server.asked[1], &pawlv1.SaveRunFilterRequest{Name: "late", Filter: "duration > 1h", RequestId: "s"})
	same(t, server.asked[2], &pawlv1.ListRunFiltersRequest{PageSize: 5})
	same(t, server.asked[3], &pawlv1.DeleteRunFilterRequest{Name: "late", RequestId: "d"})
	same(t, server.asked[4], &pawlv1.StartRunRequest{WorkflowId: "w", RequestId: "q", MetadataJson: []byte(`{"team":"billing"}`)})
}
