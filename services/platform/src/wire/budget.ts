// Budgets and usage as clients see them.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { invalidField } from "@pawl/core/fault/engine-error";
import type { Ledger } from "@pawl/core/log/ledger";
import {
  AMOUNT_MAX,
  type AskedBudget,
  type Budget,
  limitsAny,
  present,
  type SomeAmounts,
} from "@pawl/core/policy/budget";
import {
  type AmountsSchema,
  type Budget as WireBudget,
  type BudgetSchema,
  OnExceeded,
  type RunUsageSchema,
} from "@pawl/proto/pawl/v1/run_pb";
import type { TopUpRunRequest } from "@pawl/proto/pawl/v1/run_service_pb";
import { DailyBudgetSchema } from "@pawl/proto/pawl/v1/workflow_pb";
import type { DayRecord } from "../store/days/days.ts";
import { lineOf, requestIdOf, runIdOf } from "./fields.ts";
import { toTimestamp } from "./scalar.ts";

interface WireAmounts {
  readonly tokens: bigint;
  readonly costMicros: bigint;
  readonly nodeExecutions: bigint;
}

/** Undefined if it limits nothing. @throws INPUT_INVALID */
export function budgetOf(wire: WireBudget | undefined): AskedBudget | undefined {
  if (wire === undefined) return undefined;
  const onExceeded = EXCEEDED.get(wire.onExceeded);
  if (onExceeded === undefined && wire.onExceeded !== OnExceeded.UNSPECIFIED)
    throw invalidField("budget.on_exceeded", "UNKNOWN_ENUM", "must be FAIL or PAUSE");
  return { ...amountsOf("budget", wire), ...(onExceeded && { onExceeded }) };
}

/** The amounts above 0. @throws INPUT_INVALID */
function amountsOf(field: string, wire: WireAmounts): SomeAmounts {
  const checked = (name: string, amount: bigint): number => {
    if (amount > BigInt(AMOUNT_MAX))
      throw invalidField(`${field}.${name}`, "OUT_OF_RANGE", `at most ${AMOUNT_MAX}`);
    return Number(amount);
  };
  return present({
    tokens: checked("tokens", wire.tokens),
    costMicros: checked("cost_micros", wire.costMicros),
    executions: checked("node_executions", wire.nodeExecutions),
  });
}

/** A raise of a run's budget. Without a request id a repeat would raise it twice. */
export function parseTopUp(request: TopUpRunRequest) {
  const requestId = requestIdOf(request.requestId);
  if (requestId === null) throw invalidField("request_id", "REQUIRED", "is needed");
  const amounts = request.amounts === undefined ? {} : amountsOf("amounts", request.amounts);
  if (!limitsAny(amounts))
    throw invalidField("amounts", "REQUIRED", "names no amount above 0 to add");
  const words = { who: lineOf("by", request.by), reason: lineOf("reason", request.reason) };
  return { runId: runIdOf(request.runId), raise: { amounts, requestId, ...words } };
}

export const toWireAmounts = (amounts: SomeAmounts): MessageInitShape<typeof AmountsSchema> => ({
  tokens: BigInt(amounts.tokens ?? 0),
  costMicros: BigInt(amounts.costMicros ?? 0),
  nodeExecutions: BigInt(amounts.executions ?? 0),
});

export const toWireBudget = (budget: Budget): MessageInitShape<typeof BudgetSchema> => {
  const { tokens, costMicros, nodeExecutions } = toWireAmounts(budget);
  const onExceeded = budget.onExceeded === "pause" ? OnExceeded.PAUSE : OnExceeded.FAIL;
  return {
    ...(tokens === undefined ? {} : { tokens }),
    ...(costMicros === undefined ? {} : { costMicros }),
    ...(nodeExecutions === undefined ? {} : { nodeExecutions }),
    onExceeded,
  };
};

/** The same for a budget that may leave open what happens when it is exceeded. */
export const toWireAskedBudget = ({ onExceeded, ...amounts }: AskedBudget) => ({
  ...toWireBudget({ ...amounts, onExceeded: onExceeded ?? "fail" }),
  ...(onExceeded === undefined ? { onExceeded: OnExceeded.UNSPECIFIED } : {}),
});

export const toWireLedger = ({
  used,
  assumed,
  reserved,
}: Ledger): MessageInitShape<typeof RunUsageSchema> => ({
  inputTokens: BigInt(used.inputTokens),
  outputTokens: BigInt(used.outputTokens),
  costMicros: BigInt(used.costMicros),
  nodeExecutions: BigInt(used.executions),
  assumed: toWireAmounts(assumed),
  reserved: toWireAmounts(reserved),
});

const reservedOf = (row: DayRecord): SomeAmounts =>
  present({
    tokens: row.tokensReserved,
    costMicros: row.costReserved,
    executions: row.executionsReserved,
  });

const spentOf = (row: DayRecord): SomeAmounts =>
  present({ tokens: row.tokensSpent, costMicros: row.costSpent, executions: row.executionsSpent });

/** Whether no run reserved or used anything on the day. */
export const isUntouched = (row: DayRecord): boolean =>
  !limitsAny(reservedOf(row)) && !limitsAny(spentOf(row));

export const toWireDay = (row: DayRecord, limit: SomeAmounts | undefined) =>
  create(DailyBudgetSchema, {
    workflowId: row.workflowId,
    day: row.day,
    ...(limit && { limit: toWireAmounts(limit) }),
    reserved: toWireAmounts(reservedOf(row)),
    used: toWireAmounts(spentOf(row)),
    resetTime: toTimestamp(row.resetsAt),
  });

const EXCEEDED: ReadonlyMap<OnExceeded, Budget["onExceeded"]> = new Map([
  [OnExceeded.FAIL, "fail"],
  [OnExceeded.PAUSE, "pause"],
]);
