// One invocation from Invoke to its last item.
//
// The race it survives: a cancel and the end of the function cross. The first of the two counts. After a cancel nothing more is sent about the
// invocation except Ended, whatever the function still does.

import type { Call, LogLevel, ServedHandler, Settled } from "@pawl/core/handler/served";
import { readHandlerState } from "@pawl/core/handler/state";
import { countedUsage } from "@pawl/core/handler/settle";
import type { Media } from "@pawl/core/log/event";
import { toUsageShape } from "@pawl/core/log/usage-shape";
import {
  type Invoke,
  LogLevel as WireLevel,
  type Streamed,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { CancelledBy, type CancelWord } from "./cancelled.ts";
import { Ledger } from "./ledger.ts";
import { outcomeItem } from "./outcome-item.ts";
import type { ItemInit, Session } from "./session.ts";
import { bytesIn, cut, pieces } from "./texts.ts";
import { Window } from "./window.ts";

const LEVELS: Readonly<Record<LogLevel, WireLevel>> = {
  debug: WireLevel.DEBUG,
  info: WireLevel.INFO,
  warn: WireLevel.WARN,
  error: WireLevel.ERROR,
};

export interface InvocationOptions {
  readonly invoke: Invoke;
  readonly handler: ServedHandler;
  readonly session: Session;
  /** Something was sent. */
  readonly wake: () => void;
}

export class Invocation {
  readonly #options: InvocationOptions;
  readonly #abort = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  readonly #window = new Window(this.#abort.signal);
  readonly ledger: Ledger;
  #emitted: Promise<void> = Promise.resolve();
  #hasBegun = false;
  #logLines = 0;

  constructor(options: InvocationOptions) {
    this.#options = options;
    this.ledger = new Ledger({
      invocationId: this.id,
      signal: this.#abort.signal,
      send: this.#send,
      revoke: () => this.cancel("claim_lost"),
      effectBytes: () => Number(options.session.limits.effectBytes),
    });
  }

  get id(): string {
    return this.#options.invoke.invocationId;
  }

  get effectKey(): string {
    return this.#options.invoke.effectKey;
  }

  /** Whether `run` was called. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isCancelled(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Settles when the function has returned, or when it is sure that it never runs. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Only the first cancel counts. */
  cancel(reason: CancelWord): void {
    if (!this.isCancelled) this.#abort.abort(new CancelledBy(reason));
  }

  streamed({ count }: Streamed): void {
    this.#window.passed(count);
  }

  /** Runs the function, unless the invocation was cancelled before. Settles after its last item is queued. */
  async run(): Promise<void> {
    this.#hasBegun = true;
    const settled = this.isCancelled ? undefined : await this.#settle();
    this.#queue(
      settled === undefined || this.isCancelled
        ? { item: { case: "ended", value: this.#named } }
        : outcomeItem(this.id, settled, this.#options.session.limits),
    );
    this.#ended.resolve();
  }

  get #named(): { readonly invocationId: string } {
    return { invocationId: this.id };
  }

  async #settle(): Promise<Settled> {
    const { handler } = this.#options;
    const settled = await handler.invoke(this.#call());
    await this.#emitted;
    return settled;
  }

  #call(): Call {
    const { invoke, session } = this.#options;
    return {
      inputJson: invoke.inputJson,
      configJson: invoke.configJson,
      runId: invoke.runId,
      nodeId: invoke.nodeId,
      workflowId: invoke.workflowId,
      iteration: invoke.iteration,
      attempt: invoke.attempt,
      effectKey: invoke.effectKey,
      traceparent: invoke.traceparent,
      timeoutMs: Number(invoke.timeoutMs),
      // The host writes a JSON object.
      memory: JSON.parse(invoke.memoryJson || "{}") as Call["memory"],
      taint: invoke.taint,
      ...(invoke.stateJson === "" ? {} : { state: readHandlerState(invoke.stateJson) }),
      outputBytes: Number(session.limits.outputBytes),
      signal: this.#abort.signal,
      effects: this.ledger,
      emit: (text) => this.#inOrder(() => this.#emitText(text)),
      emitMedia: (media) => this.#inOrder(() => this.#emitMedia(media)),
      log: (level, message) => this.#log(level, message),
      usage: (usage) => {
        const value = { ...this.#named, usage: toUsageShape(countedUsage(usage)) };
        this.#send({ item: { case: "spent", value } });
      },
    };
  }

  /** Two emits of one invocation never mix their pieces. */
  #inOrder(emit: () => Promise<void>): Promise<void> {
    const done = this.#emitted.then(emit);
    this.#emitted = done.catch(() => undefined);
    return done;
  }

  async #emitText(text: string): Promise<void> {
    const { limits } = this.#options.session;
    for (const piece of pieces(text, Number(limits.partialBytes))) {
      await this.#window.enter(bytesIn(piece), Number(limits.windowBytes));
      this.#send({
        item: {
          case: "partial",
          value: { ...this.#named, piece: { case: "text", value: piece } },
        },
      });
    }
  }

  async #emitMedia(media: Media): Promise<void> {
    const { limits } = this.#options.session;
    const bytes = bytesIn(media.url) + bytesIn(media.mime);
    if (bytes > Number(limits.partialBytes))
      throw new Error(
        `a media piece of ${bytes} bytes; at most ${limits.partialBytes}: send an address`,
      );
    await this.#window.enter(bytes, Number(limits.windowBytes));
    this.#send({
      item: { case: "partial", value: { ...this.#named, piece: { case: "media", value: media } } },
    });
  }

  #log(level: LogLevel, message: string): void {
    const { logLines, logBytes } = this.#options.session.limits;
    this.#logLines += 1;
    if (this.#logLines > logLines) return;
    const note =
      this.#logLines === logLines ? ` (the last of ${logLines} lines; the rest is dropped)` : "";
    const line = cut(message, Number(logBytes) - bytesIn(note)) + note;
    this.#send({
      item: { case: "log", value: { ...this.#named, level: LEVELS[level], message: line } },
    });
  }

  /** Sends an item of the running function; after a cancel it sends nothing. */
  readonly #send = (item: ItemInit): void => {
    if (!this.isCancelled) this.#queue(item);
  };

  #queue(item: ItemInit): void {
    this.#options.session.send(item);
    this.#options.wake();
  }
}
