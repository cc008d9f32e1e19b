// One connected executor, as the scheduler sees it: what it serves, what it holds and how much room it has.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { ChurnMap } from "@pawl/core/data/churn-map";
import type { ExecutorId, NodeId, RunId } from "@pawl/core/name/ids";
import type { SchedulerItemSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import type { Claim } from "../tick/input.ts";

/** What a scheduler may say. It is encoded as it is: making a whole message of it first would cost more than the encoding does. */
export type SchedulerItemInit = MessageInitShape<typeof SchedulerItemSchema>;

/** Sends items down the stream; batches and backpressure are the stream's business. */
export type SendItem = (item: SchedulerItemInit) => void;

const keyOf = (runId: RunId, nodeId: NodeId, iteration: number): string =>
  `${runId}/${nodeId}/${iteration}`;

export class Session {
  readonly executorId: ExecutorId;
  readonly sessionId: string;
  readonly nodeTypes: ReadonlySet<string>;
  /** Those of them that may be run before their claim is committed. */
  readonly instantTypes: ReadonlySet<string>;
  readonly send: SendItem;
  readonly #held = new ChurnMap<string, Claim>();
  readonly #silentAfterMs: number;
  #heardAt = performance.now();
  #aliveUntil: number;
  #slots: number;
  /** Set when the executor is leaving: it gets nothing more. */
  draining = false;

  constructor(options: {
    readonly executorId: ExecutorId;
    readonly sessionId: string;
    readonly nodeTypes: readonly string[];
    readonly instantTypes?: readonly string[];
    readonly slots: number;
    readonly held: readonly Claim[];
    readonly send: SendItem;
    /** An executor that said nothing for this long gets nothing more until it speaks again; never unless said. */
    readonly silentAfterMs?: number;
    /** How long its registration keeps it alive, from now on; for ever unless said. */
    readonly leaseMs?: number;
  }) {
    this.executorId = options.executorId;
    this.sessionId = options.sessionId;
    this.nodeTypes = new Set(options.nodeTypes);
    this.instantTypes = new Set(options.instantTypes);
    this.#slots = options.slots;
    this.send = options.send;
    this.#silentAfterMs = options.silentAfterMs ?? Infinity;
    this.#aliveUntil = performance.now() + (options.leaseMs ?? Infinity);
    for (const claim of options.held) this.hold(claim);
  }

  /** Room for further assignments. A frozen executor has none, nor has one that a sweep takes for dead: each would cost a delivery. */
  get credit(): number {
    if (this.draining || this.isSilent || this.isExpired) return 0;
    return Math.max(0, this.#slots - this.#held.size - this.reserved);
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

  /** Assignments drafted and not committed yet. */
  reserved = 0;

  /** The executor has this many slots from now on. */
  resize(slots: number): void {
    this.#slots = slots;
  }

  grow(slots: number): void {
    this.#slots += slots;
  }

  hold(claim: Claim): void {
    this.#held.set(keyOf(claim.runId, claim.nodeId, claim.iteration), claim);
  }

  /** The claim it holds on a node execution, whatever its epoch. */
  claimOn(runId: RunId, nodeId: NodeId, iteration: number): Claim | undefined {
    return this.#held.get(keyOf(runId, nodeId, iteration));
  }

  /** Forgets a claim, if it is the one given. */
  letGo(claim: Claim): void {
    const key = keyOf(claim.runId, claim.nodeId, claim.iteration);
    const held = this.#held.get(key);
    if (held?.epoch === claim.epoch && held.offer?.id === claim.offer?.id) this.#held.delete(key);
  }

  /** The claim an executor names, with the offer it was made by; undefined for an offer that is not this session's any more. */
  recognise(claim: Claim): Claim | undefined {
    if (claim.offer === undefined) return claim;
    const held = this.claimOn(claim.runId, claim.nodeId, claim.iteration);
    return held?.offer?.id === claim.offer.id ? held : undefined;
  }

  /** All claims it holds. */
  get held(): readonly Claim[] {
    return [...this.#held.values()];
  }

  get heldCount(): number {
    return this.#held.size;
  }
}
