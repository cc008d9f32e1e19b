// One stream of SubmitRuns at a time, and the submissions that wait for answers on it.
//
// States: closed → open (by the first submission) → closed (cut, drained, silent) → pausing → open …
//
// Races. A stream breaks between any two messages: every submission without a final answer is sent again on the next stream, to the next
// gateway. Its request id makes it the same run, so a repeat starts nothing and gives the same end. An answer comes twice: the first
// counts. A caller aborts: its submission is dropped, and its run continues.

import type { AcceptedSubmission, RunEnd } from "@pawl/proto/pawl/v1/run_service_pb";
import type { Refusal, SubmissionAnswer } from "@pawl/proto/pawl/v1/run_service_pb";
import { fullJitterMs } from "../backoff.ts";
import type { ConnectionOptions, Start } from "../connection.ts";
import { PawlError, refusalError } from "../errors.ts";
import type { OpenSubmitStream, SubmitStream } from "./submit-stream.ts";

/** A submission under way. */
export interface Entry {
  readonly start: Start;
  readonly wait: boolean;
  readonly bytes: number;
  /** The time of the submission, or of the last answer about it. */
  sinceMs: number;
  /** How often a gateway refused it with an error that may pass. */
  tries: number;
  /** How many streams were lost under it. */
  losses: number;
  accepted: AcceptedSubmission | undefined;
  isSettled: boolean;
  readonly accept: (accepted: AcceptedSubmission) => void;
  readonly resolve: (end: RunEnd | undefined) => void;
  readonly reject: (error: PawlError) => void;
}

export interface LaneOptions extends ConnectionOptions {
  readonly addresses: readonly string[];
  /** The place of the first address to try. */
  readonly first: number;
  readonly open: OpenSubmitStream;
  /** Called when a full lane has room again. */
  readonly onRoom: () => void;
}

/** The gateway's limit. */
const SUBMISSIONS_MAX = 1_000;
const MESSAGE_BYTES = 256 * 1024;
/** Three heartbeats of the gateway. */
const SILENCE_MS = 45_000;
/** How long the client waits for an accepted run while it can reach no gateway. */
const GIVE_UP_MS = 5 * 60_000;

export class Lane {
  readonly #options: LaneOptions;
  readonly #entries = new Map<string, Entry>();
  #outgoing: Entry[] = [];
  #stream: SubmitStream | undefined;
  #silence: NodeJS.Timeout | undefined;
  #isScheduled = false;
  #isPausing = false;
  #hasConnected = false;
  /** Streams in a row that brought nothing. */
  #failures = 0;
  #address: number;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#address = options.first;
  }

  get hasRoom(): boolean {
    return this.#entries.size < SUBMISSIONS_MAX;
  }

  add(entry: Entry): void {
    if (this.#entries.size === 0) this.#stream?.hold(true);
    this.#entries.set(entry.start.requestId, entry);
    this.#outgoing.push(entry);
    this.#schedule();
  }

  /** Forgets a submission. */
  drop({ start: { requestId } }: Entry): void {
    if (!this.#entries.delete(requestId)) return;
    if (this.#entries.size === 0) {
      this.#stream?.hold(false);
      // The pauses of an outage are over with the last call that met it.
      this.#failures = 0;
    }
    if (this.#entries.size === SUBMISSIONS_MAX - 1) this.#options.onRoom();
  }

  close(reason: PawlError): void {
    this.#leaveStream();
    for (const entry of this.#entries.values()) entry.reject(reason);
    this.#entries.clear();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isPausing) return;
    this.#isScheduled = true;
    // A lone submission leaves at once. If others are under way, the submissions of this turn of the event loop leave together.
    if (this.#entries.size === 1) process.nextTick(() => this.#flush());
    else setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    const outgoing = this.#outgoing.filter(({ isSettled }) => !isSettled);
    this.#outgoing = [];
    if (outgoing.length === 0 || this.#isPausing) return;
    if (this.#stream === undefined) this.#connect();
    let submissions: { start: Start; wait: boolean }[] = [];
    let bytes = 0;
    for (const { start, wait, bytes: own } of outgoing) {
      if (submissions.length > 0 && bytes + own > MESSAGE_BYTES) {
        this.#stream?.write({ submissions });
        submissions = [];
        bytes = 0;
      }
      submissions.push({ start, wait });
      bytes += own;
    }
    this.#stream?.write({ submissions });
  }

  #connect(): void {
    const { addresses, open } = this.#options;
    const address = addresses[this.#address % addresses.length] ?? "";
    const stream = open(address, {
      onMessage: ({ answers }) => {
        if (this.#stream !== stream) return;
        this.#failures = 0;
        this.#hasConnected = true;
        this.#silence?.refresh();
        for (const answer of answers) this.#answered(answer);
      },
      onClose: (error) => {
        if (this.#stream === stream) this.#lost(error);
      },
    });
    this.#stream = stream;
    const silent = new PawlError("UNREACHABLE", `the gateway sent nothing for ${SILENCE_MS} ms`);
    this.#silence = setTimeout(() => this.#lost(silent), SILENCE_MS);
    this.#silence.unref();
  }

  #answered({ requestId, accepted, refused, end }: SubmissionAnswer): void {
    const entry = this.#entries.get(requestId);
    if (entry === undefined) return;
    entry.sinceMs = this.#options.clock.now();
    if (accepted !== undefined && entry.accepted === undefined) entry.accept(accepted);
    if (refused !== undefined) return this.#refused(entry, refused);
    if (end === undefined && entry.wait) return;
    this.drop(entry);
    entry.resolve(end);
  }

  /** Sends a submission again later if that may help, and rejects it otherwise. */
  #refused(entry: Entry, refusal: Refusal): void {
    const error = refusalError(refusal);
    const { clock, attempts } = this.#options;
    entry.tries += 1;
    if (!error.retryable || entry.tries >= attempts) {
      this.drop(entry);
      entry.reject(error);
      return;
    }
    const pauseMs = Math.max(fullJitterMs(entry.tries, clock.random()), error.retryAfterMs ?? 0);
    void clock.pause(pauseMs, undefined).then(() => {
      if (entry.isSettled) return;
      this.#outgoing.push(entry);
      this.#schedule();
    });
  }

  #leaveStream(): void {
    clearTimeout(this.#silence);
    this.#stream?.close();
    this.#stream = undefined;
  }

  /** The stream has ended. Every submission without a final answer waits for the next one. */
  #lost(reason: PawlError): void {
    this.#leaveStream();
    this.#failures += 1;
    this.#address += 1;
    const { clock } = this.#options;
    const pauseMs = fullJitterMs(this.#failures, clock.random());
    for (const entry of [...this.#entries.values()]) {
      entry.losses += 1;
      if (!this.#isHopeless(entry, reason)) continue;
      this.drop(entry);
      entry.reject(reason);
    }
    if (this.#entries.size === 0 || this.#isPausing) return;
    this.#isPausing = true;
    void clock.pause(pauseMs, undefined).then(() => {
      this.#isPausing = false;
      this.#outgoing = [...this.#entries.values()];
      if (this.#outgoing.length > 0) this.#schedule();
    });
  }

  #isHopeless(entry: Entry, error: PawlError): boolean {
    const { clock, attempts, timeoutMs } = this.#options;
    if (!error.retryable) return true;
    const silentMs = clock.now() - entry.sinceMs;
    if (entry.accepted !== undefined) return silentMs > GIVE_UP_MS;
    // Where no gateway ever answered, the address is most likely wrong.
    return this.#hasConnected ? silentMs > timeoutMs : entry.losses >= attempts;
  }
}
