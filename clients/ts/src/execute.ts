// A run and its events by one call: its first message names the run, and all behind it is the first connection of a watch, which
// resumes as every watch does. Lost before that message, the call is repeated whole: it is the same run by its request id.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type CallOptions, type Client, Code } from "@connectrpc/connect";
import type { RunEvent } from "@pawl/proto/pawl/v1/event_pb";
import type { ExecuteRunRequestSchema, RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { present } from "./caller.ts";
import { PawlError } from "./errors.ts";
import { followSignal } from "./follow-signal.ts";
import type { StartedRun } from "./runs.ts";
import type { EventBatch, WatchOptions, WatchSource } from "./watch.ts";

/** A stream that is open already. */
export interface Connection {
  readonly messages: AsyncIterable<EventBatch>;
  close(): void;
}

/** Watches a run, over `first` as long as it holds. */
export type Watch = (
  runId: string,
  options?: WatchOptions,
  first?: Connection,
) => AsyncGenerator<RunEvent, void, undefined>;

export interface Begun {
  readonly started: StartedRun;
  readonly connection: Connection;
}

/** Opens the call and waits for the run it names, for as long as a unary call may take. */
export async function begin(
  rpc: Client<typeof RunService>,
  request: MessageInitShape<typeof ExecuteRunRequestSchema>,
  { signal, timeoutMs }: CallOptions,
): Promise<Begun> {
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
    if (first.done === true) throw new PawlError("UNREACHABLE", "the stream ended before it began");
    const started = { run: present(first.value.run), isDuplicate: first.value.duplicate };
    return { started, connection: { messages: prepend(first.value, messages), close } };
  } catch (thrown) {
    close();
    if (!isLate) throw thrown;
    const code = Code.DeadlineExceeded;
    throw new PawlError("DEADLINE_PASSED", `no answer for ${timeoutMs} ms`, {
      code,
      cause: thrown,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** A source whose first connection is there already. */
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

/** The first message says that the connection stands, as a heartbeat would. */
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
