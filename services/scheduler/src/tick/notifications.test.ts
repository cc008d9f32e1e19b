import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, test } from "vitest";
import { connect, createEngine, saveGraph } from "./tick.fixture.ts";

const GRAPH = {
  nodes: [
    { id: "start", type: "start" },
    { id: "last", type: "noop" },
  ],
  edges: [{ source: "start", target: "last" }],
};

test("a run wakes readers from its second commit on: before that no reader knows its id", async () => {
  const notified: { readonly runId: string; readonly ended: boolean }[] = [];
  const store = createMemoryStore({
    now: () => 1_000,
    onWake: (runs) => void notified.push(...runs),
  });
  const engine = createEngine(store, () => 1_000);
  const executor = connect(engine, 4);
  const { runId } = await engine.start(await saveGraph(store, GRAPH));
  expect(notified).toEqual([]);
  for (const ended of [false, true]) {
    for (const claim of executor.take()) await engine.outcome(claim);
    expect(notified.splice(0)).toMatchObject([{ runId, ended }]);
  }
});
