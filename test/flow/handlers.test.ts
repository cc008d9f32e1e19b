// Handlers of a user in a process of his own, beside a real trio: a flow in code, typed inputs, versions, effects and bad input.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { defineHandler, flow, type RunningExecutor, startExecutor, text } from "@pawl/handler";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, script } from "./graph.ts";
import { storyOf } from "./story.ts";

let charges = 0;

const charge = defineHandler({
  type: "acme.charge@2",
  input: z.object({ customer: z.string(), cents: z.int().positive() }),
  output: z.object({ receipt: z.string() }),
  run: async ({ customer }, ctx) => {
    const made = await ctx.once("charge", "idempotent", () => ({ id: `r${++charges}` }));
    if (ctx.attempt === 1) throw new Error("the process stumbles after the effect");
    return { receipt: `${made.id} of ${customer}` };
  },
});
const mail = defineHandler({
  type: "acme.mail",
  input: z.object({ to: z.string(), body: z.string() }),
  run: async (input, ctx) => {
    await ctx.emit(input.body);
    return input;
  },
});

const look = defineHandler({
  type: "acme.look",
  state: true,
  run: (_input, ctx) => ctx.state?.compensationStack,
});

const order = flow("order", { input: z.object({ who: z.string(), cents: z.int() }) })
  .node("pay", charge, ({ input }) => ({ customer: input.who, cents: input.cents }), {
    retry: { attempts: 2, backoff_ms: 1 },
  })
  .node("mail", mail, ({ input, pay }) => ({ to: input.who, body: text`Thanks: ${pay.receipt}` }));

let cluster: Cluster;
let client: PawlClient;
let executor: RunningExecutor;

beforeAll(async () => {
  cluster = await startCluster();
  client = createPawlClient({ baseUrl: cluster.url });
  const scheduler = `${LOOPBACK}:${cluster.schedulers[0]?.port ?? 0}`;
  executor = startExecutor({ scheduler, handlers: [charge, mail, look], graceMs: 0 });
  await executor.ready();
  await client.workflows.apply(order.definition);
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await executor.stop();
  const faults = await checkInvariants(cluster.databaseUrl);
  await cluster.stop();
  expect(faults).toEqual([]);
});

test("the state of a handler has no data with labels that the handler does not read (S2.40, S2.42)", async () => {
  const undo = { compensation: { type: "acme.mail" } };
  const definition = graph(["start > page > gap > look > end", "start > own > look"], {
    page: { ...script("return 'from the web'"), ...undo, taint: ["web"] },
    own: { ...script("return 'our own'"), ...undo },
    gap: script("return 1"),
    look: { type: "acme.look" },
  });
  const { run } = await client.runs.test(definition);
  const story = await storyOf(client, run.runId);
  const stack = story.outputOf("look") as { compensation_action: { payload: unknown } }[];
  const payloads = stack.map(({ compensation_action: { payload } }) => payload);
  expect(new Set(payloads)).toEqual(new Set(["our own", null]));
  const done = story.of("node.completed").find(({ nodeId }) => nodeId === "look");
  expect(done).toBeDefined();
  expect(done).not.toHaveProperty("taint");
});

test("a flow of typed handlers runs, streams, and makes its effect once over two attempts", async () => {
  charges = 0;
  const { run } = await client.runs.start("order", { input: { who: "Ada", cents: 5 } });
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("completed");
  expect(story.outputOf("pay")).toEqual({ receipt: "r1 of Ada" });
  expect(story.outputOf("mail")).toEqual({ to: "Ada", body: "Thanks: r1 of Ada" });
  expect(
    story.of("node.retrying", "pay").length + story.of("node.started", "pay").length,
  ).toBeGreaterThan(1);
  expect(charges).toBe(1);
});

test("an input that does not fit its handler fails at once with input_invalid, whatever the policy", async () => {
  charges = 0;
  const { run } = await client.runs.start("order", { input: { who: "Ada", cents: -5 } });
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("failed");
  expect(story.of("node.failed", "pay")).toMatchObject([{ payload: { cause: "input_invalid" } }]);
  expect(story.run.errorMessage).toContain("cents");
  expect(story.of("node.started", "pay")).toHaveLength(1);
  expect(charges).toBe(0);
});
