// Reads slots, for explanations and for recovery.

import type { SlotHolderSeen, SlotQuestion, SlotWait } from "@pawl/core/explain/room";
import type { RunId } from "@pawl/core/name/ids";
import { json, lists, number, orNull, text, time, uuid } from "../../db/columns.ts";
import {
  columns,
  queriesBeside,
  type Queryable,
  type RowOf,
  run,
  valuesOf,
} from "../../db/query.ts";
import { HOLDER, HOLDERS_MAX, type SlotHolder, SLOTS_COUNTED_MAX } from "./slots.ts";

const declare = queriesBeside(import.meta.url);

const waits = declare(
  "waits",
  {
    runId: uuid(),
    ...lists({ nodeId: text(), iteration: number(), key: text() }),
    holdersMax: number(),
    countedMax: number(),
  },
  {
    /** The place in the question, from 1. */
    place: number(),
    limit: number(),
    takenCount: number(),
    aheadCount: number(),
    freeAt: orNull(time()),
    holders: json<readonly SlotHolderSeen[]>(),
  },
);
const waiting = declare("waiting", lists(HOLDER), { place: number() });
const countWaiting = declare("count_waiting", {}, { nodeType: text(), count: number() });

/** The executions among these that wait for a slot, in the given order. @throws STORE_UNAVAILABLE */
export async function readSlotWaits(
  db: Queryable,
  runId: RunId,
  asked: readonly SlotQuestion[],
): Promise<SlotWait[]> {
  if (asked.length === 0) return [];
  const rows = await run(db, waits, {
    runId,
    ...columns(asked, ["nodeId", "iteration", "key"]),
    holdersMax: HOLDERS_MAX,
    countedMax: SLOTS_COUNTED_MAX,
  });
  return rows.flatMap(({ place, freeAt, ...wait }) => {
    const question = asked[place - 1];
    if (question === undefined) return [];
    const { nodeId, iteration, kind } = question;
    return [{ nodeId, iteration, kind, ...wait, ...(freeAt === null ? {} : { freeAt }) }];
  });
}

/** The executions among these that do not wait for a slot. @throws STORE_UNAVAILABLE */
export async function withoutSlotWait<Holder extends SlotHolder>(
  db: Queryable,
  holders: readonly Holder[],
): Promise<Holder[]> {
  const rows = await run(db, waiting, valuesOf(waiting, holders));
  const places = new Set(rows.map((row) => row.place));
  return holders.filter((_, index) => !places.has(index + 1));
}

/** Node executions that wait for a slot, by node type, up to a bound. @throws STORE_UNAVAILABLE */
export const countSlotWaits = (db: Queryable): Promise<RowOf<typeof countWaiting>[]> =>
  run(db, countWaiting, {});
