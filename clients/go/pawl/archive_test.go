package pawl

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

type archiveServer struct {
	pawlv1.UnimplementedArchiveServiceServer
	listed   []*pawlv1.ListArchivedRunsRequest
	restored []*pawlv1.RestoreRunRequest
}

func (s *archiveServer) ListArchivedRuns(_ context.Context, req *pawlv1.ListArchivedRunsRequest) (*pawlv1.ListArchivedRunsResponse, error) {
	s.listed = append(s.listed, req)
	run := &ArchivedRun{Run: &RunState{RunId: "r"}}
	return &pawlv1.ListArchivedRunsResponse{ArchivedRuns: []*ArchivedRun{run}, NextPageToken: "t"}, nil
}

func (s *archiveServer) GetArchivedRun(_ context.Context, req *pawlv1.GetArchivedRunRequest) (*pawlv1.GetArchivedRunResponse, error) {
	run := &ArchivedRun{Run: &RunState{RunId: req.GetRunId()}, Lines: 7}
	return &pawlv1.GetArchivedRunResponse{ArchivedRun: run}, nil
}

func (s *archiveServer) ReadArchivedRun(_ *pawlv1.ReadArchivedRunRequest, stream grpc.ServerStreamingServer[pawlv1.ReadArchivedRunResponse]) error {
	for _, text := range []string{"a", "b\n"} {
		if err := stream.Send(&pawlv1.ReadArchivedRunResponse{Data: []byte(text)}); err != nil {
			return err
		}
	}
	return status.Error(codes.Unavailable, "cut")
}

func (s *archiveServer) ExportRun(req *pawlv1.ExportRunRequest, stream grpc.ServerStreamingServer[pawlv1.ExportRunResponse]) error {
	return stream.Send(&pawlv1.ExportRunResponse{Data: []byte(req.GetRunId())})
}

func (s *archiveServer) RestoreRun(_ context.Context, req *pawlv1.RestoreRunRequest) (*pawlv1.RestoreRunResponse, error) {
	s.restored = append(s.restored, req)
	return &pawlv1.RestoreRunResponse{RestoredRunIds: []string{req.GetRunId()}}, nil
}

func TestArchivedRunsAreListedReadExportedAndRestored(t *testing.T) {
	server := &archiveServer{}
	client, _ := serveGateway(t, &gateway{more: func(s *grpc.Server) { pawlv1.RegisterArchiveServiceServer(s, server) }})
	archive := client.Archive
	runs, next, err := archive.List(t.Context(), ArchivedFilter{Month: "2026-06", Filter: "status = failed"}, Page{Size: 2})
	if err != nil || len(runs) != 1 || next != "t" {
		t.Fatalf("got %v, %q, %v", runs, next, err)
	}
	same(t, server.listed[0], &pawlv1.ListArchivedRunsRequest{Month: "2026-06", Filter: "status = failed", PageSize: 2})
	if run, err := archive.Get(t.Context(), "r"); err != nil || run.GetLines() != 7 {
		t.Errorf("got %v, %v", run, err)
	}
	var read strings.Builder
	var last error
	for data, err := range archive.Read(t.Context(), "r") {
		read.Write(data)
		last = err
	}
	if read.String() != "ab\n" || last == nil {
		t.Errorf("got %q, %v", read.String(), last)
	}
	for data, err := range archive.ExportRun(t.Context(), "r") {
		if string(data) != "r" || err != nil {
			t.Errorf("got %q, %v", data, err)
		}
	}
	back, err := archive.Restore(t.Context(), "r", MutationOptions{RequestID: "one"})
	if err != nil || len(back.GetRestoredRunIds()) != 1 {
		t.Errorf("got %v, %v", back, err)
	}
	same(t, server.restored[0], &pawlv1.RestoreRunRequest{RunId: "r", RequestId: "one"})
}
