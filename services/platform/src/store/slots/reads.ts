// Reads slots, for explanations and for recovery.

import type { SlotHolderSeen, SlotQuestion, SlotWait } from "@pawl/core/explain/room";
import type { RunId } from "@pawl/core/name/ids";
import { json, list, number, orNull, text, time, uuid } from "../../db/columns.ts";
import { columns, queriesBeside, run } from "../../db/query.ts";
import type { Queryable } from "../../db/sql.ts";
import { HOLDERS_MAX, type SlotHolder, SLOTS_COUNTED_MAX } from "./slots.ts";

const declare = queriesBeside(import.meta.url);

const waits = declare(
  "waits",
  {
    runId: uuid(),
    nodeIds: list(text()),
    iterations: list(number()),
    keys: list(text()),
    holdersMax: number(),
    countedMax: number(),
  },
  {
    /** From 1, of the question. */
    place: number(),
    slot_limit: number(),
    taken_count: number(),
    ahead_count: number(),
    free_at: orNull(time()),
    holders: orNull(json<readonly SlotHolderSeen[]>()),
  },
);
const waiting = declare(
  "waiting",
  { runId: list(uuid()), nodeId: list(text()), iteration: list(number()) },
  { place: number() },
);
const countWaiting = declare("count_waiting", {}, { node_type: text(), count: number() });

/** Which of the executions asked about wait for a slot, in the order asked. @throws STORE_UNAVAILABLE */
export async function readSlotWaits(
  db: Queryable,
  runId: RunId,
  asked: readonly SlotQuestion[],
): Promise<SlotWait[]> {
  if (asked.length === 0) return [];
  const rows = await run(db, waits, {
    runId,
    nodeIds: asked.map(({ nodeId }) => nodeId),
    iterations: asked.map(({ iteration }) => iteration),
    keys: asked.map(({ key }) => key),
    holdersMax: HOLDERS_MAX,
    countedMax: SLOTS_COUNTED_MAX,
  });
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

/** Those of these executions that do not wait for a slot. @throws STORE_UNAVAILABLE */
export async function withoutSlotWait<Holder extends SlotHolder>(
  db: Queryable,
  holders: readonly Holder[],
): Promise<Holder[]> {
  const rows = await run(db, waiting, columns(holders, ["runId", "nodeId", "iteration"]));
  const places = new Set(rows.map((row) => row.place));
  return holders.filter((_, index) => !places.has(index + 1));
}

/** Node executions that wait for a slot, by node type, up to a bound. @throws STORE_UNAVAILABLE */
export async function countSlotWaits(
  db: Queryable,
): Promise<readonly { readonly node_type: string; readonly count: number }[]> {
  return await run(db, countWaiting, {});
}
