// A request that does not parse is its sender's fault, but grpc-js answers INTERNAL before any handler gets the call. So such a request is
// passed on as a Malformed value, and the wrapper of the handler answers.

import { EngineError } from "@pawl/core/fault/engine-error";

/** Replaces a message that could not be read. */
export class MalformedMessage {
  readonly #cause: unknown;

  constructor(cause: unknown) {
    this.#cause = cause;
  }

  toError(): EngineError {
    return malformed(this.#cause);
  }
}

/** The answer to the sender of a message that could not be read. */
export const malformed = (cause: unknown): EngineError => {
  const what = cause instanceof Error ? cause.message : String(cause);
  return new EngineError("INPUT_INVALID", `The request is not a message of its type: ${what}.`, {
    metadata: { wire_error: "true" },
    cause,
  });
};

/** The same reader, which never throws. */
export const readOrMalformed =
  <Message>(read: (bytes: Buffer) => Message) =>
  (bytes: Buffer): Message | MalformedMessage => {
    try {
      return read(bytes);
    } catch (error) {
      return new MalformedMessage(error);
    }
  };
