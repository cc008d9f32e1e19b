// Supervisors on the real trio, with rules and with the offline model. The nodes of a route lead back to their supervisor.
import { createPawlClient, type Json, type PawlClient } from "@pawl/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Cluster } from "../support/cluster.ts";
import { sharedCluster } from "../support/shared-cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, type NodeText, script } from "./graph.ts";
import { runGraph, type Story } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  cluster = await sharedCluster();
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

const proved = async (story: Story): Promise<Story> => {
  expect(await checkInvariants(cluster.databaseUrl, [story.runId])).toEqual([]);
  return story;
};

/** A worker that leads back to its supervisor, and its edges. */
const supervised = (lead: Json, more: Readonly<Record<string, NodeText>> = {}) => {
  const text = graph(["start > lead", "lead:work > worker", "lead:done > end"], {
    lead: { type: "supervisor", config: lead },
    worker: script("return (ctx.count ?? 0) + 1", { output_variable: "count" }),
    ...more,
  });
  const back = { source: "worker", target: "lead", loop: true };
  return { ...text, edges: [...text.edges, back] };
};

const decisionsOf = (story: Story) =>
  story.of("node.completed", "lead").map(({ iteration, payload }) => {
    const { output } = payload as { output: { route: string; reason: string } };
    return { iteration, ...output };
  });

const routesOf = (story: Story): string[] =>
  decisionsOf(story).map(({ iteration, route }) => `${iteration} ${route}`);

test("a supervisor routes by rules until none holds, and the log has each decision (S2.26)", async () => {
  const lead = { routes: [{ id: "work", when: "!has(ctx.vars.count) || ctx.vars.count < 3" }] };
  const story = await proved(await runGraph(client, supervised(lead)));
  expect(story.status, story.run.errorMessage).toBe("completed");
  expect(routesOf(story)).toEqual(["0 work", "1 work", "2 work", "3 done"]);
  const rule = "the rule holds: !has(ctx.vars.count) || ctx.vars.count < 3";
  expect(decisionsOf(story).map(({ reason }) => reason)).toEqual([
    rule,
    rule,
    rule,
    "no rule holds",
  ]);
  const { supervisorHistory } = await client.runs.state(story.runId);
  expect(supervisorHistory).toMatchObject([
    { nodeId: "lead", iteration: 0, route: "work", next: "worker", reason: rule },
    { iteration: 1, next: "worker" },
    { iteration: 2, next: "worker" },
    { iteration: 3, route: "done", next: "", reason: "no rule holds" },
  ]);
  const events = story.of("node.completed", "lead").map(({ eventId }) => eventId);
  expect(supervisorHistory.map(({ eventId }) => eventId)).toEqual(events);
});

test("a model supervises where no rule holds, and sees its earlier decisions (S2.26)", async () => {
  const said = (route: string) => ({
    text: JSON.stringify({ route, reason: `it is time to ${route}` }),
  });
  const prompt = JSON.stringify([said("work"), said("work"), said("done")]);
  const lead = {
    routes: [{ id: "work", description: "More work." }],
    model: "offline/script",
    prompt,
  };
  const story = await proved(await runGraph(client, supervised(lead)));
  expect(routesOf(story)).toEqual(["0 work", "1 work", "2 done"]);
  const lost = { ...lead, prompt: JSON.stringify([said("elsewhere")]) };
  const failing = await proved(await runGraph(client, supervised(lost)));
  expect(failing.run.errorMessage).toContain(
    'the model chose "elsewhere"; the routes are work, done',
  );
});

test("a supervisor that may not decide again leaves by max_iterations, or fails without an edge for it", async () => {
  const lead = { routes: [{ id: "work", when: "true" }], max_iterations: 2 };
  const failing = await proved(await runGraph(client, supervised(lead)));
  expect(failing.run.errorMessage).toContain(
    "the supervisor decided 2 times and did not choose done",
  );
  const text = supervised(lead, { report: script("return ctx.count") });
  const edges = [
    ...text.edges,
    { source: "lead", target: "report", source_handle: "max_iterations" },
  ];
  const story = await proved(await runGraph(client, { ...text, edges }));
  expect(story.status, story.run.errorMessage).toBe("completed");
  expect(story.outputOf("report")).toBe(2);
  expect(routesOf(story)).toEqual(["0 work", "1 work", "2 max_iterations"]);
});
