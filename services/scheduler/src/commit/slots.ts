// The changes of slots and daily budgets that follow from the facts of a tick: requests, releases, starts and settlements. The draft collects them, and the tick sends
// them last, in the same transaction. An execution holds its slots while it is queued or running. A run holds its slots from its first step
// to its end, also while it waits for people.

import type { NodeId } from "@pawl/core/name/ids";
import { daySettlement } from "@pawl/core/plan/day";
import { limitKey, type FoldedLimits } from "@pawl/core/policy/limit";
import { waitLeftMs } from "@pawl/core/policy/start-time";
import { type DroppedJob, type NewJob, PENDING_RUNS } from "@pawl/platform/queue/queue";
import type { DaySettlement } from "@pawl/platform/store/days/days";
import type { Transaction } from "@pawl/platform/store/tick/journal";
import type {
  KeyLimit,
  KeyRate,
  SlotChange,
  SlotRelease,
  SlotRequest,
  SlotStart,
} from "@pawl/platform/store/slots/slots";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import type { CachedRun } from "./cache.ts";
import type { Waiting } from "./waiting.ts";

/** The job and the slots of a run have the empty node id. */
export const NO_NODE = "" as NodeId;
export const RUN_HOLDER = { nodeId: NO_NODE, iteration: 0 } as const;

/** The group of a run when the scheduler takes jobs of different groups in turn. */
export const shareOf = ({ workflowId }: CachedRun): string =>
  `${DEFAULT_TENANT}/${workflowId ?? ""}`;

/** The key of the job of a run that has not begun. */
export const pendingKey = ({ state: { runId } }: CachedRun): DroppedJob => ({
  ...{ runId, ...RUN_HOLDER, attempt: 1 },
  nodeType: PENDING_RUNS,
});

/** The job of a run that has not begun. */
export const pendingJob = (run: CachedRun) => ({
  ...pendingKey(run),
  priority: run.priority,
  share: shareOf(run),
});

/** The job of a run that waits for its time. */
export const startJob = (run: CachedRun, now: number): NewJob => ({
  ...pendingJob(run),
  delayMs: Math.max(1, waitLeftMs(run.state, now)),
});

export class SlotChanges {
  readonly #released: SlotRelease[] = [];
  readonly #started: SlotStart[] = [];
  readonly #requested: SlotRequest[] = [];
  /** Runs that need no slot, and a part of a daily budget. */
  #unslotted: CachedRun[] = [];
  #settled: DaySettlement[] = [];

  get isEmpty(): boolean {
    const slots = this.#released.length + this.#started.length + this.#requested.length;
    return slots + this.#unslotted.length + this.#settled.length === 0;
  }

  /** Requests the slots of a ready execution. */
  ask(run: CachedRun, limits: FoldedLimits, job: NewJob): void {
    const { delayMs: _delayMs, isGranted: _isGranted, ...own } = job;
    this.#request({ ...own, share: shareOf(run), ...keysOf(run, "node", limits) });
  }

  /** Requests the slots of an accepted run. A run without slots waits for its turn only. */
  askRun(run: CachedRun): void {
    const keys = keysOf(run, "run", run.state);
    if (needsSlots(keys)) this.#request({ ...pendingJob(run), ...keys });
    else this.#unslotted.push(run);
  }

  /** The jobs of runs that wait for their turn only. */
  get jobs(): readonly NewJob[] {
    return this.#unslotted.map(pendingJob);
  }

  /** The settlements of daily budgets. Each is given once. */
  takeSettled(): readonly DaySettlement[] {
    return this.#settled.splice(0);
  }

  /** Releases the slots of an execution or a run, and withdraws its request. */
  free(run: CachedRun, holder: Holder, limits: FoldedLimits): void {
    const { state, workflowId } = run;
    const keys = keysOf(run, levelOf(holder), limits);
    if (needsSlots(keys))
      this.#released.push(releaseOf({ runId: state.runId, ...holder }, keys.slot, keys.rate));
    const settlement = holder.nodeId === NO_NODE ? daySettlement(state) : undefined;
    if (settlement !== undefined && workflowId !== null)
      this.#settled.push({ tenantId: DEFAULT_TENANT, workflowId, ...settlement });
  }

  /** Counts the start of an execution or a run against its rate. */
  count(run: CachedRun, holder: Holder, limits: FoldedLimits): void {
    const { rate } = keysOf(run, levelOf(holder), limits);
    if (rate !== undefined) this.#started.push({ runId: run.state.runId, ...holder, rate });
  }

  /** Withdraws the request of a run that this tick accepted and that is paused. */
  withdrawRun({ state: { runId } }: CachedRun): void {
    const at = this.#requested.findIndex((each) => each.runId === runId && each.nodeId === NO_NODE);
    if (at >= 0) this.#requested.splice(at, 1);
    this.#unslotted = this.#unslotted.filter(({ state }) => state.runId !== runId);
  }

  /** A new request first releases the old slots: an execution whose job was lost would otherwise wait for itself. */
  #request(request: SlotRequest): void {
    const { runId, nodeId, iteration, slot, rate } = request;
    this.#released.push(releaseOf({ runId, nodeId, iteration }, slot, rate));
    this.#requested.push(request);
  }

  /** Joins the changes of both halves of a tick. */
  changeWith(other: SlotChanges, isDue: boolean): SlotChange {
    return {
      released: [...this.#released, ...other.#released],
      started: [...this.#started, ...other.#started],
      requested: [...this.#requested, ...other.#requested],
      isDue,
    };
  }
}

/** The execution that holds slots. A run has the empty node id. */
type Holder = Pick<SlotRelease, "nodeId" | "iteration">;

const levelOf = ({ nodeId }: Holder): "run" | "node" => (nodeId === NO_NODE ? "run" : "node");

/** Applies the changes and queues the executions that got their slots. The next tick claims them. */
export async function moveSlots(
  tx: Transaction,
  { draft, claims }: { readonly draft: SlotChanges; readonly claims: SlotChanges },
  waiting: Waiting,
): Promise<void> {
  const change = draft.changeWith(claims, waiting.mayRateSlotBeFree);
  await tx.moveDays({
    settled: [...draft.takeSettled(), ...claims.takeSettled()],
    requested: [],
  });
  const moved = await tx.moveSlots(change);
  const { wakeInMs } = moved;
  const granted = [...moved.granted, ...draft.jobs, ...claims.jobs];
  if (change.isDue) waiting.rateSlotsGiven();
  if (wakeInMs !== undefined) waiting.rateSlotFrees(wakeInMs + 1);
  if (granted.length === 0) return;
  void tx.enqueue(granted);
  for (const { nodeType } of granted) waiting.enqueued(nodeType);
}

/** Whether any slot is among them. */
const needsSlots = ({ slot, rate }: Keys): boolean => (slot ?? rate) !== undefined;

interface Keys {
  slot?: KeyLimit;
  rate?: KeyRate;
}

function keysOf(
  { workflowId, state: { runId } }: CachedRun,
  level: "run" | "node",
  { slot, rate }: FoldedLimits,
): Keys {
  const owner = { tenantId: DEFAULT_TENANT, workflowId, runId };
  const keys: Keys = {};
  if (slot !== undefined)
    keys.slot = { key: limitKey("slot", level, owner, slot), limit: slot.limit };
  if (rate !== undefined) {
    const { limit, perMs } = rate;
    keys.rate = { key: limitKey("rate", level, owner, rate), limit, perMs };
  }
  return keys;
}

const releaseOf = (
  holder: Holder & Pick<SlotRelease, "runId">,
  slot: KeyLimit | undefined,
  rate: KeyRate | undefined,
): SlotRelease => ({
  ...holder,
  ...(slot === undefined ? {} : { slotKey: slot.key }),
  ...(rate === undefined ? {} : { rateKey: rate.key }),
});
