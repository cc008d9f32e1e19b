// Reads the queues: their lengths, the place of a job, and missing jobs. Counts stop at a bound, so a long backlog costs no more.

import { list, number, orNull, text, uuid } from "../db/columns.ts";
import { columns, queriesBeside, type Queryable, type RowOf, run } from "../db/query.ts";
import { type DroppedJob, jobId, NEVER_LATER, nodeTypeOf, queueName } from "./queue.ts";
import { ranksOf } from "./turns.ts";

/** A place is counted up to this number. */
const AHEAD_MAX = 1_000;
const PREFIX = queueName("");

const declare = queriesBeside(import.meta.url);

const depths = declare(
  "depths",
  { nodeType: list(text()), queue: list(text()), neverLater: text() },
  {
    node_type: text(),
    due_in_ms: orNull(number()),
    age_ms: orNull(number()),
    first_priority: orNull(number()),
    waiting: number(),
  },
);
const countWaiting = declare(
  "count_waiting",
  { prefix: text() },
  { name: text(), count: number() },
);
const waitAges = declare(
  "wait_ages",
  { prefix: text() },
  { name: orNull(text()), oldest_ms: orNull(number()), median_ms: orNull(number()) },
);
const ahead = declare(
  "count_ahead",
  { queue: text(), behind: number(), first: number(), queuedAt: number(), limit: number() },
  { ahead: number() },
);
const missing = declare("missing", { queue: list(text()), id: list(uuid()) }, { place: number() });

/** A job whose place in the queue is counted. */
export interface PlaceInQueue {
  readonly nodeType: string;
  /** Sooner for lower numbers. */
  readonly priority: number;
  readonly queuedAt: number;
}

/** How long each queue is, and its first jobs. @throws STORE_UNAVAILABLE */
export async function readDepths(
  db: Queryable,
  nodeTypes: readonly string[],
): Promise<RowOf<typeof depths>[]> {
  const queues = nodeTypes.map((nodeType) => ({ nodeType, queue: queueName(nodeType) }));
  const values = { ...columns(queues, ["nodeType", "queue"]), neverLater: NEVER_LATER };
  return await run(db, depths, values);
}

/** Waiting jobs by node type. @throws STORE_UNAVAILABLE */
export async function countWaitingJobs(
  db: Queryable,
): Promise<readonly { readonly nodeType: string; readonly count: number }[]> {
  const rows = await run(db, countWaiting, { prefix: PREFIX });
  return rows.map(({ name, count }) => ({ nodeType: nodeTypeOf(name), count }));
}

/** How long due jobs have waited. */
interface WaitAges {
  readonly oldestMs: number;
  readonly medianMs: number;
}

/** The waits of due jobs by node type, and of all under "". @throws STORE_UNAVAILABLE */
export async function readWaitAges(db: Queryable): Promise<ReadonlyMap<string, WaitAges>> {
  const rows = await run(db, waitAges, { prefix: PREFIX });
  return new Map(
    rows.flatMap(({ name, oldest_ms: oldestMs, median_ms: medianMs }): [string, WaitAges][] =>
      oldestMs === null || medianMs === null
        ? []
        : [[name === null ? "" : nodeTypeOf(name), { oldestMs, medianMs }]],
    ),
  );
}

/** How many jobs come before one. @throws STORE_UNAVAILABLE */
export async function countAhead(db: Queryable, place: PlaceInQueue): Promise<number> {
  const [first, after] = ranksOf(place.priority);
  const [row] = await run(db, ahead, {
    queue: queueName(place.nodeType),
    behind: -after,
    first: -first,
    queuedAt: place.queuedAt,
    limit: AHEAD_MAX,
  });
  return row?.ahead ?? 0;
}

/** The jobs among these that are in no queue. @throws STORE_UNAVAILABLE */
export async function missingJobs(
  db: Queryable,
  jobs: readonly DroppedJob[],
): Promise<DroppedJob[]> {
  if (jobs.length === 0) return [];
  const rows = await run(db, missing, {
    queue: jobs.map((job) => queueName(job.nodeType)),
    id: jobs.map(jobId),
  });
  const places = new Set(rows.map((row) => row.place));
  return jobs.filter((_, index) => places.has(index + 1));
}
