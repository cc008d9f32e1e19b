// The effect ledger as handlers use it. Most handlers need only `once`: it makes an effect as often as its class allows, and gives a
// later attempt the result of an earlier one.

import { checkJson } from "@pawl/core/data/json";
import { type EffectClass, type EffectStanding, mayMake } from "@pawl/core/policy/effect";
import { permanentFailure, type HandlerContext, type HandlerResult } from "./handler.ts";

/** What an attempt may ask of the scheduler while it runs. Every call rejects with STALE_CLAIM if the claim is lost. */
export interface EffectDoor {
  begin(name: string, effectClass: EffectClass): Promise<EffectStanding>;
  /** `resultJson` is JSON text of at most 256 KiB. The caller need not wait: it is sent before the outcome. */
  commit(name: string, resultJson: string): Promise<void>;
}

/** An effect in the ledger. */
export type Effect =
  | {
      /** `begun_before`: an earlier attempt may have made the effect. */
      readonly state: "new" | "begun_before";
      /**
       * Records the result. A handler that returns next need not await it: the ledger entry and the outcome commit together. The ledger
       * drops a result that it cannot store, and the effect then stays begun.
       */
      readonly commit: (result: unknown) => Promise<void>;
    }
  | { readonly state: "committed"; readonly result: unknown };

export interface Effects {
  /** Enters an effect under the node's key and a name, each name once per attempt. It rejects if the claim is lost: then make no effect. */
  begin(name: string, effectClass: EffectClass): Promise<Effect>;
}

/** The ledger of one task; a finished attempt cannot begin effects. */
export function effectsOf(door: EffectDoor, signal: AbortSignal): Effects {
  return {
    begin: async (name, effectClass) => {
      signal.throwIfAborted();
      const standing = await door.begin(name, effectClass);
      signal.throwIfAborted();
      return effectOf(door, name, standing);
    },
  };
}

function effectOf(door: EffectDoor, name: string, standing: EffectStanding): Effect {
  if (standing.state === "committed")
    return { state: "committed", result: JSON.parse(standing.resultJson) as unknown };
  return {
    state: standing.state,
    commit: async (result) => {
      const json = JSON.stringify(result) ?? "null";
      if (checkJson(json).ok) await door.commit(name, json);
    },
  };
}

export interface OnceOptions {
  readonly name: string;
  readonly class: EffectClass;
  /** Where a person can check whether the effect happened. */
  readonly check: string;
}

/**
 * Makes an effect as its class allows. Only a success is recorded. A failure leaves the effect begun, so a retry makes it again, unless
 * its class forbids that.
 */
export async function once(
  ctx: Pick<HandlerContext, "effects">,
  options: OnceOptions,
  make: () => Promise<HandlerResult>,
): Promise<HandlerResult> {
  const effect = await ctx.effects.begin(options.name, options.class);
  if (effect.state === "committed") return { output: effect.result };
  if (!mayMake(options.class, effect)) return unknown(options, "an earlier attempt began it");
  const result = await make();
  if ("output" in result) {
    // Sent before the outcome, and committed with it or earlier; a scheduler that refuses it refuses the outcome too.
    effect.commit(result.output).catch(() => undefined);
    return result;
  }
  if (options.class === "at_most_once" && "failed" in result && !result.failed.permanent)
    return unknown(options, `${result.failed.cause}: ${result.failed.message}`);
  return result;
}

const unknown = ({ name, check }: OnceOptions, why: string): HandlerResult =>
  permanentFailure(
    "effect_unknown",
    `it is unknown whether the effect ${name} happened (${why}), and it may be made at most once; check ${check}, then start another run or finish the work by hand`,
    { effect: name },
  );
