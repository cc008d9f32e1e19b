// One interface for both ends of a bidirectional stream, so that scheduler and executor use the same code. Race: a peer vanishes, cancels
// or ends at any moment, even twice. `closed` settles once, and later writes do nothing.

import type { ClientDuplexStream, ServerDuplexStream, StatusObject } from "@grpc/grpc-js";
import { status } from "@grpc/grpc-js";
import { EngineError } from "@pawl/core/fault/engine-error";
import { fromGrpcStatus, toEngineError, toGrpcStatus, type OnInternal } from "./status.ts";

/** How a stream ended. There is no error if both sides were done. */
export interface StreamEnd {
  readonly error?: EngineError;
}

/** One end of an open stream. */
export interface BidiStream<In, Out> {
  /** Aborted when the stream is over, for any reason. */
  readonly signal: AbortSignal;
  /** Settles when the stream is over; never rejects. */
  readonly closed: Promise<StreamEnd>;
  /** Starts the flow of messages. Call it once. It calls `end` when the other side sends no more. */
  listen(listener: { message(message: In): void; end?(): void }): void;
  /**
   * Sends a message. False means that the buffer is full: await `drained` before messages that can wait. It calls `onSent` once the whole
   * message has left this process, and never if the stream ends before.
   */
  write(message: Out, onSent?: () => void): boolean;
  /** Settles when the buffer has room again, or the stream is over. */
  drained(): Promise<void>;
  /** Stops the flow of incoming messages: backpressure for the other side. */
  pause(): void;
  /** Ends sending. On the server it ends the stream with OK, on the client it half-closes. */
  end(): void;
  /** Ends the stream at once. The server answers with the error, and the client cancels. */
  fail(error: unknown): void;
}

/** The part that both ends share. `settle` ends the stream. Only its first call counts. */
function endOf<In, Out>(call: ServerDuplexStream<In, Out> | ClientDuplexStream<Out, In>) {
  const controller = new AbortController();
  const { signal } = controller;
  const { promise: closed, resolve } = Promise.withResolvers<StreamEnd>();
  const settle = (end: StreamEnd): void => {
    if (signal.aborted) return;
    resolve(end);
    controller.abort(end.error);
  };
  const stream: Omit<BidiStream<In, Out>, "fail"> = {
    signal,
    closed,
    listen: (listener) => {
      call.on("end", () => listener.end?.());
      call.on("data", (message: In) => {
        if (!signal.aborted) listener.message(message);
      });
    },
    write: (message, onSent) => {
      if (signal.aborted || call.writableEnded) return true;
      if (onSent === undefined) return call.write(message);
      return call.write(message, (error?: Error | null) => {
        if (!error) onSent();
      });
    },
    drained: async () => {
      if (signal.aborted || !call.writableNeedDrain) return;
      const drain = Promise.withResolvers<void>();
      call.once("drain", drain.resolve);
      await Promise.race([drain.promise, closed]);
      call.off("drain", drain.resolve);
    },
    pause: () => void call.pause(),
    end: () => {
      if (!signal.aborted) call.end();
    },
  };
  return { settle, stream };
}

/** The end of a stream at the server. */
export const serverStream = <In, Out>(
  call: ServerDuplexStream<In, Out>,
  onInternal: OnInternal,
): BidiStream<In, Out> => {
  const { settle, stream } = endOf<In, Out>(call);
  const gone = () =>
    settle({ error: new EngineError("CALLER_CANCELLED", "the other side went away") });
  call.on("cancelled", gone);
  call.on("error", gone);
  call.on("finish", () => settle({}));
  const fail = (error: unknown): void => {
    if (stream.signal.aborted) return;
    settle({ error: toEngineError(error) });
    // grpc-js turns an emitted error into the call's status.
    call.emit("error", toGrpcStatus(error, onInternal));
  };
  const listen: typeof stream.listen = (listener) =>
    stream.listen({
      end: () => listener.end?.(),
      message: (message) => {
        // See `readOrMalformed`.
        if (message instanceof EngineError) fail(message);
        else listener.message(message);
      },
    });
  return { ...stream, listen, fail };
};

/** The end of a stream at the client. */
export const clientStream = <In, Out>(call: ClientDuplexStream<Out, In>): BidiStream<In, Out> => {
  const { settle, stream } = endOf<In, Out>(call);
  let ownError: EngineError | undefined;
  // Without a listener a broken stream would throw. Its status reports the same error.
  call.on("error", () => undefined);
  call.on("status", (received: StatusObject) => {
    const isOk = received.code === status.OK;
    const error = ownError ?? (isOk ? undefined : fromGrpcStatus(received, { isOwnCancel: false }));
    settle(error === undefined ? {} : { error });
  });
  const fail = (error: unknown): void => {
    ownError ??= toEngineError(error);
    call.cancel();
  };
  return { ...stream, fail };
};
