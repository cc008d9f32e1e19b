// One invocation as texts: parse → check → run → check → encode. An executor calls the same steps with parsed values.

import type { Prepared } from "./define.ts";
import { describe } from "./failure.ts";
import { Directive } from "./result.ts";
import type { Call, Settled } from "./served.ts";
import { settled, settledFailure } from "./settle.ts";

/** Runs a handler once. Never rejects. */
export async function invoke(
  prepare: (config: unknown) => Prepared,
  { inputJson, configJson, outputBytes, ...call }: Call,
): Promise<Settled> {
  try {
    const prepared = prepare(configJson === "" ? {} : JSON.parse(configJson));
    if (!prepared.ok)
      return { failure: settledFailure("config_invalid", prepared.message, { permanent: true }) };
    const input: unknown = inputJson === "" ? null : JSON.parse(inputJson);
    const outcome = await prepared.execute({ ...call, input });
    return outcome instanceof Directive ? NO_DIRECTIVE : settled(outcome, outputBytes);
  } catch (error) {
    // The host writes JSON texts, so only a broken host reaches this line.
    return { failure: settledFailure("provider_error", describe(error)) };
  }
}

const NO_DIRECTIVE: Settled = {
  failure: settledFailure(
    "contract_violated",
    "the handler returned an instruction that only a built-in type may give",
  ),
};
