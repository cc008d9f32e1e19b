// Daily budgets in memory. Transactions take turns here, so no row needs a lock.

import { type Amounts, METERS, minus, NOTHING, plus } from "@pawl/core/policy/budget";
import type { StagedRows } from "../memory/staging.ts";
import type { DayAnswers, DayChange, DayOwner } from "./days.ts";

export interface DayRow {
  readonly reserved: Amounts;
  readonly spent: Amounts;
}

/** No id contains a line break. */
const dayKey = ({ tenantId, workflowId }: DayOwner, day: string): string =>
  `${tenantId}\n${workflowId}\n${day}`;

const EMPTY: DayRow = { reserved: NOTHING, spent: NOTHING };

export function moveDays({ days, now }: StagedRows, change: DayChange): DayAnswers {
  for (const { day, freed, used, ...owner } of change.settled) {
    const key = dayKey(owner, day);
    const row = days.get(key);
    // The day was deleted, and may have been made again.
    if (row === undefined || METERS.some((meter) => row.reserved[meter] < freed[meter])) continue;
    const { reserved, spent } = row;
    days.set(key, { reserved: minus(reserved, freed), spent: plus(spent, used) });
  }
  const day = new Date(now).toISOString().slice(0, 10);
  return change.requested.map(({ limits, need, ...owner }) => {
    const key = dayKey(owner, day);
    const { reserved, spent } = days.get(key) ?? EMPTY;
    const next = plus(reserved, need);
    const isGranted = METERS.every(
      (meter) => next[meter] + spent[meter] <= (limits[meter] ?? Infinity),
    );
    if (isGranted) days.set(key, { reserved: next, spent });
    return { day, isGranted, spent };
  });
}
