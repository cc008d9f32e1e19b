import { parseDefinition } from "@pawl/core/definition/parse";
import { newRunState } from "@pawl/core/log/fold";
import type { RunId } from "@pawl/core/name/ids";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, test } from "vitest";
import { newRunId } from "../run-id.ts";
import { type CachedRun, RunCache } from "./cache.ts";
import { Definitions } from "./definitions.ts";
import { connect, createEngine, saveGraph, workUntilQuiet } from "../tick/tick.fixture.ts";

const KIB = 1_024;

function cacheOf(bounds: { readonly max: number; readonly maxBytes: number }): RunCache {
  const { journal, workflows } = createMemoryStore({ now: Date.now });
  return new RunCache({ journal, definitions: new Definitions(workflows), ...bounds });
}

function runOf(bytes: number): CachedRun {
  const parsed = parseDefinition('{"title":"t","nodes":[{"id":"a","type":"start"}],"edges":[]}');
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.violations));
  const state = newRunState(newRunId(Date.now()), parsed.graph);
  const about = {
    workflowId: "w",
    priority: 0,
    traceparent: null,
    snapshotSeq: 0,
    snapshotAt: undefined,
  };
  return { state, version: 1, bytes, ...about };
}

const kept = (cache: RunCache, runs: readonly CachedRun[]): boolean[] =>
  runs.map(({ state }) => cache.get(state.runId) !== undefined);

test("folds are kept up to a number; the run touched longest ago is dropped first", () => {
  const cache = cacheOf({ max: 2, maxBytes: Infinity });
  const runs = [runOf(1), runOf(1), runOf(1)] as const;
  for (const run of runs) cache.put(run);
  cache.put(runs[0]);
  cache.trim();
  expect(kept(cache, runs)).toEqual([true, false, true]);
});

test("a few huge folds make room like many small ones: the bound is in bytes as well", () => {
  const cache = cacheOf({ max: 1_000, maxBytes: 100 * KIB });
  const small = Array.from({ length: 10 }, () => runOf(KIB));
  const huge = [runOf(60 * KIB), runOf(60 * KIB)];
  for (const run of [...small, ...huge]) cache.put(run);
  cache.trim();
  expect(kept(cache, small)).toEqual(small.map(() => false));
  expect(kept(cache, huge)).toEqual([false, true]);
});

test("a fold counts with what it has grown to, and no more once it is dropped", () => {
  const cache = cacheOf({ max: 1_000, maxBytes: 100 * KIB });
  const [first, second] = [runOf(10 * KIB), runOf(10 * KIB)];
  cache.put(first);
  cache.put(second);
  second.bytes = 95 * KIB;
  cache.put(second);
  cache.trim();
  expect(kept(cache, [first, second])).toEqual([false, true]);
  cache.drop(second.state.runId);
  const third = runOf(95 * KIB);
  cache.put(third);
  cache.trim();
  expect(kept(cache, [third])).toEqual([true]);
});

test("a run is worth a snapshot every two thousand events, a long one every thirty-second of itself, and none once it is over", () => {
  const { journal, workflows } = createMemoryStore({ now: Date.now });
  const asked: string[] = [];
  const run = runOf(1);
  const cache = new RunCache({
    journal,
    definitions: new Definitions(workflows),
    max: 10,
    maxBytes: Infinity,
    onLong: () => void asked.push(`write at ${run.state.lastSeq}`),
    onOver: () => void asked.push("drop"),
  });
  const growTo = (seq: number): void => {
    run.state.lastSeq = seq;
    cache.keepLive(run, 0);
  };
  for (const seq of [1, 1_999, 2_000, 2_001, 3_999, 4_000]) growTo(seq);
  expect(asked).toEqual(["write at 2000", "write at 4000"]);
  // A log of 320,000 events has one every 10,000.
  run.snapshotSeq = 310_000;
  for (const seq of [319_000, 320_000, 320_001]) growTo(seq);
  expect(asked.slice(2)).toEqual(["write at 320000"]);
  run.state.status = "completed";
  growTo(320_002);
  expect(asked.slice(3)).toEqual(["drop"]);
  const young = runOf(1);
  young.state.status = "completed";
  cache.keepLive(young, 0);
  expect(asked).toHaveLength(4);
});

test("a slow run is worth a snapshot after ten minutes, if its log has grown enough", () => {
  const { journal, workflows } = createMemoryStore({ now: Date.now });
  const asked: string[] = [];
  const run = runOf(1);
  const cache = new RunCache({
    journal,
    definitions: new Definitions(workflows),
    max: 10,
    onLong: () => void asked.push(`write at ${run.state.lastSeq}`),
  });
  const growTo = (seq: number, minute: number): void => {
    run.state.lastSeq = seq;
    cache.keepLive(run, minute * 60_000);
  };
  growTo(500, 0);
  growTo(600, 9);
  expect(asked).toEqual([]);
  growTo(601, 10);
  growTo(650, 11);
  expect(asked).toEqual(["write at 601"]);
  growTo(700, 25);
  growTo(801, 26);
  expect(asked).toEqual(["write at 601", "write at 801"]);
});

test("a tick keeps the runs that it works on, however large they are, and runs continue from the log", async () => {
  const store = createMemoryStore({ now: Date.now });
  const engine = createEngine(store, Date.now, { maxCachedBytes: 1 });
  const executor = connect(engine, 10);
  const id = await saveGraph(store, {
    nodes: ["a", "b", "c"].map((node) => ({ id: node, type: node === "a" ? "start" : "noop" })),
    edges: [
      { source: "a", target: "b" },
      { source: "b", target: "c" },
    ],
  });
  const runIds: RunId[] = [];
  for (const input of ['"x"', '"y"'])
    runIds.push((await engine.start(id, null, "hash", { input })).runId);
  await engine.loop.afterTick();
  expect(runIds.map((runId) => engine.cache.get(runId))).toEqual([undefined, undefined]);
  await workUntilQuiet([{ engine, executor }]);
  await engine.cache.ensure(runIds);
  expect(runIds.map((runId) => engine.cache.get(runId)?.state.status)).toEqual([
    "completed",
    "completed",
  ]);
  expect(engine.errors).toEqual([]);
});
