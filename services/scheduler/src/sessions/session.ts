// One connected executor, as the scheduler sees it: what it serves, what it holds and how much room it has.
//
// Room is counted in slots and in bytes. Assignments that wait to be written to the stream take at most LIMITS.unsentBytes and one
// more of LIMITS.itemBytes, 20 MiB in all: beyond that the executor gets no further claim, and what is ready waits in its queue.
// A claim that waits to be written stays leased by the executor's renewals; `isOnItsWay` keeps it from being taken for lost.

import { ChurnMap } from "@pawl/core/data/churn-map";
import { LIMITS } from "@pawl/core/data/limits";
import type { ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";
import type { Oversize } from "@pawl/core/plan/oversize";
import type { EngineError } from "@pawl/core/fault/engine-error";
import type { Claim } from "../inputs/input.ts";
import type { Executor, SchedulerItemInit } from "../commit/executor.ts";
import { idTaken } from "./id-taken.ts";

/** Sends an item down the stream; batches and backpressure are the stream's business. `onSent` is called once it has left. */
export type SendItem = (item: SchedulerItemInit, onSent?: () => void) => void;

/** A claim, and when its assignment left: Infinity while it waits, -Infinity where it left in time or on an earlier connection. */
interface Held {
  readonly claim: Claim;
  sentAt: number;
}

/** An assignment that left sooner than this is as old as its lease. */
const IN_TIME_MS = 1_000;

/** How fast the memory of a large assignment fades, per assignment. */
const FADING = 7 / 8;

const keyOf = (runId: RunId, nodeId: NodeId, iteration: number): string =>
  `${runId}/${nodeId}/${iteration}`;

export class Session implements Executor {
  readonly executorId: ExecutorId;
  readonly sessionId: string;
  readonly nodeTypes: ReadonlySet<string>;
  readonly send: SendItem;
  /** What it said and is not answered yet, and how often it said it. */
  readonly inHand = new Map<string, number>();
  readonly #held = new ChurnMap<string, Held>();
  readonly #onRoom: () => void;
  readonly #onOversize: (claim: Claim, oversize: Oversize) => void;
  /** Of assignments that wait to be written. */
  #unsentBytes = 0;
  /** Assignments drafted and not committed yet, and their bytes. */
  #reserved = 0;
  #reservedBytes = 0;
  /** What the next assignment is expected to take: about as much as the largest of late. */
  #typicalBytes = 1;
  readonly #silentAfterMs: number;
  #heardAt = performance.now();
  #aliveUntil: number;
  #capacity: number;
  readonly #end: (error: EngineError) => void;
  #isSuperseded = false;
  /** Set when the executor is leaving: it gets nothing more. */
  draining = false;

  constructor(options: {
    readonly executorId: ExecutorId;
    readonly sessionId: string;
    readonly nodeTypes: readonly string[];
    readonly capacity: number;
    readonly held: readonly Claim[];
    readonly send: SendItem;
    /** An executor that said nothing for this long gets nothing more until it speaks again; never unless said. */
    readonly silentAfterMs?: number;
    /** A task was claimed for it that no message can hold. */
    readonly onOversize?: (claim: Claim, oversize: Oversize) => void;
    /** There are bytes for further assignments again, after there were too few. */
    readonly onRoom?: () => void;
    /** Ends its stream. */
    readonly end?: (error: EngineError) => void;
    /** How long its registration keeps it alive, from now on; for ever unless said. */
    readonly leaseMs?: number;
  }) {
    this.executorId = options.executorId;
    this.sessionId = options.sessionId;
    this.nodeTypes = new Set(options.nodeTypes);
    this.#capacity = options.capacity;
    this.send = options.send;
    this.#onRoom = options.onRoom ?? (() => {});
    this.#onOversize = options.onOversize ?? (() => {});
    this.#silentAfterMs = options.silentAfterMs ?? Infinity;
    this.#aliveUntil = performance.now() + (options.leaseMs ?? Infinity);
    this.#end = options.end ?? (() => undefined);
    for (const claim of options.held) this.hold(claim);
  }

  /** Whether another session speaks for the executor: nothing that ends with this one is the executor's end. */
  get isSuperseded(): boolean {
    return this.#isSuperseded;
  }

  /** Another session speaks for the executor from now on: this one is given nothing more, and its stream ends with the reason. */
  supersede(): void {
    this.#isSuperseded = true;
    this.draining = true;
    this.#end(idTaken(this.executorId));
  }

  /** Room for further assignments. A frozen executor has none, nor has one that a sweep takes for dead: each would cost a delivery. */
  get credit(): number {
    if (this.draining || this.isSilent || this.isExpired) return 0;
    const free = Math.max(0, this.#capacity - this.#held.size - this.#reserved);
    const bytes = LIMITS.unsentBytes - this.#unsentBytes - this.#reservedBytes;
    return bytes <= 0 ? 0 : Math.min(free, Math.ceil(bytes / this.#typicalBytes));
  }

  /** Whether it has missed its renewals, although its stream stands. */
  get isSilent(): boolean {
    return performance.now() - this.#heardAt > this.#silentAfterMs;
  }

  /** Whether its life in the store is over: it was frozen past its lease, speaks again, and is not renewed yet. */
  get isExpired(): boolean {
    return performance.now() >= this.#aliveUntil;
  }

  /** The store has it alive for so long from `sentAt` on, at least. */
  renewed(sentAt: number, leaseMs: number): void {
    this.#aliveUntil = sentAt + leaseMs;
  }

  /** It said something. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  get reserved(): number {
    return this.#reserved;
  }

  /** Keeps room for an assignment that is drafted and not committed yet. */
  reserve(bytes: number): void {
    this.#reserved += 1;
    this.#reservedBytes += bytes;
    this.#typicalBytes = Math.max(1, bytes, this.#typicalBytes * FADING);
  }

  /** It is assigned now, or never will be. */
  unreserve(bytes: number): void {
    this.#reserved -= 1;
    this.#reservedBytes -= bytes;
  }

  /** The executor has this capacity from now on. */
  resize(capacity: number): void {
    this.#capacity = capacity;
  }

  grow(by: number): void {
    this.#capacity += by;
  }

  /** Gives it a task: it holds the claim from now on, and hears of it as soon as the stream takes the assignment. */
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

  /** A task that cannot be sent fails in its name. */
  refuse(claim: Claim, oversize: Oversize): void {
    this.hold(claim);
    this.#onOversize(claim, oversize);
  }

  hold(claim: Claim, sentAt = -Infinity): Held {
    const held = { claim, sentAt };
    this.#held.set(keyOf(claim.runId, claim.nodeId, claim.iteration), held);
    return held;
  }

  /** Whether the assignment of this claim waits to be written, or left late and less than so long ago: its executor may not know of it. */
  isOnItsWay({ runId, nodeId, iteration, epoch }: Claim, forMs: number): boolean {
    const held = this.#held.get(keyOf(runId, nodeId, iteration));
    return held?.claim.epoch === epoch && performance.now() - held.sentAt < forMs;
  }

  /** Claims whose assignment has not left: their executor never heard of them. */
  get unsent(): readonly Claim[] {
    return [...this.#held.values()].flatMap(({ claim, sentAt }) =>
      sentAt === Infinity ? [claim] : [],
    );
  }

  /** The claim it holds on a node execution, whatever its epoch. */
  claimOn(runId: RunId, nodeId: NodeId, iteration: number): Claim | undefined {
    return this.#held.get(keyOf(runId, nodeId, iteration))?.claim;
  }

  /** Forgets a claim, if it is the one given. */
  letGo(claim: Claim): void {
    const key = keyOf(claim.runId, claim.nodeId, claim.iteration);
    if (this.#held.get(key)?.claim.epoch === claim.epoch) this.#held.delete(key);
  }

  /** All claims it holds. */
  get held(): readonly Claim[] {
    return Array.from(this.#held.values(), ({ claim }) => claim);
  }

  get heldCount(): number {
    return this.#held.size;
  }
}
