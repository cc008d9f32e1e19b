// Counts across the tables of all nouns, for people. Counts stop at a bound, so a long backlog costs no more.

import type { SlotQuestion, WaitingRoom } from "@pawl/core/explain/room";
import type { DefinitionId, NodeId, RunId } from "@pawl/core/name/ids";
import { readClock } from "../../db/clock.ts";
import type { Queryable } from "../../db/query.ts";
import { countAhead, countWaitingJobs, type PlaceInQueue } from "../../queue/reads.ts";
import { countOpenApprovals } from "../approvals/reads.ts";
import { countOpenDeadLetters } from "../dead-letters/reads.ts";
import { countLeases, readAliveExecutors, readLeasesOfRun } from "../leases/reads.ts";
import { readPauses } from "../pauses/reads.ts";
import { countWaits } from "../signals/reads.ts";
import { countSlotWaits, readSlotWaits } from "../slots/reads.ts";
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

/** The type of a node's execution. Iteration 1 is that of every item of a map or loop. */
export type TypeOf = (
  definitionId: DefinitionId,
  nodeId: NodeId,
  iteration: number,
) => Promise<string | undefined>;

/** The questions of an explanation besides those about executors and leases. */
interface RoomQuestion {
  readonly place?: PlaceInQueue | undefined;
  readonly slots: readonly SlotQuestion[];
  /** Whether the run may wait for its thread. */
  readonly awaitsThread?: boolean;
}

type Counted = Exclude<keyof TypeDepth, "nodeType">;

/** How many node executions wait, run or are dead letters, by node type. @throws STORE_UNAVAILABLE */
export async function readDepths(db: Queryable, tenantId: string, typeOf: TypeOf): Promise<Depths> {
  const [jobs, slots, leases, dead, asked, awaited] = await Promise.all([
    countWaitingJobs(db),
    countSlotWaits(db),
    countLeases(db, tenantId),
    countOpenDeadLetters(db, tenantId),
    countOpenApprovals(db, tenantId),
    countWaits(db, tenantId),
  ]);
  const types = new Map<string, Record<Counted, number>>();
  const add = (counted: Counted, nodeType: string, count: number): void => {
    const depth = types.get(nodeType) ?? { waiting: 0, active: 0, deadLetter: 0 };
    depth[counted] += count;
    if (count > 0) types.set(nodeType, depth);
  };
  for (const { nodeType, count } of [...jobs, ...slots]) add("waiting", nodeType, count);
  for (const { nodeType, count } of dead) add("deadLetter", nodeType, count);
  for (const { definitionId, nodeId, iteration, count } of leases) {
    // A user may delete a test run meanwhile.
    const nodeType = await typeOf(definitionId, nodeId, iteration);
    if (nodeType !== undefined) add("active", nodeType, count);
  }
  const byName = [...types].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    types: byName.map(([nodeType, depth]) => ({ nodeType, ...depth })),
    paused: asked + awaited,
  };
}

/** The present state that an explanation needs. @throws STORE_UNAVAILABLE */
export async function readWaitingRoom(
  db: Queryable,
  runId: RunId,
  { place, slots, awaitsThread = false }: RoomQuestion,
): Promise<WaitingRoom> {
  const [now, executors, leases, aheadCount, slotWaits, { pauses }, threadWait] = await Promise.all(
    [
      readClock(db),
      readAliveExecutors(db),
      readLeasesOfRun(db, runId),
      place === undefined ? undefined : countAhead(db, place),
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
