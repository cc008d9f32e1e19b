// Repairs of runs with maps, approvals, effects and limits on the real trio, and what cannot be repaired.
import type { PawlClient, RepairOptions } from "@pawl/client";
import { RepairAction } from "@pawl/proto/pawl/v1/repair_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph, type NodeText, script } from "./graph.ts";
import { refused, type RepairScene, repairScene } from "./repairs.ts";
import { firstEvent, runGraph, storyOf } from "./story.ts";

let scene: RepairScene;
let client: PawlClient;

beforeAll(async () => {
  scene = await repairScene();
  ({ client } = scene);
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(scene.cluster.logs())));
afterAll(() => scene.stop());

test("a map reuses its completed items and runs the failed ones again (X28)", async () => {
  scene.failing.add("map?2");
  scene.failing.add("map?4");
  const map: NodeText = {
    type: "map",
    config: {
      items: [1, 2, 3, 4, 5],
      parallelism: 5,
      on_item_failure: "continue",
      body: {
        type: "http",
        retry: { attempts: 1 },
        config: { url: `${scene.sink.url("map")}?{{ item }}`, method: "POST" },
      },
    },
  };
  const origin = await runGraph(client, graph(["start > map:loop > end"], { map }));
  expect(origin.run.hasFailures).toBe(true);
  scene.failing.clear();
  const { run, plan } = await client.runs.retry(origin.runId);
  expect(plan?.nodes.find(({ nodeId }) => nodeId === "map")).toMatchObject({
    action: RepairAction.RUN_ITEMS,
    itemsReused: 3,
    itemsAgain: 2,
  });
  const repaired = await scene.ended(run.runId);
  expect(repaired).toMatchObject({ status: "completed", run: { hasFailures: false } });
  expect([1, 2, 3, 4, 5].map((item) => scene.callsOf(`map?${item}`))).toEqual([1, 2, 1, 2, 1]);
  expect(repaired.outputOf("map")).toHaveLength(5);
});

test("an approval keeps its decision, and a question that is open at the end is asked again (X28)", async () => {
  const ask = (message: string): NodeText => ({ type: "approval", config: { message } });
  const definition = graph(["start > first > bad > end", "start > second > end"], {
    first: ask("Ship it?"),
    bad: scene.effect("asked"),
    second: ask("Pay it?"),
  });
  scene.failing.add("asked");
  const { run: origin } = await client.runs.test(definition);
  const isAsked = (nodeId: string) => (event: { type: string; nodeId: string }) =>
    event.type === "node.blocked" && event.nodeId === nodeId;
  await firstEvent(client, origin.runId, isAsked("first"));
  await client.runs.decide(origin.runId, "first", "approve");
  await firstEvent(
    client,
    origin.runId,
    ({ type, nodeId }) => type === "node.failed" && nodeId === "bad",
  );
  await client.runs.cancel(origin.runId);
  scene.failing.clear();
  const { run } = await client.runs.retry(origin.runId);
  await firstEvent(client, run.runId, isAsked("second"));
  await client.runs.decide(run.runId, "second", "approve");
  const repaired = await scene.ended(run.runId);
  expect(repaired.status).toBe("completed");
  expect(repaired.of("node.blocked").map(({ nodeId }) => nodeId)).toEqual(["second"]);
});

test("a repair keeps the effects that happened if the user asks for it, and the plan counts those that would happen again (X28)", async () => {
  const definition = graph(["start > pay > end"], {
    pay: call(scene.sink.url("ledger"), {
      retry: { attempts: 1 },
      config: { url: scene.sink.url("ledger"), method: "POST", effect: "at_most_once" },
      contracts: { output: { type: "object", required: ["receipt"] } },
    }),
  });
  const origin = await runGraph(client, definition);
  expect([origin.status, scene.callsOf("ledger")]).toEqual(["failed", 1]);
  const mended = {
    ...definition,
    nodes: definition.nodes.map(({ contracts: _contracts, ...node }) => node),
  };
  const plan = await client.runs.planRepair(origin.runId, { definition: mended });
  const pay = plan.nodes.find(({ nodeId }) => nodeId === "pay");
  expect(pay?.effects).toMatchObject([{ effectClass: "at_most_once", committed: 1, begun: 0 }]);
  expect(plan.warnings.join()).toContain("node pay: its at_most_once effects may happen a second");
  const { run } = await client.runs.repair(origin.runId, { definition: mended, keepEffects: true });
  expect((await scene.ended(run.runId)).status).toBe("completed");
  expect(scene.callsOf("ledger")).toBe(1);
});

test("what cannot be repaired is refused by name, and nothing is stored (X28)", async () => {
  const { run: live } = await client.runs.test(
    graph(["start > wait > end"], { wait: { type: "approval", config: { message: "?" } } }),
  );
  const origin = await runGraph(client, scene.chain("refused"));
  const id = origin.runId;
  const plan = await client.runs.planRepair(id);
  const repair = (run: string, options: RepairOptions) => client.runs.repair(run, options);
  const without = scene.chain("refused");
  const definition = { ...without, nodes: without.nodes.filter((node) => node["id"] !== "b") };
  const reasons = {
    live: await refused(client.runs.retry(live.runId)),
    unknownRun: await refused(client.runs.retry("0199a000-0000-7000-8000-00000000dead")),
    unknownNode: await refused(repair(id, { fromNodes: ["nope"] })),
    prototype: await refused(repair(id, { fromNodes: ["__proto__"] })),
    constructorNode: await refused(repair(id, { outputs: [{ nodeId: "constructor", output: 1 }] })),
    afterEnd: await refused(repair(id, { fromEventId: 9_999 })),
    removed: await refused(repair(id, { definition: JSON.stringify(definition) })),
    stale: await refused(repair(id, { planDigest: plan.digest, fromNodes: ["a"] })),
    latest: await refused(repair(id, { latest: true })),
    noOutput: await refused(repair(id, { outputs: [{ nodeId: "b", outputJson: "{" }] })),
    handle: await refused(repair(id, { outputs: [{ nodeId: "b", output: 1, handle: "no" }] })),
  };
  expect(reasons).toEqual({
    ...{ live: "RUN_NOT_FINISHED", unknownRun: "RUN_NOT_FOUND", unknownNode: "NODE_NOT_FOUND" },
    ...{ prototype: "INPUT_INVALID", constructorNode: "NODE_NOT_FOUND" },
    ...{ afterEnd: "INPUT_INVALID", removed: "DEFINITION_INVALID", stale: "REPAIR_PLAN_STALE" },
    ...{ latest: "INPUT_INVALID", noOutput: "INPUT_INVALID", handle: "INPUT_INVALID" },
  });
  expect((await client.runs.get(id)).run.repairedBy).toEqual([]);
  await client.runs.cancel(live.runId);
});

test("a repeated request gives the same run; a limit of the workflow holds for a repaired run; the newest version mends it (X28)", async () => {
  const version = (code: string, id = "repair-limited") =>
    JSON.stringify({
      id,
      concurrency: { limit: 1 },
      ...graph(["start > hold > step > end"], {
        hold: scene.effect("limited-first"),
        step: script(code),
      }),
    });
  await client.workflows.apply(version('throw new Error("broken")'));
  const started = await client.runs.start("repair-limited");
  const origin = await storyOf(client, started.run.runId);
  expect(origin.status).toBe("failed");
  const plan = await client.runs.planRepair(origin.runId, { latest: true });
  await client.workflows.apply(version("return { fixed: true }"));
  const asked = { latest: true, requestId: "repair-once" };
  expect(
    await refused(client.runs.repair(origin.runId, { ...asked, planDigest: plan.digest })),
  ).toBe("REPAIR_PLAN_STALE");
  const { run } = await client.runs.retry(origin.runId, asked);
  const again = await client.runs.retry(origin.runId, asked);
  expect(again).toMatchObject({ isDuplicate: true, run: { runId: run.runId } });
  const repaired = await scene.ended(run.runId);
  expect(repaired).toMatchObject({ status: "completed", run: { workflowVersion: 2 } });
  expect(repaired.of("run.started")[0]?.payload).toMatchObject({ slot: { limit: 1 } });
  expect(scene.callsOf("limited-first")).toBe(1);
});

test("a repaired run keeps the signals of the finished one: a reused node took its signal, and a node that runs again takes its own again (X28)", async () => {
  const wait = (name: string): NodeText => ({ type: "await_signal", config: { name } });
  const definition = graph(["start > first > bad > end", "start > second > end"], {
    first: wait("go"),
    bad: scene.effect("signalled"),
    second: wait("more"),
  });
  scene.failing.add("signalled");
  const { run: origin } = await client.runs.test(definition);
  for (const name of ["go", "more"])
    await client.runs.signal(origin.runId, name, { payload: name });
  expect((await storyOf(client, origin.runId)).status).toBe("failed");
  scene.failing.clear();
  const { run } = await client.runs.repair(origin.runId, { fromNodes: ["second"] });
  const repaired = await scene.ended(run.runId);
  expect(repaired.status).toBe("completed");
  expect(repaired.of("run.signalled")).toHaveLength(2);
  expect(repaired.of("node.completed", "second")).toHaveLength(1);
});

test("a run whose nodes were undone is not repaired (X28)", async () => {
  const origin = await runGraph(
    client,
    graph(["start > paid > bad > end"], {
      paid: scene.effect("undone", {
        compensation: { type: "http", config: { url: scene.sink.url("undo"), method: "POST" } },
      }),
      bad: script('throw new Error("broken")'),
    }),
  );
  expect([origin.status, scene.callsOf("undo")]).toEqual(["failed", 1]);
  expect(await refused(client.runs.retry(origin.runId))).toBe("RUN_NOT_REPAIRABLE");
});
