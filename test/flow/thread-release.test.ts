// A run that waits for a person gives its thread up if its start says so, and the memory of a thread keeps stored values. On the trio, with
// two schedulers.
import { createPawlClient, type Json, jsonOf, type PawlClient, runStatusName } from "@pawl/client";
import { StopMode } from "@pawl/proto/pawl/v1/run_pb";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { call, graph, names, script } from "./graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "./sink.ts";
import { on, refusal, SAY } from "./turns.ts";

let cluster: Cluster;
let pawl: PawlClient;
let db: pg.Client;
let sink: Sink;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({ schedulers: 2, env: SINK_EGRESS });
  pawl = createPawlClient({ baseUrl: cluster.url });
  db = new pg.Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  const wait = { type: "await_signal", config: { name: "go" } };
  await pawl.workflows.create(graph(["start > say > end"], { say: SAY }), { workflowId: "turn" });
  await pawl.workflows.create(
    graph(["start > say > wait > after > end"], {
      say: SAY,
      wait,
      after: script('return [...ctx.memory.said, "after"]', {
        write_key: "said",
        read_keys: ["said"],
      }),
    }),
    { workflowId: "asks" },
  );
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await db.end();
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await cluster.stop();
  await sink.stop();
});

const RELEASED = { threadRelease: "when_wanted" } as const;

const memoryOf = async (threadId: string): Promise<Json | undefined> =>
  jsonOf((await pawl.threads.state(threadId)).memoryJson);

/** Starts a run that waits for a signal, and gives its id once it waits. */
async function asking(threadId: string, text: string, more: object = {}): Promise<string> {
  const { run } = await pawl.runs.start("asks", { ...on(threadId, text), ...more });
  await waits(run.runId);
  return run.runId;
}

const waits = (runId: string): Promise<unknown> =>
  until(async () => runStatusName((await pawl.runs.get(runId)).run.status) === "waiting", {
    what: `run ${runId} to wait`,
  });

test("a run that waits holds its thread by default (S4.25, S4.26)", async () => {
  const asked = await asking("holds", "one");
  const refused = await refusal(pawl.runs.start("turn", on("holds", "two")));
  expect(refused).toMatchObject({ reason: "THREAD_BUSY", metadata: { run_id: asked } });
  await pawl.runs.signal(asked, "go");
  await pawl.runs.wait(asked);
  expect(await memoryOf("holds")).toEqual({ said: ["one", "after"] });
});

test("a run that gives its thread up is interrupted by the next one only while it waits, and continues behind it with its memory (S4.25, S4.30)", async () => {
  const asked = await asking("yields", "one", RELEASED);
  expect(await pawl.run("turn", "two", { threadId: "yields" })).toBeDefined();
  const { run } = await pawl.runs.get(asked);
  expect(run).toMatchObject({ stop: StopMode.INTERRUPT });
  expect(await memoryOf("yields")).toEqual({ said: ["one", "two"] });
  const resumed = await pawl.runs.resume(asked);
  await waits(resumed.runId);
  const again = await storyStart(resumed.runId);
  expect(again).toMatchObject({ threadId: "yields", yieldsThread: true });
  await pawl.runs.signal(resumed.runId, "go");
  await pawl.runs.wait(resumed.runId);
  expect(await memoryOf("yields")).toEqual({ said: ["one", "two", "after"] });
});

test("a question to a person gives its thread up too, its late answer is refused, and the run that continues asks again (S4.25, S4.26)", async () => {
  const approval = { type: "approval", config: { message: "Send it?" } };
  await pawl.workflows.create(graph(["start > say > ask > end"], { say: SAY, ask: approval }), {
    workflowId: "approves",
  });
  const { run } = await pawl.runs.start("approves", { ...on("people", "one"), ...RELEASED });
  await waits(run.runId);
  const [asked] = (await pawl.approvals.list({ runId: run.runId })).approvals;
  await pawl.run("turn", "two", { threadId: "people" });
  const late = await refusal(pawl.approvals.approve(asked?.approvalId ?? ""));
  expect(late.reason).toBe("APPROVAL_CLOSED");
  const resumed = await pawl.runs.resume(run.runId);
  await waits(resumed.runId);
  const [again] = (await pawl.approvals.list({ runId: resumed.runId })).approvals;
  await pawl.approvals.approve(again?.approvalId ?? "");
  expect(runStatusName((await pawl.runs.wait(resumed.runId)).status)).toBe("completed");
  expect(await memoryOf("people")).toEqual({ said: ["one", "two"] });
});

/** The fact of the first event of a run. */
async function storyStart(runId: string): Promise<object> {
  const [first] = (await pawl.events.list(runId)).events;
  return first?.fact.value ?? {};
}

test("a run that begins to wait while others are in line gives its thread to them, in order (S4.25, S4.29)", async () => {
  const works = graph(["start > work > wait > end"], {
    work: call(sink.url("hold-work")),
    wait: { type: "await_signal", config: { name: "go" } },
  });
  await pawl.workflows.create(works, { workflowId: "works-first" });
  const { run: first } = await pawl.runs.start("works-first", { ...on("line", 1), ...RELEASED });
  const work = await sink.received("hold-work");
  const others = await Promise.all(
    names("line", 3).map((text) => pawl.runs.start("turn", on("line", text, "enqueue"))),
  );
  work.answer(200);
  await Promise.all(others.map(({ run }) => pawl.runs.wait(run.runId)));
  expect(await pawl.runs.wait(first.runId)).toMatchObject({ stop: StopMode.INTERRUPT });
  expect(await memoryOf("line")).toMatchObject({ said: { length: 3 } });
});

test("the answer and the next start race for the thread: at most one run holds it, and each ends or continues (S4.25)", async () => {
  for (const round of names("round", 5)) {
    const asked = await asking(round, "one", RELEASED);
    const [, next] = await Promise.allSettled([
      pawl.runs.signal(asked, "go"),
      pawl.runs.start("turn", on(round, "two", "enqueue")),
    ]);
    if (next.status === "rejected") throw next.reason;
    await pawl.runs.wait(next.value.run.runId);
    const ended = await pawl.runs.wait(asked);
    const said = ended.stop === StopMode.INTERRUPT ? ["one", "two"] : ["one", "after", "two"];
    expect(await memoryOf(round)).toEqual({ said });
  }
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});

test("an assistant may say that its runs give their threads up, and a start says otherwise (S4.22)", async () => {
  const defaults = { threadRelease: "when_wanted" } as const;
  await pawl.assistants.create("patient", { workflowId: "asks", defaults });
  const by = { assistantId: "patient", input: "one" };
  const own = { ...by, threadId: "by", createThread: true };
  const { run: yields } = await pawl.runs.start("", own);
  const { run: holds } = await pawl.runs.start("", {
    ...own,
    threadId: "by-2",
    threadRelease: "never",
  });
  await Promise.all([waits(yields.runId), waits(holds.runId)]);
  await pawl.run("turn", "two", { threadId: "by" });
  expect((await refusal(pawl.runs.start("turn", on("by-2", 1)))).reason).toBe("THREAD_BUSY");
  expect((await refusal(pawl.runs.start("turn", { ...RELEASED }))).reason).toBe("INPUT_INVALID");
  await pawl.runs.signal(holds.runId, "go");
  await pawl.runs.wait(holds.runId);
});

/** How many references to stored values threads have, and how many values there are. */
async function stored(): Promise<{ readonly named: number; readonly values: number }> {
  const { rows } = await db.query<{ named: number; values: number }>(
    "select (select count(*)::integer from pawl.thread_values) as named, (select count(*)::integer from pawl.stored_values) as values",
  );
  return rows[0] ?? { named: -1, values: -1 };
}

test("a stored value in the memory of a thread is read by later runs and by forks, without the run that wrote it, and goes with the last thread (S2.34, S4.2)", async () => {
  const write = graph(["start > make > end"], {
    make: script('return "x".repeat(400_000)', { write_key: "large" }),
  });
  const read = graph(["start > read > end"], {
    read: script("return ctx.memory.large.length", { read_keys: ["large"] }),
  });
  await pawl.workflows.create(write, { workflowId: "write" });
  await pawl.workflows.create(read, { workflowId: "read" });
  const { run } = await pawl.runs.start("write", on("large", 1));
  await pawl.runs.wait(run.runId);
  expect(await memoryOf("large")).toEqual({ large: { "$pawl.value": expect.anything() as Json } });
  expect(await pawl.run("read", 1, { threadId: "large" })).toBe(400_000);
  await pawl.threads.fork("large", { newThreadId: "large-2", runId: run.runId });
  expect(await stored()).toEqual({ named: 2, values: 1 });
  await pawl.bulks.start("delete", { filter: "status = completed" });
  const isGone = async (): Promise<boolean> =>
    (await refusal(pawl.runs.get(run.runId))).reason === "RUN_NOT_FOUND";
  await until(isGone, { what: "the run to be deleted" });
  expect(await pawl.run("read", 1, { threadId: "large" })).toBe(400_000);
  await pawl.threads.delete("large", { force: true });
  expect(await pawl.run("read", 1, { threadId: "large-2" })).toBe(400_000);
  await pawl.threads.delete("large-2");
  const { rows } = await db.query("select 1 from pawl.value_refs");
  expect(rows).toEqual([]);
  expect(await stored()).toMatchObject({ named: 0 });
});
