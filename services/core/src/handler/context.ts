// The context of a handler, and the rules of `once`. An effect is made as often as its class allows, and a later attempt gets the result of
// an earlier one.

import { encodeJson } from "../data/encode-json.ts";
import { type EffectClass, mayMake } from "../policy/effect.ts";
import type { Asks } from "./acts.ts";
import { describe, Failed } from "./failure.ts";
import type { CallFacts, EffectDoor } from "./served.ts";

export interface OnceOptions {
  /** Where a person can check whether the effect happened. The receiver by default. */
  readonly check?: string;
}

/**
 * Makes an effect on the outside world as its class allows. Its result must be JSON. A later attempt gets the result from the ledger, and
 * `make` does not run. Use each name once in an invocation. Only a success is recorded, so a retry makes a failed effect again, unless its
 * class forbids that.
 */
export type Once = <T>(
  name: string,
  effectClass: EffectClass,
  make: () => T | Promise<T>,
  options?: OnceOptions,
) => Promise<T>;

/** The context that a handler gets besides its input. */
export interface Context<Config = unknown> extends CallFacts, Asks {
  /** The node's config, checked, with its templates filled in. */
  readonly config: Config;
  readonly once: Once;
}

/** The facts of an invocation, its input and its ledger. */
export interface Invocation extends CallFacts {
  /** The input before its check. */
  readonly input: unknown;
  readonly effects: EffectDoor;
}

/** `once` for one invocation. It rejects if the claim is lost. */
export function onceOf({
  effects,
  signal,
  effectKey,
  log,
}: Pick<Invocation, "effects" | "signal" | "effectKey" | "log">): Once {
  return async <T>(
    name: string,
    effectClass: EffectClass,
    make: () => T | Promise<T>,
    { check = `the receiver, under the key ${effectKey}` }: OnceOptions = {},
  ): Promise<T> => {
    signal.throwIfAborted();
    const standing = await effects.begin(name, effectClass);
    signal.throwIfAborted();
    // An earlier attempt of the same handler recorded the result of the same `make`.
    if (standing.state === "committed") return JSON.parse(standing.resultJson) as T;
    if (!mayMake(effectClass, standing)) throw unknown(name, check, "an earlier attempt began it");
    const made = await madeBy(make, (error) =>
      effectClass === "at_most_once" ? unknown(name, check, whyOf(error)) : error,
    );
    const encoded = encodeJson(made, `result of the effect ${name}`);
    // The server sends the result before the outcome. A scheduler that refuses it also refuses the outcome.
    if (encoded.ok) effects.commit(name, encoded.text).catch(() => undefined);
    else log("warn", `${encoded.message}; a later attempt will not know it`);
    return made;
  };
}

/** The result of `make`. `onFault` maps a failure that is not permanent. */
async function madeBy<T>(make: () => T | Promise<T>, onFault: (error: unknown) => unknown) {
  try {
    return await make();
  } catch (error) {
    const isPermanent = error instanceof Failed && error.options.permanent === true;
    throw isPermanent ? error : onFault(error);
  }
}

const whyOf = (error: unknown): string =>
  error instanceof Failed ? `${error.cause}: ${error.message}` : describe(error);

const unknown = (name: string, check: string, why: string): Failed =>
  new Failed(
    "effect_unknown",
    `it is unknown whether the effect ${name} happened (${why}), and it may be made at most once; check ${check}, then start another run or finish the work by hand`,
    { permanent: true, details: { effect: name } },
  );
