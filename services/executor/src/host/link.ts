// One stream of a session: it writes what the session has queued, in messages of bounded size, and carries heard_seq.
//
// The races it survives: the stream breaks while it is written to; later writes do nothing, and the session writes again on its next
// stream. A process that does not read fills the stream; the host then writes no more until there is room.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { BidiStream } from "@pawl/platform/rpc/bidi";
import type { Numbered } from "@pawl/platform/rpc/numbered-queue";
import type {
  ServeRequest,
  ServeResponseSchema,
} from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { HostItemInit } from "./invocation.ts";
import { ACK_MS } from "./limits.ts";

type Response = MessageInitShape<typeof ServeResponseSchema>;
export type ServeStream = BidiStream<ServeRequest, Response>;

interface LinkSource {
  /** The items of the next message. */
  readonly take: () => Numbered<HostItemInit> | undefined;
  /** The highest number that the host has of the process. */
  readonly heard: () => number;
}

export class Link {
  readonly #stream: ServeStream;
  readonly #source: LinkSource;
  #isFlushScheduled = false;
  #isBlocked = false;
  #ackTimer: NodeJS.Timeout | undefined;

  /** Writes the opening first. */
  constructor(stream: ServeStream, source: LinkSource, opening: Response["opening"]) {
    this.#stream = stream;
    this.#source = source;
    this.#write(opening === undefined ? {} : { opening });
    void stream.closed.then(() => clearTimeout(this.#ackTimer));
  }

  /** Writes the queued items at the end of this turn of the event loop. */
  wake(): void {
    if (this.#isFlushScheduled || this.#isBlocked) return;
    this.#isFlushScheduled = true;
    setImmediate(() => {
      this.#isFlushScheduled = false;
      this.#flush();
    });
  }

  /** Items arrived: heard_seq leaves with the next message, or with an empty one soon. */
  acknowledge(): void {
    this.#ackTimer ??= setTimeout(() => this.beat(), ACK_MS);
  }

  /** An empty message: it carries heard_seq and shows that the host lives. */
  beat(): void {
    if (!this.#isBlocked) this.#write({});
  }

  /** Writes the queued items and a last acknowledgement, and then ends the stream. */
  async end(): Promise<void> {
    await this.#stream.drained();
    this.#isBlocked = false;
    this.#flush();
    this.beat();
    this.#stream.end();
  }

  fail(error: unknown): void {
    this.#stream.fail(error);
  }

  #flush(): void {
    while (!this.#isBlocked && !this.#stream.signal.aborted) {
      const next = this.#source.take();
      if (next === undefined) return;
      this.#write({ firstSeq: BigInt(next.firstSeq), items: next.items });
    }
  }

  #write(message: Response): void {
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    const heardSeq = BigInt(this.#source.heard());
    if (this.#stream.write({ ...message, heardSeq })) return;
    this.#isBlocked = true;
    void this.#stream.drained().then(() => {
      this.#isBlocked = false;
      this.#flush();
    });
  }
}
