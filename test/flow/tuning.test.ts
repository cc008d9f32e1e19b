// What docs/operations/tuning.md promises of its settings, with the settings that the page names. Nothing here measures time: a slot is a
// call that is open, and a hop through the queue is a commit.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { call, graph, names } from "./graph.ts";
import { TypedPage } from "./page-commands.ts";
import { type Sink, SINK_EGRESS, startSink } from "./sink.ts";

let cluster: Cluster;
let pawl: PawlClient;
let sink: Sink;
let page: TypedPage;

beforeAll(async () => {
  sink = await startSink();
  cluster = await startCluster({ env: SINK_EGRESS });
  pawl = createPawlClient({ baseUrl: cluster.url });
  page = new TypedPage("docs/operations/tuning.md", cluster.url);
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await cluster.stop();
  await sink.stop();
});

const NODES = 20;

test("an executor runs as many slow nodes at once as it has slots, and the page's commands show that it is full (S4.43)", async () => {
  const section = "More nodes a second";
  const settings = page.settings(section, "Try it");
  expect(settings).toHaveLength(2);
  for (const setting of settings) {
    const slots = Number(setting["PAWL_EXECUTOR_SLOTS"]);
    await cluster.executors[0]?.restart(setting);
    const work = names(`hold-${slots}-`, NODES);
    const nodes = Object.fromEntries(work.map((name) => [name, call(sink.url(name))]));
    const definition = graph(
      work.map((name) => `start > ${name} > end`),
      nodes,
    );
    const { runId } = (await pawl.runs.test(definition)).run;
    const open = () => sink.calls.filter((one) => one.name.startsWith(`hold-${slots}-`));
    await until(() => open().length === slots, { what: `${slots} calls at once` });
    const seen = await page.type(section, "First find what is busy");
    expect(seen.text).toMatch(new RegExp(`http +${NODES - slots} +${slots} `));
    expect(seen.text).toContain(` ${slots}/${slots} `);
    expect(open()).toHaveLength(slots);
    for (const name of work) (await sink.received(name)).answer(200);
    await until(async () => (await pawl.runs.get(runId)).run.endTime, { what: "the end" });
  }
});

test("of two nodes that wait for a slot, the one of the more urgent run starts first (S4.43)", async () => {
  await cluster.executors[0]?.restart({ PAWL_EXECUTOR_SLOTS: "1" });
  const start = async (name: string, priority: number) => {
    const definition = graph([`start > ${name} > end`], { [name]: call(sink.url(name)) });
    await pawl.workflows.create({ id: name, ...definition }, {});
    return (await pawl.runs.start(name, { priority })).run.runId;
  };
  const waiting = async (count: number) =>
    until(async () => (await pawl.queues.depth()).total?.waiting === count, { what: "the wait" });
  const runIds = [await start("hold-first", 0)];
  const first = await sink.received("hold-first");
  runIds.push(await start("hold-later", 5));
  await waiting(1);
  runIds.push(await start("hold-urgent", -5));
  await waiting(2);
  first.answer(200);
  for (const name of ["hold-urgent", "hold-later"]) (await sink.received(name)).answer(200);
  for (const runId of runIds) await pawl.runs.wait(runId);
  const order = sink.calls.map(({ name }) => name).slice(-2);
  expect(order).toEqual(["hold-urgent", "hold-later"]);
});

test("with the hand-off a chain of nodes needs fewer commits of its run than through the queue (S4.43)", async () => {
  const commits: number[] = [];
  const db = new Client({ connectionString: cluster.databaseUrl });
  await db.connect();
  for (const setting of page.settings("Less time between two nodes", "Try it")) {
    await cluster.schedulers[0]?.restart(setting);
    const chain = ["start", ...names("n", 5), "end"].join(" > ");
    const { runId } = (await pawl.runs.test(graph([chain]))).run;
    await until(async () => (await pawl.runs.get(runId)).run.endTime, { what: "the end" });
    const { rows } = await db.query<{ version: number }>(
      "select version::int from pawl.runs where run_id = $1",
      [runId],
    );
    commits.push(rows[0]?.version ?? 0);
  }
  await db.end();
  const [on = 0, off = 0] = commits;
  expect(off).toBeGreaterThan(on);
});
