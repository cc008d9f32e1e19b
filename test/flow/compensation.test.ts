// Compensation on the real trio: what a run did is undone in reverse order before the run ends, and what cannot be undone waits for a person.
import { randomUUID } from "node:crypto";
import { createPawlClient, jsonOf, type PawlClient, runStatusName } from "@pawl/client";
import { freePort, LOOPBACK } from "@pawl/deploy/ports.ts";
import { undoOf } from "@pawl/core/log/undo-iteration";
import { DeadLetterState } from "@pawl/proto/pawl/v1/queue_service_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { HANDLERS } from "../handler-kit/programs/sdks.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { broken, call, graph, type GraphText, type NodeText, script } from "./graph.ts";
import { serveKit } from "./kit-program.ts";
import { effectOn, undosOf } from "./saga.ts";
import { SINK_EGRESS, startSink, type Sink } from "./sink.ts";
import { firstEvent, runGraph, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;
let address: string;
let sink: Sink;
/** Names that the sink refuses. */
const closed = new Set<string>();

beforeAll(async () => {
  sink = await startSink({
    respond: (name, nth) =>
      closed.has(name) || (name.startsWith("once") && nth === 1) ? 503 : 200,
  });
  const port = await freePort();
  address = `${LOOPBACK}:${port}`;
  cluster = await startCluster({
    schedulers: 2,
    env: SINK_EGRESS,
    envOf: { executor: { PAWL_HANDLER_PORT: String(port) } },
  });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await cluster.stop();
  await sink.stop();
});

const effect = (name: string, undo?: string): NodeText => effectOn(sink)(name, undo);

const callsOf = (tag: string): string[] =>
  sink.calls.flatMap(({ name }) => (name.endsWith(tag) ? [name.slice(0, -tag.length - 1)] : []));

async function saved(definition: GraphText & Readonly<Record<string, unknown>>): Promise<string> {
  const id = `saga-${randomUUID()}`;
  await client.workflows.create({ id, title: "Saga", ...definition });
  return id;
}

test("a run that fails undoes its completed nodes in reverse order, each with keys of its own (S2.16, X8)", async () => {
  const tag = randomUUID();
  const story = await runGraph(
    client,
    graph(["start > reserve > charge > ship", "start > note > ship"], {
      reserve: effect(`reserve-${tag}`, `release-${tag}`),
      charge: effect(`charge-${tag}`, `once-${tag}`),
      note: script("return 1"),
      ship: broken(),
    }),
    { order: 7 },
  );
  expect(story.status).toBe("failed");
  expect(story.of("run.status.changed").map(({ payload }) => payload)).toMatchObject([
    { from: "running", to: "compensating", ending: { status: "failed", failedNodeId: "ship" } },
  ]);
  // The refund failed once and was tried again; the release came after it.
  expect(callsOf(tag)).toEqual(["reserve", "charge", "once", "once", "release"]);
  const keys = sink.calls.filter(({ name }) => name.endsWith(tag)).map((c) => c.idempotencyKey);
  expect(keys[2]).toBe(`${story.runId}/charge/${undoOf(0)}`);
  expect(keys[3]).toBe(keys[2]);
  expect(undosOf(story)).toEqual({ "reserve#0": "completed", "charge#0": "completed" });
  expect(story.events.at(-1)?.payload).toMatchObject({ compensation: { undone: 2 } });
  expect(story.run.compensation).toMatchObject({ undone: 2, left: 0, open: 0 });
  // Nodes keep what they did.
  expect(story.nodes).toMatchObject({ reserve: "completed", charge: "completed", ship: "failed" });
});

test("a cancel undoes first, its repeat is harmless, and a run may be paused meanwhile (S2.16)", async () => {
  const tag = randomUUID();
  const { run } = await client.runs.test(
    graph(["start > a > b > wait"], {
      a: effect(`a-${tag}`),
      b: effect(`b-${tag}`, `hold-b-${tag}`),
      wait: call(sink.url(`hold-wait-${tag}`)),
    }),
    { input: { order: 1 } },
  );
  const waiting = await sink.received(`hold-wait-${tag}`);
  const requestId = randomUUID();
  const cancelled = await client.runs.cancel(run.runId, { reason: "no longer wanted", requestId });
  expect(runStatusName(cancelled.status)).toBe("compensating");
  // The executor that held the node was told.
  await waiting.hungUp;
  const undoing = await sink.received(`hold-b-${tag}`);
  expect(runStatusName((await client.runs.cancel(run.runId, { requestId })).status)).toBe(
    "compensating",
  );
  await client.runs.pause(run.runId);
  undoing.answer(200);
  await firstEvent(
    client,
    run.runId,
    (e) => e.type === "node.completed" && e.iteration === undoOf(0),
  );
  expect(runStatusName((await client.runs.get(run.runId)).run.status)).toBe("paused");
  expect(sink.calls.some(({ name }) => name === `undo-a-${tag}`)).toBe(false);
  expect(runStatusName((await client.runs.resume(run.runId)).status)).toBe("compensating");
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("cancelled");
  expect(story.run.compensation).toMatchObject({ undone: 2, left: 0 });
  // The first request still answers for the run that it cancelled.
  expect(runStatusName((await client.runs.cancel(run.runId, { requestId })).status)).toBe(
    "cancelled",
  );
});

test("compensate_on and the caller decide; a second cancel stops, and what is left is a dead letter (S2.16)", async () => {
  const tag = randomUUID();
  const text = (name: string) => ({
    compensate_on: ["failure"],
    ...graph(["start > a > wait"], {
      a: effect(`a-${tag}`, `hold-${name}-${tag}`),
      wait: call(sink.url(`hold-wait-${name}-${tag}`)),
    }),
  });
  const begin = async (name: string) => {
    const { run } = await client.runs.start(await saved(text(name)), { input: { order: 1 } });
    await sink.received(`hold-wait-${name}-${tag}`);
    return run.runId;
  };
  const plain = await begin("plain");
  expect(runStatusName((await client.runs.cancel(plain)).status)).toBe("cancelled");
  const asked = await begin("asked");
  const began = await client.runs.cancel(asked, { compensate: true });
  expect(runStatusName(began.status)).toBe("compensating");
  const undoing = await sink.received(`hold-asked-${tag}`);
  expect(runStatusName((await client.runs.cancel(asked, { reason: "enough" })).status)).toBe(
    "cancelled",
  );
  await undoing.hungUp;
  const story = await storyOf(client, asked);
  expect(story.run.compensation).toMatchObject({
    undone: 0,
    left: 1,
    notUndone: [{ nodeId: "a", iteration: 0, message: "enough" }],
  });
  const { deadLetters } = await client.deadLetters.list({ workflowId: story.run.workflowId });
  expect(deadLetters).toMatchObject([
    {
      runId: asked,
      nodeId: "a",
      iteration: undoOf(0),
      nodeType: "http",
      reason: "compensation_failed",
    },
  ]);
});

test("what could not be undone is redriven by a run of its own, once, until it is undone or discarded (S2.16)", async () => {
  const tag = randomUUID();
  const undo = `gate-${tag}`;
  closed.add(undo);
  const workflowId = await saved(
    graph(["start > a > fail"], { a: effect(`a-${tag}`, undo), fail: broken() }),
  );
  const { run } = await client.runs.start(workflowId, { input: { order: 9 } });
  const story = await storyOf(client, run.runId);
  expect(story).toMatchObject({ status: "failed" });
  expect(undosOf(story)).toEqual({ "a#0": "failed" });
  const openLetters = async () =>
    (await client.deadLetters.list({ workflowId, states: [DeadLetterState.OPEN] })).deadLetters;
  const [letter] = await openLetters();
  expect(letter).toMatchObject({ runId: run.runId, errorMessage: expect.stringContaining("503") });
  const redrive = (id = "") => client.deadLetters.redrive({ ids: [id], requestId: randomUUID() });
  const both = await Promise.all([redrive(letter?.deadLetterId), redrive(letter?.deadLetterId)]);
  const redriven = both.flatMap((each) => each.redriven);
  expect(redriven).toHaveLength(1);
  const again = await storyOf(client, redriven[0]?.runId ?? "");
  const undoes = { undoesRunId: run.runId, undoesNodeId: "a", undoesIteration: 0 };
  expect(again.run).toMatchObject({ ...undoes, workflowId });
  expect(jsonOf(again.run.inputJson)).toEqual({ order: 9 });
  // It failed again, so there is a letter of the new run. Then the receiver is back.
  expect(again.status).toBe("failed");
  const [next] = await openLetters();
  expect(next).toMatchObject({ runId: again.runId, nodeId: "a", iteration: undoOf(0) });
  closed.delete(undo);
  const done = await redrive(next?.deadLetterId);
  const last = await storyOf(client, done.redriven[0]?.runId ?? "");
  expect(last).toMatchObject({ status: "completed", output: { status: 200 } });
  expect(await openLetters()).toEqual([]);
  // The run that failed stays as it ended.
  expect(runStatusName((await client.runs.get(run.runId)).run.status)).toBe("failed");
});

test("a run that times out is undone too, beyond its own deadline (S2.16)", async () => {
  const tag = randomUUID();
  const { run } = await client.runs.test(
    {
      deadline_ms: 1_500,
      ...graph(["start > a > wait"], {
        a: effect(`a-${tag}`),
        wait: call(sink.url(`hold-${tag}`)),
      }),
    },
    { input: { order: 1 } },
  );
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("timeout");
  expect(undosOf(story)).toEqual({ "a#0": "completed" });
});

test("items of a map are undone one by one, with the output of each (S2.16)", async () => {
  const story = await runGraph(
    client,
    graph(["start > each > fail"], {
      each: {
        type: "map",
        config: {
          items: [1, 2, 3],
          parallelism: 2,
          body: { type: "javascript", config: { code: "return { n: ctx.item }" } },
        },
        compensation: {
          type: "javascript",
          config: { code: "return { back: ctx.output.n, ...input }" },
        },
      },
      fail: broken(),
    }),
  );
  const undone = story.events.filter(
    (e) => e.type === "node.completed" && e.iteration >= undoOf(0),
  );
  const outputs = undone.map(({ payload }) => (payload as { readonly output: unknown }).output);
  expect(outputs).toHaveLength(3);
  expect(outputs).toEqual(expect.arrayContaining([1, 2, 3].map((n) => ({ back: n, n }))));
});

test("a cancelled child undoes itself first, then its parent continues; a compensation may be a workflow (S2.16)", async () => {
  const tag = randomUUID();
  const child = await saved(
    graph(["start > inner > wait"], {
      inner: effect(`inner-${tag}`),
      wait: call(sink.url(`hold-${tag}`)),
    }),
  );
  const undoer = await saved(graph(["start > call"], { call: call(sink.url(`workflow-${tag}`)) }));
  const { run } = await client.runs.test(
    graph(["start > outer > sub"], {
      outer: {
        ...effect(`outer-${tag}`),
        compensation: { type: "subworkflow", config: { workflow_id: undoer } },
      },
      sub: { type: "subworkflow", config: { workflow_id: child, input: { order: 1 } } },
    }),
  );
  await sink.received(`hold-${tag}`);
  await client.runs.cancel(run.runId, { reason: "stop" });
  const story = await storyOf(client, run.runId);
  expect(story.status).toBe("cancelled");
  expect(callsOf(tag)).toEqual(["outer", "inner", "hold", "undo-inner", "workflow"]);
  expect(story.nodes).toMatchObject({ outer: "completed", sub: "cancelled" });
});

test.for(Object.entries(HANDLERS))(
  "a handler in %s undoes what another one did (S2.16)",
  { timeout: 90_000 },
  async ([, find], context) => {
    const { leave } = await serveKit({ client, address }, find, context);
    const makes = (name: string) => ({
      type: "kit.effect@1",
      input: { name, class: "idempotent" },
    });
    const story = await runGraph(
      client,
      graph(["start > work > fail"], {
        work: { ...makes("do"), compensation: makes("undo") },
        fail: broken(),
      }),
    );
    expect(story.status).toBe("failed");
    expect(undosOf(story)).toEqual({ "work#0": "completed" });
    const { effects } = await client.runs.effects(story.runId);
    expect(effects.map(({ name, iteration }) => [name, iteration])).toEqual([
      ["do", 0],
      ["undo", undoOf(0)],
    ]);
    await leave();
  },
);
