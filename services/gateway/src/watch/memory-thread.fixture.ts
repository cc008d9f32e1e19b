// A thread in memory for tests of its streams: runs take it one after the other, end with it or without it, and the gateway hears of all or
// of nothing.

import { EngineError } from "@pawl/core/fault/engine-error";
import { type RunId, runId } from "@pawl/core/name/ids";
import type { EventPage, LogCursor } from "@pawl/platform/store/log/log";
import type { ThreadNews, ThreadPlace, ThreadTurn } from "@pawl/platform/store/threads/threads";
import { coalesce } from "./coalesce.ts";
import { Fanout } from "./fanout.ts";
import { MemoryLog } from "./memory-log.fixture.ts";
import { ThreadHub } from "./thread-hub.ts";
import type { ViewReader } from "./view.ts";
import { watchRun } from "./watch-run.ts";
import type { ThreadCursors } from "./thread-cursors.ts";
import { watchThread, type WatchThread } from "./watch-thread.ts";

export const KEY = { tenantId: "default", threadId: "chat" } as const;

/** Streams of a thread here have no filter on nodes and no modes, so no one asks for a graph. */
const NO_READER: ViewReader = {
  graphOf: () => Promise.reject(new Error("no graph")),
  stateBefore: () => Promise.reject(new Error("no state")),
};

export class MemoryThread {
  createdAt = 1;
  isDeleted = false;
  /** Whether the gateway hears of changes. */
  isHeard = true;
  /** The distinct places of each statement that read turns. */
  readonly reads: number[] = [];
  turns: ThreadTurn[] = [];
  holder: RunId | undefined;
  readonly logs = new Map<RunId, MemoryLog>();
  readonly fanout: Fanout;
  readonly hub: ThreadHub;
  readonly watch: WatchThread;
  #moves = 0;
  #accepted = 0;

  constructor(textOf: ThreadCursors["textOf"]) {
    this.hub = new ThreadHub(this.#readTurns);
    this.fanout = new Fanout({
      readMany: this.#readMany,
      subscribersMax: 1_000,
      buffer: { events: 20, bytes: 1_000_000 },
      pollMs: 60_000,
      pollWithoutNotificationsMs: 60_000,
      retryMs: 1,
      onPoll: () => this.hub.pollAll(),
    });
    const times = { heartbeatMs: 60_000, stallMs: 60_000, releaseMs: 60_000, abandonMs: 60_000 };
    const readPage = coalesce({ load: this.#readMany, maxKeys: 100 });
    const watching = { ...times, fanout: this.fanout, findRun: this.#findRun, readPage };
    const deps = {
      ...{ ...times, fanout: this.fanout, hub: this.hub, reader: NO_READER, textOf },
      watch: (request: Parameters<typeof watchRun>[1]) => watchRun(watching, request),
      readPresent: async () => (this.isDeleted ? undefined : this.#present()),
    };
    this.watch = (request) => watchThread(deps, request);
  }

  /** A run is accepted. It waits. */
  accept(): RunId {
    this.#accepted += 1;
    const id = runId(`0198c0de-0000-7000-8000-${String(this.#accepted).padStart(12, "0")}`);
    const log = new MemoryLog(3, id);
    log.append(2, "node.queued");
    this.logs.set(id, log);
    return id;
  }

  take(id: RunId): void {
    this.holder = id;
    this.#move(id);
  }

  append(id: RunId, count = 1): void {
    const seq = this.logs.get(id)?.append(count) ?? 0;
    if (this.isHeard) this.fanout.notify(id, seq, false);
  }

  /** A run ends, with the thread or while it waits. */
  end(id: RunId): void {
    const seq = this.logs
      .get(id)
      ?.append(1, this.holder === id ? "run.completed" : "run.cancelled");
    if (this.holder === id) this.holder = undefined;
    this.#move(id);
    if (this.isHeard) this.fanout.notify(id, seq ?? 0, true);
  }

  /** Retention removes a run. */
  remove(id: RunId): void {
    this.logs.delete(id);
    this.turns = this.turns.filter((turn) => turn.runId !== id);
  }

  delete(): void {
    this.isDeleted = true;
    this.logs.clear();
    this.turns = [];
    this.#hear();
  }

  /** Every event of the runs with a turn, in the order of a stream. */
  get all(): string[] {
    return this.turns.flatMap(({ runId: id }) =>
      (this.logs.get(id)?.events ?? []).map(({ seq }) => `${id} ${seq}`),
    );
  }

  #move(id: RunId): void {
    this.#moves += 1;
    if (!this.turns.some((turn) => turn.runId === id))
      this.turns.push({ runId: id, turn: this.#moves, position: Number(id.slice(-12)) });
    this.#hear();
  }

  #hear(): void {
    if (this.isHeard) this.hub.notify(KEY.threadId);
  }

  #present(): Pick<ThreadTurn, "turn" | "position"> {
    const held = this.turns.find((turn) => turn.runId === this.holder);
    if (held !== undefined) return { turn: held.turn, position: held.position - 1 };
    return this.turns.at(-1) ?? { turn: 0, position: 0 };
  }

  readonly #readTurns = async (places: readonly ThreadPlace[]) => {
    this.reads.push(places.length);
    return places.map(({ threadId, turn, position }): ThreadNews | undefined => {
      if (this.isDeleted || threadId !== KEY.threadId) return undefined;
      const later = this.turns.filter(
        (each) => each.turn > turn || (each.turn === turn && each.position > position),
      );
      const isIdle = this.holder === undefined;
      return { createdAt: this.createdAt, isIdle, turns: later.slice(0, 2) };
    });
  };

  readonly #readMany = async (cursors: readonly LogCursor[]): Promise<EventPage[]> =>
    Promise.all(
      cursors.map(
        async (cursor) =>
          (await this.logs.get(cursor.runId)?.readPage(cursor)) ?? { events: [], hasMore: false },
      ),
    );

  readonly #findRun = async (id: RunId) => {
    const found = await this.logs.get(id)?.findRun();
    if (found !== undefined) return found;
    throw new EngineError("RUN_NOT_FOUND", "gone", { metadata: { run_id: id } });
  };
}
