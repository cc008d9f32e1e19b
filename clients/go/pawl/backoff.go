package pawl

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	backoffBase = 200 * time.Millisecond
	backoffMax  = 10 * time.Second
)

// clock is the time and the source of random numbers. Tests pass their own.
type clock struct {
	now    func() time.Time
	random func() float64
	// pause returns after the time, or at once when the context ends.
	pause func(ctx context.Context, d time.Duration)
}

var systemClock = clock{
	now:    time.Now,
	random: rand.Float64,
	pause: func(ctx context.Context, d time.Duration) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	},
}

// backoff is the delay before the given retry, counted from 1. It is at least half of the exponential step. With the jitter, a thousand
// clients that lost their connection at once do not return at once.
func backoff(retry int, random float64) time.Duration {
	step := stepOf(retry)
	return time.Duration(float64(step) * (0.5 + random*0.5)).Round(time.Millisecond)
}

// fullJitter is a delay before the given retry, counted from 1: from zero to the exponential step. It spreads callers best.
func fullJitter(retry int, random float64) time.Duration {
	return time.Duration(float64(stepOf(retry)) * random).Round(time.Millisecond)
}

func stepOf(retry int) time.Duration { return min(backoffMax, backoffBase<<min(retry-1, 16)) }
