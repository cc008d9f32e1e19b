// Standing streams, and single calls where there are none. An older gateway does not have the stream, or a proxy does not carry it. Then
// each submission is a call of its own with the same request id. So a submission that the stream had already delivered starts nothing new.
// A minute later the client tries the stream again.

import { Code } from "@connectrpc/connect";
import type { Clock } from "./backoff.ts";
import type { SubmitOptions, Submitter } from "./connection.ts";
import { PawlError } from "./errors.ts";

/** How long the client uses single calls after a gateway refused the stream. */
const CALLS_FOR_MS = 60_000;

/** Submits over streams, and by calls while the gateway has no streams. */
export function withCalls(streams: Submitter, calls: Submitter, clock: Clock): Submitter {
  let callsUntilMs = Number.NEGATIVE_INFINITY;
  const submit = async <Answer>(
    asked: SubmitOptions,
    by: (submitter: Submitter, options: SubmitOptions) => Promise<Answer>,
  ): Promise<Answer> => {
    const options = acceptingOnce(asked);
    if (clock.now() < callsUntilMs) return by(calls, options);
    try {
      return await by(streams, options);
    } catch (thrown) {
      if (!(thrown instanceof PawlError) || thrown.code !== Code.Unimplemented) throw thrown;
      callsUntilMs = clock.now() + CALLS_FOR_MS;
      return by(calls, options);
    }
  };
  return {
    start: (start, options = {}) => submit(options, (by, once) => by.start(start, once)),
    run: (start, options = {}) => submit(options, (by, once) => by.run(start, once)),
    close: () => {
      // A closed stream refuses every submission.
      callsUntilMs = Number.NEGATIVE_INFINITY;
      streams.close();
    },
  };
}

/** A stream may have accepted the run before the gateway refused the next stream. */
function acceptingOnce({ signal, onAccepted }: SubmitOptions): SubmitOptions {
  let isAccepted = false;
  return {
    signal,
    onAccepted: (accepted) => {
      if (!isAccepted) onAccepted?.(accepted);
      isAccepted = true;
    },
  };
}
