// The numbered queues of a session and the stream that carries them now. A session outlives its streams; the newest stream counts.
//
// The races it survives: an older stream still delivers messages after a newer one resumed the session; they are dropped, because the
// process sends them again. A fault in a message ends the stream; the items before the fault are taken, and the process resumes after them.

import { EngineError, invalidField } from "@pawl/core/fault/engine-error";
import { ReceiveQueue, SendQueue } from "@pawl/platform/rpc/numbered-queue";
import { wireBytes } from "@pawl/platform/rpc/wire-bytes";
import type {
  ProcessItem,
  ServeRequest,
  WelcomeSchema,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HostItemInit, SendItem } from "./invocation.ts";
import { Link, type ServeStream } from "./link.ts";

/** Handles an item of the process. @throws LIMIT_EXCEEDED if it does not take the item */
type TakeItem = (item: ProcessItem["item"]) => void;

export class Conversation {
  readonly #take: TakeItem;
  readonly #out = new SendQueue<HostItemInit>(wireBytes);
  readonly #in = new ReceiveQueue();
  #stream: ServeStream | undefined;
  #link: Link | undefined;
  #pingSentAt: number | undefined;
  /** How long the last Ping took to be answered; 0 before the first. */
  roundTripMs = 0;

  constructor(take: TakeItem) {
    this.#take = take;
  }

  readonly send: SendItem = (item, onWritten) => {
    this.#out.push(item, onWritten);
    this.#link?.wake();
  };

  readonly withdraw = (item: HostItemInit): void => void this.#out.withdraw(item);

  /** Continues on this stream, whose first message this is; an older stream ends. @throws INPUT_INVALID */
  open(
    stream: ServeStream,
    first: ServeRequest,
    welcome: MessageInitShape<typeof WelcomeSchema>,
  ): void {
    const older = this.#link;
    this.#stream = stream;
    this.#out.rewind();
    this.#acknowledged(first);
    const source = { take: () => this.#out.take(), heard: () => this.#in.heard };
    this.#link = new Link(stream, source, { case: "welcome", value: welcome });
    older?.fail(new EngineError("SESSION_IN_USE", "A newer stream resumed this session."));
    this.#items(first);
    this.#link.wake();
  }

  /** Handles a message of the stream; false if the stream does not count any more. @throws INPUT_INVALID, LIMIT_EXCEEDED */
  receive(stream: ServeStream, message: ServeRequest): boolean {
    if (this.#stream !== stream) return false;
    if (message.opening.case !== undefined)
      throw invalidField(message.opening.case, "NOT_FIRST", "only the first message may have it");
    this.#acknowledged(message);
    this.#items(message);
    return true;
  }

  /** The stream is closed; false if it did not count any more. */
  close(stream: ServeStream): boolean {
    if (this.#stream !== stream) return false;
    this.#stream = undefined;
    this.#link = undefined;
    return true;
  }

  /** Asks the process to show that it lives. While an answer is missing, the host still shows that it lives itself. */
  ping(now: () => number): void {
    if (this.#link === undefined) return;
    if (this.#pingSentAt !== undefined) return this.#link.beat();
    this.#pingSentAt = now();
    this.send({ item: { case: "ping", value: {} } }, () => (this.#pingSentAt = now()));
  }

  pong(now: number): void {
    if (this.#pingSentAt === undefined) return;
    this.roundTripMs = now - this.#pingSentAt;
    this.#pingSentAt = undefined;
  }

  /** Writes everything that is queued, then ends the stream. */
  async end(): Promise<void> {
    await this.#link?.end();
  }

  fail(error: EngineError): void {
    this.#link?.fail(error);
  }

  #acknowledged({ heardSeq }: ServeRequest): void {
    if (!this.#out.acknowledge(Number(heardSeq)))
      throw invalidField("heard_seq", "OUT_OF_RANGE", "the host has sent no item of this number");
  }

  #items({ firstSeq, items }: ServeRequest): void {
    const repeats = this.#in.repeats(Number(firstSeq), items.length);
    if (repeats === undefined)
      throw invalidField(
        "first_seq",
        "GAP",
        `item ${this.#in.heard + 1} is next, not ${firstSeq}; resume the session and send it again`,
      );
    if (items.length > 0) this.#link?.acknowledge();
    for (const { item } of items.slice(repeats)) {
      try {
        this.#take(item);
      } catch (error) {
        // An item over a limit may come again later; any other fault would come again for ever.
        if (!(error instanceof EngineError && error.reason === "LIMIT_EXCEEDED"))
          this.#in.heard += 1;
        throw error;
      }
      this.#in.heard += 1;
    }
  }
}
