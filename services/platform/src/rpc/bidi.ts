// One interface for both ends of a bidirectional stream, so that scheduler and executor use the same code.
// The races it survives: a peer may vanish, cancel or end at any moment, even twice. `closed` settles once, and later writes do nothing.

import type { ClientDuplexStream, ServerDuplexStream, StatusObject } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import { EngineError } from "@pawl/core/fault/engine-error";
import type { Reason } from "@pawl/core/fault/reason";

import { MalformedMessage } from "./malformed.ts";
import {
  fromGrpcStatus,
  toEngineError,
  toGrpcStatus,
  type OnInternal,
  type ReadOptions,
} from "./status.ts";
import { textMetadata } from "./unary.ts";

/** How a stream ended: without an error if both sides were done. */
export interface StreamEnd {
  readonly error?: EngineError;
}

/** One end of an open stream. */
export interface BidiStream<In, Out> {
  /** Aborted when the stream is over, for any reason. */
  readonly signal: AbortSignal;
  /** Settles when the stream is over; never rejects. */
  readonly closed: Promise<StreamEnd>;
  /** Metadata with which the other side opened the stream (on the server), by lower-case key. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Starts the flow of messages; to be called once. `end` is called when the other side will send no more. */
  listen(listener: { message(message: In): void; end?(): void }): void;
  /**
   * Sends; false means that the buffer is full: await `drained` before messages that can wait. `onSent` is called once the whole message has
   * left this process, and never if the stream ends before.
   */
  write(message: Out, onSent?: () => void): boolean;
  /** Settles when there is room again, or the stream is over. */
  drained(): Promise<void>;
  /** Stops and restarts the flow of incoming messages: backpressure for the other side. */
  pause(): void;
  resume(): void;
  /** Ends sending. On the server it ends the stream with OK, on the client it half-closes. */
  end(): void;
  /** Ends the stream at once: the server answers with the error, the client cancels. */
  fail(error: unknown): void;
}

type Duplex<In, Out> = ServerDuplexStream<In, Out> | ClientDuplexStream<Out, In>;

interface Ending {
  readonly signal: AbortSignal;
  readonly closed: Promise<StreamEnd>;
  readonly isOver: () => boolean;
  readonly settle: (end: StreamEnd) => void;
}

const createEnding = (): Ending => {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<StreamEnd>();
  return {
    signal: controller.signal,
    closed: promise,
    isOver: () => controller.signal.aborted,
    settle: (end) => {
      if (controller.signal.aborted) return;
      resolve(end);
      controller.abort(end.error);
    },
  };
};

const shared = <In, Out>(call: Duplex<In, Out>, ending: Ending) => ({
  signal: ending.signal,
  closed: ending.closed,
  listen: (listener: { message(message: In): void; end?(): void }) => {
    call.on("end", () => listener.end?.());
    call.on("data", (message: In) => {
      if (!ending.isOver()) listener.message(message);
    });
  },
  write: (message: Out, onSent?: () => void): boolean => {
    if (ending.isOver() || call.writableEnded) return true;
    if (onSent === undefined) return call.write(message);
    return call.write(message, (error?: Error | null) => {
      if (!error) onSent();
    });
  },
  drained: async (): Promise<void> => {
    if (ending.isOver() || !call.writableNeedDrain) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    call.once("drain", resolve);
    await Promise.race([promise, ending.closed]);
    call.off("drain", resolve);
  },
  pause: () => void call.pause(),
  resume: () => void call.resume(),
});

/** The server's end. */
export const serverStream = <In, Out>(
  call: ServerDuplexStream<In, Out>,
  onInternal: OnInternal,
): BidiStream<In, Out> => {
  const ending = createEnding();
  const gone = () =>
    ending.settle({ error: new EngineError("CALLER_CANCELLED", "the other side went away") });
  call.on("cancelled", gone);
  call.on("error", gone);
  call.on("finish", () => ending.settle({}));
  const fail = (error: unknown): void => {
    if (ending.isOver()) return;
    ending.settle({ error: toEngineError(error) });
    // grpc-js turns an emitted error into the call's status.
    call.emit("error", toGrpcStatus(error, onInternal));
  };
  const stream = shared<In, Out>(call, ending);
  return {
    ...stream,
    metadata: textMetadata(call.metadata.getMap()),
    listen: (listener) =>
      stream.listen({
        end: () => listener.end?.(),
        message: (message) => {
          if (message instanceof MalformedMessage) fail(message.toError());
          else listener.message(message);
        },
      }),
    end: () => {
      if (!ending.isOver()) call.end();
    },
    fail,
  };
};

/** The client's end. */
export const clientStream = <In, Out>(
  call: ClientDuplexStream<Out, In>,
  unavailable?: Reason,
): BidiStream<In, Out> => {
  const ending = createEnding();
  const reading: ReadOptions = { isOwnCancel: false, ...(unavailable && { unavailable }) };
  let ownError: EngineError | undefined;
  // Without a listener a broken stream would throw; its status reports the same error.
  call.on("error", () => undefined);
  call.on("status", (received: StatusObject) => {
    const error =
      ownError ?? (received.code === status.OK ? undefined : fromGrpcStatus(received, reading));
    ending.settle(error === undefined ? {} : { error });
  });
  return {
    ...shared<In, Out>(call, ending),
    metadata: {},
    end: () => {
      if (!ending.isOver()) call.end();
    },
    fail: (error) => {
      ownError ??= toEngineError(error);
      call.cancel();
    },
  };
};
