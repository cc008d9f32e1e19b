// Changes daily budgets in the transaction of a tick: it locks the rows, settles ended runs, then reserves for runs that begin, one after the
// other.

import { flag, lists, number, orNull, text } from "../../db/columns.ts";
import { queriesBeside, type Send, valuesOf } from "../../db/query.ts";
import type { DayAnswers, DayChange, DayRequest, DaySettlement } from "./days.ts";

/** No amount of a budget is as large. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

const declare = queriesBeside(import.meta.url);
const OWNER = { tenantId: text(), workflowId: text() };

const lockDays = declare("lock", lists({ ...OWNER, day: orNull(text()) }));
const forgetDays = declare("forget", lists(OWNER));
const settleDay = declare("settle", {
  ...OWNER,
  day: text(),
  tokensFreed: number(),
  tokensUsed: number(),
  costFreed: number(),
  costUsed: number(),
  executionsFreed: number(),
  executionsUsed: number(),
});
const reserveDay = declare(
  "reserve",
  {
    ...OWNER,
    tokens: number(),
    cost: number(),
    executions: number(),
    tokensLimit: number(),
    costLimit: number(),
    executionsLimit: number(),
  },
  {
    day: text(),
    isGranted: flag(),
    tokensSpent: number(),
    costSpent: number(),
    executionsSpent: number(),
  },
);

/** Applies `change`. Returns the answers to its requests. */
export async function moveDays(send: Send, change: DayChange): Promise<DayAnswers> {
  const { settled, requested } = change;
  const days = [...settled, ...requested.map((request) => ({ ...request, day: null }))];
  if (days.length === 0) return [];
  void send(lockDays, valuesOf(lockDays, days));
  for (const each of settled) void send(settleDay, columnsOf(each));
  if (requested.length > 0) void send(forgetDays, valuesOf(forgetDays, requested));
  const answers = await Promise.all(requested.map((request) => reserve(send, request)));
  return answers.flat();
}

const columnsOf = ({ freed, used, ...day }: DaySettlement) => ({
  ...day,
  ...{ tokensFreed: freed.tokens, tokensUsed: used.tokens },
  ...{ costFreed: freed.costMicros, costUsed: used.costMicros },
  ...{ executionsFreed: freed.executions, executionsUsed: used.executions },
});

async function reserve(send: Send, request: DayRequest): Promise<DayAnswers> {
  const { tenantId, workflowId, limits, need } = request;
  const rows = await send(reserveDay, {
    ...{ tenantId, workflowId },
    ...{ tokens: need.tokens ?? 0, tokensLimit: limits.tokens ?? NO_LIMIT },
    ...{ cost: need.costMicros ?? 0, costLimit: limits.costMicros ?? NO_LIMIT },
    ...{ executions: need.executions ?? 0, executionsLimit: limits.executions ?? NO_LIMIT },
  });
  return rows.map(({ day, isGranted, tokensSpent, costSpent, executionsSpent }) => ({
    day,
    isGranted,
    spent: { tokens: tokensSpent, costMicros: costSpent, executions: executionsSpent },
  }));
}
