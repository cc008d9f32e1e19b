// Who stands in line, read from the memory store's slots: the same answers as the statement of Postgres gives.

import type { SlotQuestion, SlotWait } from "@pawl/core/explain/room";
import type { RunId } from "@pawl/core/name/ids";
import { HOLDERS_MAX, SLOTS_COUNTED_MAX } from "../slot-waits.ts";
import { inOrder, isOf, isWaiting, type MemorySlots, type SlotRow } from "./slots.ts";

/** Which of the executions asked about wait in line, in the order asked. */
export function readMemorySlotWaits(
  { rows, limits }: MemorySlots,
  now: number,
  runId: RunId,
  asked: readonly SlotQuestion[],
): SlotWait[] {
  return asked.flatMap(({ nodeId, iteration, kind, key }) => {
    const own = rows.filter((row) => row.key === key);
    const holder = { runId, nodeId, iteration };
    const waiter = own.find((row) => isWaiting(row) && isOf(row, holder));
    if (waiter === undefined) return [];
    const taken = own
      .filter((row) => !isWaiting(row) && (row.freeAt === undefined || row.freeAt > now))
      .toSorted(asTheyFree);
    const ahead = own.filter((row) => isWaiting(row) && inOrder(row, waiter) < 0);
    const aheadCount = Math.min(ahead.length, SLOTS_COUNTED_MAX);
    const limit = limits.get(key) ?? 0;
    const freeAt = taken[aheadCount % Math.max(1, limit)]?.freeAt;
    return [
      {
        nodeId,
        iteration,
        kind,
        limit,
        takenCount: Math.min(taken.length, SLOTS_COUNTED_MAX),
        holders: taken.slice(0, HOLDERS_MAX).map((row) => ({
          runId: row.runId,
          nodeId: row.nodeId,
          iteration: row.iteration,
        })),
        aheadCount,
        ...(freeAt === undefined ? {} : { freeAt }),
      },
    ];
  });
}

/** What cools comes first, in the order in which it frees; nobody knows when the others do. */
const asTheyFree = (a: SlotRow, b: SlotRow): number =>
  (a.freeAt ?? Infinity) === (b.freeAt ?? Infinity)
    ? a.slotId - b.slotId
    : (a.freeAt ?? Infinity) - (b.freeAt ?? Infinity);
