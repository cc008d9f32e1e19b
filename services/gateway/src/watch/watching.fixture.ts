// A watch over a log in memory, for tests of the watch room.

import { Fanout } from "./fanout.ts";
import type { LoggedEvent } from "./logged-event.ts";
import { MemoryLog, RUN } from "./memory-log.fixture.ts";
import { type WatchDeps, type WatchRequest, watchRun, type WatchStream } from "./watch-run.ts";

/** A log, its hub and a function that watches it. */
export interface Setup {
  readonly log: MemoryLog;
  readonly fanout: Fanout;
  readonly watch: (request?: Partial<WatchRequest>) => WatchStream;
}

/** Small, so that it runs over. */
export const BUFFER = { events: 20, bytes: 1_000_000 };

/** All parts of a watch, in memory. */
export function setup(options: Partial<WatchDeps> & { subscribersMax?: number } = {}): Setup {
  const log = new MemoryLog();
  const fanout = new Fanout({
    readMany: log.readMany,
    subscribersMax: options.subscribersMax ?? 10,
    buffer: BUFFER,
    pollMs: 60_000,
    pollWithoutNotificationsMs: 60_000,
    retryMs: 1,
  });
  const deps: WatchDeps = {
    fanout,
    findRun: log.findRun,
    readPage: log.readPage,
    heartbeatMs: 60_000,
    stallMs: 60_000,
    releaseMs: 60_000,
    abandonMs: 60_000,
    ...options,
  };
  const base = { runId: RUN, afterSeq: 0, types: new Set<string>() };
  const watch = (request: Partial<WatchRequest> = {}) =>
    watchRun(deps, { ...base, signal: new AbortController().signal, ...request });
  return { log, fanout, watch };
}

/** Reads until `count` events came; skips heartbeats. */
export async function take(stream: WatchStream, count: number): Promise<number[]> {
  const seqs: number[] = [];
  while (seqs.length < count) {
    const { value, done } = await stream.next();
    if (done === true) break;
    seqs.push(...value.map(({ event }: LoggedEvent) => event.seq));
  }
  return seqs;
}

/** The seqs from `from` to `last`. */
export const upTo = (last: number, from = 1): number[] =>
  Array.from({ length: last - from + 1 }, (_, index) => from + index);
