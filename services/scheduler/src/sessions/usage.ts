// What an attempt used, as its executor reports it. A number or a name that cannot be stored is made storable, never refused: the outcome
// counts whatever its usage says.

import { LIMITS } from "@pawl/core/data/limits";
import { cleanText } from "@pawl/core/handler/settle";
import type { Usage } from "@pawl/core/log/event";
import { addUsage } from "@pawl/core/log/usage";
import { fromUsageShape } from "@pawl/core/log/usage-shape";
import type { Outcome } from "@pawl/core/plan/result";
import type {
  Outcome as WireOutcome,
  Usage as WireUsage,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";

/** What the attempt used counts however it ended. A result that older executors send carries its usage itself. */
export function withUsage(ending: Outcome, { usage, result }: WireOutcome): Outcome {
  const own = result.case === "completed" ? result.value.usage : undefined;
  const held = result.case === "held" ? result.value.completed?.usage : undefined;
  const parts = [usage, own ?? held].map((part) => part && usageOf(part));
  const sum = addUsage(parts[0], parts[1]);
  return sum === undefined ? ending : { ...ending, usage: sum };
}

function usageOf(wire: WireUsage): Usage {
  const { model, ...counted } = fromUsageShape(wire);
  const named = model === undefined ? "" : cleanText(model, LIMITS.labelLength);
  return named === "" ? counted : { ...counted, model: named };
}
