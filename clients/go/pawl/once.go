package pawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	handlerv1 "pawl.dev/sdk/go/gen/pawl/handler/v1"
)

// EffectClass is the promise about an effect.
type EffectClass = handlerv1.EffectClass

const (
	// Transactional: the effect commits in one transaction with a record of it in the same database.
	Transactional = handlerv1.EffectClass_EFFECT_CLASS_TRANSACTIONAL
	// Idempotent: the receiver recognises a repeat by its key, so the effect is made again if its result is unknown.
	Idempotent = handlerv1.EffectClass_EFFECT_CLASS_IDEMPOTENT
	// AtMostOnce: the effect is never made again once it has begun.
	AtMostOnce = handlerv1.EffectClass_EFFECT_CLASS_AT_MOST_ONCE
)

// Once makes an effect through the ledger of the run. If an earlier attempt made it, Once returns the recorded result and does not call the
// function. Use each name once in a handler. Return the error of Once from the handler: the effect must not be made, or was not recorded.
func Once[T any](ctx context.Context, name string, class EffectClass, effect func(context.Context) (T, error)) (T, error) {
	var made T
	port := From(ctx).port
	state, recorded, err := port.Begin(ctx, name, class)
	if err != nil {
		return made, err
	}
	switch state {
	case handlerv1.EffectState_EFFECT_STATE_COMMITTED:
		if recorded == "" {
			return made, nil
		}
		if err := json.Unmarshal([]byte(recorded), &made); err != nil {
			return made, fmt.Errorf("the recorded result of effect %q does not fit %T: %w", name, made, err)
		}
		return made, nil
	case handlerv1.EffectState_EFFECT_STATE_BEGUN_BEFORE:
		if class == AtMostOnce {
			message := fmt.Sprintf("an earlier attempt began effect %q, and its result is unknown", name)
			return made, Fail("effect_unknown", message).Permanent()
		}
	case handlerv1.EffectState_EFFECT_STATE_NEW:
	default:
		return made, refused(name, state)
	}
	if made, err = effect(ctx); err != nil {
		return made, err
	}
	result, err := encode(made)
	if err != nil {
		return made, fmt.Errorf("the result of effect %q is not JSON: %w", name, err)
	}
	state, err = port.Commit(ctx, name, string(result))
	if err == nil && state != handlerv1.EffectState_EFFECT_STATE_COMMITTED {
		err = refused(name, state)
	}
	return made, err
}

func refused(name string, state handlerv1.EffectState) error {
	if state == handlerv1.EffectState_EFFECT_STATE_REVOKED {
		return &Cancelled{Reason: "claim_lost"}
	}
	if state == handlerv1.EffectState_EFFECT_STATE_REFUSED {
		return fmt.Errorf("the host refuses effect %q: its name, its class or its result is not valid", name)
	}
	return errors.New("the host answered effect " + name + " with " + state.String())
}
