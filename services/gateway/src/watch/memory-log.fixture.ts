// A log in memory for tests of the watch room: it answers reads as the store does, can hold them back, and counts them.

import { EngineError } from "@pawl/core/fault/engine-error";
import { isTerminalType, type RunEvent } from "@pawl/core/log/event";
import { type RunId, runId } from "@pawl/core/name/ids";
import type { EventPage, LogCursor } from "@pawl/platform/store/log/log";
import type { WatchedRun } from "./watch-run.ts";

export const RUN: RunId = runId("0198c0de-0000-7000-8000-000000000001");

const SCOPE = { workflowId: "w", traceId: "", waveOf: () => 0 };

/** Far more than the steps of any chain of promises between a hint and its reader. */
const STEPS = 200;

/** Runs all pending promises; a log in memory needs no timers. */
export async function turn(): Promise<void> {
  for (let step = 0; step < STEPS; step += 1) await Promise.resolve();
}

/** One log of one run. */
export class MemoryLog {
  readonly pageSize: number;
  events: RunEvent[] = [];
  /** How many statements were answered. */
  reads = 0;
  /** How many of the next statements fail as if the database were away. */
  outages = 0;
  /** Runs before each statement is answered; awaited. */
  beforeRead: () => Promise<void> | void = () => undefined;

  readonly runId: RunId;

  constructor(pageSize = 8, id = RUN) {
    this.pageSize = pageSize;
    this.runId = id;
  }

  /** Appends `count` events of a type and gives the new end of the log. */
  append(
    count: number,
    type: "node.log" | "node.queued" | "run.completed" | "run.cancelled" = "node.log",
    value = "",
  ): number {
    for (let added = 0; added < count; added += 1) {
      const seq = this.events.length + 1;
      const payload = { logIndex: seq, level: "info", message: "", hasFailures: false };
      const place = { nodeId: "a", iteration: 0, attempt: 1, epoch: 0 };
      // The payload fits every type that is appended here.
      const event = {
        runId: this.runId,
        seq,
        at: 0,
        type,
        ...place,
        payload,
        value: JSON.stringify(value),
      };
      this.events.push(event as unknown as RunEvent);
    }
    return this.events.length;
  }

  /** The newest event. @throws RangeError of an empty log */
  get last(): RunEvent {
    const last = this.events.at(-1);
    if (last === undefined) throw new RangeError("the log is empty");
    return last;
  }

  readMany = async (cursors: readonly LogCursor[]): Promise<EventPage[]> => {
    await this.beforeRead();
    this.reads += 1;
    if (this.outages > 0) {
      this.outages -= 1;
      throw new EngineError("STORE_UNAVAILABLE", "away");
    }
    return cursors.map(({ afterSeq }) => {
      const events = this.events.slice(afterSeq, afterSeq + this.pageSize);
      return { events, hasMore: events.length === this.pageSize };
    });
  };

  readPage = async (cursor: LogCursor): Promise<EventPage> => {
    const [page] = await this.readMany([cursor]);
    return page ?? { events: [], hasMore: false };
  };

  findRun = (): Promise<WatchedRun> =>
    Promise.resolve({
      status: isTerminalType(this.events.at(-1)?.type ?? "") ? "completed" : "running",
      lastSeq: this.events.length,
      scope: SCOPE,
    });
}
