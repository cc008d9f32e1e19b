package pawl

// Starts a run and reads its events by one call. The first message names the run. The rest is the first connection of a watch, which
// resumes as every watch does. If the call fails before that message, the client repeats it: the request id makes it the same run.

import (
	"context"
	"iter"

	"google.golang.org/grpc"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// ExecuteOptions are the options of Execute.
type ExecuteOptions struct {
	StartOptions
	// Watch has the options for reading the events. Its AfterEventID, its filters on nodes and its callbacks are not used.
	Watch WatchOptions
	// OnStart is called once, when the run is accepted.
	OnStart func(Started)
}

// Execute starts a run and yields its events from the first one, each once and in order. It ends after the terminal event. It reconnects by
// itself, and yields one error, as its last value, as Watch does. Leaving the loop does not affect the run. Each loop is a new start,
// unless the options have a request id.
func (r *Runs) Execute(ctx context.Context, workflowID string, input any, options ExecuteOptions) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		req, err := startRequest(workflowID, input, options.StartOptions)
		if err != nil {
			yield(nil, err)
			return
		}
		begun, err := call(ctx, r.client, r.begin(ctx), &pawlv1.ExecuteRunRequest{Start: req, Types: options.Watch.Types})
		if err != nil {
			yield(nil, err)
			return
		}
		if options.OnStart != nil {
			options.OnStart(begun.started)
		}
		watch := options.Watch
		watch.AfterEventID, watch.NodeIDs, watch.NodeTypes = 0, nil, nil
		watch.OnCheckpoint, watch.OnTaskResult = nil, nil
		r.watch(ctx, begun.runID(), watch, begun, yield)
	}
}

// executeToEnd returns the end of a new run.
func (r *Runs) executeToEnd(ctx context.Context, req *pawlv1.StartRunRequest, onAccepted func(*pawlv1.AcceptedSubmission)) (*pawlv1.RunEnd, error) {
	begun, err := call(ctx, r.client, r.begin(ctx), &pawlv1.ExecuteRunRequest{Start: req, Types: terminalTypes})
	if err != nil {
		return nil, err
	}
	onAccepted(&pawlv1.AcceptedSubmission{RunId: begun.runID(), Duplicate: begun.started.IsDuplicate})
	var end *Event
	var failure error
	r.watch(ctx, begun.runID(), WatchOptions{Types: terminalTypes}, begun, func(event *Event, err error) bool {
		end, failure = event, err
		return err == nil
	})
	if failure != nil {
		return nil, failure
	}
	return endOf(end), nil
}

// endOf is the end of a run, from its terminal event.
func endOf(event *Event) *pawlv1.RunEnd {
	end := &pawlv1.RunEnd{RunId: event.GetRunId(), LastEventId: event.GetEventId()}
	switch fact := event.GetFact().(type) {
	case *pawlv1.RunEvent_RunCompleted:
		end.Status = pawlv1.RunStatus_RUN_STATUS_COMPLETED
		end.OutputJson, end.HasFailures = fact.RunCompleted.GetOutputJson(), fact.RunCompleted.GetHasFailures()
	case *pawlv1.RunEvent_RunFailed:
		end.Status, end.HasFailures = pawlv1.RunStatus_RUN_STATUS_FAILED, true
		end.ErrorMessage, end.FailedNodeId = fact.RunFailed.GetMessage(), fact.RunFailed.GetFailedNodeId()
		end.Cause, end.FailureClass = fact.RunFailed.GetCause(), fact.RunFailed.GetFailureClass()
	case *pawlv1.RunEvent_RunCancelled:
		end.Status, end.ErrorMessage = pawlv1.RunStatus_RUN_STATUS_CANCELLED, fact.RunCancelled.GetReason()
		end.Cause, end.FailureClass = stopCause(fact.RunCancelled.GetStop()), fact.RunCancelled.GetFailureClass()
	default:
		end.Status, end.ErrorMessage = pawlv1.RunStatus_RUN_STATUS_TIMEOUT, "the run passed its deadline"
		end.Cause, end.FailureClass = "deadline_passed", pawlv1.FailureClass_FAILURE_CLASS_TIMEOUT
	}
	return end
}

// stopCause is the cause of a cancelled run.
func stopCause(stop pawlv1.StopMode) string {
	switch stop {
	case pawlv1.StopMode_STOP_MODE_INTERRUPT:
		return "interrupted"
	case pawlv1.StopMode_STOP_MODE_ROLLBACK:
		return "rolled_back"
	default:
		return "cancelled"
	}
}

// begin opens the call and waits for the run that it names, for as long as a unary call may take. The stream outlives that wait, so it has
// its own context below the caller's.
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
				return nil, leftError(limited)
			}
			return nil, err
		}
		started := Started{first.GetRun(), first.GetDuplicate()}
		return &executeStream{stream: stream, cancel: cancel, started: started, first: first.GetEvents()}, nil
	}
}

type executeStream struct {
	stream  pawlv1.RunService_ExecuteRunClient
	cancel  func()
	started Started
	first   []*Event
	isTaken bool
}

func (s *executeStream) runID() string { return s.started.Run.GetRunId() }

func (s *executeStream) close() { s.cancel() }

// recv returns the events of the first message first. It counts as progress, as a heartbeat does.
func (s *executeStream) recv() (batch, error) {
	if !s.isTaken {
		s.isTaken = true
		return batch{events: s.first}, nil
	}
	res, err := s.stream.Recv()
	return batch{events: res.GetEvents()}, err
}
