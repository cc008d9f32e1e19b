// Threads on the trio, with two gateways and two schedulers: a run at a time, in order, whatever the runs before it do.
import {
  createPawlClient,
  jsonOf,
  type Multitask,
  type PawlClient,
  runFilterOf,
  runStatusName,
  threadStatusName,
} from "@pawl/client";
import { type Run, StopMode } from "@pawl/proto/pawl/v1/run_pb";
import { ThreadStatus } from "@pawl/proto/pawl/v1/thread_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { broken, call, graph, names } from "./graph.ts";
import { undosOf } from "./saga.ts";
import { SINK_EGRESS, startSink, type Sink } from "./sink.ts";
import { storyOf } from "./story.ts";
import { raceOnThread } from "./thread-race.ts";
import { on, refusal, SAY } from "./turns.ts";

let cluster: Cluster;
let clients: readonly PawlClient[];
let pawl: PawlClient;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({ schedulers: 2, gateways: 2, env: SINK_EGRESS });
  clients = cluster.gateways.map(({ port }) =>
    createPawlClient({ baseUrl: `http://127.0.0.1:${port}` }),
  );
  const [first] = clients;
  if (first === undefined) throw new Error("no client");
  pawl = first;
  await pawl.workflows.create(graph(["start > say > end"], { say: SAY }), { workflowId: "turn" });
  await pawl.workflows.create(
    graph(["start > say > work > end"], {
      say: SAY,
      work: call(`${sink.url("")}hold-{{ ctx.input }}`),
    }),
    { workflowId: "long-turn" },
  );
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await cluster.stop();
  await sink.stop();
});

const memoryOf = async (threadId: string): Promise<unknown> =>
  jsonOf((await pawl.threads.state(threadId)).memoryJson);

const statusOf = async (threadId: string): Promise<string> =>
  threadStatusName((await pawl.threads.get(threadId)).status);

/** Starts a turn that works until the test answers its call. */
async function longTurn(threadId: string, name: string, multitask?: Multitask): Promise<Run> {
  const { run } = await pawl.runs.start("long-turn", on(threadId, name, multitask));
  await sink.received(`hold-${name}`);
  return run;
}

test("a run begins with the memory that the run before it left, and the log of each run has it whole (S4.2, S4.15)", async () => {
  for (const text of ["one", "two", "three"])
    await pawl.run("turn", text, { threadId: "memory", createThread: true });
  expect(await memoryOf("memory")).toEqual({ said: ["one", "two", "three"] });
  const { runs } = await pawl.runs.list({ threadId: "memory" });
  expect(runs).toHaveLength(3);
  const third = await storyOf(pawl, runs[0]?.runId ?? "");
  expect(third.events.slice(0, 3)).toMatchObject([
    { type: "run.started", payload: { threadId: "memory", threadPosition: "3" } },
    { type: "run.thread.taken", payload: { fromRunId: runs[1]?.runId } },
    { type: "run.status.changed" },
  ]);
  expect(third.outputOf("say")).toEqual(["one", "two", "three"]);
  const second = await pawl.threads.state("memory", { runId: runs[1]?.runId });
  expect(jsonOf(second.memoryJson)).toEqual({ said: ["one", "two"] });
  expect(await statusOf("memory")).toBe("idle");
});

test("a busy thread refuses a run by default, over HTTP with 409, and the message names the run that holds it (S4.25, S4.26)", async () => {
  const run = await longTurn("rejects", "rejects");
  expect(await statusOf("rejects")).toBe("busy");
  const refused = await refusal(pawl.runs.start("turn", on("rejects", "second")));
  expect(refused).toMatchObject({ reason: "THREAD_BUSY", metadata: { run_id: run.runId } });
  const body = { workflowId: "turn", input: "x", threadId: "rejects" };
  const answer = await fetch(`${cluster.url}/pawl.v1.RunService/StartRun`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(409);
  expect(await answer.text()).toContain("THREAD_BUSY");
  (await sink.received("hold-rejects")).answer(200);
  await pawl.runs.wait(run.runId);
});

test("a start on a thread that does not exist is refused unless it creates the thread; a repeat of an accepted start gets its run (S4.24)", async () => {
  const refused = await refusal(pawl.runs.start("turn", { threadId: "missing", input: 1 }));
  expect(refused.reason).toBe("THREAD_NOT_FOUND");
  const asked = { ...on("made", "made"), requestId: "made-1" };
  const { run } = await pawl.runs.start("long-turn", asked);
  await sink.received("hold-made");
  expect(await pawl.runs.start("long-turn", asked)).toMatchObject({
    run: { runId: run.runId },
    isDuplicate: true,
  });
  (await sink.received("hold-made")).answer(200);
  await pawl.runs.wait(run.runId);
});

test("runs that are enqueued begin in the order of their acceptance, each when the one before has ended, and say what they wait for (S4.4, S4.29)", async () => {
  const first = await longTurn("line", "line-1");
  const ids: string[] = [];
  for (const text of ["line-2", "line-3"])
    ids.push((await pawl.runs.start("turn", on("line", text, "enqueue"))).run.runId);
  const waiting = (await pawl.runs.get(ids[1] ?? "")).run;
  expect(runStatusName(waiting.status)).toBe("pending");
  expect(waiting.waitingReason).toBe(
    `It waits for thread "line": run ${first.runId} holds it; 1 other waits before it.`,
  );
  const explained = await pawl.runs.explain(ids[0] ?? "", "say");
  expect(explained.summary).toContain("The run is pending. It waits for thread");
  (await sink.received("hold-line-1")).answer(200);
  await Promise.all(ids.map((id) => pawl.runs.wait(id)));
  expect(await memoryOf("line")).toEqual({ said: ["line-1", "line-2", "line-3"] });
});

test("an interrupt keeps what the run did and starts the next one; the interrupted run continues as a run of its own behind it (X8, S4.13, S4.14, S4.28, S4.30)", async () => {
  const first = await longTurn("interrupts", "int-1");
  const next = await longTurn("interrupts", "int-2", "interrupt");
  const stopped = (await pawl.runs.get(first.runId)).run;
  expect(runStatusName(stopped.status)).toBe("cancelled");
  expect(stopped).toMatchObject({ stop: StopMode.INTERRUPT, cause: "interrupted" });
  const resumed = await pawl.runs.resume(first.runId);
  const again = await pawl.runs.resume(first.runId);
  expect(again.runId).toBe(resumed.runId);
  expect(runStatusName(resumed.status)).toBe("pending");
  (await sink.received("hold-int-2")).answer(200);
  await pawl.runs.wait(next.runId);
  (await sink.received("hold-int-1", 2)).answer(200);
  const done = await storyOf(pawl, resumed.runId);
  expect(done.status).toBe("completed");
  expect(done.run.repairOf).toBe(first.runId);
  expect(done.of("node.started", "say")).toEqual([]);
  expect(await memoryOf("interrupts")).toEqual({ said: ["int-1", "int-2"] });
  const interrupted = runFilterOf(["interrupted"]);
  const { runs } = await pawl.runs.list({ threadId: "interrupts", ...interrupted });
  expect(runs.map(({ runId }) => runId)).toEqual([first.runId]);
});

test("a rollback undoes the nodes of the run, the next one begins when that is over, and the thread has the memory from before (S4.13, S4.27, S4.31)", async () => {
  const paying = graph(["start > say > pay > work > end"], {
    say: SAY,
    pay: call(sink.url("pay"), {
      compensation: { type: "http", config: { url: sink.url("hold-undo-pay"), method: "POST" } },
    }),
    work: call(sink.url("hold-rolled")),
  });
  await pawl.workflows.create(paying, { workflowId: "paying" });
  await pawl.run("turn", "kept", { threadId: "rolls", createThread: true });
  const { run } = await pawl.runs.start("paying", on("rolls", "lost"));
  await sink.received("hold-rolled");
  const next = (await pawl.runs.start("turn", on("rolls", "next", "rollback"))).run;
  expect(runStatusName(next.status)).toBe("pending");
  (await sink.received("hold-undo-pay")).answer(200);
  await pawl.runs.wait(next.runId);
  const rolled = await storyOf(pawl, run.runId);
  expect(rolled.status).toBe("cancelled");
  expect(rolled.run).toMatchObject({ stop: StopMode.ROLLBACK, cause: "rolled_back" });
  expect(undosOf(rolled)).toEqual({ "pay#0": "completed" });
  expect(await memoryOf("rolls")).toEqual({ said: ["kept", "next"] });
  expect((await refusal(pawl.runs.resume(run.runId))).reason).toBe("RUN_ALREADY_FINISHED");
});

test("a user may interrupt and roll back the run of a thread without another run (S4.14, S4.30, S4.31)", async () => {
  const first = await longTurn("stops", "stop-1");
  const stopped = await pawl.runs.cancel(first.runId, { mode: "interrupt" });
  expect(stopped.stop).toBe(StopMode.INTERRUPT);
  expect(await statusOf("stops")).toBe("interrupted");
  const second = await longTurn("stops", "stop-2");
  await pawl.runs.cancel(second.runId, { mode: "rollback" });
  expect(await statusOf("stops")).toBe("idle");
  expect(await memoryOf("stops")).toEqual({ said: ["stop-1"] });
});

test("a run that fails or times out leaves its memory and an error on the thread, and nothing repeats it (S4.15, S4.32, S4.33)", async () => {
  const failing = graph(["start > say > bad > end"], { say: SAY, bad: broken() });
  await pawl.workflows.create(failing, { workflowId: "failing" });
  const { run } = await pawl.runs.start("failing", on("fails", "bad"));
  expect(runStatusName((await pawl.runs.wait(run.runId)).status)).toBe("failed");
  expect(await statusOf("fails")).toBe("error");
  const { run: late } = await pawl.runs.start("long-turn", {
    ...on("fails", "late"),
    deadlineMs: 1_500,
  });
  expect(await pawl.runs.wait(late.runId)).toMatchObject({ cause: "deadline_passed" });
  expect(await statusOf("fails")).toBe("error");
  expect(await memoryOf("fails")).toEqual({ said: ["bad", "late"] });
});

test.each<Multitask>(["reject", "enqueue", "interrupt", "rollback"])(
  "fifty starts that race on one thread from two gateways and two schedulers: %s (S4.4, S4.25)",
  async (strategy) => {
    await raceOnThread(clients, cluster.databaseUrl, strategy);
  },
);

test("threads are created, found by metadata, edited, forked at a run and deleted with their runs (S4.2, S4.23)", async () => {
  const made = await pawl.threads.create("crud", { metadata: { user: { id: 7 }, tags: ["a"] } });
  expect(made.status).toBe(ThreadStatus.IDLE);
  expect((await refusal(pawl.threads.create("crud", { metadata: {} }))).reason).toBe(
    "THREAD_EXISTS",
  );
  const found = await pawl.threads.list({ metadata: { user: { id: 7 } } });
  expect(found.threads.map(({ threadId }) => threadId)).toEqual(["crud"]);
  expect((await pawl.threads.list({ metadata: { user: { id: 8 } } })).threads).toEqual([]);
  const edited = await pawl.threads.update("crud", { user: { id: 8 } });
  expect(jsonOf(edited.metadataJson)).toEqual({ user: { id: 8 } });
  for (const text of ["x", "y"]) await pawl.run("turn", text, { threadId: "crud" });
  const { runs } = await pawl.runs.list({ threadId: "crud" });
  const fork = await pawl.threads.fork("crud", { runId: runs[1]?.runId, newThreadId: "forked" });
  expect(fork).toMatchObject({ threadId: "forked", forkedFrom: "crud" });
  const asked = { runId: runs[1]?.runId, newThreadId: "repeated", requestId: "fork-1" };
  expect((await pawl.threads.fork("crud", asked)).createTime).toEqual(
    (await pawl.threads.fork("crud", asked)).createTime,
  );
  const other = await refusal(pawl.threads.fork("crud", { ...asked, requestId: "fork-2" }));
  expect(other.reason).toBe("THREAD_EXISTS");
  for (const repeated of [
    () => pawl.threads.fork("crud", { requestId: "fork-3" }),
    () => pawl.threads.create("", { requestId: "create-1" }),
  ])
    expect((await repeated()).threadId).toBe((await repeated()).threadId);
  await pawl.run("turn", "z", { threadId: "forked" });
  expect(await memoryOf("forked")).toEqual({ said: ["x", "z"] });
  expect(await memoryOf("crud")).toEqual({ said: ["x", "y"] });
  await pawl.threads.delete("crud");
  expect((await refusal(pawl.threads.get("crud"))).reason).toBe("THREAD_NOT_FOUND");
  expect((await refusal(pawl.runs.get(runs[0]?.runId ?? ""))).reason).toBe("RUN_NOT_FOUND");
  expect(await memoryOf("forked")).toEqual({ said: ["x", "z"] });
});

test("a thread with live runs is deleted only with force, which cancels them (S4.2)", async () => {
  const run = await longTurn("live", "live");
  await pawl.runs.start("turn", on("live", "behind", "enqueue"));
  expect((await refusal(pawl.threads.delete("live"))).reason).toBe("THREAD_BUSY");
  await pawl.threads.delete("live", { force: true });
  expect((await refusal(pawl.runs.get(run.runId))).reason).toBe("RUN_NOT_FOUND");
});

test("a paused run in the line lets others pass, and takes its turn when it resumes (S4.4)", async () => {
  const first = await longTurn("paused", "paused-1");
  const { run: second } = await pawl.runs.start("turn", on("paused", "paused-2", "enqueue"));
  const { run: third } = await pawl.runs.start("turn", on("paused", "paused-3", "enqueue"));
  await pawl.runs.pause(second.runId);
  (await sink.received("hold-paused-1")).answer(200);
  await pawl.runs.wait(first.runId);
  await pawl.runs.wait(third.runId);
  await pawl.runs.resume(second.runId);
  await pawl.runs.wait(second.runId);
  expect(await memoryOf("paused")).toEqual({ said: ["paused-1", "paused-3", "paused-2"] });
});

test("a run takes its thread before the slot of its workflow, so two runs never wait for each other (S4.25)", async () => {
  const limited = { concurrency: { key: "one", limit: 1 } };
  await pawl.workflows.create(
    { ...graph(["start > say > end"], { say: SAY }), ...limited },
    { workflowId: "limited-turn" },
  );
  const runs = await Promise.all(
    names("limited", 12).map((text, index) =>
      pawl.runs.start("limited-turn", on(`limited-${index % 3}`, text, "enqueue")),
    ),
  );
  await Promise.all(runs.map(({ run }) => pawl.runs.wait(run.runId)));
  for (const index of [0, 1, 2]) {
    const { said } = (await memoryOf(`limited-${index}`)) as { said: string[] };
    expect(said).toHaveLength(4);
  }
});
