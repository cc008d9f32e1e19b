// Bulks over a pool. Each call is one statement or one transaction, and safe to repeat.

import { LIMITS } from "@pawl/core/data/limits";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { TypedFilter } from "@pawl/core/filter/typed";
import type { RunId } from "@pawl/core/name/ids";
import { canaryOf } from "@pawl/core/bulk/bulk";
import { json, list, lists, number, orNull, text, uuid } from "../../db/columns.ts";
import type { Pool } from "../../db/pool.ts";
import { columns, fieldsOf, first, queriesBeside, type Queryable, run } from "../../db/query.ts";
import { runFiltered } from "../runs/reads.ts";
import {
  BEGUN,
  BULK,
  type BulkRecord,
  type Bulks,
  DUE_BULK,
  FACTS,
  HANDLED,
  type NewBulk,
  type StartBulkResult,
} from "./bulks.ts";

const declare = queriesBeside(import.meta.url);

const ID = { bulkId: uuid() };
const AFTER = { ...ID, afterMs: number() };
const create = declare(
  "create",
  {
    ...{ ...ID, tenantId: text(), requestId: orNull(text()), requestHash: text() },
    ...{ action: text(), filter: text(), options: json(), definition: orNull(text()) },
    state: text(),
  },
  ID,
);
const ofRequest = declare(
  "of_request",
  { tenantId: text(), requestId: text() },
  { ...BULK, requestHash: text() },
);
const FOUND = { tenantId: text(), limit: number() };
const take = declare("take", { ...FOUND, ...ID }, { matched: number() });
const setMatched = declare(
  "matched",
  { ...ID, matched: number(), canary: number(), state: text() },
  BULK,
);
const preview = declare("preview", FOUND, {
  ...{ ...FACTS, count: number(), runIds: list(uuid<RunId>()) },
});
const active = declare("active", { limit: number() }, DUE_BULK);
const one = declare("one", ID, BULK);
const definition = declare("definition", ID, { definition: orNull(text()) });
const begin = declare("begin", { ...ID, state: text(), upTo: number(), limit: number() }, BEGUN);
const facts = declare("facts", { runIds: list(uuid()) }, { runId: uuid<RunId>(), ...FACTS });
const record = declare("record", { ...AFTER, ...lists(HANDLED) });
const delay = declare("delay", AFTER);
const canary = declare("canary", ID, { live: number(), lost: number() });
const move = declare("move", { ...ID, from: text(), to: text(), reason: text() }, ID);
const end = declare("end", ID);
const letters = declare("letters", { tenantId: text(), runId: uuid() }, { deadLetterId: uuid() });
const OLD = { olderThanMs: number() };
const forgetRuns = declare("forget_runs", { ...OLD, limit: number() }, { position: number() });
const forget = declare("forget", OLD, ID);

export const createBulks = (pool: Pool): Bulks => ({
  start: (bulk) => pool.transaction((db) => start(db, bulk)),
  preview: (tenantId, filter) => pool.transaction((db) => previewOf(db, tenantId, filter)),
  active: (limit) => run(pool, active, { limit }),
  find: (bulkId) => first(pool, one, { bulkId }),
  definitionOf: async (bulkId) =>
    (await first(pool, definition, { bulkId }))?.definition ?? undefined,
  begin: async ({ bulkId, state }, page) => {
    const begun = await run(pool, begin, { bulkId, state, ...page });
    return begun.toSorted((a, b) => a.position - b.position);
  },
  factsOf: async (runIds) => {
    const rows = await run(pool, facts, { runIds });
    return new Map(rows.map(({ runId, ...about }) => [runId, about]));
  },
  record: async (bulkId, handled, afterMs) => {
    await run(pool, record, { bulkId, afterMs, ...columns(handled, fieldsOf(HANDLED)) });
  },
  delay: async (bulkId, afterMs) => void (await run(pool, delay, { bulkId, afterMs })),
  canaryOf: async (bulkId) => (await first(pool, canary, { bulkId })) ?? { live: 0, lost: 0 },
  move: async (asked) => (await first(pool, move, { ...asked })) !== undefined,
  end: async (bulkId) => void (await run(pool, end, { bulkId })),
  lettersOf: async (tenantId, runId) =>
    (await run(pool, letters, { tenantId, runId })).map(({ deadLetterId }) => deadLetterId),
  forget: async (olderThanMs, limit) => {
    const gone = await run(pool, forgetRuns, { olderThanMs, limit });
    return gone.length === limit || (await run(pool, forget, { olderThanMs })).length > 0;
  },
});

/** Stores a bulk and the runs that its filter finds now. */
async function start(db: Queryable, asked: NewBulk): Promise<StartBulkResult> {
  const { bulkId, tenantId, requestId, requestHash, filter, options } = asked;
  const row = { ...asked, filter: filter.text, state: "running" };
  if ((await first(db, create, row)) === undefined) {
    const before = await first(db, ofRequest, { tenantId, requestId: requestId ?? "" });
    if (before?.requestHash !== requestHash) return { kind: "request_reused" };
    const { requestHash: _hash, ...bulk } = before;
    return { kind: "repeated", bulk };
  }
  const limit = LIMITS.bulkRuns + 1;
  const [taken] = await runFiltered(db, take, { tenantId, limit, bulkId }, filter.typed);
  const matched = taken?.matched ?? 0;
  if (matched === limit) throw tooMany();
  const some = canaryOf(options, matched);
  const state = some > 0 ? "canary" : "running";
  const bulk = await first(db, setMatched, { bulkId, matched, canary: some, state });
  return { kind: "started", bulk: bulk as BulkRecord };
}

async function previewOf(db: Queryable, tenantId: string, filter: TypedFilter) {
  const limit = LIMITS.bulkRuns + 1;
  const rows = await runFiltered(db, preview, { tenantId, limit }, filter);
  if (rows.reduce((sum, { count }) => sum + count, 0) === limit) throw tooMany();
  return rows.map(({ count, runIds, ...about }) => ({ facts: about, count, runIds }));
}

const tooMany = (): EngineError =>
  new EngineError(
    "LIMIT_EXCEEDED",
    `The filter finds more than ${LIMITS.bulkRuns} runs; narrow it, for example with create_time.`,
    { metadata: { limit: "bulkRuns" } },
  );
