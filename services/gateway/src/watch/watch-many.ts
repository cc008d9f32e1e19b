// Watches many runs as one stream. Each run has a reader of its own, with its own cursor, so the runs do not wait for each other.
//
// Races. Several readers have news at the same time: their batches wait in a line, one of each reader, and a reader continues when its batch
// is sent. So a connection that accepts no data stops all readers, and each keeps at most its buffer. A run is deleted or damaged while
// others are fine: it is done with a reason, and the others continue.

import { EngineError } from "@pawl/core/fault/engine-error";

/** One run of the stream. */
interface Source<Batch> {
  readonly stream: AsyncGenerator<readonly Batch[], void, undefined>;
}

/** News of the run at `index`. No batch and no end is a heartbeat. */
export interface ManyNews<Batch> {
  readonly index: number;
  readonly batch: readonly Batch[];
  readonly end?: { readonly reason: string };
}

/** Errors of one run that do not end the others. */
const OF_ONE_RUN: ReadonlySet<string> = new Set([
  "RUN_NOT_FOUND",
  "CURSOR_OUT_OF_RANGE",
  "NODE_NOT_FOUND",
  "EVENT_LOG_CORRUPTION",
]);

/** The news of all runs as they come. It ends when every run is done. @throws what a reader throws about the gateway or the store */
export async function* watchMany<Batch>(
  sources: readonly Source<Batch>[],
): AsyncGenerator<ManyNews<Batch>, void, undefined> {
  const line: (() => ManyNews<Batch>)[] = [];
  let wake: (() => void) | undefined;
  let live = sources.length;
  const put = (index: number, news: () => Omit<ManyNews<Batch>, "index">): void => {
    line.push(() => ({ index, ...news() }));
    wake?.();
  };
  const pull = ({ stream }: Source<Batch>, index: number): void =>
    void stream.next().then(
      ({ done, value }) =>
        put(index, () => (done === true ? { batch: [], end: { reason: "" } } : { batch: value })),
      (error: unknown) => put(index, () => ({ batch: [], end: { reason: reasonOf(error) } })),
    );
  sources.forEach(pull);
  try {
    while (live > 0) {
      const next = line.shift();
      if (next === undefined) {
        await new Promise<void>((resolve) => (wake = resolve));
        wake = undefined;
        continue;
      }
      const news = next();
      yield news;
      const source = sources[news.index];
      if (news.end !== undefined || source === undefined) live -= 1;
      else pull(source, news.index);
    }
  } finally {
    for (const { stream } of sources) void stream.return().catch(() => undefined);
  }
}

/** @throws the error itself if it ends the whole stream */
function reasonOf(error: unknown): string {
  if (error instanceof EngineError && OF_ONE_RUN.has(error.reason)) return error.reason;
  throw error;
}
