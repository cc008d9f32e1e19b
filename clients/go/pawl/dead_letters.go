package pawl

import (
	"context"
	"fmt"
	"iter"
	"time"

	pawlv1 "pawl.dev/sdk/go/gen/pawl/v1"
)

// DeadLetter is a node execution that the scheduler gave up.
type DeadLetter = pawlv1.DeadLetter

// DeadLetterState is open, redriven or discarded.
type DeadLetterState = pawlv1.DeadLetterState

// Redriven is the answer of one call of Redrive.
type Redriven = pawlv1.RedriveDeadLettersResponse

// RedrivePreview describes the effect of a redrive.
type RedrivePreview = pawlv1.PreviewRedriveResponse

// DeadLetters decides about node executions that the scheduler gave up.
type DeadLetters struct {
	client *Client
	rpc    pawlv1.QueueServiceClient
}

// DeadLetterFilter selects dead letters. A zero field does not narrow the selection.
type DeadLetterFilter struct {
	IDs        []string
	WorkflowID string
	NodeType   string
	// Before selects letters from before this time.
	Before time.Time
}

func (f DeadLetterFilter) wire() *pawlv1.DeadLetterFilter {
	return &pawlv1.DeadLetterFilter{
		DeadLetterIds: f.IDs, WorkflowId: f.WorkflowID, NodeType: f.NodeType, BeforeTime: timestampOf(f.Before),
	}
}

// List reads a page of dead letters, newest first, and the token of the next page. No states means all.
func (d *DeadLetters) List(ctx context.Context, filter DeadLetterFilter, states []DeadLetterState, page Page) ([]*DeadLetter, string, error) {
	res, err := call(ctx, d.client, d.rpc.ListDeadLetters, &pawlv1.ListDeadLettersRequest{
		Filter: filter.wire(), States: states, PageSize: page.Size, PageToken: page.Token,
	})
	return res.GetDeadLetters(), res.GetNextPageToken(), err
}

// Preview shows the effect of a redrive of at most limit dead letters, and changes nothing. 0 means 100, the most is 1,000.
func (d *DeadLetters) Preview(ctx context.Context, filter DeadLetterFilter, limit uint32) (*RedrivePreview, error) {
	return call(ctx, d.client, d.rpc.PreviewRedrive, &pawlv1.PreviewRedriveRequest{Filter: filter.wire(), Limit: limit})
}

// RedriveOptions are the options of Redrive and RedriveAll.
type RedriveOptions struct {
	// Limit is how many at most. For Redrive 0 means 100, the most is 1,000. For RedriveAll 0 means all that match.
	Limit uint32
	// MaxPerSecond is how many a second at most. 0 means 50.
	MaxPerSecond uint32
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
}

// Redrive starts the runs of open dead letters again, for ten seconds at most; Remaining counts the rest. INPUT_INVALID.
func (d *DeadLetters) Redrive(ctx context.Context, filter DeadLetterFilter, options RedriveOptions) (*Redriven, error) {
	return call(ctx, d.client, d.rpc.RedriveDeadLetters, &pawlv1.RedriveDeadLettersRequest{
		Filter: filter.wire(), Limit: options.Limit, MaxPerSecond: options.MaxPerSecond, RequestId: identified(options.RequestID),
	})
}

// DiscardOptions are the options of Discard.
type DiscardOptions struct {
	// Limit is how many at most. 0 means 100, the most is 1,000.
	Limit uint32
	// RequestID makes a repeat harmless. Empty means a new one.
	RequestID string
}

// Discard closes open dead letters without starting a run, and returns their ids. INPUT_INVALID without a filter.
func (d *DeadLetters) Discard(ctx context.Context, filter DeadLetterFilter, options DiscardOptions) ([]string, error) {
	res, err := call(ctx, d.client, d.rpc.DiscardDeadLetters, &pawlv1.DiscardDeadLettersRequest{
		Filter: filter.wire(), Limit: options.Limit, RequestId: identified(options.RequestID),
	})
	return res.GetDeadLetterIds(), err
}

// RedriveStep is the progress of RedriveAll.
type RedriveStep struct {
	// Redriven are the dead letters since the step before.
	Redriven []*pawlv1.RedrivenLetter
	// Count is how many in all.
	Count int
	// Remaining is how many more match and could be redriven, counted up to 1,000. 0 at the end.
	Remaining uint32
	// Left are dead letters that the redrive skipped, and the reasons.
	Left []*pawlv1.LeftDeadLetters
}

// The most dead letters of one request.
const redriveMax = 1_000

// RedriveAll redrives until no matching letter is left, or until Limit are redriven. It yields a step for each call. The server limits each
// call in time and number, and the next call continues. Each request id is made of the first, so a repeat of the whole under that id
// doubles nothing. It yields one error, as its last value, for a call that failed.
func (d *DeadLetters) RedriveAll(ctx context.Context, filter DeadLetterFilter, options RedriveOptions) iter.Seq2[RedriveStep, error] {
	first := identified(options.RequestID)
	wanted := int(options.Limit)
	if wanted == 0 {
		wanted = len(filter.IDs)
	}
	return func(yield func(RedriveStep, error) bool) {
		count := 0
		for request := 1; wanted == 0 || count < wanted; request++ {
			one := options
			one.RequestID = first
			if request > 1 {
				one.RequestID = fmt.Sprintf("%s.%d", first, request)
			}
			one.Limit = redriveMax
			if wanted > 0 {
				one.Limit = uint32(min(redriveMax, wanted-count))
			}
			seen, isOver := d.redriveOne(ctx, filter, one, count, yield)
			if isOver {
				return
			}
			count += seen
		}
	}
}

// redriveOne repeats one request until its limit is reached. It reports whether all letters are redriven.
func (d *DeadLetters) redriveOne(ctx context.Context, filter DeadLetterFilter, options RedriveOptions, before int, yield func(RedriveStep, error) bool) (seen int, isOver bool) {
	for seen < int(options.Limit) {
		answer, err := d.Redrive(ctx, filter, options)
		if err != nil {
			yield(RedriveStep{}, err)
			return seen, true
		}
		// The answer to a repeat lists all letters that were redriven under its request id.
		fresh := answer.GetRedriven()[min(seen, len(answer.GetRedriven())):]
		seen += len(fresh)
		step := RedriveStep{fresh, before + seen, answer.GetRemaining(), answer.GetLeft()}
		if !yield(step, nil) || answer.GetRemaining() == 0 || len(fresh) == 0 {
			return seen, true
		}
	}
	return seen, false
}
