// Budgets and usage between callers, the wire and the log.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { Usage } from "@pawl/core/log/event";
import { fromUsageShape } from "@pawl/core/log/usage-shape";
import {
  type Budget,
  METER_WORDS,
  type Meter,
  METERS,
  microsOf,
  present,
  type SomeAmounts,
} from "@pawl/core/policy/budget";
import type { Usage as WireUsage } from "@pawl/proto/pawl/v1/event_pb";
import {
  type Amounts as WireAmounts,
  type AmountsSchema,
  type Budget as WireBudget,
  type BudgetSchema,
  OnExceeded,
  type Run,
} from "@pawl/proto/pawl/v1/run_pb";
import type { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import type { DailyBudget } from "@pawl/proto/pawl/v1/workflow_pb";
import { type Caller, identified, type PauseOptions, pick } from "./caller.ts";

/** Amounts of a budget. An amount that is left out is not limited, or not raised. */
export interface BudgetAmounts {
  /** Tokens that models read and write. */
  readonly tokens?: number | undefined;
  /** Dollars. */
  readonly costUsd?: number | undefined;
  /** How often executors may start a node. */
  readonly nodeExecutions?: number | undefined;
}

/** How much a run may use. It can lower the limits of the definition, and not raise them. */
export interface BudgetOptions extends BudgetAmounts {
  /** What happens when the run needs more: it fails, or it pauses until `topUp`. The definition's own by default. */
  readonly onExceeded?: "fail" | "pause" | undefined;
}

/** @throws RangeError for an amount that is not a number above 0 */
function toWireAmounts(asked: BudgetAmounts): MessageInitShape<typeof AmountsSchema> {
  const { tokens, costUsd, nodeExecutions } = asked;
  return {
    ...(tokens === undefined ? {} : { tokens: counted("tokens", tokens) }),
    ...(costUsd === undefined ? {} : { costMicros: counted("costUsd", microsOf(costUsd)) }),
    ...(nodeExecutions === undefined
      ? {}
      : { nodeExecutions: counted("nodeExecutions", nodeExecutions) }),
  };
}

/** @throws RangeError for an amount that is not a number above 0 */
const toWireBudget = (asked: BudgetOptions): MessageInitShape<typeof BudgetSchema> => {
  const { tokens, costMicros, nodeExecutions } = toWireAmounts(asked);
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(costMicros === undefined ? {} : { costMicros }),
    ...(nodeExecutions === undefined ? {} : { nodeExecutions }),
    ...(asked.onExceeded && { onExceeded: EXCEEDED[asked.onExceeded] }),
  };
};

/** The budget of a start, if the caller sets one. */
export const limitsOf = (asked: BudgetOptions | undefined) =>
  asked === undefined ? {} : { budget: toWireBudget(asked) };

export type TopUp = (runId: string, amounts: BudgetAmounts, options?: PauseOptions) => Promise<Run>;

export const createTopUp =
  (rpc: Client<typeof RunService>, call: Caller): TopUp =>
  (runId, amounts, options) => {
    const request = { ...identified(options), runId, amounts: toWireAmounts(amounts) };
    return pick(call(rpc.topUpRun, request), "run");
  };

const EXCEEDED = { fail: OnExceeded.FAIL, pause: OnExceeded.PAUSE } as const;

function counted(name: string, amount: number): bigint {
  if (!Number.isSafeInteger(amount) || amount < 1)
    throw new RangeError(`${name} must be a whole number above 0`);
  return BigInt(amount);
}

export const usageOf = (usage: WireUsage | undefined): { readonly usage?: Usage } =>
  usage === undefined ? {} : { usage: fromUsageShape(usage) };

export const amountsOf = (
  amounts: Pick<WireAmounts, "tokens" | "costMicros" | "nodeExecutions"> | undefined,
): SomeAmounts =>
  present({
    tokens: Number(amounts?.tokens ?? 0),
    costMicros: Number(amounts?.costMicros ?? 0),
    executions: Number(amounts?.nodeExecutions ?? 0),
  });

/** One amount of a day. */
export interface DayMeter {
  readonly meter: Meter;
  /** The meter for people: `tokens`, `money`, `node executions`. */
  readonly words: string;
  readonly used: number;
  readonly reserved: number;
  /** Undefined if the newest version of the workflow does not limit it. */
  readonly limit: number | undefined;
}

/** The amounts of a day that are limited, reserved or used. */
export function dayMeters(
  day: Pick<DailyBudget, "limit" | "reserved" | "used">,
): readonly DayMeter[] {
  const [limits, reserved, used] = [day.limit, day.reserved, day.used].map(amountsOf);
  return METERS.map((meter) => ({
    meter,
    words: METER_WORDS[meter],
    used: used?.[meter] ?? 0,
    reserved: reserved?.[meter] ?? 0,
    limit: limits?.[meter],
  })).filter((each) => each.limit !== undefined || each.used + each.reserved > 0);
}

export function budgetOf(wire: WireBudget | undefined): { readonly budget?: Budget } {
  if (wire === undefined) return {};
  const onExceeded = wire.onExceeded === OnExceeded.PAUSE ? "pause" : "fail";
  return { budget: { ...amountsOf(wire), onExceeded } };
}
