package pawl

// Starts a run and reads its end by one call. The first message names the run, and the rest is the first connection of a watch, which
// resumes as every watch does. If the call fails before that message, the client repeats it: the request id makes it the same run.

import (
	"context"

	"google.golang.org/grpc"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// execute gives the terminal event of a new run.
func (r *Runs) execute(ctx context.Context, req *pawlv1.StartRunRequest) (*Event, error) {
	begun, err := call(ctx, r.client, r.begin(ctx), &pawlv1.ExecuteRunRequest{Start: req, Types: terminalTypes})
	if err != nil {
		return nil, err
	}
	var end *Event
	var failure error
	r.watch(ctx, begun.runID, WatchOptions{Types: terminalTypes}, begun, func(event *Event, err error) bool {
		end, failure = event, err
		return err == nil
	})
	return end, failure
}

// begin opens the call and waits for the run that it names, for as long as a unary call may take. The stream outlives that wait, so it has
// a context of its own below the caller's.
func (r *Runs) begin(caller context.Context) func(context.Context, *pawlv1.ExecuteRunRequest, ...grpc.CallOption) (*executeStream, error) {
	return func(limited context.Context, req *pawlv1.ExecuteRunRequest, opts ...grpc.CallOption) (*executeStream, error) {
		ctx, cancel := context.WithCancel(caller)
		stop := context.AfterFunc(limited, cancel)
		defer stop()
		stream, err := r.rpc.ExecuteRun(ctx, req, opts...)
		if err != nil {
			cancel()
			return nil, err
		}
		first, err := stream.Recv()
		if err != nil {
			cancel()
			if limited.Err() != nil && caller.Err() == nil {
				return nil, errorFrom(caller, context.DeadlineExceeded)
			}
			return nil, err
		}
		return &executeStream{stream: stream, cancel: cancel, runID: first.GetRun().GetRunId(), first: first.GetEvents()}, nil
	}
}

type executeStream struct {
	stream  pawlv1.RunService_ExecuteRunClient
	cancel  func()
	runID   string
	first   []*Event
	isTaken bool
}

func (s *executeStream) close() { s.cancel() }

// recv gives the events of the first message first. It counts as progress, as a heartbeat does.
func (s *executeStream) recv() ([]*Event, error) {
	if !s.isTaken {
		s.isTaken = true
		return s.first, nil
	}
	res, err := s.stream.Recv()
	return res.GetEvents(), err
}
