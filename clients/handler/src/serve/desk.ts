// All invocations of a process: its slots, the line for them, and the items of the host that are about one invocation.
//
// Races: work comes while every slot is taken, a cancel comes while an invocation waits, or a second delivery comes while the first still
// runs. A slot is free only when its function has returned.

import { setTimeout as wait } from "node:timers/promises";
import type { ServedHandler } from "@pawl/core/handler/served";
import type { HostItem, Invoke } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { type CancelWord, wordOf } from "./cancelled.ts";
import { Invocation } from "./invocation.ts";
import { outcomeItem, permanentFailure } from "./outcome-item.ts";
import type { Session } from "./session.ts";

/** How long a newer delivery of the same work waits for the older one to return. */
const REPLACE_MS = 5_000;

export interface DeskOptions {
  readonly handlers: readonly ServedHandler[];
  readonly slots: number;
  /** Something was sent, or an invocation ended. */
  readonly wake: () => void;
}

export class Desk {
  readonly #options: DeskOptions;
  readonly #handlers: ReadonlyMap<string, ServedHandler>;
  /** Everything that has not ended. */
  readonly #live = new Map<string, Invocation>();
  readonly #line: Invocation[] = [];
  #running = 0;

  constructor(options: DeskOptions) {
    this.#options = options;
    this.#handlers = new Map(options.handlers.map((handler) => [handler.type, handler]));
  }

  get isIdle(): boolean {
    return this.#live.size === 0;
  }

  /** Handles an item about one invocation, and ignores one that is over. */
  handle({ item }: HostItem, session: Session): void {
    if (item.case === "invoke") this.#invoke(item.value, session);
    else if (item.case === "cancel")
      this.#cancel(this.#live.get(item.value.invocationId), wordOf(item.value.reason));
    else if (item.case === "streamed")
      this.#live.get(item.value.invocationId)?.streamed(item.value);
    else if (item.case === "effectBegun")
      this.#live.get(item.value.invocationId)?.ledger.begun(item.value);
    else if (item.case === "effectCommitted")
      this.#live.get(item.value.invocationId)?.ledger.committed(item.value);
  }

  /** Cancels everything: the session is lost. */
  cancelAll(reason: CancelWord): void {
    for (const invocation of this.#live.values()) this.#cancel(invocation, reason);
  }

  #invoke(invoke: Invoke, session: Session): void {
    if (this.#live.has(invoke.invocationId)) return;
    const { wake } = this.#options;
    const handler = this.#handlers.get(invoke.type);
    if (handler === undefined) {
      const known = [...this.#handlers.keys()].join(", ");
      const message = `this process has no handler for the node type "${invoke.type}"; it serves ${known}`;
      const failure = permanentFailure("unknown_node_type", message);
      session.send(outcomeItem(invoke.invocationId, failure, session.limits));
      wake();
      return;
    }
    const invocation = new Invocation({ invoke, handler, session, wake });
    const older = [...this.#live.values()].filter(
      ({ effectKey }) => effectKey !== "" && effectKey === invoke.effectKey,
    );
    this.#live.set(invocation.id, invocation);
    if (older.length === 0) this.#enter(invocation);
    else void this.#replace(older, invocation);
  }

  async #replace(older: readonly Invocation[], newer: Invocation): Promise<void> {
    for (const invocation of older) this.#cancel(invocation, "claim_lost");
    const returned = Promise.all(older.map(({ ended }) => ended));
    await Promise.race([returned, newer.ended, wait(REPLACE_MS, undefined, { ref: false })]);
    if (this.#live.get(newer.id) === newer) this.#enter(newer);
  }

  #cancel(invocation: Invocation | undefined, reason: CancelWord): void {
    if (invocation === undefined || invocation.isCancelled) return;
    invocation.cancel(reason);
    if (invocation.hasBegun) return;
    const place = this.#line.indexOf(invocation);
    if (place >= 0) this.#line.splice(place, 1);
    // The function never runs, so this only sends Ended.
    void invocation.run().then(() => this.#forget(invocation));
  }

  #enter(invocation: Invocation): void {
    this.#line.push(invocation);
    this.#fill();
  }

  #fill(): void {
    while (this.#running < this.#options.slots) {
      const next = this.#line.shift();
      if (next === undefined) return;
      void this.#run(next);
    }
  }

  async #run(invocation: Invocation): Promise<void> {
    this.#running += 1;
    await invocation.run();
    this.#running -= 1;
    this.#forget(invocation);
    this.#fill();
  }

  #forget(invocation: Invocation): void {
    if (this.#live.get(invocation.id) === invocation) this.#live.delete(invocation.id);
    this.#options.wake();
  }
}
