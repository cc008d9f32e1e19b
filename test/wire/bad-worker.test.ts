// Executors that break the worker protocol. The scheduler ends the stream with the reason, or the task fails. The scheduler, its tick and
// the work of other executors continue (rows C14 and C16, and abuse of every item).
import { LIMITS } from "@pawl/core/data/limits";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkInvariants } from "../support/invariants.ts";
import { completed, connectExecutor, type FakeExecutor, TASK } from "./fake-executor.ts";
import { drain } from "./known-workflow.ts";
import { expectDiscreet } from "./refusal.ts";
import { useStage } from "./stage.ts";

const WORKFLOW = "task";

// These executors never renew. The long lease keeps the scheduler from taking their claims back during a test.
const stage = useStage({ env: { PAWL_LEASE_MS: "60000" } }, async ({ door }) => {
  const nodes = [
    { id: "start", type: "start" },
    { id: "a", type: TASK },
  ];
  const definition = { text: JSON.stringify({ nodes, edges: [{ source: "start", target: "a" }] }) };
  await door("grpc-js").workflows.createWorkflow({ workflowId: WORKFLOW, definition });
});

const open: FakeExecutor[] = [];
const connect = (): FakeExecutor => {
  const executor = connectExecutor(`127.0.0.1:${stage().cluster.schedulers[0]?.port}`);
  open.push(executor);
  return executor;
};
let pids: readonly number[] = [];
beforeEach(() => {
  pids = stage().cluster.schedulers.map(({ pid }) => pid);
});
afterEach(async () => {
  for (const executor of open.splice(0)) await executor.leave();
  expect(stage().cluster.schedulers.map(({ pid }) => pid)).toEqual(pids);
  for (const pid of pids) process.kill(pid, 0);
  expect(await checkInvariants(stage().cluster.databaseUrl)).toEqual([]);
});

async function startRun(): Promise<string> {
  const { run } = await stage().door("gRPC").runs.startRun({ workflowId: WORKFLOW });
  return run?.runId ?? "";
}

type Logged = { readonly type: string; readonly payload: Record<string, unknown> };

/** The node's events once its run is over. */
async function endOf(runId: string): Promise<Logged[]> {
  await drain(stage().door("gRPC").events.watchRun({ runId }));
  const { rows } = await stage().db.query<Logged>(
    "select type, payload from pawl.run_events where run_id = $1 and node_id = 'a' order by seq",
    [runId],
  );
  return rows;
}

test.each([
  [
    "nothing is registered",
    [{ case: "credit", value: { slots: 1 } }],
    "items[0]",
    "NOT_REGISTERED",
  ],
  ["the id is none", [register({ executorId: "me" })], "register.executor_id", "BAD_ID"],
  ["there are too many slots", [register({ slots: 1e9 })], "register.slots", "OUT_OF_RANGE"],
  ["no types are served", [register({ nodeTypes: [] })], "register.node_types", "OUT_OF_RANGE"],
  [
    "too many types are served",
    [register({ nodeTypes: Array<string>(1_001).fill("x") })],
    "register.node_types",
    "OUT_OF_RANGE",
  ],
  [
    "a type is no name",
    [register({ nodeTypes: ["a", "b\0"] })],
    "register.node_types[1]",
    "BAD_ID",
  ],
] as const)("a stream on which %s ends with INPUT_INVALID", async (_, items, field, reason) => {
  const executor = connect();
  for (const item of items) executor.say(item as never);
  const error = await executor.ended;
  expect(error).toMatchObject({ reason: "INPUT_INVALID", violations: [{ field, reason }] });
  expectDiscreet(error?.message ?? "", "");
});

function register(more: object): object {
  const executorId = "00000000-0000-4000-8000-000000000000";
  return { case: "register", value: { executorId, nodeTypes: [TASK], slots: 1, ...more } };
}

test("a stream that fails takes no other with it", async () => {
  const [good, bad] = [connect(), connect()];
  await good.register();
  const runId = await startRun();
  const { claim } = await good.assigned(runId);
  bad.say({ case: "goodbye", value: {} });
  expect((await bad.ended)?.reason).toBe("INPUT_INVALID");
  good.say(completed(claim, '{"ok":true}'));
  await good.hear("settled");
  expect((await endOf(runId)).at(-1)?.type).toBe("node.completed");
});

test("a message above 4 MiB ends its stream with RESOURCE_EXHAUSTED", async () => {
  const executor = connect();
  await executor.register();
  const text = "x".repeat(LIMITS.messageBytes + 1);
  executor.say({ case: "delta", value: { text } } as never);
  expect((await executor.ended)?.reason).toBe("LIMIT_EXCEEDED");
});

test("a description of any text and repeated slots are accepted as they are", async () => {
  const executor = connect();
  await executor.register({ description: `a\0b${"x".repeat(100_000)}` });
  await executor.register({ slots: 1 });
  executor.say({ case: "credit", value: { slots: 2 ** 32 - 1 } } as never);
  executor.say({ case: "renew", value: { held: [] } } as never);
  await executor.hear("renewed");
});

test("C14: an outcome under an older or a newer epoch is a lost claim and changes nothing", async () => {
  const executor = connect();
  await executor.register();
  const runId = await startRun();
  const { claim } = await executor.assigned(runId);
  const others = [claim.epoch - 1n, claim.epoch + 1n, 0n, 2n ** 53n - 1n];
  for (const [index, epoch] of others.entries()) {
    executor.say(completed({ ...claim, epoch }, '"stale"'));
    expect((await executor.hear("claimLost", index + 1)).claim).toMatchObject({ runId, epoch });
  }
  expect(executor.heard("settled")).toEqual([]);
  executor.say(completed(claim, '"mine"'));
  await executor.hear("settled");
  const events = await endOf(runId);
  expect(events.filter(({ type }) => type === "node.completed")).toHaveLength(1);
  const { run } = await stage().door("Connect JSON").runs.getRun({ runId });
  expect(String(Buffer.from(run?.outputJson ?? []))).toContain("mine");
});

test("C14: a claim of a run, a node or an iteration that is not there is lost", async () => {
  const executor = connect();
  await executor.register();
  const runId = await startRun();
  const { claim } = await executor.assigned(runId);
  const nobody = "00000000-0000-4000-8000-000000000000";
  executor.say(
    completed({ ...claim, runId: nobody }),
    completed({ ...claim, nodeId: "b" }),
    completed({ ...claim, iteration: 1 }),
  );
  await executor.hear("claimLost", 3);
  executor.say(completed(claim));
  await executor.hear("settled");
  expect((await endOf(runId)).at(-1)?.type).toBe("node.completed");
});

test("C16: an outcome sent twice is settled twice and written once", async () => {
  const executor = connect();
  await executor.register();
  const runId = await startRun();
  const { claim } = await executor.assigned(runId);
  executor.say(completed(claim, "1"), completed(claim, "1"));
  await executor.hear("settled", 2);
  executor.say(completed(claim, "1"));
  await executor.hear("settled", 3);
  expect(executor.heard("claimLost")).toEqual([]);
  const ends = (await endOf(runId)).filter(({ type }) => type === "node.completed");
  expect(ends).toHaveLength(1);
});

test.each([
  ["no JSON", "{", "JSON_SYNTAX"],
  ["a NUL character", '"\\u0000"', "NUL_CHARACTER"],
  ["half a surrogate pair", '"\\ud800"', "BAD_UNICODE"],
  ["ten thousand levels", "[".repeat(10_000), "JSON_TOO_DEEP"],
  ["a key twice", '{"a":1,"a":2}', "JSON_DUPLICATE_KEY"],
  ["an integer that would be rounded", "9007199254740993", "NUMBER_PRECISION"],
  ["a prototype", '{"__proto__":1}', "RESERVED_KEY"],
  ["one byte too many", JSON.stringify("x".repeat(LIMITS.valueBytes)), "TOO_LARGE"],
  ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22]), "BAD_UNICODE"],
])("an output of %s fails its task, not the stream", async (_, output, rule) => {
  const executor = connect();
  await executor.register();
  const runId = await startRun();
  const { claim } = await executor.assigned(runId);
  executor.say(completed(claim, output));
  await executor.hear("settled");
  const failed = (await endOf(runId)).at(-1);
  expect(failed).toMatchObject({ type: "node.failed", payload: { cause: "output_invalid" } });
  expect(failed?.payload["message"]).toContain(rule);
});

const MOST_32 = 2 ** 32 - 1;
const MOST_64 = 2n ** 64n - 1n;

test("numbers as large as the wire allows, and text that no database takes, poison no tick and no reader", async () => {
  const executor = connect();
  await executor.register();
  const runId = await startRun();
  const { claim } = await executor.assigned(runId);
  const wrong = [
    { ...claim, nodeId: "a\0b" },
    { ...claim, iteration: MOST_32 },
    { ...claim, epoch: MOST_64 },
    { ...claim, epoch: 2n ** 53n },
    { ...claim, runId: "\0" },
    { ...claim, nodeId: "x".repeat(1_000_000) },
  ];
  for (const each of wrong)
    executor.say(
      completed(each),
      { case: "delta", value: { claim: each, deltaIndex: MOST_32, text: "\0" } } as never,
      { case: "log", value: { claim: each, logIndex: MOST_32, message: "\0" } } as never,
      { case: "release", value: { claim: each } } as never,
    );
  executor.say({ case: "renew", value: { held: [...wrong, claim] } } as never);
  await executor.hear("renewed");
  executor.say(
    { case: "delta", value: { claim, deltaIndex: 0, text: "a\0b" } } as never,
    { case: "delta", value: { claim, deltaIndex: MOST_32, text: "late" } } as never,
    { case: "log", value: { claim, logIndex: MOST_32, level: "\0", message: "a\0b" } } as never,
    completed(claim, "1", {
      durationMs: MOST_64,
      result: {
        case: "completed",
        value: { outputJson: Buffer.from("1"), queueDelayMs: MOST_64, handle: "\0".repeat(1_000) },
      },
    }),
  );
  await executor.hear("settled");
  expect((await endOf(runId)).at(-1)?.type).toBe("node.completed");
  for (const { runs, events } of stage().doors) {
    expect((await runs.getRun({ runId })).run?.nodes).toHaveLength(2);
    await drain(events.watchRun({ runId }));
    expect((await events.listEvents({ runId })).events.length).toBeGreaterThan(4);
  }
  const sse = await fetch(`${stage().url}/execute/workflows/${runId}/events`);
  expect(await sse.text()).toContain("event: run.completed");
});

test("a piece or a line over its limit is cut, and its event says how much is lost, to every reader", async () => {
  const executor = connect();
  await executor.register();
  const runId = await startRun();
  const { claim } = await executor.assigned(runId);
  const media = { url: `data:,${"x".repeat(70_000)}`, mime: "text/plain" };
  executor.say(
    { case: "delta", value: { claim, deltaIndex: 0, text: "é".repeat(70_000) } } as never,
    { case: "delta", value: { claim, deltaIndex: 1, media } } as never,
    { case: "delta", value: { claim, deltaIndex: 2, text: "whole" } } as never,
    { case: "log", value: { claim, message: "y".repeat(20_000), cutBytes: 7n } } as never,
    completed(claim),
  );
  await executor.hear("settled");
  await endOf(runId);
  const cut = [
    ["node.stream.delta", (70_000 - 65_536) * 2],
    ["node.stream.delta", media.url.length],
    ["node.stream.delta", 0],
    ["node.log", 20_000 - 16_384 + 7],
  ];
  for (const { events } of stage().doors) {
    const all = (await events.listEvents({ runId, pageSize: 1_000 })).events;
    const told = all.flatMap(({ type, fact: { case: what, value } }) =>
      what === "nodeStreamDelta" || what === "nodeLog" ? [[type, Number(value.cutBytes)]] : [],
    );
    expect(told).toEqual(cut);
  }
  const sse = await (await fetch(`${stage().url}/execute/workflows/${runId}/events`)).text();
  expect(sse.match(/(?<="cutBytes":)\d+/g)?.map(Number)).toEqual(
    cut.map(([, bytes]) => bytes).filter((bytes) => bytes !== 0),
  );
});

test("a failure of any words is a failure in words that can be stored", async () => {
  const executor = connect();
  await executor.register();
  for (const value of [
    { cause: "", message: "", detailsJson: Buffer.from("{") },
    { cause: "\0".repeat(100), message: `a\0${"x".repeat(100_000)}`, permanent: true },
    { cause: "provider_error", detailsJson: Buffer.from('"\\u0000"') },
    undefined,
  ]) {
    const runId = await startRun();
    const { claim } = await executor.assigned(runId);
    const result = value === undefined ? { case: undefined } : { case: "failed", value };
    executor.say({ case: "outcome", value: { claim, durationMs: 0n, result } } as never);
    const failed = (await endOf(runId)).at(-1);
    expect(failed?.type).toBe("node.failed");
    expect(JSON.stringify(failed?.payload).length).toBeLessThan(8_192);
  }
});
