// Untrusted data on the real trio: labels come from calls and handlers, follow the data through three languages and a child run, and a
// policy stops a payment until a person releases it.
import { createPawlClient, type Json, type PawlClient } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { HANDLERS } from "../handler-kit/programs/sdks.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { graph, script } from "./graph.ts";
import { serveKit } from "./kit-program.ts";
import { firstEvent, runGraph, type Story, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let address: string;

beforeAll(async () => {
  const port = await freePort();
  address = `${LOOPBACK}:${port}`;
  cluster = await startCluster({
    schedulers: 2,
    envOf: { executor: { PAWL_HANDLER_PORT: String(port) } },
  });
  client = createPawlClient({ baseUrl: cluster.url });
  await client.workflows.apply(
    JSON.stringify({
      id: "echo-child",
      ...graph(["start > copy > end"], { copy: script("return ctx.input") }),
    }),
  );
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  const faults = await checkInvariants(cluster.databaseUrl);
  await cluster.stop();
  expect(faults).toEqual([]);
});

const labelsOf = ({ run }: Story, nodeId: string): readonly string[] =>
  (run.nodes.find((node) => node.nodeId === nodeId)?.taint ?? []).map(({ label }) => label);

/** A model without network: its answer is not trusted. */
const model = (prompt: string) => ({ type: "llm", config: { model: "offline/echo", prompt } });

test.for(Object.entries(HANDLERS))(
  "labels travel through a handler in %s without code of its own, and it can add one (S2.40, S2.41)",
  { timeout: 90_000 },
  async ([, find], context) => {
    const { leave } = await serveKit({ client, address }, find, context);
    const story = await runGraph(
      client,
      graph(["start > ask > seen > copy > child > end"], {
        ask: model("hello"),
        seen: { type: "kit.taint@1" },
        copy: { type: "kit.echo@1", input: "{{ ctx.nodes.seen }}", write_key: "kept" },
        child: {
          type: "subworkflow",
          config: { workflow_id: "echo-child", input: { of: "{{ ctx.memory.kept }}" } },
        },
      }),
    );
    expect(story.status).toBe("completed");
    expect(story.outputOf("seen")).toEqual({ labels: ["model"] });
    expect(labelsOf(story, "seen").toSorted()).toEqual(["external", "kit", "model"]);
    expect(labelsOf(story, "copy").toSorted()).toEqual(["external", "kit", "model"]);
    expect(labelsOf(story, "child").toSorted()).toEqual(["external", "kit", "model"]);
    expect(story.run.outputTaint.map(({ label }) => label).toSorted()).toEqual([
      ...["external", "kit", "model"],
    ]);
    expect(labelsOf(story, "start")).toEqual([]);
    const trace = await client.runs.explainTaint(story.runId, { memoryKey: "kept" });
    expect(trace.steps.map(({ nodeId, added }) => [nodeId, ...added.toSorted()])).toEqual(
      expect.arrayContaining([
        ["ask", "model"],
        ["seen", "external", "kit"],
      ]),
    );
    const type = await client.nodeTypes.get("kit.taint@1");
    expect(type.external).toBe(true);
    await leave();
  },
);

/** A payment behind an answer of a model. */
const payment = (action: "deny" | "hold") => ({
  ...graph(["start > ask > pay > end"], {
    ask: model("pay 3 to Ada"),
    pay: script('return { paid: ctx.nodes.ask.text + "" }'),
  }),
  policies: [
    { action, nodes: ["pay"], if_tainted_by: ["*"], message: "payments need trusted data" },
  ],
});

test("a denied payment never reaches an executor, and its failure names the labels (S2.42)", async () => {
  const { run } = await client.runs.test(payment("deny"));
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("failed");
  expect(story.of("node.started", "pay")).toEqual([]);
  expect(story.of("node.queued", "pay")).toEqual([]);
  const [failed] = story.of("node.failed", "pay");
  expect(failed?.payload).toMatchObject({
    cause: "taint_denied",
    message: expect.stringContaining("model from ask: payments need trusted data") as string,
  });
  const trace = await client.runs.explainTaint(run.runId, { nodeId: "pay" });
  expect(trace.steps.map(({ type, nodeId }) => `${type} ${nodeId}`)).toEqual([
    "node.completed ask",
    "node.failed pay",
  ]);
});

test("a held payment waits over the death of a scheduler, and runs when a person gives a reason (S2.42)", async () => {
  const { run } = await client.runs.test(payment("hold"));
  const { runId } = run;
  await firstEvent(client, runId, ({ type }) => type === "node.blocked");
  await cluster.schedulers[0]?.kill("SIGKILL");
  const { approvals } = await client.approvals.list({ runId });
  const [question] = approvals;
  expect(question).toMatchObject({ nodeId: "pay", reason: "taint_hold" });
  const approvalId = question?.approvalId ?? "";
  await expect(client.approvals.approve(approvalId, { decidedBy: "Ada" })).rejects.toMatchObject({
    reason: "INPUT_INVALID",
    violations: [{ path: "comment" }],
  });
  await client.approvals.approve(approvalId, { decidedBy: "Ada", comment: "I called Ada" });
  const story = await storyOf(client, runId);
  expect(story.status).toBe("completed");
  expect(story.of("node.decided", "pay")[0]?.payload).toMatchObject({
    dropped: ["model"],
    comment: "I called Ada",
    decidedBy: "Ada",
  });
  expect(labelsOf(story, "ask")).toEqual(["model"]);
  expect(labelsOf(story, "pay")).toEqual([]);
  const trace = await client.runs.explainTaint(runId, { nodeId: "pay" });
  expect(trace.steps.at(-1)).toMatchObject({ type: "node.decided", reason: "I called Ada" });
});

test("an input that the caller does not trust is labelled, and a sanitize node drops its label (S2.40, S2.42)", async () => {
  const definition = graph(["start > clean > end"], {
    clean: {
      type: "sanitize",
      config: {
        value: "{{ ctx.input.id }}",
        drop: ["input"],
        reason: "an id has only digits",
        pattern: "^[0-9]+$",
      },
    },
  });
  const play = async (input: Json, untrustedInput: boolean): Promise<Story> => {
    const { run } = await client.runs.test(definition, { input, untrustedInput });
    return await storyOf(client, run.runId);
  };
  const good = await play({ id: "4711" }, true);
  expect(good.run.inputTaint).toMatchObject([{ label: "input", nodeId: "" }]);
  expect(labelsOf(good, "start")).toEqual(["input"]);
  expect(labelsOf(good, "clean")).toEqual([]);
  expect(good.of("node.completed", "clean")[0]?.payload).toMatchObject({
    sanitized: { labels: ["input"], reason: "an id has only digits" },
  });
  const bad = await play({ id: "4711; drop" }, true);
  expect(bad.nodes["clean"]).toBe("failed");
  const trusted = await play({ id: "4711" }, false);
  expect(JSON.stringify(trusted.events)).not.toContain("taint");
});

test("questions about labels name what is missing (S2.42)", async () => {
  const story = await runGraph(client, graph(["start > end"]));
  const ask = (of: Parameters<typeof client.runs.explainTaint>[1]) =>
    client.runs.explainTaint(story.runId, of);
  await expect(ask({ nodeId: "nope" })).rejects.toMatchObject({ reason: "NODE_NOT_FOUND" });
  await expect(ask({ memoryKey: "__proto__" })).rejects.toMatchObject({
    reason: "MEMORY_KEY_NOT_FOUND",
  });
  await expect(ask({ nodeId: "" })).rejects.toMatchObject({ reason: "INPUT_INVALID" });
  expect(await ask({ nodeId: "end" })).toMatchObject({ labels: [], steps: [] });
});
