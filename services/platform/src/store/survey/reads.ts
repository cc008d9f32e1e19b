// Reads across the tables of all nouns: counts for people, and commands with their runs. Counts stop at a bound, so a long backlog costs no
// more.

import type { SlotQuestion, WaitingRoom } from "@pawl/core/explain/room";
import type { DefinitionId, NodeId, RunId } from "@pawl/core/name/ids";
import { readClock } from "../../db/clock.ts";
import { GLUE } from "../../queue/queue.ts";
import type { Queryable } from "../../db/query.ts";
import { isPlace, readCommands } from "../../queue/command-reads.ts";
import {
  countAhead,
  countWaitingJobs,
  type PlaceInQueue,
  readWaitAges,
} from "../../queue/reads.ts";
import { requestIdOfRun } from "../../queue/workflow-command.ts";
import { JOB_STATUSES, type JobStatus, type ListedJob } from "../../queue/workflow-queue.ts";
import { countOpenApprovals } from "../approvals/reads.ts";
import { countOpenDeadLetters } from "../dead-letters/reads.ts";
import {
  type AliveExecutor,
  countLeases,
  readAliveExecutors,
  readLeasesOfRun,
} from "../leases/reads.ts";
import { type Page, type PageRequest, readPage } from "../page.ts";
import { readPauses } from "../pauses/reads.ts";
import { findRequests, readLiveLoad } from "../runs/reads.ts";
import { countWaits } from "../signals/reads.ts";
import { countSlotWaits, readSlotWaits } from "../slots/reads.ts";
import type { Sample } from "../stats/stats.ts";
import { readThreadWait } from "../threads/reads.ts";

interface TypeDepth {
  readonly nodeType: string;
  readonly waiting: number;
  readonly active: number;
  readonly deadLetter: number;
}

export interface Depths {
  /** Types with something to count, by name. */
  readonly types: readonly TypeDepth[];
  /** Executions that wait for a person or a signal. */
  readonly paused: number;
}

/** Commands of the workflow queue, with the run of each that has one. */
interface CommandPage extends Page<ListedJob> {
  readonly runs: ReadonlyMap<string, string>;
}

/**
 * Commands of these statuses, newest first; no status means all.
 * @throws INPUT_INVALID for a token of another list, STORE_UNAVAILABLE
 */
export async function listCommands(
  db: Queryable,
  tenantId: string,
  asked: readonly JobStatus[],
  page: PageRequest,
): Promise<CommandPage> {
  const statuses = asked.length === 0 ? JOB_STATUSES : asked;
  const found = await readPage<ListedJob>(page, {
    filter: `commands ${JSON.stringify([tenantId, statuses])}`,
    isPlace,
    keyOf: ({ place }) => place,
    read: (after, limit) => readCommands(db, { tenantId, statuses, after, limit }),
  });
  return { ...found, runs: await startedRuns(db, tenantId, found.rows) };
}

/** The runs that commands started or resume, by the id of the command. @throws STORE_UNAVAILABLE */
export async function startedRuns(
  db: Queryable,
  tenantId: string,
  jobs: readonly ListedJob[],
): Promise<ReadonlyMap<string, string>> {
  const named = jobs.flatMap(({ jobId, command }) =>
    command === null ? [] : [{ jobId, command }],
  );
  if (named.length === 0) return new Map();
  const requestIds = named.map(({ command }) => requestIdOfRun(command.runId));
  const started = await findRequests(db, tenantId, requestIds);
  const byRequest = new Map(started.map(({ requestId, runId }) => [requestId, runId]));
  return new Map(
    named.flatMap(({ jobId, command: { type, runId } }): [string, string][] => {
      const found = byRequest.get(requestIdOfRun(runId));
      if (found !== undefined) return [[jobId, found]];
      // A resume may name the run by its id.
      return type === "resume" ? [[jobId, runId]] : [];
    }),
  );
}

/** The type of a node's execution. Iteration 1 is that of every item of a map or loop. */
export type TypeOf = (
  definitionId: DefinitionId,
  nodeId: NodeId,
  iteration: number,
) => Promise<string | undefined>;

/** The questions of an explanation besides those about executors and leases. */
interface RoomQuestion {
  readonly place?: PlaceInQueue | undefined;
  /** Whether a scheduler completes the execution: it waits in the queue of glue nodes, and not in that of its type. */
  readonly isForScheduler?: boolean;
  readonly slots: readonly SlotQuestion[];
  /** Whether the run may wait for its thread. */
  readonly awaitsThread?: boolean;
}

/** How many node executions wait, run or are dead letters, by node type. @throws STORE_UNAVAILABLE */
export async function readDepths(db: Queryable, tenantId: string, typeOf: TypeOf): Promise<Depths> {
  const [counts, dead, asked, awaited] = await Promise.all([
    countNodes(db, tenantId, typeOf),
    countOpenDeadLetters(db, tenantId),
    countOpenApprovals(db, tenantId),
    countWaits(db, tenantId),
  ]);
  const types = new Map([...counts].map(([type, count]) => [type, { ...count, deadLetter: 0 }]));
  for (const { nodeType, count } of dead) {
    const counted = types.get(nodeType) ?? { waiting: 0, active: 0 };
    if (count > 0) types.set(nodeType, { ...counted, deadLetter: count });
  }
  const byName = [...types].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    types: byName.map(([nodeType, depth]) => ({ nodeType, ...depth })),
    paused: asked + awaited,
  };
}

/** The types of a sample: those with the most waiting nodes. */
const SAMPLE_TYPES_MAX = 100;

/** Counts the present load of the system. @throws STORE_UNAVAILABLE */
export async function readLoad(db: Queryable, tenantId: string, typeOf: TypeOf): Promise<Sample> {
  const [counts, ages, runs, executors] = await Promise.all([
    countNodes(db, tenantId, typeOf),
    readWaitAges(db),
    readLiveLoad(db),
    readAliveExecutors(db),
  ]);
  const slotsOf = (serving: readonly AliveExecutor[]): number =>
    serving.reduce((sum, { slots }) => sum + slots, 0);
  const agesOf = (nodeType: string) => {
    const { oldestMs = null, medianMs = null } = ages.get(nodeType) ?? {};
    return { oldestMs: wholeMs(oldestMs), medianMs: wholeMs(medianMs) };
  };
  const types = [...counts].map(([nodeType, { waiting, active }]) => ({
    ...{ nodeType, waiting, active, ...agesOf(nodeType) },
    slots: slotsOf(executors.filter(({ nodeTypes }) => nodeTypes.includes(nodeType))),
  }));
  return {
    total: {
      ...{ ...runs, ...agesOf(""), slots: slotsOf(executors) },
      pendingOldestMs: wholeMs(runs.pendingOldestMs),
      pendingMedianMs: wholeMs(runs.pendingMedianMs),
      waiting: types.reduce((sum, { waiting }) => sum + waiting, 0),
      active: types.reduce((sum, { active }) => sum + active, 0),
    },
    types: types.toSorted((a, b) => b.waiting - a.waiting).slice(0, SAMPLE_TYPES_MAX),
  };
}

const wholeMs = (ms: number | null): number | null => (ms === null ? null : Math.round(ms));

/** Node executions that wait or run, by node type. */
async function countNodes(db: Queryable, tenantId: string, typeOf: TypeOf) {
  const [jobs, slots, leases] = await Promise.all([
    countWaitingJobs(db),
    countSlotWaits(db),
    countLeases(db, tenantId),
  ]);
  const types = new Map<string, { waiting: number; active: number }>();
  const add = (counted: "waiting" | "active", nodeType: string, count: number): void => {
    const counts = types.get(nodeType) ?? { waiting: 0, active: 0 };
    counts[counted] += count;
    if (count > 0) types.set(nodeType, counts);
  };
  for (const { nodeType, count } of [...jobs, ...slots]) add("waiting", nodeType, count);
  for (const { definitionId, nodeId, iteration, count } of leases) {
    // A user may delete a test run meanwhile.
    const nodeType = await typeOf(definitionId, nodeId, iteration);
    if (nodeType !== undefined) add("active", nodeType, count);
  }
  return types;
}

/** The present state that an explanation needs. @throws STORE_UNAVAILABLE */
export async function readWaitingRoom(
  db: Queryable,
  runId: RunId,
  { place, isForScheduler = false, slots, awaitsThread = false }: RoomQuestion,
): Promise<WaitingRoom> {
  const [now, executors, leases, aheadCount, slotWaits, { pauses }, threadWait] = await Promise.all(
    [
      readClock(db),
      readAliveExecutors(db),
      readLeasesOfRun(db, runId),
      place && countAhead(db, isForScheduler ? { ...place, nodeType: GLUE } : place),
      readSlotWaits(db, runId, slots),
      readPauses(db),
      awaitsThread ? readThreadWait(db, runId) : undefined,
    ],
  );
  return {
    now,
    executors,
    leases: leases.map(({ untilAt, ...lease }) => ({ ...lease, untilAt: untilAt ?? 0 })),
    ...(aheadCount === undefined ? {} : { aheadCount }),
    slotWaits,
    ...(threadWait === undefined ? {} : { threadWait }),
    queuePauses: pauses.flatMap(({ scope, name, by, reason, since }) =>
      scope === "queue" ? [{ nodeType: name, by, reason, since }] : [],
    ),
  };
}
