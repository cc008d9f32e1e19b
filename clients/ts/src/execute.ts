// Starts a run and reads its events by one call. The first message names the run. The rest is the first connection of a watch, which
// resumes as every watch does. If the call fails before that message, the client repeats it: the request id makes it the same run.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type CallOptions, type Client, Code } from "@connectrpc/connect";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import type { Run } from "@pawl/proto/pawl/v1/run_pb";
import type { ExecuteRunRequestSchema, RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { present } from "./caller.ts";
import { PawlError } from "./errors.ts";
import { followSignal } from "./backoff.ts";
import type { StartedRun } from "./runs.ts";
import type { EventBatch, WatchOptions, WatchSource } from "./watch.ts";

/** A stream that is open already. */
export interface Connection {
  readonly messages: AsyncIterable<EventBatch>;
  close(): void;
}

/** Watches a run, first over the connection `first`. */
export type Watch = (
  runId: string,
  options?: WatchOptions,
  first?: Connection,
) => AsyncGenerator<RunEvent, void, undefined>;

/** The started run of an answer. */
export const startedOf = (answer: {
  readonly run?: Run | undefined;
  readonly duplicate: boolean;
}): StartedRun => ({ run: present(answer.run), isDuplicate: answer.duplicate });

export interface Begun {
  readonly started: StartedRun;
  readonly connection: Connection;
}

/** Opens the call and waits for the run that it names, for as long as a unary call may take. */
export const begin =
  (rpc: Client<typeof RunService>) =>
  async (
    request: MessageInitShape<typeof ExecuteRunRequestSchema>,
    { signal, timeoutMs }: CallOptions = {},
  ): Promise<Begun> => {
    const leave = new AbortController();
    const close = (): void => leave.abort();
    let isLate = false;
    const late = (): void => {
      isLate = true;
      close();
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
    followSignal(leave, signal);
    try {
      const messages = rpc.executeRun(request, { signal: leave.signal })[Symbol.asyncIterator]();
      const first = await messages.next();
      if (first.done === true)
        throw new PawlError("UNREACHABLE", "the stream ended before it began");
      const connection = { messages: prepend(first.value, messages), close };
      return { started: startedOf(first.value), connection };
    } catch (thrown) {
      close();
      if (!isLate) throw thrown;
      const options = { code: Code.DeadlineExceeded, cause: thrown };
      throw new PawlError("DEADLINE_PASSED", `no answer for ${timeoutMs} ms`, options);
    } finally {
      clearTimeout(timer);
    }
  };

/** A source whose first connection is open already. */
export function beginningWith(first: Connection, source: WatchSource): WatchSource {
  let isTaken = false;
  return {
    ...source,
    open(request, signal) {
      if (isTaken) return source.open(request, signal);
      isTaken = true;
      if (signal.aborted) first.close();
      signal.addEventListener("abort", () => first.close(), { once: true });
      return first.messages;
    },
  };
}

/** The first message counts as progress, as a heartbeat does. */
async function* prepend(
  first: EventBatch,
  rest: AsyncIterator<EventBatch>,
): AsyncGenerator<EventBatch, void, undefined> {
  yield first;
  for (;;) {
    const next = await rest.next();
    if (next.done === true) return;
    yield next.value;
  }
}
