// What the facts of a tick mean for slots: who asks for one, who leaves theirs, who was started. Collected while facts are drafted
// and sent last, in the same transaction. An execution has its slots while it is queued for an executor or running; a run from its
// first step to its end, however long it waits for people in between.

import type { NodeStatus } from "@pawl/core/log/event";
import type { ExecutionState } from "@pawl/core/log/state";
import type { NodeId } from "@pawl/core/name/ids";
import { gateKey, type Gate } from "@pawl/core/policy/gate";
import { type NewJob, PENDING_RUNS, RATE_SLOTS } from "@pawl/platform/queue/queue";
import type { Transaction } from "@pawl/platform/store/journal";
import type {
  KeyLimit,
  KeyRate,
  SlotChange,
  SlotRelease,
  SlotRequest,
  SlotStart,
} from "@pawl/platform/store/slots";
import { DEFAULT_TENANT } from "@pawl/platform/store/tenant";
import type { CachedRun } from "./cache.ts";
import type { Waiting } from "./waiting.ts";

/** A run is no node: its job and its slots have the empty name where others have a node's. */
export const NO_NODE = "" as NodeId;

/** Of what a run belongs to when jobs are taken in turns. */
export const shareOf = ({ workflowId }: CachedRun): string =>
  `${DEFAULT_TENANT}/${workflowId ?? ""}`;

/** Whether something waits for slots before it may start. */
export const isGated = ({ slot, rate }: { readonly slot?: unknown; readonly rate?: unknown }) =>
  slot !== undefined || rate !== undefined;

/** What waits in the queue for a run that has not begun. */
export const pendingJob = (run: CachedRun) => ({
  runId: run.state.runId,
  nodeId: NO_NODE,
  iteration: 0,
  attempt: 1,
  nodeType: PENDING_RUNS,
  priority: run.priority,
  share: shareOf(run),
});

export class Gates {
  readonly #released: SlotRelease[] = [];
  readonly #started: SlotStart[] = [];
  readonly #requested: SlotRequest[] = [];

  get isEmpty(): boolean {
    return this.#released.length + this.#started.length + this.#requested.length === 0;
  }

  /** An execution that is ready wants its slots. */
  ask(run: CachedRun, gate: Seen, job: NewJob): void {
    const { delayMs: _delayMs, isGranted: _isGranted, ...own } = job;
    this.#request({ ...own, share: shareOf(run), ...keysOf(run, "node", gate) });
  }

  /** A run that was accepted wants to begin. */
  askRun(run: CachedRun): void {
    this.#request({ ...pendingJob(run), ...keysOf(run, "run", run.state) });
  }

  /** An execution that has a gate has moved. */
  moved(run: CachedRun, nodeId: NodeId, iteration: number, move: Move): void {
    const { before, after } = move;
    if (!isPlaced(before)) return;
    const holder = { runId: run.state.runId, nodeId, iteration };
    const { slot, rate } = keysOf(run, "node", after);
    if (!isPlaced(after.status)) this.#released.push(releaseOf(holder, slot, rate));
    else if (before === "queued" && after.status === "running" && rate !== undefined)
      this.#started.push({ ...holder, rate });
  }

  /** An execution whose run is paused gives up its slots, and its place in their line. */
  withdraw(run: CachedRun, nodeId: NodeId, iteration: number, gate: Seen): void {
    const { slot, rate } = keysOf(run, "node", gate);
    this.#released.push(releaseOf({ runId: run.state.runId, nodeId, iteration }, slot, rate));
  }

  /** A run that was accepted just now is held: it does not ask to begin. */
  withdrawRun({ state: { runId } }: CachedRun): void {
    const at = this.#requested.findIndex((each) => each.runId === runId && each.nodeId === NO_NODE);
    if (at >= 0) this.#requested.splice(at, 1);
  }

  /** A run with a gate has begun, or is over. */
  movedRun(run: CachedRun, what: "begun" | "over"): void {
    const holder = { runId: run.state.runId, nodeId: NO_NODE, iteration: 0 };
    const { slot, rate } = keysOf(run, "run", run.state);
    if (what === "over") this.#released.push(releaseOf(holder, slot, rate));
    else if (rate !== undefined) this.#started.push({ ...holder, rate });
  }

  /** Whoever asks anew gives up what it had: one whose job was lost would otherwise wait for itself. */
  #request(request: SlotRequest): void {
    const { runId, nodeId, iteration, slot, rate } = request;
    this.#released.push(releaseOf({ runId, nodeId, iteration }, slot, rate));
    this.#requested.push(request);
  }

  /** Everything of this and another tick's half, as one change. */
  changeWith(other: Gates, isDue: boolean): SlotChange {
    return {
      released: [...this.#released, ...other.#released],
      started: [...this.#started, ...other.#started],
      requested: [...this.#requested, ...other.#requested],
      isDue,
    };
  }
}

/** The limits of an execution or a run, as its fold has them. */
interface Seen {
  readonly slot: Gate["slot"] | undefined;
  readonly rate: Gate["rate"] | undefined;
}

interface Move {
  readonly before: NodeStatus;
  readonly after: ExecutionState;
}

/** Moves the slots, and queues whoever was given theirs; who claims it is the next tick's business. */
export async function moveSlots(
  tx: Transaction,
  change: SlotChange,
  waiting: Waiting,
): Promise<void> {
  const { granted, wakeInMs } = await tx.moveSlots(change);
  if (change.isDue) waiting.emptied(RATE_SLOTS);
  if (wakeInMs !== undefined) waiting.enqueued(RATE_SLOTS, wakeInMs + 1);
  if (granted.length === 0) return;
  void tx.enqueue(granted);
  for (const { nodeType } of granted) waiting.enqueued(nodeType);
}

const isPlaced = (status: NodeStatus): boolean => status === "queued" || status === "running";

function keysOf(
  { workflowId, state: { runId } }: CachedRun,
  level: "run" | "node",
  { slot, rate }: Seen,
): { readonly slot?: KeyLimit; readonly rate?: KeyRate } {
  const owner = { tenantId: DEFAULT_TENANT, workflowId, runId };
  return {
    ...(slot === undefined
      ? {}
      : { slot: { key: gateKey("slot", level, owner, slot), limit: slot.limit } }),
    ...(rate === undefined
      ? {}
      : {
          rate: {
            key: gateKey("rate", level, owner, rate),
            limit: rate.limit,
            perMs: rate.perMs,
          },
        }),
  };
}

const releaseOf = (
  holder: Pick<SlotRelease, "runId" | "nodeId" | "iteration">,
  slot: KeyLimit | undefined,
  rate: KeyRate | undefined,
): SlotRelease => ({
  ...holder,
  ...(slot === undefined ? {} : { slotKey: slot.key }),
  ...(rate === undefined ? {} : { rateKey: rate.key }),
});
