// The statements of retention over the session that holds its lock.

import { leastAgeMs } from "@pawl/core/policy/retention";
import type { RunId } from "@pawl/core/name/ids";
import { probe } from "../../lifecycle/probe.ts";
import { flag, list, number, text, uuid } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable, run, runPlanned } from "../../db/query.ts";
import { EVENTS_PAGE } from "../log/log.ts";
import type { EndedFilter, EndedPlace, EndedRun, EndedSinceFilter, KeptRuns } from "./retention.ts";

/** A place before all others of a walk. */
const BEGINNING = { ended: "-infinity", runId: "00000000-0000-0000-0000-000000000000" } as const;
/** For ever, as an age that PostgreSQL can subtract: three thousand years. */
const FOREVER_MS = 1e14;

const declare = queriesBeside(import.meta.url);

const PLACE = { runId: uuid<RunId>(), ended: text() };
const AFTER = { afterEnded: text(), afterRunId: uuid(), limit: number() };
const AGES = { ageMs: number(), workflowIds: list(text()), agesMs: list(number()) };
const ended = declare(
  "ended",
  { ...AFTER, ...AGES, status: text(), leastMs: number() },
  { ...PLACE, isDue: flag() },
);
const keptInRange = declare(
  "kept_in_range",
  { fromId: uuid(), toId: uuid(), limit: number() },
  { runs: number(), events: number() },
);
const SOME_EVENTS = { runIds: list(uuid()), limit: number() };
const deleteSome = declare("delete_logs", SOME_EVENTS, { events: number() });
const left = declare("left_logs", { limit: number() }, { runId: uuid<RunId>() });
const forget = declare("forget_logs", { runIds: list(uuid()) });
const foldSome = declare("fold_deltas", SOME_EVENTS, { events: number() });
const endedSince = declare(
  "ended_since",
  { ...AFTER, statuses: list(text()), ageMs: number() },
  PLACE,
);
const mark = declare("mark", { name: text() }, { ended: text(), lastId: uuid<RunId>() });
const setMark = declare("set_mark", { name: text(), ended: text(), lastId: uuid() });

const finite = (ageMs: number): number => Math.min(ageMs, FOREVER_MS);

const placeOf = (after: EndedPlace | undefined) => {
  const { ended: afterEnded, runId: afterRunId } = after ?? BEGINNING;
  return { afterEnded, afterRunId };
};

/** A page of runs that are older than the shortest age of their status. @throws STORE_UNAVAILABLE */
export const readEnded = (
  db: Queryable,
  { rule, after, limit }: EndedFilter,
): Promise<EndedRun[]> =>
  run(db, ended, {
    ...placeOf(after),
    limit,
    status: rule.status,
    leastMs: finite(leastAgeMs(rule)),
    ageMs: finite(rule.ageMs),
    workflowIds: [...rule.workflows.keys()],
    agesMs: [...rule.workflows.values()].map(finite),
  });

/** A page of runs that ended longer ago than an age. @throws STORE_UNAVAILABLE */
export const readEndedSince = (
  db: Queryable,
  { statuses, ageMs, after, limit }: EndedSinceFilter,
): Promise<EndedPlace[]> => run(db, endedSince, { ...placeOf(after), statuses, ageMs, limit });

/** Runs with ids of a range; at most `limit` are counted. @throws STORE_UNAVAILABLE */
export async function countKept(
  db: Queryable,
  range: { readonly fromUuid: string; readonly toUuid: string; readonly limit: number },
): Promise<KeptRuns> {
  const { fromUuid: fromId, toUuid: toId, limit } = range;
  return (await first(db, keptInRange, { fromId, toId, limit })) ?? { runs: 0, events: 0 };
}

/** Deletes the logs of removed runs, some events at a time. A crash leaves the rest to their month. @throws STORE_UNAVAILABLE */
export const deleteLogs = (db: Queryable, runIds: readonly RunId[]): Promise<number> =>
  inSteps(db, deleteSome, runIds);

/** Deletes the logs of runs that `removed_logs` names. After a crash `leftLogs` finds them. @throws STORE_UNAVAILABLE */
export async function removeLogs(db: Queryable, runIds: readonly RunId[]): Promise<void> {
  if (runIds.length === 0) return;
  probe("removal.before-logs");
  await deleteLogs(db, runIds);
  await run(db, forget, { runIds });
}

/** Removed runs whose logs are not deleted yet. @throws STORE_UNAVAILABLE */
export const leftLogs = async (db: Queryable, limit: number): Promise<RunId[]> =>
  (await run(db, left, { limit })).map(({ runId }) => runId);

/** Empties the stream deltas of these runs, some at a time. Returns how many. @throws STORE_UNAVAILABLE */
export const foldDeltas = (db: Queryable, runIds: readonly RunId[]): Promise<number> =>
  inSteps(db, foldSome, runIds);

/** Repeats a statement until it finds less than it may take. Returns how many events it took. */
async function inSteps(
  db: Queryable,
  query: typeof deleteSome,
  runIds: readonly RunId[],
): Promise<number> {
  let all = 0;
  for (;;) {
    const [page] = await runPlanned(db, query, { runIds, limit: EVENTS_PAGE });
    const events = page?.events ?? 0;
    all += events;
    if (events < EVENTS_PAGE) return all;
  }
}

/** The place of a walk. Undefined before its first step. @throws STORE_UNAVAILABLE */
export async function readMark(db: Queryable, name: string): Promise<EndedPlace | undefined> {
  const row = await first(db, mark, { name });
  return row && { ended: row.ended, runId: row.lastId };
}

/** Moves the place of a walk. @throws STORE_UNAVAILABLE */
export async function moveMark(db: Queryable, name: string, place: EndedPlace): Promise<void> {
  await run(db, setMark, { name, ended: place.ended, lastId: place.runId });
}
