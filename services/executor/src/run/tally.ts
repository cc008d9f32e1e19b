// What one attempt used. Its handler reports at any time, and the sum goes to the scheduler however the attempt ends.

import { countedUsage } from "@pawl/core/handler/settle";
import type { Usage } from "@pawl/core/log/event";
import { addUsage } from "@pawl/core/log/usage";
import { fromUsageShape, toUsageShape, type UsageShape } from "@pawl/core/log/usage-shape";
import type { Priced } from "../llm/prices.ts";
import type { WireResult } from "./outcome.ts";

export class Tally {
  readonly #price: Priced;
  #sum: Usage | undefined;

  constructor(price: Priced) {
    this.#price = price;
  }

  /** Adds what the handler used since its last report. */
  add(usage: Usage): void {
    this.#sum = addUsage(this.#sum, this.#price(countedUsage(usage)));
  }

  /** The result without its usage, which the tally counts. So it counts too if a check refuses the output. */
  take(result: WireResult): WireResult {
    if (result.case !== "completed" || result.value.usage === undefined) return result;
    const { usage, ...value } = result.value;
    const { inputTokens = 0n, outputTokens = 0n, ...rest } = usage;
    this.add(fromUsageShape({ ...rest, inputTokens, outputTokens }));
    return { case: "completed", value };
  }

  /** The sum as a field of the outcome. */
  get usage(): { readonly usage?: UsageShape } {
    return this.#sum === undefined ? {} : { usage: toUsageShape(this.#sum) };
  }
}
