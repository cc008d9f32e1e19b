package pawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type charge struct {
	Customer string `json:"customer"`
	Cents    int    `json:"cents" pawl:"min=1"`
}

type receipt struct {
	Receipt string `json:"receipt" pawl:"min=1"`
}

type currency struct {
	Code string `json:"code" pawl:"enum=EUR|USD"`
}

// trialFailure runs a handler and gives the failure that the host would get.
func trialFailure[In, Out any](t *testing.T, handler Handler[In, Out], in In, trial Trial) *TrialFailed {
	t.Helper()
	_, err := RunHandler(t.Context(), handler, in, trial)
	var failed *TrialFailed
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want a failure", err)
	}
	return failed
}

func returning(out receipt, err error) Handler[charge, receipt] {
	return Handle("acme.charge@1", func(context.Context, charge) (receipt, error) { return out, err })
}

func TestAHandlerGetsItsTaskAndStreams(t *testing.T) {
	handler := Handle("acme.charge@1", func(ctx context.Context, in charge) (receipt, error) {
		task := From(ctx)
		task.Log(slog.LevelWarn, "careful")
		task.LeaveBy("paid")
		if task.Attempt != 3 || task.EffectKey != "key" {
			t.Errorf("got %+v", task)
		}
		return receipt{in.Customer}, task.Emit(ctx, "paid\n")
	})
	ran, err := RunHandler(t.Context(), handler, charge{"c1", 5}, Trial{Attempt: 3, EffectKey: "key"})
	if err != nil || ran.Output.Receipt != "c1" || ran.Text != "paid\n" || ran.Handle != "paid" || len(ran.Logs) != 1 {
		t.Errorf("got %+v, %v", ran, err)
	}
}

func TestAResultCarriesItsHandle(t *testing.T) {
	handler := Handle("acme.size@1", func(ctx context.Context, in charge) (receipt, error) {
		if in.Cents > 100 {
			From(ctx).LeaveBy("large")
		}
		return receipt{in.Customer}, nil
	})
	for cents, want := range map[int]string{500: "large", 5: ""} {
		ran, err := RunHandler(t.Context(), handler, charge{"c1", cents}, Trial{})
		if err != nil || ran.Handle != want {
			t.Errorf("%d cents: got %+v, %v", cents, ran, err)
		}
	}
}

func TestInputThatDoesNotFitNeverReachesTheFunction(t *testing.T) {
	handler := Handle("acme.charge@1", func(context.Context, charge) (receipt, error) {
		t.Error("the function ran")
		return receipt{}, nil
	})
	failed := trialFailure(t, handler, charge{"c1", 0}, Trial{})
	if failed.Cause != "input_invalid" || !failed.Permanent || !strings.Contains(failed.Message, "/cents") {
		t.Errorf("got %+v", failed)
	}
}

func TestConfigIsTypedAndChecked(t *testing.T) {
	handler := HandleWithConfig("acme.charge@1", func(_ context.Context, _ charge, config currency) (receipt, error) {
		return receipt{config.Code}, nil
	})
	ran, err := RunHandler(t.Context(), handler, charge{"c1", 5}, Trial{Config: currency{"EUR"}})
	if err != nil || ran.Output.Receipt != "EUR" {
		t.Errorf("got %+v, %v", ran, err)
	}
	failed := trialFailure(t, handler, charge{"c1", 5}, Trial{Config: currency{"XAU"}})
	if failed.Cause != "config_invalid" || !failed.Permanent || !strings.Contains(failed.Message, "/code") {
		t.Errorf("got %+v", failed)
	}
}

func TestAnOutputThatBreaksItsOwnSchemaIsContractViolated(t *testing.T) {
	if failed := trialFailure(t, returning(receipt{""}, nil), charge{"c1", 5}, Trial{}); failed.Cause != "contract_violated" {
		t.Errorf("got %+v", failed)
	}
}

func TestAPanicIsAFailureWithAtMostTenFrames(t *testing.T) {
	handler := Handle("acme.charge@1", func(context.Context, charge) (receipt, error) {
		var none map[string]int
		none["x"] = 1
		return receipt{}, nil
	})
	failed := trialFailure(t, handler, charge{"c1", 5}, Trial{})
	var details struct{ Frames []string }
	if err := json.Unmarshal(failed.Details, &details); err != nil {
		t.Fatal(err)
	}
	if failed.Cause != "provider_error" || failed.Permanent || len(details.Frames) == 0 || len(details.Frames) > 10 {
		t.Errorf("got %+v", failed)
	}
	if !strings.Contains(strings.Join(details.Frames, "\n"), "TestAPanic") || strings.Contains(details.Frames[0], "/clients/") {
		t.Errorf("frames %v", details.Frames)
	}
}

func TestAnErrorIsAFailureWithItsClass(t *testing.T) {
	failed := trialFailure(t, returning(receipt{}, errors.New("no")), charge{"c1", 5}, Trial{})
	if failed.Cause != "provider_error" || failed.Message != "*errors.errorString: no" {
		t.Errorf("got %+v", failed)
	}
}

type slowSocket struct{}

func (slowSocket) Error() string   { return "i/o timeout" }
func (slowSocket) Timeout() bool   { return true }
func (slowSocket) Temporary() bool { return true }

func TestATimeLimitOfTheHandlerItselfIsAUserTimeout(t *testing.T) {
	for _, err := range []error{
		context.DeadlineExceeded, fmt.Errorf("shop: %w", context.DeadlineExceeded), os.ErrDeadlineExceeded,
		&net.OpError{Op: "dial", Err: slowSocket{}}, status.Error(codes.DeadlineExceeded, "slow"),
	} {
		failed := trialFailure(t, returning(receipt{}, err), charge{"c1", 5}, Trial{})
		if failed.Cause != "user_timeout" || failed.Permanent {
			t.Errorf("%v: got %+v", err, failed)
		}
	}
	if failed := trialFailure(t, returning(receipt{}, context.Canceled), charge{"c1", 5}, Trial{}); failed.Cause != "provider_error" {
		t.Errorf("got %+v", failed)
	}
}

func TestAFailureKeepsItsCauseAlsoWhenItIsWrapped(t *testing.T) {
	declined := Fail("acme.declined", "no money").Permanent().RetryAfter(time.Minute).Details(map[string]int{"code": 51})
	failed := trialFailure(t, returning(receipt{}, errors.Join(errors.New("charge"), declined)), charge{"c1", 5}, Trial{})
	if failed.Cause != "acme.declined" || !failed.Permanent || failed.RetryAfter != time.Minute || string(failed.Details) != `{"code":51}` {
		t.Errorf("got %+v", failed)
	}
}

func paying(class EffectClass, calls *int) Handler[charge, receipt] {
	return Handle("acme.charge@1", func(ctx context.Context, _ charge) (receipt, error) {
		made, err := Once(ctx, "charge", class, func(context.Context) (string, error) {
			*calls++
			return "r1", nil
		})
		return receipt{made}, err
	})
}

func TestAnEffectThatWasMadeIsNotMadeAgain(t *testing.T) {
	calls := 0
	ran, err := RunHandler(t.Context(), paying(Idempotent, &calls), charge{"c1", 5}, Trial{Committed: map[string]any{"charge": "r0"}})
	if err != nil || ran.Output.Receipt != "r0" || calls != 0 {
		t.Errorf("got %+v, %v after %d calls", ran, err, calls)
	}
}

func TestAnEffectWhoseResultIsUnknownFollowsItsClass(t *testing.T) {
	calls, begun := 0, Trial{Begun: []string{"charge"}}
	ran, err := RunHandler(t.Context(), paying(Idempotent, &calls), charge{"c1", 5}, begun)
	if err != nil || ran.Output.Receipt != "r1" || calls != 1 || string(ran.Effects["charge"]) != `"r1"` {
		t.Errorf("got %+v, %v after %d calls", ran, err, calls)
	}
	failed := trialFailure(t, paying(AtMostOnce, &calls), charge{"c1", 5}, begun)
	if failed.Cause != "effect_unknown" || calls != 1 {
		t.Errorf("got %+v after %d calls", failed, calls)
	}
}

func TestAnEffectNameIsUsedOnce(t *testing.T) {
	handler := Handle("acme.twice@1", func(ctx context.Context, _ charge) (receipt, error) {
		make := func(context.Context) (string, error) { return "r1", nil }
		if _, err := Once(ctx, "charge", Idempotent, make); err != nil {
			t.Error(err)
		}
		made, err := Once(ctx, "charge", Idempotent, make)
		return receipt{made}, err
	})
	if failed := trialFailure(t, handler, charge{"c1", 5}, Trial{}); !strings.Contains(failed.Message, "twice") {
		t.Errorf("got %+v", failed)
	}
}

func TestACancelEndsTheContextWithItsReason(t *testing.T) {
	handler := Handle("acme.wait@1", func(ctx context.Context, _ any) (any, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	_, err := RunHandler(t.Context(), handler, nil, Trial{CancelAfter: time.Millisecond})
	var cancelled *Cancelled
	if !errors.As(err, &cancelled) || cancelled.Reason != "cancelled" || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAServerRefusesWhatCannotWork(t *testing.T) {
	good := returning(receipt{"r"}, nil)
	bad := map[string][]Part{
		"a server without handlers":    {},
		"two handlers of one type":     {good, good},
		"a name that is not valid":     {Handle("acme charge", func(context.Context, any) (any, error) { return nil, nil })},
		"a type without a schema":      {Handle("acme.x", func(context.Context, chan int) (any, error) { return nil, nil })},
		"a schema that is not valid":   {Handle("acme.x", func(context.Context, any) (any, error) { return nil, nil }, InputSchema("{"))},
		"a config without a schema":    {HandleWithConfig("acme.x", func(context.Context, any, chan int) (any, error) { return nil, nil })},
		"no slot":                      {good, Slots(0)},
		"a handler that Handle missed": {Handler[any, any]{}},
	}
	for what, parts := range bad {
		if _, err := NewServer(parts...); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
	if _, err := NewServer(good, Slots(2)); err != nil {
		t.Error(err)
	}
}
