// A request that does not parse is its sender's fault. grpc-js calls it INTERNAL, before any handler of ours has the call; so a request that
// does not parse is handed on as one of these, and its handler's wrapper answers.

import { EngineError } from "@pawl/core/fault/engine-error";

/** Stands in the place of a message that could not be read. */
export class MalformedMessage {
  readonly #cause: unknown;

  constructor(cause: unknown) {
    this.#cause = cause;
  }

  toError(): EngineError {
    return malformed(this.#cause);
  }
}

/** What the sender of a message that could not be read is told. */
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
