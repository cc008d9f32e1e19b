// The tasks in hand. A task: assigned → running → ended (its outcome waits in the outbox) → settled. It leaves early when its run is
// cancelled (nothing is said), its claim is lost (nothing is said ever again) or it is released. An offer leaves also with the
// connection it came on, without a word: its claim, if it was committed at all, is taken back and runs again.
// Races survived: an assignment delivered twice, a verdict about a claim not held any more (ignored), an outcome that comes after
// its claim went (dropped, since the entry is closed), an offer withdrawn before or after the claim of the same epoch comes (they
// are two tasks), and a handler that still ends while another scheduler's offer has its number (each knows its own entry).

import type { MessageInitShape } from "@bufbuild/protobuf";
import { ChurnMap } from "@pawl/core/data/churn-map";
import type { Media } from "@pawl/core/log/event";
import { probe } from "@pawl/platform/lifecycle/probe";
import type {
  Assignment,
  Claim,
  OutcomeSchema,
  SchedulerItem,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { isOffer } from "./claim-key.ts";
import { beginName, commitName, EXTEND, effectDoor, type EffectDoor } from "./effect-door.ts";
import { fencedWriter, type FencedWriter } from "./fenced-writer.ts";
import type { Outbox } from "./outbox.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import type { Slots } from "./slots.ts";
import type { WorkerEvents } from "@pawl/platform/queue/worker-events";

/** How an attempt ended, without its claim. */
export type AttemptResult = Required<
  Pick<MessageInitShape<typeof OutcomeSchema>, "result" | "durationMs">
> &
  Pick<MessageInitShape<typeof OutcomeSchema>, "gates">;

/** What a running attempt may say. */
export interface AttemptHooks {
  readonly signal: AbortSignal;
  readonly emit: (text: string) => Promise<void>;
  readonly emitMedia: (media: Media) => Promise<void>;
  readonly log: (level: string, message: string) => void;
  /** The effect ledger. */
  readonly effects: EffectDoor;
  /** Keeps this one task's lease for so long, whatever becomes of the renewals (S0.9). */
  readonly extend: (extendMs: number) => Promise<void>;
}

/** Runs one attempt to its end. Must not reject, and must end soon after its signal is aborted. */
export type RunAttempt = (assignment: Assignment, hooks: AttemptHooks) => Promise<AttemptResult>;

export interface AssignmentsOptions {
  readonly outbox: Outbox;
  readonly slots: Slots;
  readonly events: WorkerEvents;
  readonly run: RunAttempt;
}

interface Task {
  readonly entry: OutboxEntry;
  readonly controller: AbortController;
}

/** Dropped offers that are remembered. */
const DROPPED_MAX = 1_000;

export class Assignments {
  readonly #options: AssignmentsOptions;
  /** Tasks whose handler runs. */
  readonly #running = new ChurnMap<string, Task>();
  #dropped: readonly Claim[] = [];

  constructor(options: AssignmentsOptions) {
    this.#options = options;
  }

  /** Acts on what a scheduler said about a claim. */
  readonly onItem = ({ item }: SchedulerItem): void => {
    switch (item.case) {
      case "assignment":
        return this.#assigned(item.value);
      case "settled":
        return this.#settled(item.value.claim);
      case "cancel":
        return this.#leave(item.value.claim, "the run was cancelled");
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
      // Renewed only proves that the scheduler lives; the others belong to the session, and unknown ones to a newer protocol.
      case "renewed":
      case "registered":
      case "drain":
      case undefined:
        return undefined;
    }
  };

  /** Aborts every handler still running and gives its claim back (X18). */
  releaseAll(): void {
    for (const { entry, controller } of this.#running.values()) {
      // Lost or forgotten before, and only not at its end yet.
      if (entry.isDropped) continue;
      controller.abort(new DOMException("the executor is stopping", "AbortError"));
      this.#release(entry.writer);
      this.#options.outbox.close(entry);
    }
  }

  /** The connection is gone, and with it every offer that came on it. */
  dropOffers(): void {
    const offers = this.#options.outbox.held().filter(isOffer);
    for (const claim of offers) this.#leave(claim, "the connection of the offer is gone");
    this.#dropped = [...this.#dropped, ...offers].slice(-DROPPED_MAX);
  }

  /**
   * Offers dropped lately. They are said on every new connection: a scheduler may die before it has acted on them, and whatever is said of
   * a claim that is not there any more changes nothing.
   */
  get dropped(): readonly Claim[] {
    return this.#dropped;
  }

  #assigned(assignment: Assignment): void {
    const { claim } = assignment;
    const { outbox, slots, events } = this.#options;
    if (claim === undefined || outbox.find(claim) !== undefined) return;
    if (!slots.tryTake()) return this.#release(fencedWriter(claim));
    const task = { entry: outbox.open(claim), controller: new AbortController() };
    this.#running.set(task.entry.key, task);
    events.emit("job:claimed", { jobId: task.entry.key, runId: claim.runId });
    probe("assignment.received");
    void this.#run(assignment, task);
  }

  async #run(assignment: Assignment, { entry, controller }: Task): Promise<void> {
    const { outbox, slots, run } = this.#options;
    const result = await run(assignment, {
      signal: controller.signal,
      emit: (text) => outbox.delta(entry, text),
      emitMedia: (media) => outbox.media(entry, media),
      log: (level, message) => outbox.log(entry, level, message),
      effects: effectDoor(outbox, entry),
      extend: (extendMs) => outbox.ask(entry, EXTEND, entry.writer.extend(extendMs)),
    });
    probe("handler.after-run");
    if (this.#running.get(entry.key)?.entry === entry) this.#running.delete(entry.key);
    outbox.outcome(entry, result);
    slots.give();
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
    this.#leave(claim, "the claim was lost");
    // Offers come to nothing every day; a claim that is lost is an incident.
    if (isOffer(entry.claim)) return;
    this.#options.events.emit("job:claim_lost", { jobId: entry.key, runId: entry.claim.runId });
  }

  /** Aborts and forgets, without a word. */
  #leave(claim: Claim | undefined, why: string): void {
    const entry = this.#find(claim);
    if (entry === undefined) return;
    this.#options.outbox.close(entry);
    this.#running.get(entry.key)?.controller.abort(new DOMException(why, "AbortError"));
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
