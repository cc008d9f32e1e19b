// The entries of docs/operations/runbook.md, each in its state on one cluster. The tests type the commands of the page: the diagnosis shows
// the cause, and the fix ends the state.
import { createPawlClient, type Json, type PawlClient, type StartRunOptions } from "@pawl/client";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { call, graph, type GraphText, type NodeText } from "./graph.ts";
import { TypedPage } from "./page-commands.ts";
import {
  deadLetters,
  executorIdTaken,
  type RunbookParts,
  storeUnavailable,
  unknownEffect,
} from "./runbook-losses.ts";
import { type Sink, SINK_EGRESS, startSink } from "./sink.ts";

let cluster: Cluster;
let pawl: PawlClient;
let sink: Sink;
let page: TypedPage;

/** Names whose calls fail until a test mends them. */
const broken = new Map<string, number>();

beforeAll(async () => {
  sink = await startSink({ respond: (name) => broken.get(name) ?? 200 });
  const hour = "3600000";
  const env = { PAWL_WEBHOOK_RETRY_MS: hour, PAWL_WEBHOOK_RETRY_MAX_MS: hour };
  // A short lease: one of the entries waits for the end of one.
  const lease = { PAWL_LEASE_MS: "2000", PAWL_RENEW_MS: "300" };
  cluster = await startCluster({ env: { ...SINK_EGRESS, ...env, ...lease } });
  pawl = createPawlClient({ baseUrl: cluster.url });
  page = new TypedPage("docs/operations/runbook.md", cluster.url);
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await cluster.stop();
  await sink.stop();
});

/** start > work > end, where `work` calls the sink under this name. */
const calling = (name: string, more: NodeText = {}): GraphText =>
  graph(["start > work > end"], { work: call(sink.url(name), more) });

const WAIT = { type: "await_signal", config: { name: "go" } };

const save = (id: string, definition: GraphText & { readonly concurrency?: Json }) =>
  pawl.workflows.apply({ ...definition, id });

const start = async (id: string, options: StartRunOptions = {}): Promise<string> =>
  (await pawl.runs.start(id, options)).run.runId;

const ended = (runId: string): Promise<unknown> =>
  until(async () => (await pawl.runs.get(runId)).run.endTime, { what: `the end of ${runId}` });

/** Types the block until it prints this. */
const untilPrinted = (words: RegExp, typed: () => Promise<{ readonly text: string }>) =>
  until(
    async () => {
      const { text } = await typed();
      return words.test(text) ? text : undefined;
    },
    { what: String(words) },
  );

test("runs stay pending: the commands name the run that holds the thread or the slot, and the stop of it lets the next begin (S4.44)", async () => {
  const entry = "Runs stay pending";
  await save("turn", calling("hold-turn"));
  await save("limited", {
    ...calling("hold-limited"),
    concurrency: { key: "one", limit: 1 },
  });
  const states = [
    {
      holder: await start("turn", { threadId: "chat", createThread: true }),
      waiting: await start("turn", { threadId: "chat", multitask: "enqueue" }),
      cause: 'It waits for thread "chat"',
      words: "**Another run holds the thread.**",
      name: "hold-turn",
    },
    {
      holder: await start("limited"),
      waiting: await start("limited"),
      cause: 'It waits for a slot of concurrency key "one"',
      words: "**All slots are taken.**",
      name: "hold-limited",
    },
  ];
  for (const { holder, waiting, cause, words, name } of states) {
    await sink.received(name);
    const seen = await page.type(entry, "**Look.**", { RUN: waiting });
    expect(seen.code).toBe(0);
    expect(seen.text).toContain(cause);
    expect(seen.text).toContain(holder);
    expect((await page.type(entry, words, { HOLDER: holder })).code).toBe(0);
    (await sink.received(name, 2)).answer(200);
    await ended(waiting);
  }
  const seen = await page.type(entry, "**Look.**", { RUN: states[0]?.waiting ?? "" });
  expect(seen.text).toContain("No runs.");
});

test("runs stay pending: a paused workflow is named, and its runs begin when it is resumed (S4.44)", async () => {
  const entry = "Runs stay pending";
  await save("stopped", calling("work"));
  await pawl.workflows.pause("stopped", { by: "ada", reason: "audit" });
  const runId = await start("stopped");
  const seen = await page.type(entry, "**Look.**", { RUN: runId });
  expect(seen.text).toContain("The run's workflow is paused");
  const resumed = await page.type(entry, "**Its workflow is paused.**", { WORKFLOW: "stopped" });
  expect(resumed.text).toMatch(/workflow +stopped .* ada +audit/);
  await ended(runId);
});

test("runs stay pending: the gateway says that no scheduler works, and a new one takes the next start (S4.44)", async () => {
  const entry = "Runs stay pending";
  await save("quick", graph(["start > end"]));
  await cluster.schedulers[0]?.kill("SIGKILL");
  await untilPrinted(/SCHEDULER_UNAVAILABLE/, () => page.type(entry, "**No scheduler works.**"));
  await cluster.schedulers[0]?.restart();
  const runId = await until(() => start("quick").catch(() => undefined), { what: "a start" });
  await ended(runId);
});

test("runs stay running: the explanation names the executor whose handler hangs, and a cancel and a retry end it (S4.44)", async () => {
  const entry = "Runs stay running";
  await save("hangs", calling("hold-hang"));
  const runId = await start("hangs");
  await sink.received("hold-hang");
  const names = { RUN: runId, NODE: "work" };
  const seen = await page.type(entry, "**Look.**", names);
  expect(seen.code).toBe(0);
  expect(seen.text).toMatch(/Executor \S+ runs attempt 1 .* renewed while it lives/);
  expect(seen.text).toMatch(/pawl executor.*answers/);
  expect((await page.type("A run does not move", "**Look.**", names)).text).toContain("attempt 1");
  const fix = page.type(entry, "**The handler does not return.**", names);
  (await sink.received("hold-hang", 2)).answer(200);
  expect((await fix).code).toBe(0);
  expect((await pawl.runs.get(runId)).run.repairedBy).toHaveLength(1);
});

test("runs stay running: a frozen executor is found silent, its node waits for another, and a new process completes it (S4.44)", async () => {
  const entry = "Runs stay running";
  await save("frozen", calling("hold-frozen"));
  const runId = await start("frozen");
  await sink.received("hold-frozen");
  const names = { RUN: runId, NODE: "work" };
  await cluster.executors[0]?.kill("SIGSTOP");
  const look = () => page.type(entry, "**Look.**", names);
  await untilPrinted(/Executor \S+ claimed it .* is silent|No connected executor serves/, look);
  await cluster.executors[0]?.restart();
  const after = () => page.type(entry, "**The executor is silent.**", names);
  await untilPrinted(/answers[^]*Executor \S+ runs attempt 1/, after);
  (await sink.received("hold-frozen", 2)).answer(200);
  await ended(runId);
});

test("many nodes are retried: the commands show the message of the failing service, and a paused queue keeps the attempts until it works (S4.44)", async () => {
  const entry = "Many nodes are retried";
  broken.set("flaky", 503);
  const retry = { attempts: 20, backoff_ms: 1_000, max_backoff_ms: 1_000, jitter: false };
  await save("flaky", calling("flaky", { retry }));
  const runId = await start("flaky");
  await sink.received("flaky", 2);
  const names = { RUN: runId, NODE: "work", TYPE: "http", NAME: "ada", REASON: "down" };
  const seen = await untilPrinted(/begins in/, () => page.type(entry, "**Look.**", names));
  expect(seen).toMatch(/↻ retrying/);
  expect(seen).toMatch(/work .*the server answered 503/);
  expect(seen).toMatch(/Attempt \d+ ended with provider_error; attempt \d+ of 20 begins in/);
  const paused = await page.type(entry, "**Another service is down.**", names);
  expect(paused.text).toMatch(/queue +http +paused .* ada +down/);
  await untilPrinted(/The queue of type http is paused by ada \(down\)/, () =>
    page.type(entry, "**Look.**", names),
  );
  broken.delete("flaky");
  expect(await page.type("Queues grow", "")).toMatchObject({
    text: expect.stringMatching(/http +paused +1/),
  });
  expect((await page.type(entry, "When the service works again", names)).code).toBe(0);
  await ended(runId);
  expect((await pawl.runs.get(runId)).run).toMatchObject({ errorMessage: "" });
});

test("many nodes are retried: a corrected version completes what no further attempt could (S4.44)", async () => {
  const entry = "Many nodes are retried";
  broken.set("wrong", 503);
  const retry = { attempts: 20, backoff_ms: 60_000 };
  await save("wrong", calling("wrong", { retry }));
  const runId = await start("wrong");
  await sink.received("wrong");
  await save("wrong", calling("right"));
  const fixed = await page.type(entry, "**The definition is wrong.**", { RUN: runId });
  expect(fixed.code).toBe(0);
  await sink.received("right");
});

test("a webhook was not sent: the delivery shows the answer of the receiver, and a redelivery sends it under the same id (S4.44)", async () => {
  const entry = "A webhook was not sent";
  broken.set("down-hook", 503);
  await save("quick", graph(["start > end"]));
  const runId = await start("quick", { webhook: { url: sink.url("down-hook") } });
  const deliveryId = await failedDelivery(runId);
  const seen = await page.type(entry, "**Look.**", { RUN: runId, DELIVERY: deliveryId });
  expect(seen.code).toBe(0);
  expect(seen.text).toMatch(/pending/);
  expect(seen.text).toContain("the receiver answered 503");
  broken.delete("down-hook");
  await page.type(entry, "**The receiver failed.**", { DELIVERY: deliveryId });
  await delivered(deliveryId);
  await sink.received("down-hook", 2);
});

test("a webhook was not sent: an endpoint that answered 410 is shown as off, and an update and a redelivery send what it missed (S4.44)", async () => {
  const entry = "A webhook was not sent";
  broken.set("gone-hook", 410);
  await save("quick", graph(["start > end"]));
  await pawl.webhooks.create("ops", { url: sink.url("gone-hook"), byReference: true });
  const runId = await start("quick", { webhook: { endpointId: "ops" } });
  const deliveryId = await failedDelivery(runId);
  const names = { RUN: runId, DELIVERY: deliveryId, ENDPOINT: "ops" };
  const seen = await page.type(entry, "**Look.**", names);
  expect(seen.text).toMatch(/dead/);
  expect(seen.text).toMatch(/ops .*off/);
  expect((await page.type(entry, "**There is no delivery.**")).text).toContain("ops");
  broken.delete("gone-hook");
  const fixed = await page.type(entry, "**The endpoint is switched off.**", names);
  expect(fixed.code).toBe(0);
  await delivered(deliveryId);
});

/** The delivery of a run, after its first call. */
const failedDelivery = (runId: string): Promise<string> =>
  until(
    async () => {
      const { deliveries } = await pawl.webhooks.deliveries({ runId });
      return deliveries.find(({ attempts }) => attempts > 0)?.deliveryId;
    },
    { what: `the first call about ${runId}` },
  );

const delivered = (deliveryId: string): Promise<unknown> =>
  until(async () => (await pawl.webhooks.delivery(deliveryId)).delivery.endTime, {
    what: `the end of ${deliveryId}`,
  });

test("runs failed: the plan says what would run again, and a retry with the newest version completes", async () => {
  const entry = "Runs failed, and the cause is mended";
  broken.set("failing", 400);
  await save("failing", calling("failing"));
  const runId = await start("failing");
  await ended(runId);
  const seen = await page.type(entry, "**Look.**", { RUN: runId, WORKFLOW: "failing" });
  expect(seen.text).toContain(runId);
  expect(seen.text).toMatch(/work/);
  broken.delete("failing");
  expect((await page.type(entry, "**Act.**", { RUN: runId })).code).toBe(0);
});

test("a run in quarantine ends after its log is repaired and checked again", async () => {
  const entry = "A run is in quarantine";
  await save("ill", graph(["start > wait > end"], { wait: WAIT }));
  const runId = await start("ill");
  await until(async () => (await pawl.runs.get(runId)).run.waitingReason !== "", {
    what: "a wait",
  });
  const db = new Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  const hole = "delete from pawl.run_events where run_id = $1 and seq = 3 returning *";
  const { rows } = await db.query(hole, [runId]);
  await cluster.schedulers[0]?.restart();
  const asked = pawl.runs.cancel(runId);
  await expect(asked).rejects.toMatchObject({ reason: "RUN_QUARANTINED" });
  const refused = await page.type(entry, "**Act.**", { RUN: runId });
  expect(refused.code).toBeGreaterThan(0);
  expect(refused.text).toContain("EVENT_LOG_CORRUPTION");
  const refill =
    "insert into pawl.run_events select * from jsonb_populate_recordset(null::pawl.run_events, $1)";
  await db.query(refill, [JSON.stringify(rows)]);
  await db.end();
  expect((await page.type(entry, "**Act.**", { RUN: runId })).code).toBe(0);
  await pawl.runs.cancel(runId);
  await ended(runId);
});

const parts = (): RunbookParts => ({ cluster, pawl, sink, page, untilPrinted });

test("dead letters: the list names the run whose node lost three executors, and a redrive starts it again (S4.44)", () =>
  deadLetters(parts()));
test("calls fail with STORE_UNAVAILABLE: the commands name the database, and the run continues when it takes writes again (S4.44)", () =>
  storeUnavailable(parts()));
test("an executor whose id is taken waits, and is listed beside the first when it has its own id (S4.44)", () =>
  executorIdTaken(parts()));
test("an unknown effect: a retry makes it now, and an output set by hand takes it as done (S4.44)", () =>
  unknownEffect(parts()));
test("a test types every block of commands of the page (S4.44)", () =>
  expect(page.unused()).toEqual([]));
