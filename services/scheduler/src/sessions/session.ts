// One connected executor: the types it serves, the claims it holds and its room.
//
// Room is counted in slots and in bytes. Assignments that wait to be written to the stream take at most LIMITS.unsentBytes and one more of
// LIMITS.itemBytes, 20 MiB in all. Beyond that the executor gets no further claim, and ready nodes wait in the queue. The executor's
// renewals also renew a claim that waits to be written. `isOnItsWay` shows that such a claim is not lost.

import { ChurnMap } from "@pawl/core/data/churn-map";
import { LIMITS } from "@pawl/core/data/limits";
import type { ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";
import type { HeldCall } from "@pawl/platform/store/webhooks/webhooks";
import type { Oversize } from "@pawl/core/plan/oversize";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { Claim } from "../inputs/input.ts";
import type { Executor, SchedulerItemInit } from "../commit/executor.ts";
import type { Refused } from "./admit-types.ts";
import { claimItem } from "./wire.ts";

/** Sends an item on the stream, which batches items. `onSent` is called once the item has left this process. */
type SendItem = (item: SchedulerItemInit, onSent?: () => void) => void;

/** A claim, and the time when its assignment left. Infinity while it waits, -Infinity if it left in time or on an earlier connection. */
interface Held {
  readonly claim: Claim;
  sentAt: number;
}

/** If an assignment left sooner than this, its age is the age of its lease. */
const IN_TIME_MS = 1_000;

/** The factor by which the remembered size of a large assignment shrinks with each assignment. */
const FADING = 7 / 8;

/** The error for the second of two processes that register with one executor id. */
export const idTaken = (executorId: ExecutorId): EngineError =>
  new EngineError(
    "EXECUTOR_ID_TAKEN",
    `Another process registered with executor id ${executorId}. Give each executor its own PAWL_EXECUTOR_ID, or leave it unset.`,
    { metadata: { executor_id: executorId } },
  );

const keyOf = (runId: RunId, nodeId: NodeId, iteration: number): string =>
  `${runId}/${nodeId}/${iteration}`;

export class Session implements Executor {
  readonly executorId: ExecutorId;
  readonly sessionId: string;
  readonly nodeTypes: ReadonlySet<string>;
  /** Of these, the types whose outputs are data from outside. */
  readonly externalTypes: ReadonlySet<string>;
  readonly stateTypes: ReadonlySet<string>;
  /** The types that it registered and that the scheduler refused. */
  readonly refused: readonly Refused[];
  readonly send: SendItem;
  /** How many webhook calls the executor makes at once, and those that it makes now, by delivery. */
  webhookSlots: number;
  readonly calls = new Map<string, HeldCall>();
  /** Whether it registered with such slots. An executor that stops gives its slots back and still reports its last calls. */
  makesCalls: boolean;
  /** Reports without an answer, and how often the executor sent each. */
  readonly inHand = new Map<string, number>();
  readonly #held = new ChurnMap<string, Held>();
  readonly #onRoom: () => void;
  readonly #onOversize: (claim: Claim, oversize: Oversize) => void;
  /** Bytes of assignments that wait to be written. */
  #unsentBytes = 0;
  /** The number of assignments that are drafted and not committed, and their bytes. */
  #reserved = 0;
  #reservedBytes = 0;
  /** The expected size of the next assignment: about the size of the largest recent one. */
  #typicalBytes = 1;
  readonly #silentAfterMs: number;
  #receivedAt = performance.now();
  #aliveUntil: number;
  #capacity: number;
  readonly #end: (error: EngineError) => void;
  #isSuperseded = false;
  /** Set when the executor is leaving: it gets nothing more. */
  draining = false;
  /** How long the user's process behind the executor has been silent, by the last renewal. */
  silentMs = 0;
  /** How much longer the executor waits for that process, by the last renewal. */
  giveUpMs = 0;

  constructor(options: {
    readonly executorId: ExecutorId;
    readonly sessionId: string;
    readonly nodeTypes: readonly string[];
    readonly externalTypes?: readonly string[];
    readonly refused?: readonly Refused[];
    /** The types whose assignments carry the state of the run. */
    readonly stateTypes?: readonly string[];
    readonly capacity: number;
    /** How many webhook calls it makes at once. None by default. */
    readonly webhookSlots?: number;
    readonly held: readonly Claim[];
    readonly send: SendItem;
    /** An executor that was silent for this long gets nothing more until it sends something. Unlimited by default. */
    readonly silentAfterMs?: number;
    /** No message can hold a task that was claimed for this executor. */
    readonly onOversize?: (claim: Claim, oversize: Oversize) => void;
    /** There is room for the bytes of further assignments again. */
    readonly onRoom?: () => void;
    /** Ends the stream of this session. */
    readonly end?: (error: EngineError) => void;
    /** How long the registration keeps the executor alive. Unlimited by default. */
    readonly leaseMs?: number;
  }) {
    this.executorId = options.executorId;
    this.sessionId = options.sessionId;
    this.nodeTypes = new Set(options.nodeTypes);
    this.externalTypes = new Set(options.externalTypes);
    this.refused = options.refused ?? [];
    this.stateTypes = new Set(options.stateTypes);
    this.#capacity = options.capacity;
    this.webhookSlots = options.webhookSlots ?? 0;
    this.makesCalls = this.webhookSlots > 0;
    this.send = options.send;
    this.#onRoom = options.onRoom ?? (() => {});
    this.#onOversize = options.onOversize ?? (() => {});
    this.#silentAfterMs = options.silentAfterMs ?? Infinity;
    this.#aliveUntil = performance.now() + (options.leaseMs ?? Infinity);
    this.#end = options.end ?? (() => undefined);
    for (const claim of options.held) this.hold(claim);
  }

  /** Whether another session represents the executor. Then the end of this session is not the end of the executor. */
  get isSuperseded(): boolean {
    return this.#isSuperseded;
  }

  /** Another session represents the executor from now on. This session gets nothing more, and its stream ends with the reason. */
  supersede(): void {
    this.#isSuperseded = true;
    this.draining = true;
    this.#end(idTaken(this.executorId));
  }

  /** Room for further assignments. A frozen or expired executor has none, because each assignment would cost a delivery. */
  get credit(): number {
    if (this.draining || this.isSilent || this.isExpired) return 0;
    const free = Math.max(0, this.#capacity - this.#held.size - this.#reserved);
    const bytes = LIMITS.unsentBytes - this.#unsentBytes - this.#reservedBytes;
    return bytes <= 0 ? 0 : Math.min(free, Math.ceil(bytes / this.#typicalBytes));
  }

  /** Room for further webhook calls. */
  get webhookRoom(): number {
    if (this.draining || this.isSilent || this.isExpired) return 0;
    return Math.max(0, this.webhookSlots - this.calls.size);
  }

  /** Whether the executor missed its renewals although its stream is open. */
  get isSilent(): boolean {
    return performance.now() - this.#receivedAt > this.#silentAfterMs;
  }

  /** Whether the life of the executor in the store has ended: it was frozen past its lease, sends again, and is not renewed yet. */
  get isExpired(): boolean {
    return performance.now() >= this.#aliveUntil;
  }

  /** The store keeps the executor alive for at least this long after `sentAt`. */
  renewed(sentAt: number, leaseMs: number): void {
    this.#aliveUntil = sentAt + leaseMs;
  }

  /** The executor sent something. */
  received(): void {
    this.#receivedAt = performance.now();
  }

  get reserved(): number {
    return this.#reserved;
  }

  /** Reserves room for an assignment that is drafted and not committed yet. */
  reserve(bytes: number): void {
    this.#reserved += 1;
    this.#reservedBytes += bytes;
    this.#typicalBytes = Math.max(1, bytes, this.#typicalBytes * FADING);
  }

  /** Frees the room of an assignment that is sent now or will never be sent. */
  unreserve(bytes: number): void {
    this.#reserved -= 1;
    this.#reservedBytes -= bytes;
  }

  /** Sets the capacity of the executor. */
  resize(capacity: number): void {
    this.#capacity = capacity;
  }

  /** How many tasks it runs at once. */
  get slots(): number {
    return this.#capacity;
  }

  grow(by: number): void {
    this.#capacity += by;
  }

  /** Gives the executor a task. It holds the claim from now on, and gets the assignment as soon as the stream accepts it. */
  assign(claim: Claim, item: SchedulerItemInit, bytes: number): void {
    const held = this.hold(claim, Infinity);
    const assignedAt = performance.now();
    this.#unsentBytes += bytes;
    this.send(item, () => {
      const wasTight = this.#unsentBytes > LIMITS.unsentBytes / 2;
      const now = performance.now();
      held.sentAt = now - assignedAt < IN_TIME_MS ? -Infinity : now;
      this.#unsentBytes -= bytes;
      if (wasTight) this.#onRoom();
    });
  }

  /** Fails a task that cannot be sent, in the executor's name. */
  refuse(claim: Claim, oversize: Oversize): void {
    this.hold(claim);
    this.#onOversize(claim, oversize);
  }

  withdraw(claim: Claim, isLost: boolean): void {
    this.letGo(claim);
    this.send(claimItem(isLost ? "claimLost" : "cancel", claim));
  }

  hold(claim: Claim, sentAt = -Infinity): Held {
    const held = { claim, sentAt };
    this.#held.set(keyOf(claim.runId, claim.nodeId, claim.iteration), held);
    return held;
  }

  /** Whether the assignment of this claim may not have arrived: it waits to be written, or it left late and less than `forMs` ago. */
  isOnItsWay({ runId, nodeId, iteration, epoch }: Claim, forMs: number): boolean {
    const held = this.#held.get(keyOf(runId, nodeId, iteration));
    return held?.claim.epoch === epoch && performance.now() - held.sentAt < forMs;
  }

  /** Claims whose assignment has not left: the executor does not know them. */
  get unsent(): readonly Claim[] {
    return [...this.#held.values()].flatMap(({ claim, sentAt }) =>
      sentAt === Infinity ? [claim] : [],
    );
  }

  /** The claim of this executor on a node execution, with any epoch. */
  claimOn(runId: RunId, nodeId: NodeId, iteration: number): Claim | undefined {
    return this.#held.get(keyOf(runId, nodeId, iteration))?.claim;
  }

  /** Removes exactly this claim. */
  letGo(claim: Claim): void {
    const key = keyOf(claim.runId, claim.nodeId, claim.iteration);
    if (this.#held.get(key)?.claim.epoch === claim.epoch) this.#held.delete(key);
  }

  /** All claims that the executor holds. */
  get held(): readonly Claim[] {
    return Array.from(this.#held.values(), ({ claim }) => claim);
  }

  get heldCount(): number {
    return this.#held.size;
  }
}
