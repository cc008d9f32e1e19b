// Starts runs and waits for their ends over standing streams. A lane is one stream at a time (`lane.ts`). One lane is enough for a thousand
// submissions under way. Further lanes open when all are full, and spread over the gateways.

import { Code } from "@connectrpc/connect";
import { create } from "@bufbuild/protobuf";
import {
  type AcceptedSubmission,
  AcceptedSubmissionSchema,
  type RunEnd,
} from "@pawl/proto/pawl/v1/run_service_pb";
import type { ConnectionOptions, Start, SubmitOptions, Submitter } from "../connection.ts";
import { PawlError } from "../errors.ts";
import { type Entry, Lane } from "./lane.ts";
import type { OpenSubmitStream } from "./submit-stream.ts";

const LANES_MAX = 16;
/** A submission of this size fits no message. The gateway's own limit of an input is far below. */
const START_BYTES_MAX = 3 * 1024 * 1024;

/** Connects with the first submission. */
export const createSubmitter = (
  addresses: readonly string[],
  open: OpenSubmitStream,
  options: ConnectionOptions,
): Submitter => {
  const streams = new Streams(addresses, open, options);
  return {
    start: async (start, submitOptions) =>
      (await streams.submit(start, false, submitOptions)).accepted,
    run: async (start, submitOptions) => {
      const { end } = await streams.submit(start, true, submitOptions);
      if (end === undefined) throw new PawlError("UNRECOGNISED", "the answer lacks its end");
      return end;
    },
    close: () => streams.close(),
  };
};

interface Outcome {
  readonly accepted: AcceptedSubmission;
  readonly end: RunEnd | undefined;
}

/** The lanes, and the queue of submissions for which no lane has room. */
class Streams {
  readonly #addresses: readonly string[];
  readonly #open: OpenSubmitStream;
  readonly #options: ConnectionOptions;
  readonly #lanes: Lane[] = [];
  readonly #line: Entry[] = [];
  #isClosed = false;

  constructor(addresses: readonly string[], open: OpenSubmitStream, options: ConnectionOptions) {
    this.#addresses = addresses;
    this.#open = open;
    this.#options = options;
  }

  /** Rejects with PawlError. */
  submit(
    start: Start,
    wait: boolean,
    { signal, onAccepted }: SubmitOptions = {},
  ): Promise<Outcome> {
    const bytes = start.inputJson?.length ?? 0;
    if (this.#isClosed) return Promise.reject(cancelled("the client is closed"));
    if (signal?.aborted === true) return Promise.reject(cancelled("the caller aborted the call"));
    if (bytes > START_BYTES_MAX) return Promise.reject(tooLarge(bytes));
    let resolve: (outcome: Outcome) => void = () => undefined;
    let reject: (error: PawlError) => void = () => undefined;
    // The package also compiles for platforms without Promise.withResolvers.
    const promise = new Promise<Outcome>((...settlers) => ([resolve, reject] = settlers));
    const settle = (): void => {
      entry.isSettled = true;
      signal?.removeEventListener("abort", abort);
    };
    const entry: Entry = {
      start,
      wait,
      bytes,
      sinceMs: this.#options.clock.now(),
      tries: 0,
      losses: 0,
      accepted: undefined,
      isSettled: false,
      accept: (accepted) => {
        entry.accepted = accepted;
        onAccepted?.(accepted);
      },
      resolve: (end) => {
        settle();
        resolve({ accepted: entry.accepted ?? create(AcceptedSubmissionSchema), end });
      },
      reject: (error) => {
        settle();
        reject(error);
      },
    };
    const abort = (): void => {
      entry.reject(cancelled("the caller aborted the call; the run continues"));
      for (const lane of this.#lanes) lane.drop(entry);
    };
    signal?.addEventListener("abort", abort, { once: true });
    this.#line.push(entry);
    this.#advance();
    return promise;
  }

  close(): void {
    this.#isClosed = true;
    const reason = cancelled("the client was closed");
    for (const entry of this.#line.splice(0)) entry.reject(reason);
    for (const lane of this.#lanes) lane.close(reason);
  }

  #advance(): void {
    while (this.#line.length > 0) {
      const lane = this.#laneWithRoom();
      if (lane === undefined) return;
      const next = this.#line.shift();
      if (next?.isSettled === false) lane.add(next);
    }
  }

  #laneWithRoom(): Lane | undefined {
    const free = this.#lanes.find(({ hasRoom }) => hasRoom);
    if (free !== undefined || this.#lanes.length >= LANES_MAX) return free;
    const lane = new Lane({
      ...this.#options,
      addresses: this.#addresses,
      first: this.#lanes.length,
      open: this.#open,
      onRoom: () => this.#advance(),
    });
    this.#lanes.push(lane);
    return lane;
  }
}

const cancelled = (message: string): PawlError =>
  new PawlError("CALLER_CANCELLED", message, { code: Code.Canceled });

const tooLarge = (bytes: number): PawlError =>
  new PawlError("LIMIT_EXCEEDED", `the input takes ${bytes} bytes; send less, or a link to it`, {
    code: Code.ResourceExhausted,
  });
