// A task that no message can hold fails by name, on the in-memory store.

import { LIMITS } from "@pawl/core/data/limits";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { expect, test } from "vitest";
import { connect as connectList, createEngine, saveGraph } from "../tick/tick.fixture.ts";
import { until } from "../../../../test/support/until.ts";
import { connect } from "./work-stream.fixture.ts";

/** Variables that together are more than a node may read. */
const IDS = Array.from({ length: 9 }, (_, index) => `v${index}`);
const GRAPH = {
  nodes: [
    { id: "start", type: "start" },
    { id: "late", type: "rare" },
    ...IDS.map((id) => ({ id, type: "noop", output_variable: id })),
  ],
  edges: ["late", ...IDS].map((target) => ({ source: "start", target })),
};

test("a node whose context grew too large while it was queued fails by name, and costs no delivery", async () => {
  const store = createMemoryStore({ now: () => 1_000 });
  const engine = createEngine(store, () => 1_000);
  await engine.known.reload();
  const early = connectList(engine, 20);
  const { runId } = await engine.start(await saveGraph(store, GRAPH));
  const [first] = early.take();
  if (first === undefined) throw new Error("start was not assigned");
  early.session.letGo(first);
  await engine.outcome(first);
  const outputJson = JSON.stringify("x".repeat(LIMITS.valueBytes - 2));
  for (const claim of early.take()) {
    early.session.letGo(claim);
    await engine.outcome(claim, { kind: "completed", outputJson, durationMs: 1 });
  }
  // It waited for an executor of its type all the while.
  const rare = connect(store, engine);
  const value = { executorId: crypto.randomUUID(), nodeTypes: ["rare"], slots: 4 };
  rare.say({ case: "register", value });
  await until(() => store.view.run(runId)?.status === "failed", { what: "the run to fail" });
  const types = store.view.events(runId).filter(({ nodeId }) => nodeId === "late");
  expect(types.map(({ type }) => type)).toEqual(["node.queued", "node.started", "node.failed"]);
  expect(types.at(-1)?.payload).toMatchObject({
    cause: "context_too_large",
    message: expect.stringMatching(/takes \d{7} bytes; at most 2097152/),
  });
  expect(rare.heard.map(({ case: name }) => name)).not.toContain("assignment");
  expect(store.view.leases()).toEqual([]);
});
