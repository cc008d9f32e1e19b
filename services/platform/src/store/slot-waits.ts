// Who stands in line for slots of keys, and behind whom. Read side only, for explanations; one statement for all that is asked.

import type { SlotHolderSeen, SlotQuestion, SlotWait } from "@pawl/core/explain/room";
import type { RunId } from "@pawl/core/name/ids";
import { type Queryable, run } from "../db/sql.ts";
import { readSlotWaits as statement } from "./statements/read-slot-waits.ts";

/** Holders that are named. */
export const HOLDERS_MAX = 5;
/** Longer lines and larger limits are not worth the count. */
export const SLOTS_COUNTED_MAX = 1_000;

interface WaitRow {
  /** From 1, of the question. */
  readonly place: number;
  readonly slot_limit: number;
  readonly taken_count: number;
  readonly ahead_count: number;
  readonly free_at: Date | null;
  readonly holders: readonly SlotHolderSeen[] | null;
}

/** Which of the executions asked about wait in line, in the order asked. @throws STORE_UNAVAILABLE */
export async function readSlotWaits(
  db: Queryable,
  runId: RunId,
  asked: readonly SlotQuestion[],
): Promise<SlotWait[]> {
  if (asked.length === 0) return [];
  const rows = await run<WaitRow>(db, statement, [
    runId,
    asked.map(({ nodeId }) => nodeId),
    asked.map(({ iteration }) => iteration),
    asked.map(({ key }) => key),
    HOLDERS_MAX,
    SLOTS_COUNTED_MAX,
  ]);
  return rows.flatMap((row) => {
    const question = asked[row.place - 1];
    if (question === undefined) return [];
    const { nodeId, iteration, kind } = question;
    return [
      {
        nodeId,
        iteration,
        kind,
        limit: row.slot_limit,
        takenCount: row.taken_count,
        holders: row.holders ?? [],
        aheadCount: row.ahead_count,
        ...(row.free_at === null ? {} : { freeAt: row.free_at.getTime() }),
      },
    ];
  });
}
