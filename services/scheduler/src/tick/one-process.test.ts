import type { RunEvent } from "@pawl/core/log/event";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, test } from "vitest";
import { connect, createEngine, saveGraph, workUntilQuiet } from "./tick.fixture.ts";

const diamond = {
  nodes: [
    { id: "start", type: "start" },
    { id: "left", type: "step" },
    { id: "right", type: "step" },
    { id: "join", type: "step" },
  ],
  edges: [
    { source: "start", target: "left" },
    { source: "start", target: "right" },
    { source: "left", target: "join" },
    { source: "right", target: "join" },
  ],
};

/** Runs a diamond on so many engines that share a store; each has an executor with room for one task. */
async function runOn(engineCount: number): Promise<readonly RunEvent[]> {
  const now = (): number => 1_000_000;
  const store = createMemoryStore({ now });
  const engines = Array.from({ length: engineCount }, () => createEngine(store, now));
  const [first] = engines;
  if (first === undefined) throw new Error("no engine");
  // With two engines each has the executor of one node type, so that neither can run the graph alone.
  const types = ["start", "step"];
  const pairs = engines.map((engine, at) => ({
    engine,
    executor: connect(engine, 1, engineCount === 1 ? types : types.slice(at, at + 1)),
  }));
  const { runId } = await first.start(await saveGraph(store, diamond));
  /** Shows each engine the jobs that wait, and runs what it hands out. */
  const round = async (): Promise<readonly RunEvent[] | undefined> => {
    for (const { engine } of pairs) {
      for (const { nodeType, waitingCount } of (await store.journal.survey()).queues)
        if (waitingCount > 0) engine.waiting.enqueued(nodeType);
      engine.loop.poll();
    }
    await workUntilQuiet(pairs);
    const [run] = await store.journal.load([{ runId, afterSeq: 0 }]);
    return run?.hasEnded ? run.events : undefined;
  };
  await expect.poll(round, { interval: 1, timeout: 20_000 }).toBeDefined();
  return (await round()) ?? [];
}

const namesOf = (events: readonly RunEvent[]): string[] =>
  events.map(({ type, nodeId }) => `${type} ${nodeId}`).toSorted();

test("one engine in one process and two that share a store run a graph to the same end (S0.1)", async () => {
  const alone = await runOn(1);
  expect(namesOf(alone)).toContain("run.completed ");
  const shared = await runOn(2);
  expect(namesOf(shared)).toEqual(namesOf(alone));
  const executors = shared.flatMap((event) =>
    event.type === "node.started" ? [event.payload.executorId] : [],
  );
  expect(new Set(executors).size).toBe(2);
});
