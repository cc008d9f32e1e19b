// Usage in the shape of the contracts: the messages Usage of the worker, the handler and the public protocol agree in these fields.

import type { Usage } from "./event.ts";

/** The fields of a message. */
export interface UsageShape {
  readonly inputTokens: bigint;
  readonly outputTokens: bigint;
  readonly costMicros?: bigint;
  readonly model?: string;
  readonly nodeExecutions?: bigint;
}

/** A message. An optional field of a message may be undefined. */
interface UsageMessage extends Omit<UsageShape, "costMicros"> {
  readonly costMicros?: bigint | undefined;
}

export function toUsageShape({
  inputTokens,
  outputTokens,
  costMicros,
  model,
  executions,
}: Usage): UsageShape {
  return {
    inputTokens: BigInt(inputTokens),
    outputTokens: BigInt(outputTokens),
    ...(costMicros === undefined ? {} : { costMicros: BigInt(costMicros) }),
    ...(model === undefined ? {} : { model }),
    ...(executions === undefined ? {} : { nodeExecutions: BigInt(executions) }),
  };
}

/** Reads a message. Numbers above the limit of whole doubles become that limit. */
export function fromUsageShape(shape: UsageMessage): Usage {
  const { inputTokens, outputTokens, costMicros, model = "", nodeExecutions = 0n } = shape;
  return {
    inputTokens: bounded(inputTokens),
    outputTokens: bounded(outputTokens),
    ...(costMicros === undefined ? {} : { costMicros: bounded(costMicros) }),
    ...(model === "" ? {} : { model }),
    ...(nodeExecutions === 0n ? {} : { executions: bounded(nodeExecutions) }),
  };
}

/** The most that one report may count. Sums of many reports stay whole numbers. */
const REPORT_MAX = 1e12;

const bounded = (amount: bigint): number => Math.min(Number(amount), REPORT_MAX);
