package pawl

import (
	"context"
	"errors"
	"io"
	"iter"

	"google.golang.org/grpc"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// Archive has the runs that retention wrote to files, and runs as files.
type Archive struct {
	client *Client
	rpc    pawlv1.ArchiveServiceClient
}

// ArchivedRun is a run in the archive. Lists leave out everything but the run.
type ArchivedRun = pawlv1.ArchivedRun

// RestoredRun is a run that is back in the database.
type RestoredRun = pawlv1.RestoreRunResponse

// ArchivedFilter says which archived runs to list.
type ArchivedFilter struct {
	// Month lists only runs that began in this month, by UTC, such as 2026-06. Empty means all.
	Month string
	// Filter is a filter as for runs, without input and is_live. Empty means all.
	Filter string
}

// List reads a page of archived runs, oldest first, and the token of the next page. With a filter a page may be empty, and still not be the
// last. FILTER_INVALID.
func (a *Archive) List(ctx context.Context, filter ArchivedFilter, page Page) ([]*ArchivedRun, string, error) {
	res, err := call(ctx, a.client, a.rpc.ListArchivedRuns, &pawlv1.ListArchivedRunsRequest{
		Month: filter.Month, Filter: filter.Filter, PageSize: page.Size, PageToken: page.Token,
	})
	return res.GetArchivedRuns(), res.GetNextPageToken(), err
}

// Get reads and checks the whole file of a run. ARCHIVED_RUN_NOT_FOUND, ARCHIVE_INVALID.
func (a *Archive) Get(ctx context.Context, runID string) (*ArchivedRun, error) {
	res, err := call(ctx, a.client, a.rpc.GetArchivedRun, &pawlv1.GetArchivedRunRequest{RunId: runID})
	return res.GetArchivedRun(), err
}

// Read yields the file of an archived run in pieces: lines of JSON. Its last value may be an error: ARCHIVED_RUN_NOT_FOUND, ARCHIVE_INVALID.
func (a *Archive) Read(ctx context.Context, runID string) iter.Seq2[[]byte, error] {
	return pieces(ctx, a.rpc.ReadArchivedRun, &pawlv1.ReadArchivedRunRequest{RunId: runID})
}

// ExportRun yields a run of the database in the same form, also one that has not ended. Its last value may be an error: RUN_NOT_FOUND.
func (a *Archive) ExportRun(ctx context.Context, runID string) iter.Seq2[[]byte, error] {
	return pieces(ctx, a.rpc.ExportRun, &pawlv1.ExportRunRequest{RunId: runID})
}

// Restore puts a run and its child runs back. A repeat is harmless. ARCHIVED_RUN_NOT_FOUND, ARCHIVE_INVALID, ARCHIVE_CONFLICT.
func (a *Archive) Restore(ctx context.Context, runID string, options MutationOptions) (*RestoredRun, error) {
	return call(ctx, a.client, a.rpc.RestoreRun, &pawlv1.RestoreRunRequest{
		RunId: runID, RequestId: identified(options.RequestID),
	})
}

type carriesData interface{ GetData() []byte }

// pieces yields the bytes of a file. A cut is an error, because the manifest at its end is missing.
func pieces[Req any, Res any, Piece interface {
	*Res
	carriesData
}](ctx context.Context, open func(context.Context, Req, ...grpc.CallOption) (grpc.ServerStreamingClient[Res], error), req Req) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := open(ctx, req)
		for err == nil {
			var message *Res
			if message, err = stream.Recv(); err == nil && !yield(Piece(message).GetData(), nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, errorFrom(ctx, err))
		}
	}
}
