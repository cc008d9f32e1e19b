// Keeps a process linked to a host: opens a stream, resumes the session after a cut, begins another one after Lost, and leaves when asked. With
// several hosts it goes to the next one when a host does not answer; with unfinished work only once that host has given the session up.
//
// Races: a stream ends at any moment, a host becomes silent, work ends while no stream is open, or a stop comes during any of these. The
// session keeps the items that the host does not have, so the next stream continues where the last one ended.

import { setTimeout as wait } from "node:timers/promises";
import { status as grpcStatus } from "@grpc/grpc-js";
import type { ServedHandler } from "@pawl/core/handler/served";
import type { HostItem } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { Backoff } from "./backoff.ts";
import { Desk } from "./desk.ts";
import { type HelloInit, Session } from "./session.ts";
import type { Dialler, HostStream, StreamEnd } from "./stream.ts";

/** `cut` means that the process had a session and connects again. */
export type Status = "connecting" | "open" | "cut" | "draining" | "stopped";

/** How long the host may take to answer the opening. */
const OPENING_MS = 15_000;
/** A message that only says what the process has waits this long for items to travel with. The host expects it within 100 ms. */
const HEARD_MS = 25;
/** How long a host that has everything may keep the stream of a leaving process open. */
const GOODBYE_MS = 5_000;
/** A person must act before these go away. */
const REFUSALS: ReadonlySet<number> = new Set([
  grpcStatus.INVALID_ARGUMENT,
  grpcStatus.UNAUTHENTICATED,
  grpcStatus.PERMISSION_DENIED,
  grpcStatus.FAILED_PRECONDITION,
]);

/** An executor that this process may serve. */
export interface Host {
  readonly address: string;
  readonly dialler: Dialler;
}

export interface LinkOptions {
  readonly hello: HelloInit;
  readonly handlers: readonly ServedHandler[];
  readonly slots: number;
  /** At least one. The process serves one of them at a time. */
  readonly hosts: readonly [Host, ...Host[]];
  readonly newId: () => string;
  readonly log: (line: string) => void;
}

type End = { readonly kind: "lost" } | ({ readonly kind: "ended" } & StreamEnd);

export class Link {
  readonly #options: LinkOptions;
  readonly #desk: Desk;
  /** Aborted when nothing has to be delivered any more: no wait is worth its time. */
  readonly #over = new AbortController();
  #session: Session;
  #host: Host;
  #stream: HostStream | undefined;
  #wasWelcome = false;
  #isLeaving = false;
  #isHostDraining = false;
  #isBlocked = false;
  #isFlushScheduled = false;
  #heardTimer: NodeJS.Timeout | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;
  #goodbyeTimer: NodeJS.Timeout | undefined;
  #end: (end: End) => void = () => undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#desk = new Desk({ ...options, wake: () => this.#wake() });
    this.#session = this.#newSession();
    [this.#host] = options.hosts;
  }

  get status(): Status {
    if (this.#over.signal.aborted) return "stopped";
    if (this.#isLeaving || this.#isHostDraining) return "draining";
    if (this.#session.isOpen) return "open";
    return this.#wasWelcome ? "cut" : "connecting";
  }

  /** Serves until `stop`. @throws if the host refuses the process before its first Welcome */
  async run(): Promise<void> {
    try {
      await this.#keepLinked();
    } finally {
      this.#over.abort();
      clearTimeout(this.#goodbyeTimer);
      for (const { dialler } of this.#options.hosts) dialler.close();
    }
  }

  /** Takes no more work, finishes what runs, and leaves. */
  stop(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    if (this.#session.welcome === undefined) {
      this.#over.abort();
      this.#close("the process stops");
      return;
    }
    this.#session.send({ item: { case: "leaving", value: {} } });
    this.#wake();
  }

  async #keepLinked(): Promise<void> {
    const backoff = new Backoff();
    let cutAt = performance.now();
    while (!this.#over.signal.aborted) {
      const end = await this.#serveStream();
      const wasOpen = this.#session.isOpen;
      this.#session.closed();
      if (wasOpen) {
        backoff.reset();
        cutAt = performance.now();
      }
      if (end.kind === "lost") {
        this.#lose();
        continue;
      }
      if (this.#isDone(end, performance.now() - cutAt)) return;
      this.#report(end);
      this.#moveOn(performance.now() - cutAt);
      if (this.#session.welcome === undefined) this.#session = this.#newSession();
      const waitMs = backoff.next(Math.random());
      await wait(waitMs, undefined, { signal: this.#over.signal }).catch(() => undefined);
    }
  }

  /** The host does not have the session any more, so the process begins another one. */
  #lose(): void {
    const consequence = this.#desk.isIdle ? "nothing was under way" : "everything is cancelled";
    this.#options.log(`the host does not have the session any more; ${consequence}`);
    this.#desk.cancelAll("claim_lost");
    this.#session = this.#newSession();
    if (this.#isLeaving) this.#over.abort();
  }

  /** Whether a leaving process has nothing left to deliver, or no host to deliver it to. */
  #isDone(end: StreamEnd, cutMs: number): boolean {
    if (!this.#isLeaving) return false;
    const hasAll = end.code === grpcStatus.OK || this.#session.isSettled;
    if (this.#desk.isIdle && hasAll) return true;
    if (cutMs < Number(this.#session.welcome?.resumeMs ?? 0n)) return false;
    this.#desk.cancelAll("claim_lost");
    return true;
  }

  /** Chooses the next host, unless the present one may still have a session with unfinished work. */
  #moveOn(cutMs: number): void {
    const { hosts } = this.#options;
    const isFree = this.#desk.isIdle && this.#session.isSettled;
    const isOver = cutMs >= Number(this.#session.welcome?.resumeMs ?? 0n);
    if (!isFree && !isOver) return;
    this.#host = hosts[(hosts.indexOf(this.#host) + 1) % hosts.length] ?? this.#host;
  }

  #report({ code, details }: StreamEnd): void {
    const why = `${grpcStatus[code]}: ${details}`;
    if (!this.#wasWelcome && REFUSALS.has(code))
      throw new Error(`the host at ${this.#host.address} refused this process: ${why}`);
    this.#options.log(`no stream to ${this.#host.address} (${why}); connecting again`);
  }

  #newSession(): Session {
    return new Session(this.#options.newId(), this.#options.hello);
  }

  /** One stream from its opening to its end. */
  async #serveStream(): Promise<End> {
    const { promise, resolve } = Promise.withResolvers<End>();
    const session = this.#session;
    this.#end = resolve;
    this.#isBlocked = false;
    const stream = this.#host.dialler.open({
      onMessage: (message) => {
        if (this.#stream !== stream) return;
        const received = session.receive(message);
        this.#expectMore(Number(session.welcome?.silenceMs ?? OPENING_MS));
        if (received.kind === "lost") this.#close("lost", { kind: "lost" });
        else if (received.kind === "broken") this.#close(`the host broke a rule: ${received.why}`);
        else this.#received(received.items, message.opening.case === "welcome");
      },
      onEnd: (end) => resolve({ kind: "ended", ...end }),
      onDrain: () => {
        this.#isBlocked = false;
        this.#flush();
      },
    });
    this.#stream = stream;
    this.#expectMore(OPENING_MS);
    stream.write(session.opening());
    const end = await promise;
    this.#stream = undefined;
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = undefined;
    clearTimeout(this.#heardTimer);
    this.#heardTimer = undefined;
    stream.close();
    return end;
  }

  #close(
    why: string,
    end: End = { kind: "ended", code: grpcStatus.CANCELLED, details: why },
  ): void {
    this.#end(end);
    this.#stream?.close();
    this.#stream = undefined;
  }

  /**
   * A host that sends nothing for so long is left. After a handler that blocked the event loop, this timer runs before the messages that came
   * meanwhile are read. So it looks once more after they were.
   */
  #expectMore(ms: number): void {
    clearTimeout(this.#silenceTimer);
    const timer = setTimeout(() => {
      setImmediate(() => {
        if (this.#silenceTimer === timer) this.#close(`the host was silent for ${ms} ms`);
      });
    }, ms);
    this.#silenceTimer = timer;
  }

  #received(items: readonly HostItem[], isWelcome: boolean): void {
    if (isWelcome) {
      this.#wasWelcome = true;
      // A host that stops and is resumed still stops.
      if (this.#session.welcome?.resumed !== true) this.#isHostDraining = false;
    }
    for (const item of items) this.#handle(item);
    this.#wake();
    if (this.#session.owesHeard && this.#heardTimer === undefined)
      this.#heardTimer = setTimeout(() => {
        this.#heardTimer = undefined;
        if (this.#session.owesHeard) this.#stream?.write(this.#session.heard());
      }, HEARD_MS);
  }

  #handle(item: HostItem): void {
    const { item: kind } = item;
    if (kind.case === "ping") this.#session.send({ item: { case: "pong", value: {} } });
    else if (kind.case === "drain") this.#isHostDraining = true;
    else if (kind.case === "refused")
      this.#options.log(
        `${kind.value.type} is not served: ${kind.value.reason}: ${kind.value.message}`,
      );
    else this.#desk.handle(item, this.#session);
  }

  /** Sends the queued items at the end of this turn of the event loop. */
  #wake(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setImmediate(() => {
      this.#isFlushScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#stream !== undefined && !this.#isBlocked) {
      const message = this.#session.next();
      if (message === undefined) break;
      this.#isBlocked = !this.#stream.write(message);
    }
    const hasLeft = this.#isLeaving && this.#desk.isIdle && this.#session.isSettled;
    if (hasLeft && this.#stream !== undefined && this.#goodbyeTimer === undefined)
      this.#goodbyeTimer = setTimeout(() => {
        this.#over.abort();
        this.#close("the host kept the stream of a process that left");
      }, GOODBYE_MS);
  }
}
