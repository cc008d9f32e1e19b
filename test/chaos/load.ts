// The load during a chaos run: runs of every shape, offered at a steady pace through all gateways, each watched from its first event to its
// last. The load repeats a submission under its request id until a scheduler accepts it.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { PawlError, type PawlClient } from "@pawl/client";
import { answerTo } from "../stress/person.ts";
import { seededRandom, shuffled, type Random } from "../stress/random.ts";
import type { Shape } from "../stress/shape.ts";
import { isTurnedAway, startOf, threadOf } from "../stress/thread-oracle.ts";

/** One run as its client knows it. */
export type Submission = {
  readonly index: number;
  readonly shape: Shape;
  readonly requestId: string;
  /** Once it was accepted. */
  runId: string;
  /** Why it was not accepted. */
  refusal: string;
  /** Its thread, if its shape has one. */
  readonly threadId: string;
  readonly sentAt: number;
  acceptedAt: number;
  /** Whether its thread was busy, and its strategy is to be refused then. */
  isTurnedAway: boolean;
  /** How often the load repeated it, because no answer came in time. */
  repeats: number;
  /** The node executions that its person added to its budget. */
  added: number;
  /** The events that its watcher got. */
  readonly eventIds: number[];
  hasEnded: boolean;
  /** Why its watcher gave up. */
  watchFault: string;
};

/** What to offer. */
type LoadOptions = {
  readonly clients: readonly PawlClient[];
  readonly shapes: readonly Shape[];
  /** Of the names of its workflows. */
  readonly prefix: string;
  readonly everyMs: number;
  readonly seed: number;
  /** No more than this many. */
  readonly most: number;
};

/** The watcher takes a connection without any bytes for this long for dead: a heartbeat and a half. */
const SILENCE_MS = 22_000;

/** The workflow of a shape. */
const workflowIdOf = (prefix: string, { name }: Shape): string =>
  `${prefix}-${name.toLowerCase().replaceAll(" ", "-")}`;

/** Saves the workflows of all shapes. */
export async function saveShapes(
  client: PawlClient | undefined,
  prefix: string,
  shapes: readonly Shape[],
): Promise<void> {
  if (client === undefined) throw new Error("nobody to save them with");
  for (const shape of shapes) {
    for (const [workflowId, child] of Object.entries(shape.children ?? {}))
      await client.workflows.create(child, { workflowId });
    await client.workflows.create(shape.definition, { workflowId: workflowIdOf(prefix, shape) });
  }
}

/** Offers runs until it is stopped. */
export class Load {
  readonly submissions: Submission[] = [];
  readonly #options: LoadOptions;
  readonly #random: Random;
  readonly #lives: Promise<void>[] = [];
  readonly #over = new AbortController();
  /** The runs of a load share threads with no others. */
  readonly #group = randomUUID();
  #offering: Promise<void> | undefined;
  #isOffering = true;
  #deck: Shape[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
  }

  start(): void {
    this.#offering = this.#offer();
  }

  get acceptedCount(): number {
    return this.submissions.filter(({ runId }) => runId !== "").length;
  }

  get endedCount(): number {
    return this.submissions.filter(({ hasEnded }) => hasEnded).length;
  }

  /** Offers no more, and waits until every run was seen to its end; no longer than `atMostMs`. */
  async finish(atMostMs: number): Promise<void> {
    this.#isOffering = false;
    await this.#offering;
    const timer = setTimeout(() => this.#over.abort(), atMostMs);
    await Promise.all(this.#lives);
    clearTimeout(timer);
  }

  async #offer(): Promise<void> {
    const { everyMs, most } = this.#options;
    while (this.#isOffering && this.submissions.length < most) {
      this.#lives.push(this.#live(this.#next()));
      await pause(everyMs * (0.5 + this.#random()));
    }
  }

  /** Every shape comes as often as any other, or as its weight says. */
  #next(): Submission {
    if (this.#deck.length === 0) {
      const deck = this.#options.shapes.flatMap((shape) =>
        Array.from({ length: shape.weight ?? 1 }, () => shape),
      );
      this.#deck = shuffled(deck, this.#random);
    }
    const shape = this.#deck.pop();
    if (shape === undefined) throw new Error("no shapes");
    const submission: Submission = {
      index: this.submissions.length,
      shape,
      requestId: randomUUID(),
      runId: "",
      refusal: "",
      repeats: 0,
      added: 0,
      threadId: threadOf(shape, this.#group),
      sentAt: performance.now(),
      acceptedAt: 0,
      isTurnedAway: false,
      eventIds: [],
      hasEnded: false,
      watchFault: "",
    };
    this.submissions.push(submission);
    return submission;
  }

  /** One run: submitted, watched, decided about where it waits for a person. */
  async #live(submission: Submission): Promise<void> {
    const { index, shape, requestId } = submission;
    const { clients, prefix } = this.#options;
    const here = clients[index % clients.length];
    const there = clients[(index + 1) % clients.length];
    const { signal } = this.#over;
    if (here === undefined || there === undefined) throw new Error("nobody to ask");
    try {
      const workflowId = workflowIdOf(prefix, shape);
      const options = { ...startOf(shape, index, this.#group), requestId, signal };
      const start = () => here.runs.start(workflowId, options);
      submission.runId = (await this.#insist(submission, start)).run.runId;
      submission.acceptedAt = performance.now();
    } catch (error) {
      submission.isTurnedAway = isTurnedAway(error, shape.multitask?.(index));
      submission.refusal = String(error);
      return;
    }
    try {
      await this.#watch(there, submission);
    } catch (error) {
      submission.watchFault = String(error);
    }
  }

  async #watch(client: PawlClient, submission: Submission): Promise<void> {
    const { index, shape, runId, eventIds } = submission;
    const { signal } = this.#over;
    const requestId = randomUUID();
    for await (const event of client.watch(runId, { silenceMs: SILENCE_MS, signal })) {
      eventIds.push(Number(event.eventId));
      const answer = answerTo(shape, index, event);
      if (answer === undefined) continue;
      await this.#insist(submission, () => answer.give(client, { requestId, signal }));
      submission.added += answer.added;
    }
    submission.hasEnded = !signal.aborted;
  }

  /** Repeats a call until an answer comes. A call without an answer may have been carried out, so it is repeated unchanged. */
  async #insist<T>(submission: Submission, call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        const isLate = error instanceof PawlError && error.reason === "DEADLINE_PASSED";
        if (!isLate || this.#over.signal.aborted) throw error;
        submission.repeats += 1;
      }
    }
  }
}
