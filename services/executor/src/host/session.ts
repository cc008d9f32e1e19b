// One handler process, as its host sees it: a state, a conversation, its invocations, and one Work session with a scheduler.
//
// The races it survives: streams come and go while handlers run; the invocations do not notice. A process falls silent with the stream
// open; it keeps its work and gets no more. A session is lost while invocations wait for a stream; their claims go back at no cost, and
// the claims of the others become lost deliveries. The host itself was frozen; then the silence of a process proves nothing.

import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { EngineError } from "@pawl/core/fault/engine-error";
import { failure } from "@pawl/core/handler/failure";
import type { Cancel } from "@pawl/platform/lifecycle/timers";
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import type { Logger } from "@pawl/platform/telemetry/log";
import type {
  Handler,
  Hello,
  ProcessItem,
  ServeRequest,
  SessionSchema,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { HandlerContext, HandlerResult } from "../handlers/handler.ts";
import { registryOf, type Registry } from "../handlers/registry.ts";
import type { RunAttempt } from "../run/run-attempt.ts";
import { isRefusal } from "../work/session.ts";
import { Worker, type WorkerOptions } from "../work/worker.ts";
import { Attempts } from "./attempts.ts";
import type { HostClock } from "./clock.ts";
import { Conversation } from "./conversation.ts";
import { checkSlots, refusalOf } from "./hello.ts";
import { Invocations } from "./invocations.ts";
import { WIRE_LIMITS, type HostTimes } from "./limits.ts";
import type { ServeStream } from "./link.ts";
import { Refusals } from "./refusals.ts";
import { remoteHandler } from "./remote-handler.ts";
import * as states from "./session-state.ts";

/** A timer that fires so much too late means that the host itself did not run. */
const SLEPT_MS = 1_000;

export interface SessionParts {
  readonly hostId: string;
  readonly times: HostTimes;
  readonly clock: HostClock;
  readonly log: Logger;
  /** Opens a Work stream to a scheduler. */
  readonly connect: WorkerOptions["connect"];
  /** Runs attempts with these handlers. */
  readonly runner: (registry: Registry) => RunAttempt;
  /** How long attempts may take when the host stops. */
  readonly graceMs: number;
  /** How long outcomes may take to be acknowledged then. */
  readonly settleMs?: number;
}

export class HandlerSession {
  readonly #parts: SessionParts;
  readonly #hello: Hello;
  readonly #log: Logger;
  readonly #executorId = randomUUID();
  readonly #stallMs: ReadonlyMap<string, number>;
  readonly #refusals: Refusals;
  readonly #attempts = new Attempts();
  readonly #conversation = new Conversation((item) => this.#take(item));
  readonly #invocations = new Invocations({
    send: this.#conversation.send,
    withdraw: this.#conversation.withdraw,
    now: () => this.#parts.clock.now(),
    onChange: () => this.#changed(),
  });
  /** undefined if none of its types is served. */
  readonly #worker: Worker | undefined;
  readonly #onEnd: () => void;
  #state: states.SessionState;
  #slots: number;
  #pingAt: number;
  #cancelTimer: Cancel = () => undefined;
  #left: Promise<void> | undefined;

  /** Begins the session of a checked Hello. `onEnd` is called once, when the session is lost or over. */
  constructor(parts: SessionParts, hello: Hello, onEnd: () => void) {
    this.#parts = parts;
    this.#hello = hello;
    this.#onEnd = onEnd;
    this.#slots = hello.slots;
    this.#log = parts.log.child({ executor_id: this.#executorId, process: hello.name });
    const own = hello.handlers.flatMap((handler) => refusalOf(handler) ?? []);
    this.#refusals = new Refusals(own);
    for (const refused of own)
      this.#conversation.send({ item: { case: "refused", value: refused } });
    const served = hello.handlers.filter(({ type }) => !this.#refusals.has(type));
    const { stallMs } = parts.times;
    this.#stallMs = new Map(
      served.map((handler) => [handler.type, Number(handler.stallMs) || stallMs]),
    );
    const now = parts.clock.now();
    this.#state = states.openState(now);
    this.#pingAt = now + parts.times.pingMs;
    this.#worker = served.length === 0 ? undefined : this.#startWorker(served);
    this.#arm();
    this.#log.info({ types: served.map(({ type }) => type), refused: own }, "process connected");
  }

  /** Attempts of this process that run now. */
  get busyCount(): number {
    return this.#worker?.busyCount ?? 0;
  }

  /** Continues on a stream whose first message this is. @throws INPUT_INVALID */
  open(stream: ServeStream, first: ServeRequest): void {
    const { hostId, times } = this.#parts;
    const isResumed = first.opening.case === "resume";
    this.#conversation.open(stream, first, {
      hostId,
      resumed: isResumed,
      pingMs: BigInt(times.pingMs),
      silenceMs: BigInt(times.silenceMs),
      resumeMs: BigInt(times.resumeMs),
      limits: WIRE_LIMITS,
    });
    this.#step("resumed");
  }

  /** Handles a message of a stream. @throws INPUT_INVALID, LIMIT_EXCEEDED */
  receive(stream: ServeStream, message: ServeRequest): void {
    if (this.#conversation.receive(stream, message)) this.#step("message");
  }

  /** The stream is closed. */
  closed(stream: ServeStream): void {
    if (this.#conversation.close(stream)) this.#step("cut");
  }

  /** Calls a handler of the process. */
  async invoke(type: string, configJson: string, ctx: HandlerContext): Promise<HandlerResult> {
    const attempt = this.#attempts.find(ctx);
    const isTaken = attempt !== undefined && !ctx.signal.aborted && !this.#state.isLeaving;
    if (!isTaken) {
      // The process takes no more: another one gets the work.
      if (attempt !== undefined) this.#worker?.release((claim) => claim === attempt.claim);
      return failure("cancelled", "the process of the handler leaves");
    }
    return await this.#invocations.invoke({
      ...{ type, configJson, ctx, door: attempt.door },
      stallMs: this.#stallMs.get(type) ?? this.#parts.times.stallMs,
      onWritten: () => (attempt.isWritten = true),
    });
  }

  /** The host stops: the process finishes what it has within the grace period, and gets no more. Settles when the session is over. */
  async drain(): Promise<void> {
    this.#conversation.send({ item: { case: "drain", value: {} } });
    this.#step("leaving");
    await this.#leave();
  }

  /** For people. */
  describe(): MessageInitShape<typeof SessionSchema> {
    const { name, build, sdk, language } = this.#hello;
    const { clock } = this.#parts;
    return {
      ...{ name, build, sdk, language, executorId: this.#executorId },
      types: [...this.#stallMs.keys()].filter((type) => !this.#refusals.has(type)),
      refused: [...this.#refusals.all],
      state: states.shownState(this.#state),
      slots: this.#slots,
      silentMs: BigInt(Math.round(clock.now() - this.#state.heardAt)),
      roundTripUs: BigInt(Math.round(this.#conversation.roundTripMs * 1_000)),
      ...this.#invocations.describe(),
    };
  }

  #startWorker(served: readonly Handler[]): Worker {
    const { connect, runner, graceMs, settleMs, clock } = this.#parts;
    const { name, build, sdk, language } = this.#hello;
    const registry = registryOf(served.map(({ type }) => remoteHandler(this, type)));
    const worker = new Worker({
      executorId: this.#executorId,
      instanceId: randomUUID(),
      nodeTypes: [...registry.keys()],
      capacity: this.#slots,
      description: [name, build, sdk, language].filter((text) => text !== "").join(", "),
      descriptors: served.map(({ stallMs: _stallMs, $typeName: _name, ...known }) => known),
      process: { name, build, sdk, language },
      silence: () => states.silenceOf(this.#state, this.#patience(), clock.now()),
      ...{ connect, graceMs, ...(settleMs === undefined ? {} : { settleMs }) },
      run: this.#attempts.watch(runner(registry)),
      onRegistered: ({ refused }) => {
        for (const value of this.#refusals.adopt(refused)) {
          this.#log.warn({ type: value.type, reason: value.reason }, value.message);
          this.#conversation.send({ item: { case: "refused", value } });
        }
      },
      onDisconnected: (error) => {
        const isWrong = isRefusal(error) || error?.reason === "INPUT_INVALID";
        if (isWrong) this.#log.error({ reason: error?.reason }, error?.message);
      },
    });
    worker.start();
    return worker;
  }

  #take(item: ProcessItem["item"]): void {
    switch (item.case) {
      case "room":
        checkSlots("room.slots", item.value.slots);
        this.#slots = item.value.slots;
        return this.#changed();
      case "leaving":
        this.#step("leaving");
        this.#worker?.release(this.#attempts.isUnseen);
        return this.#changed();
      case "pong":
        return this.#conversation.pong(this.#parts.clock.now());
      case "partial":
      case "log":
      case "spent":
      case "effectBegin":
      case "effectCommit":
      case "result":
      case "failure":
      case "ended":
        return this.#invocations.take(item);
      // An item of a newer protocol.
      case undefined:
        return undefined;
      default:
        return item satisfies never;
    }
  }

  #step(event: states.SessionEvent): void {
    const before = this.#state;
    const at = this.#parts.clock.now();
    // Only the passing of time needs the patience of the running handlers, and it is costly to find.
    const patience = event === "time" ? this.#patience() : this.#parts.times;
    this.#state = states.nextState(before, event, { at, patience });
    const { link, isLeaving, end } = this.#state;
    if (end !== undefined && before.end === undefined) return this.#ended(end);
    if (link === before.link && isLeaving === before.isLeaving) return;
    this.#log.info({ link, leaving: isLeaving }, "process changed");
    this.#changed();
    this.#arm();
  }

  /** The process has more or less room, or another state. */
  #changed(): void {
    const { link, isLeaving, end } = this.#state;
    if (end !== undefined) return;
    const slots = this.#slots - this.#invocations.cancelled;
    this.#worker?.resize(states.takesWork(this.#state) ? Math.max(0, slots) : 0);
    if (isLeaving && this.#invocations.size === 0) void this.#leave();
    // The patience of the most patient handler may have changed.
    if (link === "stalled") this.#arm();
  }

  /** Lets the Work session end, then the stream. */
  #leave(): Promise<void> {
    this.#worker?.release(this.#attempts.isUnseen);
    this.#left ??= (this.#worker?.stop() ?? Promise.resolve()).then(() => this.#step("emptied"));
    return this.#left;
  }

  #ended(end: "lost" | "over"): void {
    this.#cancelTimer();
    if (end === "over") {
      this.#log.info("process left");
      void this.#conversation.end();
    } else {
      METRICS.handlerSessionsLost.add(1);
      this.#log.warn({ busy: this.#invocations.size }, "process lost");
      this.#worker?.release(this.#attempts.isUnseen);
      void this.#worker?.abandon();
      const message = "The process was silent for too long. Resume, and the host answers Lost.";
      this.#conversation.fail(new EngineError("STALE_CLAIM", message));
    }
    this.#onEnd();
  }

  #patience(): states.Patience {
    const { silenceMs, resumeMs, stallMs } = this.#parts.times;
    return { silenceMs, resumeMs, stallMs: this.#invocations.stallMs(stallMs) };
  }

  /** One timer for the next Ping and for the next state that time brings. */
  #arm(): void {
    this.#cancelTimer();
    const { clock, times } = this.#parts;
    const plannedAt = Math.min(this.#pingAt, states.dueAt(this.#state, this.#patience()));
    this.#cancelTimer = clock.after(Math.max(0, plannedAt - clock.now()), () => {
      const now = clock.now();
      if (now >= this.#pingAt) {
        this.#conversation.ping(clock.now);
        this.#pingAt = now + times.pingMs;
      }
      this.#step(now - plannedAt > SLEPT_MS ? "slept" : "time");
      if (this.#state.end === undefined) this.#arm();
    });
  }
}
