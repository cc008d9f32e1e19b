// Assistants on the trio, with two gateways and two schedulers: their runs keep what they began with, and go with the assistant.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  createPawlClient,
  type Json,
  jsonOf,
  type PawlClient,
  pawlErrorFrom,
  runStatusName,
} from "@pawl/client";
import {
  AssistantService,
  type CreateAssistantRequestSchema,
} from "@pawl/proto/pawl/v1/assistant_service_pb";
import type { MultitaskStrategy } from "@pawl/proto/pawl/v1/run_service_pb";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { broken, graph, names, script } from "./graph.ts";
import { storyOf } from "./story.ts";
import { refusal } from "./turns.ts";

let cluster: Cluster;
let clients: readonly PawlClient[];
let pawl: PawlClient;
let db: pg.Client;
let rpc: Client<typeof AssistantService>;

const TELL = graph(["start > tell > end"], {
  tell: script("return [ctx.config.tone ?? null, ctx.goal, input.text]", {
    input: { text: "{{ ctx.config.tone }} {{ ctx.input }}" },
  }),
});

beforeAll(async () => {
  cluster = await startCluster({ schedulers: 2, gateways: 2 });
  clients = cluster.gateways.map(({ port }) =>
    createPawlClient({ baseUrl: `http://127.0.0.1:${port}` }),
  );
  const [first] = clients;
  if (first === undefined) throw new Error("no client");
  pawl = first;
  db = new pg.Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  rpc = createClient(AssistantService, createGrpcTransport({ baseUrl: cluster.url }));
  await pawl.workflows.create(TELL, { workflowId: "tell" });
  const waits = graph(["start > wait > end"], {
    wait: { type: "await_signal", config: { name: "go" } },
  });
  await pawl.workflows.create(waits, { workflowId: "waits" });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await db.end();
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await cluster.stop();
});

const runAs = (assistantId: string, input: Json): Promise<Json> =>
  pawl.run("", input, { assistantId });

test("a run gets the config, the workflow and the defaults of its assistant, and its log has them (S4.22)", async () => {
  const defaults = { goal: "teach" };
  const tutor = { workflowId: "tell", configJson: '{"tone": "kind", "n": 1.50}', defaults };
  await pawl.assistants.create("tutor", tutor);
  const { run } = await pawl.runs.start("", { assistantId: "tutor", input: "hello" });
  expect(run).toMatchObject({ workflowId: "tell", assistantId: "tutor" });
  const story = await storyOf(pawl, run.runId);
  expect(story.outputOf("tell")).toEqual(["kind", "teach", "kind hello"]);
  const [started] = (await pawl.events.list(run.runId)).events;
  if (started?.fact.case !== "runStarted") throw new Error("no first event");
  const { assistantId, assistantVersion, configJson, goal } = started.fact.value;
  expect({ assistantId, assistantVersion, goal }).toEqual({
    ...{ assistantId: "tutor", assistantVersion: 1, goal: "teach" },
  });
  expect(new TextDecoder().decode(configJson)).toBe('{"tone": "kind", "n": 1.50}');
  const own = await pawl.run("", "hello", { assistantId: "tutor", goal: "learn" });
  expect(own).toEqual(["kind", "learn", "kind hello"]);
});

test("an edit changes later runs only; a repeat, a retry and a repair keep what the run began with (S4.22)", async () => {
  const failing = graph(["start > tell > bad > end"], {
    tell: script("return ctx.config.tone"),
    bad: broken(),
  });
  await pawl.workflows.create(failing, { workflowId: "failing" });
  await pawl.assistants.create("edited", { workflowId: "failing", config: { tone: "old" } });
  const asked = { assistantId: "edited", input: 1, requestId: "edited-1" };
  const { run } = await pawl.runs.start("", asked);
  await pawl.runs.wait(run.runId);
  const edited = { workflowId: "tell", config: { tone: "new" } };
  expect((await pawl.assistants.update("edited", edited)).version).toBe(2);
  expect((await pawl.assistants.update("edited", edited)).version).toBe(2);
  expect(await pawl.runs.start("", asked)).toMatchObject({
    ...{ run: { runId: run.runId }, isDuplicate: true },
  });
  const retried = await pawl.runs.repair(run.runId, { fromNodes: ["tell"] });
  const again = await storyOf(pawl, retried.run?.runId ?? "");
  expect(again.run.assistantId).toBe("edited");
  expect(again.outputOf("tell")).toBe("old");
  expect(await runAs("edited", 1)).toEqual(["new", "", "new 1"]);
  const late = await refusal(pawl.assistants.update("edited", TUTOR, { expectedVersion: 1 }));
  expect(late.reason).toBe("VERSION_MISMATCH");
});

const TUTOR = { workflowId: "tell", config: { tone: "kind" } };

test("an assistant stays with a pinned version, and follows the newest one without", async () => {
  const say = (text: string) => graph(["start > say > end"], { say: script(`return "${text}"`) });
  const { version } = await pawl.workflows.create(say("one"), { workflowId: "versions" });
  await pawl.assistants.create("pinned", { workflowId: "versions", workflowVersion: version });
  await pawl.assistants.create("newest", { workflowId: "versions" });
  await pawl.workflows.update("versions", say("two"), { expectedVersion: version });
  expect([await runAs("pinned", null), await runAs("newest", null)]).toEqual(["one", "two"]);
  const none = { workflowId: "versions", workflowVersion: 99 };
  const refused = await refusal(pawl.assistants.create("none", none));
  expect(refused.reason).toBe("WORKFLOW_NOT_FOUND");
});

test("a start on a thread needs no workflow if the thread has an assistant, and the assistant says what a busy thread does (S4.22, S4.26)", async () => {
  await pawl.assistants.create("chatty", { ...TUTOR, defaults: { multitask: "enqueue" } });
  await pawl.threads.create("chat", { assistantId: "chatty", metadata: { user: "ada" } });
  const { run: first } = await pawl.runs.start("waits", { threadId: "chat" });
  const { run } = await pawl.runs.start("", { threadId: "chat", input: "hello" });
  expect(runStatusName(run.status)).toBe("pending");
  await pawl.runs.signal(first.runId, "go");
  expect((await storyOf(pawl, run.runId)).outputOf("tell")).toEqual(["kind", "", "kind hello"]);
  const fork = await pawl.threads.fork("chat", { newThreadId: "chat-2" });
  expect(fork).toMatchObject({ assistantId: "chatty" });
  const bare = await pawl.threads.update("chat", undefined, { assistantId: "" });
  expect(bare).toMatchObject({ assistantId: "" });
  expect(jsonOf(bare.metadataJson)).toEqual({ user: "ada" });
  const refused = await refusal(pawl.runs.start("", { threadId: "chat", input: 1 }));
  expect(refused).toMatchObject({ reason: "INPUT_INVALID" });
  expect(refused.message).toContain("thread chat has no assistant");
});

test("assistants are found by metadata and workflow, and runs by their assistant, in pages and filters (S4.22, S4.23)", async () => {
  for (const id of ["found-1", "found-2"])
    await pawl.assistants.create(id, { ...TUTOR, metadata: { team: "a", n: [id] } });
  const found = await pawl.assistants.list({ metadata: { team: "a" }, pageSize: 1 });
  expect(found.assistants.map(({ assistantId }) => assistantId)).toEqual(["found-1"]);
  const { nextPageToken: pageToken } = found;
  const rest = await pawl.assistants.list({ metadata: { team: "a" }, pageSize: 1, pageToken });
  expect(rest.assistants.map(({ assistantId }) => assistantId)).toEqual(["found-2"]);
  expect((await pawl.assistants.list({ workflowId: "no" })).assistants).toEqual([]);
  await Promise.all([runAs("found-1", 1), runAs("found-1", 2), runAs("found-2", 3)]);
  expect((await pawl.runs.list({ assistantId: "found-1" })).runs).toHaveLength(2);
  const filter = 'assistant = "found-*" AND status = completed';
  expect((await pawl.runs.list({ filter })).runs).toHaveLength(3);
  expect((await pawl.runs.list({ assistantId: "found-2", filter })).runs).toHaveLength(1);
  expect((await pawl.runs.list({ assistantId: "found-2", query: "tell" })).runs).toHaveLength(1);
});

test("an assistant with a live run is deleted only by force, with its runs; threads that name it stay (S4.22)", async () => {
  await pawl.assistants.create("gone", { workflowId: "waits" });
  await pawl.threads.create("gone-chat", { assistantId: "gone" });
  const { run } = await pawl.runs.start("", { threadId: "gone-chat" });
  expect(await refusal(pawl.assistants.delete("gone"))).toMatchObject({
    ...{ reason: "ASSISTANT_BUSY", metadata: { run_id: run.runId } },
  });
  await pawl.assistants.delete("gone", { force: true });
  expect((await refusal(pawl.runs.get(run.runId))).reason).toBe("RUN_NOT_FOUND");
  expect((await refusal(pawl.assistants.delete("gone"))).reason).toBe("ASSISTANT_NOT_FOUND");
  const start = pawl.runs.start("", { assistantId: "gone" });
  expect((await refusal(start)).reason).toBe("ASSISTANT_NOT_FOUND");
  expect(await pawl.threads.get("gone-chat")).toMatchObject({ assistantId: "", runId: "" });
});

test("twenty starts race the deletion of their assistant from two gateways and two schedulers: no run outlives it (S4.22)", async () => {
  await pawl.assistants.create("raced", TUTOR);
  const asked = names("raced", 20).map((input, index) => {
    const from = clients[index % clients.length];
    if (from === undefined) throw new Error("no client");
    return from.runs.start("", { assistantId: "raced", input, requestId: input });
  });
  await Promise.any(asked);
  const deleted = await Promise.allSettled([pawl.assistants.delete("raced", { force: true })]);
  const settled = await Promise.allSettled(asked);
  const reasons = settled.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  for (const reason of reasons) expect(reason).toMatchObject({ reason: "ASSISTANT_NOT_FOUND" });
  const failed = deleted.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  for (const reason of failed) expect(reason).toMatchObject({ reason: "ASSISTANT_BUSY" });
  if (failed.length > 0) await pawl.assistants.delete("raced", { force: true });
  const { rows } = await db.query(
    "select run_id from pawl.runs r where assistant_id is not null and not exists (select 1 from pawl.assistants a where a.assistant_id = r.assistant_id)",
  );
  expect(rows).toEqual([]);
  const started = settled.flatMap((each) =>
    each.status === "fulfilled" ? [each.value.run.runId] : [],
  );
  const { rows: logs } = await db.query(
    "select run_id from pawl.run_events where run_id = any ($1)",
    [started],
  );
  expect(logs).toEqual([]);
});

test.each<[string, () => Promise<unknown>, string]>([
  ["no spec", () => raw({ assistantId: "x" }), "spec"],
  ["no workflow", () => raw({ spec: {} }), "spec.workflow_id"],
  ["a config that is a list", () => create({ config: [1] }), "spec.config"],
  ["a reserved key", () => create({ config: { "$pawl.value": 1 } }), "spec.config_json"],
  ["metadata with U+0000", () => create({ metadata: { a: "\0" } }), "spec.metadata_json"],
  [
    "an empty constraint",
    () => create({ defaults: { constraints: [""] } }),
    "spec.defaults.constraints[0]",
  ],
  ["an id with a slash", () => pawl.assistants.get("a/b"), "assistant_id"],
  ["an unknown strategy", () => raw(UNKNOWN), "spec.defaults.multitask_strategy"],
  ["a workflow beside it", () => pawl.runs.start("tell", { assistantId: "tutor" }), "assistant_id"],
  [
    "a version beside it",
    () => pawl.runs.start("", { assistantId: "tutor", version: 1 }),
    "version",
  ],
  ["no workflow at all", () => pawl.runs.start("", {}), "workflow_id"],
])("a bad request is refused by its field: %s", async (_, ask, field) => {
  const refused = await refusal(ask());
  expect(refused).toMatchObject({ reason: "INPUT_INVALID", metadata: { field } });
});

test("an assistant that is too large, or that has the id of another one, is refused", async () => {
  const large = await refusal(create({ config: { text: "x".repeat(17_000) } }));
  expect(large).toMatchObject({ reason: "LIMIT_EXCEEDED", metadata: { limit: "configBytes" } });
  await pawl.assistants.create("taken", TUTOR);
  expect((await pawl.assistants.create("taken", TUTOR)).version).toBe(1);
  const other = pawl.assistants.create("taken", { workflowId: "tell" });
  expect((await refusal(other)).reason).toBe("ASSISTANT_EXISTS");
  const thread = pawl.threads.create("lost", { assistantId: "nowhere" });
  expect((await refusal(thread)).reason).toBe("ASSISTANT_NOT_FOUND");
});

const UNKNOWN = {
  spec: { workflowId: "tell", defaults: { multitaskStrategy: 99 as MultitaskStrategy } },
};

const create = (over: object): Promise<unknown> =>
  pawl.assistants.create("bad", { workflowId: "tell", ...over });

/** Fields that no client sends. */
const raw = (body: MessageInitShape<typeof CreateAssistantRequestSchema>): Promise<unknown> =>
  rpc.createAssistant(body).catch((error: unknown) => {
    throw pawlErrorFrom(error);
  });
