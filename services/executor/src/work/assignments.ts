// The tasks of this executor. A task: assigned → running → ended (its outcome waits in the outbox) → settled. It leaves early when its run
// is cancelled, when its claim is lost (the executor sends nothing more about it), or when the executor releases it.
//
// Races. An assignment is delivered twice: the second is ignored. A message is about a claim that the executor no longer holds: it is
// ignored. An outcome comes after its claim was lost: it is dropped, because the entry is closed.

import { ChurnMap } from "@pawl/core/data/churn-map";
import { probe } from "@pawl/platform/lifecycle/probe";
import type {
  Assignment,
  Claim,
  SchedulerItem,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { beginName, commitName, EXTEND, effectDoor } from "./effect-door.ts";
import { fencedWriter, type FencedWriter } from "./fenced-writer.ts";
import type { Outbox } from "./outbox.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import type { Capacity } from "./capacity.ts";
import type { RunAttempt } from "../run/run-attempt.ts";
import type { WorkerEvents } from "@pawl/platform/queue/worker-events";

interface AssignmentsOptions {
  readonly outbox: Outbox;
  readonly capacity: Capacity;
  readonly events: WorkerEvents;
  readonly run: RunAttempt;
}

/** Why a handler is aborted from outside of its attempt. It is the message of the signal's reason. */
export const ABORTS = {
  cancelled: "the run was cancelled",
  claimLost: "the claim was lost",
  stopping: "the executor is stopping",
  gone: "the process of the handler has ended",
} as const;

const abortReason = (why: keyof typeof ABORTS): DOMException =>
  new DOMException(ABORTS[why], "AbortError");

interface Task {
  readonly entry: OutboxEntry;
  readonly controller: AbortController;
}

export class Assignments {
  readonly #options: AssignmentsOptions;
  /** Tasks whose handler runs. */
  readonly #running = new ChurnMap<string, Task>();

  constructor(options: AssignmentsOptions) {
    this.#options = options;
  }

  /** Handles a scheduler's message about a claim. */
  readonly onItem = ({ item }: SchedulerItem): void => {
    switch (item.case) {
      case "assignment":
        return this.#assigned(item.value);
      case "settled":
        return this.#settled(item.value.claim);
      case "cancel":
        return this.#leave(item.value.claim, "cancelled");
      case "claimLost":
        return this.#lost(item.value.claim);
      case "streamed": {
        const { claim, deltaCount, logCount } = item.value;
        return this.#find(claim)?.acknowledge(deltaCount, logCount);
      }
      case "effectBegun":
        return this.#answer(item.value.claim, beginName(item.value.name), item.value);
      case "effectCommitted":
        return this.#answer(item.value.claim, commitName(item.value.name), item.value);
      case "extended":
        return this.#answer(item.value.claim, EXTEND, undefined);
      // The worker handles the calls of webhooks. Renewed only proves that the scheduler lives. The session handles the others, and unknown items belong to a newer protocol.
      case "renewed":
      case "webhookCall":
      case "registered":
      case "drain":
      case undefined:
        return undefined;
    }
  };

  /** Aborts the running handlers of these claims and gives the claims back. By default of all claims. */
  release(which: (claim: Claim) => boolean = () => true): void {
    for (const { entry, controller } of this.#running.values()) {
      // Its claim is lost, and its handler has not ended yet.
      if (entry.isDropped || !which(entry.claim)) continue;
      controller.abort(abortReason("stopping"));
      this.#release(entry.writer);
      this.#options.outbox.close(entry);
    }
  }

  /** Aborts every running handler without a message. The end of the stream makes its claim a lost delivery. */
  forget(): void {
    for (const { entry } of this.#running.values()) this.#leave(entry.claim, "gone");
  }

  #assigned(assignment: Assignment): void {
    const { claim, firstDeltaIndex } = assignment;
    const { outbox, capacity, events } = this.#options;
    if (claim === undefined || outbox.find(claim) !== undefined) return;
    if (!capacity.tryTake()) return this.#release(fencedWriter(claim));
    const task = { entry: outbox.open(claim, firstDeltaIndex), controller: new AbortController() };
    this.#running.set(task.entry.key, task);
    events.emit("job:claimed", { jobId: task.entry.key, runId: claim.runId });
    probe("assignment.received");
    void this.#run(assignment, task);
  }

  async #run(assignment: Assignment, { entry, controller }: Task): Promise<void> {
    const { outbox, capacity, run } = this.#options;
    const result = await run(assignment, {
      signal: controller.signal,
      emit: (text) => outbox.delta(entry, text),
      emitMedia: (media) => outbox.media(entry, media),
      log: (level, message) => outbox.log(entry, level, message),
      effects: effectDoor(outbox, entry),
      extend: (extendMs) => outbox.ask(entry, EXTEND, entry.writer.extend(extendMs)),
    });
    probe("handler.after-run");
    this.#running.delete(entry.key);
    outbox.outcome(entry, result);
    capacity.give();
  }

  #settled(claim: Claim | undefined): void {
    const entry = this.#find(claim);
    if (entry === undefined) return;
    const { events, outbox } = this.#options;
    const job = { jobId: entry.key, runId: entry.claim.runId };
    const result = entry.outcome?.result;
    probe("outcome.acknowledged");
    outbox.close(entry);
    if (result?.case === "failed") {
      const error = result.value.message ?? "";
      const isFinal = result.value.permanent === true;
      events.emit(isFinal ? "job:dead_letter" : "job:failed", { ...job, error });
    } else events.emit("job:completed", job);
  }

  #lost(claim: Claim | undefined): void {
    const entry = this.#find(claim);
    if (entry === undefined) return;
    this.#leave(claim, "claimLost");
    this.#options.events.emit("job:claim_lost", { jobId: entry.key, runId: entry.claim.runId });
  }

  /** Aborts and removes the task, without a message. */
  #leave(claim: Claim | undefined, why: keyof typeof ABORTS): void {
    const entry = this.#find(claim);
    if (entry === undefined) return;
    this.#options.outbox.close(entry);
    this.#running.get(entry.key)?.controller.abort(abortReason(why));
  }

  #release(writer: FencedWriter): void {
    const { outbox, events } = this.#options;
    outbox.control(writer.release());
    events.emit("job:released", { jobId: writer.key, runId: writer.claim.runId });
  }

  #answer(claim: Claim | undefined, name: string, value: unknown): void {
    this.#find(claim)?.asks.resolve(name, value);
  }

  #find(claim: Claim | undefined): OutboxEntry | undefined {
    return claim === undefined ? undefined : this.#options.outbox.find(claim);
  }
}
