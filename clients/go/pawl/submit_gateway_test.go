package pawl

// SubmitRuns of the gateway for tests: each message gets what a test scripts.

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// answer is what a scripted gateway does about a message: it sends answers, waits, then fails, cuts every connection or reads on.
type answer struct {
	send  []*pawlv1.SubmissionAnswer
	until <-chan struct{}
	fail  error
	cut   bool
}

func (g *gateway) SubmitRuns(stream pawlv1.RunService_SubmitRunsServer) error {
	if g.submit == nil {
		return g.UnimplementedRunServiceServer.SubmitRuns(stream)
	}
	g.mu.Lock()
	n := len(g.submitted)
	g.submitted = append(g.submitted, nil)
	g.mu.Unlock()
	if g.streamsMax > 0 && n >= g.streamsMax {
		return status.Error(codes.Unimplemented, "no such method")
	}
	if err := stream.Send(&pawlv1.SubmitRunsResponse{}); err != nil {
		return err
	}
	for {
		req, err := stream.Recv()
		if err != nil {
			return err
		}
		g.mu.Lock()
		g.submitted[n] = append(g.submitted[n], req)
		g.mu.Unlock()
		do := g.submit(n, req)
		if len(do.send) > 0 {
			if err := stream.Send(&pawlv1.SubmitRunsResponse{Answers: do.send}); err != nil {
				return err
			}
		}
		if do.until != nil {
			<-do.until
		}
		if do.cut {
			g.cutAll()
		}
		if do.fail != nil {
			return do.fail
		}
	}
}

// idsOf are the request ids of the n-th stream, as they came.
func (g *gateway) idsOf(n int) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ids []string
	for _, req := range g.submitted[n] {
		for _, sub := range req.GetSubmissions() {
			ids = append(ids, sub.GetStart().GetRequestId())
		}
	}
	return ids
}

func (g *gateway) streams() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.submitted)
}

func completed(id string, output []byte) *pawlv1.SubmissionAnswer {
	end := &pawlv1.RunEnd{RunId: "run-" + id, Status: pawlv1.RunStatus_RUN_STATUS_COMPLETED, OutputJson: output}
	return &pawlv1.SubmissionAnswer{RequestId: id, End: end}
}

func accepted(id string) *pawlv1.SubmissionAnswer {
	return &pawlv1.SubmissionAnswer{RequestId: id, Accepted: &pawlv1.AcceptedSubmission{RunId: "run-" + id}}
}

// echo answers every submission with its own input.
func echo(_ int, req *pawlv1.SubmitRunsRequest) answer {
	var all answer
	for _, sub := range req.GetSubmissions() {
		one := accepted(sub.GetStart().GetRequestId())
		if sub.GetWait() {
			one.End = completed(one.GetRequestId(), sub.GetStart().GetInputJson()).GetEnd()
		}
		all.send = append(all.send, one)
	}
	return all
}

// each starts a run for each id at once, and gives the outcomes in the order of the ids.
func each(ctx context.Context, client *Client, ids []string, options RunOptions) ([]string, []error) {
	outputs, failures := make([]string, len(ids)), make([]error, len(ids))
	var under sync.WaitGroup
	for n, id := range ids {
		one := options
		one.RequestID = id
		under.Go(func() { outputs[n], failures[n] = RunWith[string, string](ctx, client, "echo", id, one) })
	}
	under.Wait()
	return outputs, failures
}

func numbered(count int) []string {
	ids := make([]string, count)
	for n := range ids {
		ids[n] = fmt.Sprintf("s%d", n)
	}
	return ids
}
