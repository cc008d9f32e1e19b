// Repairs of finished runs on the real trio. Every node that makes an effect calls a sink, so a test counts what ran again.
import type { Json, PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { broken, graph, script } from "./graph.ts";
import { actionsOf, refused, type RepairScene, repairScene } from "./repairs.ts";
import { runGraph, storyOf } from "./story.ts";

let scene: RepairScene;
let client: PawlClient;

beforeAll(async () => {
  scene = await repairScene();
  ({ client } = scene);
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(scene.cluster.logs())));
afterAll(() => scene.stop());

test("a failed run is retried from its failed node: nodes before it are reused and not called again, and both runs name each other (X28)", async () => {
  const origin = await runGraph(client, scene.chain("retry"), { n: 7 });
  expect(origin.status).toBe("failed");
  scene.failing.delete("retry-b");

  const plan = await client.runs.planRepair(origin.runId);
  expect(actionsOf(plan)).toEqual({
    ...{ start: "reuse", a: "reuse", side: "reuse" },
    ...{ b: "run", c: "run", end: "run" },
  });
  const proof = plan.nodes.find(({ nodeId }) => nodeId === "a")?.eventId;
  expect(origin.events[Number(proof) - 1]).toMatchObject({ type: "node.completed", nodeId: "a" });

  const { run } = await client.runs.retry(origin.runId, { planDigest: plan.digest });
  const repaired = await scene.ended(run.runId);
  expect(repaired.status).toBe("completed");
  expect(repaired.output).toEqual({ side: 7 });
  expect(repaired.run.hasFailures).toBe(false);
  expect(["a", "b", "c"].map((node) => scene.callsOf(`retry-${node}`))).toEqual([1, 2, 1]);
  expect(repaired.of("node.started", "a")).toEqual([]);
  expect(repaired.run.repairOf).toBe(origin.runId);
  const { run: left } = await client.runs.get(origin.runId);
  expect(left.repairedBy).toEqual([run.runId]);
  // The finished run is as it was.
  expect(left.lastEventId).toBe(origin.run.lastEventId);
  expect((await storyOf(client, origin.runId)).events).toEqual(origin.events);
});

test("a repair can be repaired, and a completed run runs again from a node or after an event (X28)", async () => {
  scene.failing.delete("again-b");
  const origin = await runGraph(
    client,
    graph(["start > a > b > c > end"], {
      a: scene.effect("again-a"),
      b: scene.effect("again-b"),
      c: scene.effect("again-c"),
    }),
  );
  expect(origin.status).toBe("completed");
  expect(await refused(client.runs.retry(origin.runId))).toBe("NOTHING_TO_REPAIR");

  const first = await client.runs.repair(origin.runId, { fromNodes: ["b"] });
  expect((await scene.ended(first.run.runId)).status).toBe("completed");
  const second = await client.runs.repair(first.run.runId, { fromNodes: ["c"] });
  expect((await scene.ended(second.run.runId)).status).toBe("completed");
  expect(["a", "b", "c"].map((node) => scene.callsOf(`again-${node}`))).toEqual([1, 2, 3]);

  const [done] = origin.of("node.completed", "a");
  const third = await client.runs.repair(origin.runId, { fromEventId: done?.eventId });
  expect((await scene.ended(third.run.runId)).status).toBe("completed");
  expect(["a", "b", "c"].map((node) => scene.callsOf(`again-${node}`))).toEqual([1, 3, 4]);
});

test("with a patched definition, changed and new nodes run, and the plan shows the difference; a kept node does not run (X28)", async () => {
  const before = graph(["start > a > bad > end", "start > gone > end"], {
    a: scene.effect("patch-a"),
    bad: broken(),
    gone: scene.effect("patch-gone"),
  });
  const after = graph(["start > a > bad > extra > end"], {
    a: scene.effect("patch-a", { config: { url: scene.sink.url("patch-a"), method: "PUT" } }),
    bad: script("return { mended: true }"),
    extra: scene.effect("patch-extra"),
    end: { type: "end", config: { output_parameters: { bad: "{{ ctx.nodes.extra.status }}" } } },
  });
  const origin = await runGraph(client, before);
  const plan = await client.runs.planRepair(origin.runId, { definition: after });
  expect(actionsOf(plan)).toEqual({
    ...{ start: "reuse", a: "run", bad: "run", extra: "run", end: "run", gone: "remove" },
  });
  expect(plan.nodes.map(({ nodeId, change }) => [nodeId, change])).toEqual(
    expect.arrayContaining([
      ["a", "changed"],
      ["extra", "new"],
      ["gone", "removed"],
    ]),
  );
  expect(plan.nodes.find(({ nodeId }) => nodeId === "a")?.changedFields).toEqual(["config"]);

  const kept = { definition: after, keepNodes: ["a"] };
  const keeping = await client.runs.planRepair(origin.runId, kept);
  expect(actionsOf(keeping)["a"]).toBe("reuse");
  expect(keeping.warnings.join()).toContain("node a: its config changed, and its result is kept");
  const { run } = await client.runs.repair(origin.runId, { ...kept, planDigest: keeping.digest });
  const repaired = await scene.ended(run.runId);
  expect(repaired.status).toBe("completed");
  expect([scene.callsOf("patch-a"), scene.callsOf("patch-extra")]).toEqual([1, 1]);
  // A test run that was repaired with another definition is a test run with a definition of its own.
  await client.runs.delete(origin.runId);
  expect((await client.runs.get(run.runId)).run.status).toBe(repaired.run.status);
});

test("a patched input runs the nodes that read it, and reuses the others (X28)", async () => {
  const origin = await runGraph(
    client,
    graph(["start > plain > end", "start > reads > end"], {
      plain: scene.effect("input-plain"),
      reads: scene.effect("input-reads", {
        config: { url: `${scene.sink.url("input-reads")}?n={{ ctx.input.n }}`, method: "POST" },
      }),
    }),
    { n: 1 },
  );
  const { run, plan } = await client.runs.repair(origin.runId, { input: { n: 2 } });
  expect(plan && actionsOf(plan)).toMatchObject({ plain: "reuse", reads: "run" });
  expect((await scene.ended(run.runId)).status).toBe("completed");
  expect([
    scene.callsOf("input-plain"),
    scene.callsOf("input-reads?n=1"),
    scene.callsOf("input-reads?n=2"),
  ]).toEqual([1, 1, 1]);
});

test("a person sets the output of a node by hand: it is checked by the contract, recorded with name and reason, and the node does not run (X28)", async () => {
  const definition = graph(["start > price > pay > end"], {
    price: broken({
      contracts: { output: { type: "object", required: ["total"] } },
      output_variable: "price",
    }),
    pay: script("return { paid: ctx.price.total }"),
    end: { type: "end", config: { output_parameters: { paid: "{{ ctx.nodes.pay.paid }}" } } },
  });
  const origin = await runGraph(client, definition);
  const set = (output: Json) => ({
    outputs: [{ nodeId: "price", output }],
    by: "Ada",
    reason: "list",
  });
  expect(await refused(client.runs.repair(origin.runId, set({ sum: 4 })))).toBe("INPUT_INVALID");
  const { run } = await client.runs.repair(origin.runId, set({ total: 42 }));
  const repaired = await scene.ended(run.runId);
  expect(repaired.output).toEqual({ paid: 42 });
  expect(repaired.of("node.completed", "price")[0]?.payload).toMatchObject({
    setBy: { by: "Ada", reason: "list" },
  });
  expect(repaired.of("node.started", "price")).toEqual([]);
});
