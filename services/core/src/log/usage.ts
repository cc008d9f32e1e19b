// Usage in events: what attempts report, and sums of it. The ledger of the scheduler and the view of the clients add it up alike.

import type { Fact, Usage } from "./event.ts";

/** What an event says that its attempt used. */
export const usageIn = ({ payload }: Pick<Fact, "payload">): Usage | undefined =>
  "usage" in payload ? payload.usage : undefined;

/** Sums of usage. The sum has the model of the parts if they agree. */
export function addUsage(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const cost = a.costMicros === undefined ? b.costMicros : a.costMicros + (b.costMicros ?? 0);
  const executions = (a.executions ?? 0) + (b.executions ?? 0);
  const model = a.model === undefined || b.model === undefined ? (a.model ?? b.model) : a.model;
  const isOneModel = b.model === undefined || b.model === model;
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...(cost === undefined ? {} : { costMicros: cost }),
    ...(model === undefined || !isOneModel ? {} : { model }),
    ...(executions === 0 ? {} : { executions }),
  };
}
