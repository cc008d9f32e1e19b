// Runs are found by filters through the public API of real processes: by metadata that callers and handlers read, by kept filters, and
// refused with the place of a fault.
import { createPawlClient, failureClassName, type PawlClient, PawlError } from "@pawl/client";
import type { StopMode } from "@pawl/core/log/event";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { broken, graph, script } from "./graph.ts";
import { storyOf } from "./story.ts";

let cluster: Cluster;
let client: PawlClient;

beforeAll(async () => {
  cluster = await startCluster();
  client = createPawlClient({ baseUrl: cluster.url });
  await client.workflows.create(
    {
      id: "greet",
      ...graph(["start > say > wait > end"], {
        say: { type: "javascript", config: { code: "return ctx.metadata" } },
        wait: { type: "await_signal", config: { name: "go" } },
      }),
    },
    {},
  );
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  const faults = await checkInvariants(cluster.databaseUrl);
  await cluster.stop();
  expect(faults).toEqual([]);
});

/** The ids of the runs that a filter finds. */
async function found(filter: string, savedFilter = ""): Promise<string[]> {
  const page = await client.runs.list({ filter, savedFilter });
  return page.runs.map(({ runId }) => runId);
}

const refusal = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof PawlError) return error;
  throw new Error("the call was not refused", { cause: error });
};

test("a run is started with metadata, found by them, and its handlers read them; a change is an event of the log (S4.23)", async () => {
  const metadata = { customer: { tier: "gold", id: 7 }, tags: ["eu", "vip"] };
  const { run } = await client.runs.start("greet", { metadata, input: { order: { id: 41 } } });
  const { runId } = run;
  expect(await found('metadata.customer.tier = "gold"')).toEqual([runId]);
  for (const filter of [
    "metadata.tags:vip AND metadata.customer.id > 6",
    "input.order.id = 41",
    "workflow = gree* AND is_live = true AND metadata:customer",
    "NOT metadata.customer.tier = silver AND metadata.customer:*",
  ])
    expect(await found(filter), filter).toEqual([runId]);
  expect(await found("metadata.customer.tier = silver")).toEqual([]);
  const changed = await client.runs.updateMetadata(runId, {
    customer: { tier: "silver", id: null },
  });
  expect(JSON.parse(Buffer.from(changed.metadataJson).toString())).toEqual({
    customer: { tier: "silver" },
    tags: ["eu", "vip"],
  });
  const before = changed.lastEventId;
  const repeated = await client.runs.updateMetadata(runId, { customer: { tier: "silver" } });
  expect(repeated.lastEventId).toBe(before);
  expect(await found("metadata.customer.tier = silver")).toEqual([runId]);
  expect(await found("metadata.customer.tier = gold")).toEqual([]);
  await client.runs.signal(runId, "go");
  const story = await storyOf(client, runId);
  expect(story.of("run.metadata.set")).toHaveLength(2);
  const { run: ended } = await client.runs.get(runId);
  const said = ended.nodes.find(({ nodeId }) => nodeId === "say");
  expect(JSON.parse(Buffer.from(said?.outputJson ?? []).toString())).toEqual(metadata);
  expect((await refusal(client.runs.updateMetadata(runId, { a: 1 }))).reason).toBe(
    "RUN_ALREADY_FINISHED",
  );
});

test("metadata that are no object, too large or too deep are refused, and start nothing", async () => {
  const before = await client.runs.list();
  const deep = { a: { a: { a: { a: { a: { a: 1 } } } } } };
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`k${at}`, at]));
  for (const [metadata, reason] of [
    [[1], "INPUT_INVALID"],
    ["text", "INPUT_INVALID"],
    [{ a: "\u0000" }, "INPUT_INVALID"],
    [deep, "LIMIT_EXCEEDED"],
    [many, "LIMIT_EXCEEDED"],
    [{ a: "x".repeat(16_384) }, "LIMIT_EXCEEDED"],
  ] as const)
    expect(
      (await refusal(client.runs.start("greet", { metadata: metadata as never }))).reason,
    ).toBe(reason);
  expect((await client.runs.list()).runs.length).toBe(before.runs.length);
});

test("a filter that cannot be read is refused with line and column; pages of a filter have tokens of their own (S4.23)", async () => {
  const bad = await refusal(client.runs.list({ filter: "status = running AND\n  colour = red" }));
  expect(bad.reason).toBe("FILTER_INVALID");
  expect(bad.metadata).toMatchObject({ field: "filter", line: "2", column: "3" });
  expect(bad.message).toContain("there is no field colour");
  const started = await Promise.all(
    Array.from({ length: 3 }, () => client.runs.start("greet", { metadata: { batch: "pages" } })),
  );
  const filter = "metadata.batch = pages";
  const first = await client.runs.list({ filter, pageSize: 2 });
  const pageToken = first.nextPageToken;
  const rest = await client.runs.list({
    filter: "metadata.batch   =   pages",
    pageSize: 2,
    pageToken,
  });
  expect([...first.runs, ...rest.runs].map(({ runId }) => runId).toSorted()).toEqual(
    started.map(({ run }) => run.runId).toSorted(),
  );
  expect((await refusal(client.runs.list({ filter: "is_live = true", pageToken }))).reason).toBe(
    "INPUT_INVALID",
  );
  for (const { run } of started) await client.runs.cancel(run.runId);
});

test("runs that did not complete are listed with the class of their failure and found by it (S4.13, S4.30-S4.33)", async () => {
  const paths = ["start > wait > end"];
  const wait = { type: "await_signal", config: { name: "go" } };
  const late = { type: "await_signal", config: { name: "go", timeout_ms: 50 } };
  await client.workflows.create({ id: "waits", ...graph(paths, { wait }) }, {});
  await client.workflows.create({ id: "late", ...graph(paths, { wait: late }) }, {});
  await client.workflows.create({ id: "bad", ...graph(paths, { wait: broken() }) }, {});
  const unread = script("return input.value", { contracts: { input: false } });
  await client.workflows.create({ id: "unread", ...graph(paths, { wait: unread }) }, {});
  const start = async (workflowId: string): Promise<string> =>
    (await client.runs.start(workflowId, { metadata: { classes: true } })).run.runId;
  const stopped = async (mode?: StopMode): Promise<string> => {
    const runId = await start("waits");
    await client.runs.cancel(runId, mode === undefined ? {} : { mode });
    return runId;
  };
  const expected = {
    timeout: await start("late"),
    retriable: await start("bad"),
    permanent: await start("unread"),
    cancelled: await stopped(),
    interrupt: await stopped("interrupt"),
    rollback: await stopped("rollback"),
  };
  const live = await start("waits");
  for (const runId of Object.values(expected)) await client.runs.wait(runId);
  const mine = "metadata.classes = true";
  for (const [name, runId] of Object.entries(expected))
    expect(await found(`failure_class = "${name}" AND ${mine}`), name).toEqual([runId]);
  expect(await found(`failure_class = user_timeout AND ${mine}`)).toEqual([]);
  expect(await found(`NOT failure_class:* AND ${mine}`)).toEqual([live]);
  const { runs } = await client.runs.list({ filter: mine });
  const listed = new Map(runs.map((run) => [run.runId, failureClassName(run.failureClass)]));
  expect(listed).toEqual(
    new Map([
      [live, undefined],
      ...Object.entries(expected).map(([name, runId]) => [runId, name] as const),
    ]),
  );
  for (const runId of Object.values(expected)) {
    const { run } = await client.runs.get(runId);
    expect(failureClassName(run.failureClass)).toBe(listed.get(runId));
  }
  const bad = await refusal(client.runs.list({ filter: 'failure_class = "user_timeuot"' }));
  expect(bad.reason).toBe("FILTER_INVALID");
  expect(bad.metadata).toMatchObject({ field: "filter", line: "1", column: "17" });
  expect(bad.message).toContain("user_timeuot is not one of timeout, user_timeout, interrupt");
  await client.runs.cancel(live);
});

test("a run that fails while it runs is found before its end (S4.13)", async () => {
  // The branch that fails does not keep the other one from waiting.
  const nodes = { bad: broken(), wait: { type: "await_signal", config: { name: "go" } } };
  const definition = graph(["start > bad > end", "start > wait > end"], nodes);
  await client.workflows.create({ id: "half", ...definition }, {});
  const { run } = await client.runs.start("half");
  const filter = "has_failures = true AND is_live = true";
  await until(async () => (await found(filter)).length > 0, { what: "the failure of the node" });
  expect(await found(filter)).toEqual([run.runId]);
  expect(await found(`${filter} AND status = waiting`)).toEqual([run.runId]);
  await client.runs.cancel(run.runId);
  expect(await found(filter)).toEqual([]);
  expect(await found("has_failures = true AND status = cancelled")).toEqual([run.runId]);
});

test("a filter is kept under a name, used by the name, replaced and deleted", async () => {
  const { run } = await client.runs.start("greet", { metadata: { team: "billing" } });
  await client.runs.saveFilter("billing", "metadata.team = shipping");
  const kept = await client.runs.saveFilter("billing", 'metadata.team = "billing"');
  expect(kept.filter).toBe('metadata.team = "billing"');
  expect(await found("", "billing")).toEqual([run.runId]);
  expect(await found("status = failed", "billing")).toEqual([]);
  expect((await client.runs.filters()).runFilters.map(({ name }) => name)).toEqual(["billing"]);
  expect((await refusal(client.runs.saveFilter("bad", "team ="))).reason).toBe("FILTER_INVALID");
  await client.runs.deleteFilter("billing");
  expect((await refusal(client.runs.list({ savedFilter: "billing" }))).reason).toBe(
    "RUN_FILTER_NOT_FOUND",
  );
  expect((await refusal(client.runs.deleteFilter("billing"))).reason).toBe("RUN_FILTER_NOT_FOUND");
  await client.runs.cancel(run.runId);
});
