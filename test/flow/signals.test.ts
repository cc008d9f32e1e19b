// Signals through the public API of real processes: kept if they come early, taken once, and raced by deadlines and cancels on two
// schedulers.
import { createPawlClient, jsonOf, type PawlClient, runStatusName } from "@pawl/client";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { type GraphText, graph, names, type NodeText } from "./graph.ts";
import { firstEvent, storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  cluster = await startCluster({ schedulers: 2 });
  client = createPawlClient({ baseUrl: cluster.url });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  const faults = await checkInvariants(cluster.databaseUrl);
  await cluster.stop();
  expect(faults).toEqual([]);
});

const PAYLOAD = {
  type: "object",
  required: ["amount"],
  properties: { amount: { type: "number" } },
} as const;

const wait = (config: NodeText = {}): NodeText => ({
  type: "await_signal",
  config: { name: "paid", ...config },
});

/** Starts a graph whose node `wait` waits, and gives its run once it does. */
async function begin(definition: GraphText, nodeId = "wait"): Promise<string> {
  const { run } = await client.runs.test(definition, { input: { order: "o-7" } });
  await firstEvent(
    client,
    run.runId,
    (event) => event.type === "node.blocked" && event.nodeId === nodeId,
  );
  return run.runId;
}

const lastEvent = async (runId: string): Promise<bigint> =>
  (await client.runs.get(runId)).run.lastEventId;

test("a node waits for a signal without an executor; the run shows what it waits for, and the signal ends the wait (S2.17, S2.18, S2.19, S2.29)", async () => {
  const node = wait({ name: "paid.{{ ctx.input.order }}", timeout_ms: 3_600_000 });
  const runId = await begin(graph(["start > wait > end"], { wait: node }));
  await firstEvent(client, runId, ({ type }) => type === "run.status.changed");
  const { run } = await client.runs.get(runId);
  expect(runStatusName(run.status)).toBe("waiting");
  const own = run.nodes.find(({ nodeId }) => nodeId === "wait");
  expect(own?.signal?.name).toBe("paid.o-7");
  const { sinceTime, deadlineTime } = own?.signal ?? {};
  if (sinceTime === undefined || deadlineTime === undefined) throw new Error("no times");
  expect(timestampMs(deadlineTime) - timestampMs(sinceTime)).toBe(3_600_000);
  expect(run.waitingReason).toContain("It has waited for signal paid.o-7");
  expect(await client.runs.state(runId)).toMatchObject({
    ...{ status: "waiting", waitingFor: "signal" },
    ...{ waitingSince: timestampMs(sinceTime), waitingTimeoutAt: timestampMs(deadlineTime) },
  });
  const why = await client.runs.explain(runId, "wait");
  expect(why.summary).toMatch(
    /^It has waited for signal paid\.o-7 for .*; its deadline passes in 60 min\.$/,
  );
  expect(why.next).toContain(`pawl run signal ${runId} paid.o-7`);
  const listed = await client.runs.list({ statuses: [run.status] });
  expect(listed.runs.map((each) => each.runId)).toContain(runId);
  expect((await client.queues.depth()).total?.paused).toBeGreaterThan(0);
  const payloadJson = '{"amount": 12.50}';
  const sent = await client.runs.signal(runId, "paid.o-7", { payloadJson });
  expect(sent).toMatchObject({ isDuplicate: false, isKept: false });
  const story = await storyOf(client, runId);
  expect(story.status).toBe("completed");
  expect(story.of("run.signalled")).toHaveLength(1);
  const ended = story.run.nodes.find(({ nodeId }) => nodeId === "wait");
  expect(new TextDecoder().decode(ended?.outputJson)).toContain(`"payload":${payloadJson}`);
  expect(story.of("node.queued", "wait")).toEqual([]);
});

test("signals that come before their nodes are kept in order; a repeat is found, also after the run has ended", async () => {
  const definition = graph(["start > hold > one > two > end"], {
    hold: { type: "approval", config: { message: "Go?" } },
    one: wait(),
    two: wait(),
  });
  const runId = await begin(definition, "hold");
  const requestId = crypto.randomUUID();
  const first = { payload: 1, requestId };
  expect(await client.runs.signal(runId, "paid", first)).toMatchObject({ isKept: true });
  expect(await client.runs.signal(runId, "paid", first)).toMatchObject({ isDuplicate: true });
  await client.runs.signal(runId, "paid", { payload: 2 });
  await expect(client.runs.signal(runId, "paid", { payload: 3, requestId })).rejects.toMatchObject({
    reason: "REQUEST_ID_REUSED",
  });
  await client.runs.decide(runId, "hold", "approve");
  const story = await storyOf(client, runId);
  expect([story.outputOf("one"), story.outputOf("two")]).toMatchObject([
    { payload: 1 },
    { payload: 2 },
  ]);
  expect(await client.runs.signal(runId, "paid", first)).toMatchObject({ isDuplicate: true });
  const before = await lastEvent(runId);
  await expect(client.runs.signal(runId, "paid")).rejects.toMatchObject({
    reason: "RUN_ALREADY_FINISHED",
  });
  expect(await lastEvent(runId)).toBe(before);
});

test("a signal that cannot be right is refused by name, and the log stays as it is", async () => {
  const runId = await begin(graph(["start > wait > end"], { wait: wait({ schema: PAYLOAD }) }));
  const before = await lastEvent(runId);
  const refused = async (name: string, payload: object | string = { amount: 1 }) =>
    client.runs.signal(runId, name, { payload: payload as never }).catch((error: unknown) => error);
  expect(await refused("piad")).toMatchObject({
    reason: "SIGNAL_NOT_AWAITED",
    message: expect.stringContaining("Did you mean paid?"),
  });
  expect(await refused("paid", { amount: "much" })).toMatchObject({
    reason: "INPUT_INVALID",
    violations: [{ path: "payload_json" }],
  });
  for (const name of ["", "__proto__", "constructor", "prototype", "a b", "x".repeat(200)])
    expect(await refused(name)).toMatchObject({
      reason: "INPUT_INVALID",
      violations: [{ path: "name" }],
    });
  const payloadJson = '{"amount":1,"__proto__":{"admin":true}}';
  await expect(client.runs.signal(runId, "paid", { payloadJson })).rejects.toMatchObject({
    reason: "INPUT_INVALID",
    message: expect.stringContaining("a key names a prototype"),
  });
  expect(await refused("paid", "x".repeat(262_000))).toMatchObject({ reason: "LIMIT_EXCEEDED" });
  await expect(
    client.runs.signal("0199a000-0000-7000-8000-00000000dead", "paid"),
  ).rejects.toMatchObject({ reason: "RUN_NOT_FOUND" });
  expect(await lastEvent(runId)).toBe(before);
  await client.runs.cancel(runId);
});

test("a wait whose time is up leaves by timeout, or fails (S2.19)", async () => {
  const node = wait({ timeout_ms: 50 });
  const leaving = graph(["start > wait > end", "wait:timeout > late"], { wait: node });
  const story = await storyOf(client, await begin(leaving));
  expect(story.nodes).toMatchObject({ wait: "completed", end: "skipped", late: "completed" });
  expect(story.outputOf("wait")).toEqual({ name: "paid", payload: null, receivedAt: null });
  const failing = await storyOf(client, await begin(graph(["start > wait"], { wait: node })));
  expect(failing.status).toBe("failed");
  expect(failing.of("node.failed", "wait")[0]?.payload).toMatchObject({ cause: "signal_timeout" });
});

test("signals, a deadline and a cancel race on two schedulers: each wait ends once", async () => {
  const node = wait({ timeout_ms: 150 });
  const definition = graph(["start > wait > end", "wait:timeout > late"], { wait: node });
  const runIds = await Promise.all(names("run", 24).map(() => begin(definition)));
  await Promise.allSettled(
    runIds.flatMap((runId, at) => [
      client.runs.signal(runId, "paid", { payload: 1 }),
      client.runs.signal(runId, "paid", { payload: 2 }),
      ...(at % 3 === 0 ? [client.runs.cancel(runId)] : []),
    ]),
  );
  for (const runId of runIds) {
    const story = await storyOf(client, runId);
    const ends = story.events.filter(
      ({ type, nodeId }) => nodeId === "wait" && /completed|cancelled/.test(type),
    );
    expect(ends).toHaveLength(1);
    expect(["completed", "cancelled"]).toContain(story.status);
  }
});

test("the items of a map, and the rounds of a node, each wait for a signal of their own", async () => {
  const body = { type: "await_signal", config: { name: "item-{{ ctx.item }}" } };
  const map = { type: "map", config: { items: ["a", "b"], body } };
  const mapped = await begin(graph(["start > all > end"], { all: map }), "all");
  await client.runs.signal(mapped, "item-b", { payload: "B" });
  await client.runs.signal(mapped, "item-a", { payload: "A" });
  const story = await storyOf(client, mapped);
  expect(story.outputOf("all")).toMatchObject([{ payload: "A" }, { payload: "B" }]);
  const text = graph(["start > wait > judge:else > end"], {
    wait: wait(),
    judge: {
      type: "condition",
      config: { branches: [{ id: "again", when: "ctx.nodes.wait.payload == 'again'" }] },
    },
  });
  const back = { source: "judge", target: "wait", source_handle: "again", loop: true };
  const looped = await begin({ ...text, edges: [...text.edges, back] });
  await client.runs.signal(looped, "paid", { payload: "again" });
  await client.runs.signal(looped, "paid", { payload: "done" });
  const rounds = await storyOf(client, looped);
  expect(rounds.of("node.completed", "wait").map(({ iteration }) => iteration)).toEqual([0, 1]);
});

test("a child run takes signals by its own id, and its parent continues", async () => {
  const child = graph(["start > wait > end"], { wait: wait() });
  await client.workflows.create(child, { workflowId: "waiting-child" });
  const call = { type: "subworkflow", config: { workflow_id: "waiting-child" } };
  const parent = await begin(graph(["start > call > end"], { call }), "call");
  await expect(client.runs.signal(parent, "paid")).rejects.toMatchObject({
    reason: "SIGNAL_NOT_AWAITED",
  });
  const blocked = await firstEvent(client, parent, ({ type }) => type === "node.blocked");
  const { childRunId } = blocked.payload as { childRunId: string };
  await client.runs.signal(childRunId, "paid", { payload: 5 });
  expect((await storyOf(client, parent)).status).toBe("completed");
});

test("a paused run takes a signal, and continues behind it when it is resumed", async () => {
  const runId = await begin(graph(["start > wait > after"], { wait: wait() }));
  await client.runs.pause(runId);
  expect(await client.runs.signal(runId, "paid")).toMatchObject({ isKept: false });
  expect(runStatusName((await client.runs.get(runId)).run.status)).toBe("paused");
  await client.runs.resume(runId);
  const story = await storyOf(client, runId);
  expect(story.nodes).toMatchObject({ wait: "completed", after: "completed" });
});

test("a wait with a limit goes through an executor, and waits without its slot", async () => {
  const node = { ...wait({ name: "slow" }), concurrency: { limit: 1 } };
  const definition = graph(["start > wait > end"], { wait: node });
  await client.workflows.create(definition, { workflowId: "limited-wait" });
  const started = await Promise.all([1, 2].map(() => client.runs.start("limited-wait")));
  for (const { run } of started)
    await firstEvent(client, run.runId, ({ type }) => type === "node.blocked");
  for (const { run } of started) {
    await client.runs.signal(run.runId, "slow", { payload: 1 });
    const story = await storyOf(client, run.runId);
    expect(story.status).toBe("completed");
    expect(story.of("node.started", "wait")).toHaveLength(1);
  }
});

test("an early signal that only the schema of a template refuses fails the node by its contract", async () => {
  const definition = graph(["start > hold > wait > end"], {
    hold: { type: "approval", config: { message: "Go?" } },
    wait: wait({ name: "{{ ctx.input.order }}", schema: PAYLOAD }),
  });
  const runId = await begin(definition, "hold");
  await client.runs.signal(runId, "o-7", { payload: "no object" });
  await client.runs.decide(runId, "hold", "approve");
  const story = await storyOf(client, runId);
  expect(story.of("node.failed", "wait")[0]?.payload).toMatchObject({
    cause: "input_contract_violation",
  });
  expect(jsonOf(story.run.outputJson)).toBeUndefined();
});

test("a run that waits for its turn keeps a signal until its node waits for it", async () => {
  const definition = {
    ...graph(["start > wait > end"], { wait: wait() }),
    concurrency: { limit: 1 },
  };
  await client.workflows.create(definition, { workflowId: "one-at-a-time" });
  const [first, second] = [
    await client.runs.start("one-at-a-time"),
    await client.runs.start("one-at-a-time"),
  ].map(({ run }) => run.runId);
  if (first === undefined || second === undefined) throw new Error("no runs");
  expect(runStatusName((await client.runs.get(second)).run.status)).toBe("pending");
  expect(await client.runs.signal(second, "paid", { payload: 2 })).toMatchObject({ isKept: true });
  await client.runs.signal(first, "paid", { payload: 1 });
  expect((await storyOf(client, first)).status).toBe("completed");
  expect((await storyOf(client, second)).outputOf("wait")).toMatchObject({ payload: 2 });
});

test("a run in quarantine refuses signals, and takes them again after a recheck", async () => {
  const runId = await begin(graph(["start > wait > end"], { wait: wait() }));
  const database = new pg.Client({ connectionString: cluster.databaseUrl });
  await database.connect();
  await database.query(
    `update pawl.runs set version = version + 1, quarantined_at = now(), quarantine_reason = 'INTERNAL',
      quarantine_detail = 'by this test' where run_id = $1`,
    [runId],
  );
  await database.end();
  await expect(client.runs.signal(runId, "paid")).rejects.toMatchObject({
    reason: "RUN_QUARANTINED",
  });
  await client.runs.recheck(runId);
  await client.runs.signal(runId, "paid");
  expect((await storyOf(client, runId)).of("run.signalled")).toHaveLength(1);
});
