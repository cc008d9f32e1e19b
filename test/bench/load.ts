// How long a new scheduler takes to load a run of 50,000 events: a map of ten thousand items whose attempts fail now and then, with real
// outputs, read from a real database. Measured once from its log, and once from a snapshot with the longest tail that can occur.
//
// Where the time goes (V8 sampler, 50,000 events from the log): nine tenths go to the driver, which turns rows into objects. A quarter of
// that was reading times, so the database counts the milliseconds in `load-events`. Rows and texts take half, garbage collection a fifth.
// Folding takes 2 µs an event. A snapshot is one row: its text costs a copy and its JSON 10 ms; the rest is its tail.

import { randomUUID } from "node:crypto";
import { parseDefinition } from "@pawl/core/definition/parse";
import { LIMITS } from "@pawl/core/data/limits";
import type { Fact } from "@pawl/core/log/event";
import {
  definitionId,
  executorId,
  nodeId,
  type RunId,
  runId as runIdOf,
} from "@pawl/core/name/ids";
import { openPool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import type { Journal } from "@pawl/platform/store/tick/journal";
import type { RunChange } from "@pawl/platform/store/runs/runs";
import { createJournal } from "@pawl/platform/store/tick/postgres";
import { createRecovery } from "@pawl/platform/store/recovery/writes";
import { createWorkflows } from "@pawl/platform/store/workflows/writes";
import { createLogger } from "@pawl/platform/telemetry/log";
import { uuidV7 } from "@pawl/scheduler/run-id";
import { SnapshotWriter } from "@pawl/scheduler/duties/snapshots";
import { Definitions } from "@pawl/scheduler/commit/definitions";
import { loadRuns } from "@pawl/scheduler/commit/load-run";
import { until } from "../support/until.ts";
import { median } from "./report.ts";
import { mapOf } from "./shapes.ts";
import type { BenchParts } from "./throughput.ts";

const EVENTS = 50_000;
/** The most events after a snapshot of so long a log, before the scheduler writes the next snapshot. */
const TAIL = 2_000;
const FLOOR_MS = 100;
const LOADS = 7;
const CHUNK = 2_000;
const EXECUTOR = executorId(randomUUID());

const about = (node: string, iteration: number, attempt: number, epoch = 0) => ({
  nodeId: nodeId(node),
  iteration,
  attempt,
  epoch,
});

/** The log: every second item is tried twice. Seqs are the order here, so epochs are known. */
function* facts(mapNode: string): Generator<Fact> {
  let seq = 0;
  const next = (fact: Fact): Fact => {
    seq += 1;
    return fact;
  };
  const payload = {
    definitionDigest: "d",
    workflowVersion: 1,
    kind: "test",
    deadlineAt: 0,
  } as const;
  yield next({
    ...{ nodeId: "", iteration: 0, attempt: 0, epoch: 0, type: "run.started", payload },
    value: '{"shop":7}',
  });
  const claimed = function* (node: string, iteration: number, attempt: number): Generator<Fact> {
    yield next({ ...about(node, iteration, attempt), type: "node.queued", payload: {} });
    const started = { executorId: EXECUTOR, wave: 1 };
    yield next({ ...about(node, iteration, attempt), type: "node.started", payload: started });
  };
  const done = (node: string, iteration: number, attempt: number, value: string): Fact =>
    next({
      ...about(node, iteration, attempt, seq),
      type: "node.completed",
      payload: { durationMs: 3 },
      value,
    });
  yield* claimed("start", 0, 1);
  yield done("start", 0, 1, "{}");
  yield* claimed(mapNode, 0, 1);
  const items = Array.from({ length: LIMITS.scopeWidth }, (_, index) => ({ sku: index }));
  yield next({
    ...about(mapNode, 0, 1, seq),
    type: "node.expanded",
    payload: { width: items.length },
    value: JSON.stringify(items),
  });
  for (let item = 1; item <= LIMITS.scopeWidth; item++) {
    if (seq > EVENTS - 6) return;
    yield* claimed(mapNode, item, 1);
    if (item % 4 !== 0) {
      const failure = { cause: "provider_error", message: "503 of the shop", delayMs: 1_000 };
      yield next({ ...about(mapNode, item, 1, seq), type: "node.retried", payload: failure });
      yield* claimed(mapNode, item, 2);
    }
    const attempt = item % 4 === 0 ? 1 : 2;
    const output = {
      sku: item,
      name: `item ${item} of the shop`,
      stock: item % 97,
      tags: ["a", "b"],
    };
    yield done(mapNode, item, attempt, JSON.stringify(output));
  }
}

/** Appends facts to a run that waits, so that no sweep of the stack has an eye on it. */
export async function append(
  journal: Journal,
  run: { readonly runId: RunId; version: number },
  all: readonly Fact[],
): Promise<void> {
  for (let at = 0; at < all.length; at += CHUNK) {
    const chunk = all.slice(at, at + CHUNK);
    const change: RunChange = {
      ...{ runId: run.runId, expectedVersion: run.version, eventCount: chunk.length },
      ...{
        status: "waiting",
        hasFailures: false,
        errorMessage: null,
        failureClass: null,
        ended: false,
      },
    };
    await journal.transact((tx) => {
      void tx.advance([change]);
      void tx.append(
        chunk.map((fact, index) => ({ runId: run.runId, back: chunk.length - 1 - index, fact })),
      );
    });
    run.version += 1;
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < LOADS; round++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return median(times);
}

export async function load({ stack, report }: BenchParts): Promise<void> {
  const url = stack.databaseUrl;
  const pool = openPool(url, { max: 4, name: "pawl-bench" });
  const boss = new BossQueue(url, () => {});
  await boss.start([]);
  const journal = createJournal({ url, pool, queue: boss });
  const recovery = createRecovery(pool, boss);
  const definitions = new Definitions(createWorkflows(pool));
  const log = createLogger({ service: "bench", level: "silent" });
  const parts = { journal, definitions, recovery, log };
  try {
    const { run, all } = await begin(journal);
    await append(journal, run, all.slice(1, -TAIL));
    const writer = new SnapshotWriter(parts);
    const began = performance.now();
    writer.add(run.runId, "write");
    const { runId } = run;
    const cursor = { runId, afterSeq: 0, fromSnapshot: true };
    const written = async (): Promise<boolean> =>
      (await pool.query({ text: "select 1 from run_snapshots where run_id = $1", values: [runId] }))
        .rows.length > 0;
    await until(written, { what: "the snapshot" });
    const add = (metric: string, value: number, more: object = {}): void =>
      report.add({ bench: "load", metric, value, unit: "ms", ...more });
    add(`snapshot of ${EVENTS - TAIL} events written`, performance.now() - began);
    await append(journal, run, all.slice(-TAIL));
    await stack.db.query("vacuum (analyze) pawl.run_events");
    const whole = await timed(() => journal.load([{ runId, afterSeq: 0 }]));
    const part = await timed(() => journal.load([cursor]));
    const fast = await timed(() => loadRuns(parts, [runId]));
    await recovery.dropSnapshot(runId);
    const slow = await timed(() => loadRuns(parts, [runId]));
    add(`${EVENTS} events from the log, p50`, slow);
    add("  of it database and driver", whole);
    add(`snapshot and ${TAIL} events, p50`, fast, {
      ratio: FLOOR_MS / fast,
      floor: `< ${FLOOR_MS} ms`,
      reached: fast < FLOOR_MS,
    });
    add("  of it database and driver", part);
  } finally {
    await Promise.all([journal.close(), boss.stop()]);
    await pool.end();
  }
}

/** A run with its first event, and the whole log it is to have. */
export async function begin(journal: Journal) {
  const text = JSON.stringify(mapOf(LIMITS.scopeWidth, 500));
  const parsed = parseDefinition(text);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.violations));
  const mapNode = parsed.definition.nodes.find((node) => node.type === "map")?.id ?? "";
  const id = definitionId(randomUUID());
  const all = [...facts(mapNode)];
  const run = { runId: runIdOf(uuidV7(Date.now())), version: 1 };
  await journal.transact((tx) => {
    const row = { definitionId: id, tenantId: "default", digest: "d", title: "t", nodeCount: 3 };
    void tx.saveGraphs([{ ...row, body: parsed.canonicalJson }]);
    void tx.insertRuns([
      {
        ...{ runId: run.runId, tenantId: "default", definitionId: id, workflowId: null },
        ...{ workflowVersion: 0, kind: "test", priority: 0, requestId: null, requestHash: null },
        ...{ traceparent: null, deadlineAt: Date.now() + 3_600_000, assumesNewest: false },
        ...{ definitionDigest: "d", limits: {}, input: "null", depth: 0, createdAt: 0 },
        ...{
          parent: null,
          status: "waiting",
          hasFailures: false,
          errorMessage: null,
          failureClass: null,
        },
        ...{ ended: false, eventCount: 1 },
      },
    ]);
    void tx.append(all.slice(0, 1).map((fact) => ({ runId: run.runId, back: 0, fact })));
  });
  return { run, all };
}
