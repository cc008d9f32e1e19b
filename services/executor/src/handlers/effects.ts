// The effect ledger as handlers use it. `once` is all that most need: it makes an effect as often as its class allows, and gives a
// later attempt what an earlier one got.

import { checkJson } from "@pawl/core/data/json";
import { type EffectClass, type EffectStanding, mayMake } from "@pawl/core/policy/effect";
import type { EffectDoor } from "../work/effect-door.ts";
import { permanentFailure, type HandlerContext, type HandlerResult } from "./handler.ts";

/** An effect that was entered into the ledger. */
export type Effect =
  | {
      /** `begun_before`: an earlier attempt may have made it. */
      readonly state: "new" | "begun_before";
      /**
       * Records what came of it. Not to be waited for where the outcome follows: both commit together. A result that the ledger does
       * not take is left out, so that the effect stays begun.
       */
      readonly commit: (result: unknown) => Promise<void>;
    }
  | { readonly state: "committed"; readonly result: unknown };

export interface Effects {
  /** Enters an effect under the node's key and a name, each name once an attempt. Rejects when the claim is lost: make nothing then. */
  begin(name: string, effectClass: EffectClass): Promise<Effect>;
}

/** The ledger over a task's door; an attempt that is over begins nothing more. */
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
  /** Where a person can see whether it happened. */
  readonly check: string;
}

/**
 * Makes an effect as its class allows. Only a success is recorded: a failure leaves it begun, so a retry by policy makes it again,
 * unless that is what its class forbids.
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
    // Said before the outcome, and committed with it or earlier; what refuses it refuses the outcome too.
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
    `nobody knows whether the effect ${name} happened (${why}), and it may be made at most once; look at ${check}, then start another run or go on by hand`,
    { effect: name },
  );
