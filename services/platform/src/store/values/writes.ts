// Writes the rows of stored values: references in the transaction of a tick, everything else in statements of their own.

import { bytes, flag, list, lists, number, text, uuid } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run, type Send, valuesOf } from "../../db/query.ts";
import { LIMITS } from "@pawl/core/data/limits";
import type { RunId } from "@pawl/core/name/ids";
import { findValue } from "./reads.ts";
import { GARBAGE, VALUE_REF, type ValueRef, type ValueRows } from "./values.ts";

const declare = queriesBeside(import.meta.url);

const SHA256 = { sha256: text() };
const GENERATION = { generation: uuid() };
const SWEEP = { graceMs: number(), limit: number() };

const open = declare(
  "open",
  { ...SHA256, ...GENERATION, bytes: number() },
  { ...GENERATION, isStored: flag() },
);
const seal = declare("seal", { ...VALUE_REF, ...GENERATION, digests: list(text()) }, SHA256);
const touch = declare("touch", { runId: uuid<RunId>(), sha256: list(text()) }, SHA256);
const refer = declare("refer", lists(VALUE_REF));
const hasClaim = declare(
  "has_claim",
  { runId: uuid(), nodeId: text(), iteration: number(), epoch: number() },
  { held: flag() },
);
const dropUnnamed = declare("drop_unnamed", SWEEP, SHA256);
const keepReferred = declare("keep_referred", SWEEP, SHA256);
const dropLoose = declare("drop_loose", { ...SWEEP, partBytes: number() }, GENERATION);
const garbage = declare("garbage", { limit: number() }, GARBAGE);
const forget = declare("forget", { generation: list(uuid()) });
const writePart = declare("write_part", { ...GENERATION, part: number(), data: bytes() });
const removeParts = declare("remove_parts", GENERATION);

/** Records that events of the transaction name values. */
export async function referValues(send: Send, refs: readonly ValueRef[]): Promise<void> {
  await send(refer, valuesOf(refer, refs));
}

/** Stores a part in the database. @throws STORE_UNAVAILABLE */
export async function writeValuePart(
  db: Queryable,
  given: { readonly generation: string; readonly part: number; readonly data: Buffer },
): Promise<void> {
  await run(db, writePart, given);
}

/** Removes every part of a value from the database. @throws STORE_UNAVAILABLE */
export async function removeValueParts(db: Queryable, generation: string): Promise<void> {
  await run(db, removeParts, { generation });
}

/** The rows on PostgreSQL. */
export const createValueRows = (db: Queryable): ValueRows => ({
  open: async (value) => {
    const given = { ...value, generation: crypto.randomUUID() };
    // A concurrent insert is not visible to the statement that lost against it. The second statement sees it.
    const row = (await first(db, open, given)) ?? (await first(db, open, given));
    if (row === undefined) throw new Error(`the row of the value ${value.sha256} is missing`);
    return row;
  },
  seal: async (ref, stored) => (await first(db, seal, { ...ref, ...stored })) !== undefined,
  touch: async (runId, sha256) =>
    new Set((await run(db, touch, { runId, sha256 })).map((row) => row.sha256)),
  find: (ref) => findValue(db, ref),
  hasClaim: async ({ runId, nodeId, iteration, epoch }) =>
    (await first(db, hasClaim, { runId, nodeId, iteration, epoch })) !== undefined,
  sweep: async (bounds) => {
    const ended = await run(db, dropUnnamed, bounds);
    const kept = await run(db, keepReferred, bounds);
    const dropped = await run(db, dropLoose, { ...bounds, partBytes: LIMITS.storedPartBytes });
    return [ended, kept, dropped].some(({ length }) => length === bounds.limit);
  },
  garbage: (limit) => run(db, garbage, { limit }),
  forget: async (generation) => {
    if (generation.length > 0) await run(db, forget, { generation });
  },
});
