// The prices of models: executors count the cost of usage with them, schedulers reserve it, and gateways explain it.

import { z } from "zod";
import { document } from "./document.ts";

const dollars = z.number().min(0).max(1_000_000);

/** Dollars for a million tokens, by the name of the model. */
const pricesSchema = z.record(
  z.string().min(1).max(500),
  z.strictObject({ input: dollars, output: dollars }),
);

export const modelPrices = () => ({
  PAWL_LLM_PRICES: document(
    pricesSchema,
    'dollars for a million tokens by model, as JSON or the path of a JSON or YAML file; the same for all services: {"gpt-4o":{"input":2.5,"output":10}}',
  ),
});
