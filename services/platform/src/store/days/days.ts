// Daily budgets, as a tick changes them: what the runs of a workflow have reserved and used on a day. Days are days in UTC by the clock of the
// database.
//
// Race: two schedulers begin runs of one workflow at the same time. The row of the day stays locked until the commit, so the second scheduler
// counts what the first one reserved. A transaction locks all its rows in order of workflow and day, and changes them afterwards.

import type { DayAnswer } from "@pawl/core/plan/day";
import type { DefinitionId } from "@pawl/core/name/ids";
import type { Amounts, SomeAmounts } from "@pawl/core/policy/budget";
import { number, orNull, text, time, uuid } from "../../db/columns.ts";
import type { Typed } from "../../db/query.ts";
import type { Page } from "../page.ts";

/** The workflow whose runs share the budget of a day. */
export interface DayOwner {
  readonly tenantId: string;
  readonly workflowId: string;
}

/** A run that has ended. */
export interface DaySettlement extends DayOwner {
  readonly day: string;
  readonly freed: Amounts;
  readonly used: Amounts;
}

/** A run that is about to begin. It reserves of the present day. */
export interface DayRequest extends DayOwner {
  /** The limits of the day. */
  readonly limits: SomeAmounts;
  readonly need: SomeAmounts;
}

export interface DayChange {
  readonly settled: readonly DaySettlement[];
  readonly requested: readonly DayRequest[];
}

/** The answers to the requests, in their order. */
export type DayAnswers = readonly DayAnswer[];

/** The columns of a listed day. */
export const DAY = {
  workflowId: text(),
  /** The day in UTC: `2026-01-31`. */
  day: text(),
  resetsAt: time(),
  /** The newest version of the workflow, which has the limits. Null if the workflow was deleted. */
  definitionId: orNull(uuid<DefinitionId>()),
  tokensReserved: number(),
  costReserved: number(),
  executionsReserved: number(),
  tokensSpent: number(),
  costSpent: number(),
  executionsSpent: number(),
};
export type DayRecord = Typed<typeof DAY>;
export type DayPage = Page<DayRecord>;
