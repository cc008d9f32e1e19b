// A scheduler's engine on the in-memory store, with executors that are lists of what they were sent: the real loop, without
// sockets or a database.

import { create } from "@bufbuild/protobuf";
import { parseSavedDefinition } from "@pawl/core/definition/parse";
import { definitionId, executorId } from "@pawl/core/name/ids";
import type { AskedThread } from "@pawl/core/log/start";
import type { Limits } from "@pawl/core/policy/limit";
import type { Outcome } from "@pawl/core/plan/result";
import { systemTimers, type Timers } from "@pawl/platform/lifecycle/timers";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { createLogger } from "@pawl/platform/telemetry/log";
import {
  type SchedulerItem,
  SchedulerItemSchema,
} from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { newRunId } from "../run-id.ts";
import { createMark } from "../inputs/quarantine.ts";
import { KnownPauses } from "../commit/pauses.ts";
import { ConnectedExecutors } from "../sessions/connected-executors.ts";
import { Session } from "../sessions/session.ts";
import { claimOf } from "../sessions/wire.ts";
import { RunCache } from "../commit/cache.ts";
import { Definitions } from "../commit/definitions.ts";
import type { NamedClaim, StartAnswer } from "../inputs/input.ts";
import { TickLoop } from "./loop.ts";
import { StoreHealth } from "./store-health.ts";
import { Waiting } from "../commit/waiting.ts";

export type Store = ReturnType<typeof createMemoryStore>;

const DONE: Outcome = { kind: "completed", outputJson: "{}", durationMs: 1 };

interface EngineOptions {
  readonly maxCachedBytes?: number;
  /** For what waits aside. */
  readonly timers?: Timers;
  /** Most tests play the executor of every node, glue nodes too. */
  readonly completesGlue?: boolean;
  readonly handsOff?: boolean;
}

/** An engine; several on one store are several schedulers. */
export function createEngine(
  store: Pick<Store, "journal" | "workflows" | "recovery" | "pauses">,
  now: () => number,
  options: EngineOptions = {},
) {
  const { maxCachedBytes, timers = systemTimers, completesGlue = false, handsOff = true } = options;
  const definitions = new Definitions(store.workflows);
  const connected = new ConnectedExecutors();
  const waiting = new Waiting(now);
  const { journal, recovery, pauses } = store;
  const log = createLogger({ service: "scheduler", level: "silent" });
  const mark = createMark(recovery, log);
  const bounds = { max: 1_000, ...(maxCachedBytes !== undefined && { maxBytes: maxCachedBytes }) };
  const cache = new RunCache({ journal, definitions, ...bounds, onCorrupt: mark });
  const health = new StoreHealth();
  const conflicts = { count: 0 };
  const errors: unknown[] = [];
  const eventCounts: number[] = [];
  const known = new KnownPauses({
    pauses,
    onResumed: (types) => {
      for (const type of types) waiting.enqueued(type);
      loop.poll();
    },
    onUnsettled: () => {},
    onError: (error) => void errors.push(error),
  });
  const loop: TickLoop = new TickLoop({
    journal,
    cache,
    definitions,
    executors: connected,
    waiting,
    handsOff,
    completesGlue,
    pauses: known,
    now,
    recovery,
    store: health,
    timers,
    steady: now,
    onTick: ({ eventCount }) => void eventCounts.push(eventCount),
    onConflict: () => void (conflicts.count += 1),
    onError: (error) => void errors.push(error),
    onPoisoned: mark,
  });
  return {
    journal,
    recovery,
    pauses,
    known,
    log,
    mark,
    loop,
    connected,
    waiting,
    definitions,
    health,
    conflicts,
    errors,
    /** Of every tick so far. */
    eventCounts,
    cache,
    ...calls(loop, now),
  };
}

export type Engine = ReturnType<typeof createEngine>;

/** What a test may say of a run it starts. */
interface More {
  readonly priority?: number;
  readonly input?: string;
  readonly limits?: Limits;
  readonly startAt?: number;
  readonly thread?: AskedThread;
}

function calls(loop: TickLoop, now: () => number) {
  const outcome = (claim: NamedClaim, result: Outcome = DONE): Promise<"settled" | "stale"> =>
    new Promise((resolve, reject) =>
      loop.submit({
        kind: "outcome",
        claim,
        outcome: result,
        jitter: 0,
        answer: { resolve, reject },
      }),
    );
  const start = (
    id: string,
    requestId: string | null = null,
    requestHash = "hash",
    { priority = 0, limits = {}, input = "{}", ...more }: More = {},
  ) =>
    new Promise<StartAnswer>((resolve, reject) =>
      loop.submit({
        kind: "start",
        start: {
          runId: newRunId(now()),
          tenantId: "default",
          kind: "saved",
          definitionId: definitionId(id),
          definitionDigest: "d",
          workflowId: "w",
          workflowVersion: 1,
          assumesNewest: false,
          priority,
          requestId,
          requestHash: requestId === null ? null : requestHash,
          traceparent: null,
          createdAt: now(),
          deadlineAt: now() + 60_000,
          ...{ limits, input, parent: null, depth: 0 },
          ...more,
        },
        answer: { resolve, reject },
      }),
    );
  return { outcome, start };
}

/** Connects an executor with room for `slots` tasks of these types. */
export function connect(engine: Engine, capacity: number, nodeTypes = ["start", "noop"]) {
  const items: SchedulerItem[] = [];
  const session = new Session({
    executorId: executorId(crypto.randomUUID()),
    sessionId: crypto.randomUUID(),
    nodeTypes,
    capacity,
    held: [],
    send: (item, onSent) => {
      items.push(create(SchedulerItemSchema, item));
      onSent?.();
    },
  });
  engine.connected.join(session);
  /** Takes the assignments sent so far. */
  const take = (): NamedClaim[] =>
    items.splice(0).flatMap(({ item }) => {
      if (item.case !== "assignment" || item.value.claim === undefined) return [];
      const claim = claimOf(item.value.claim);
      return claim === undefined ? [] : [{ ...claim, executorId: session.executorId }];
    });
  return { session, items, take };
}

/** Saves a graph and gives its definition id. */
export async function saveGraph(store: Pick<Store, "journal">, graph: object): Promise<string> {
  const parsed = parseSavedDefinition(JSON.stringify({ title: "t", ...graph }));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.violations));
  const id = crypto.randomUUID();
  const row = {
    definitionId: definitionId(id),
    tenantId: "default",
    digest: "d",
    title: "t",
    nodeCount: parsed.graph.nodes.length,
    body: parsed.canonicalJson,
  };
  await store.journal.transact((tx) => tx.saveGraphs([row]));
  return id;
}

/** Runs every assignment of every executor to its end; true when the engines have gone quiet. */
export async function workUntilQuiet(
  pairs: readonly { engine: Engine; executor: ReturnType<typeof connect> }[],
): Promise<void> {
  for (;;) {
    const taken = pairs.map(({ engine, executor }) => ({
      engine,
      executor,
      claims: executor.take(),
    }));
    if (taken.every(({ claims }) => claims.length === 0)) return;
    await Promise.all(
      taken.flatMap(({ engine, executor, claims }) =>
        claims.map((claim) => {
          executor.session.letGo(claim);
          return engine.outcome(claim);
        }),
      ),
    );
  }
}
