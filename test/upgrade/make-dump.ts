// Makes a dump that upgrade.test.ts opens: runs of every kind in a database of another build, whose services are killed under them.
//
//   node deploy/bootstrap.mjs test/upgrade/make-dump.ts <folder of an installed checkout> <name of a dump in dumps.ts>
//
// The build is used by its public interfaces only: its processes, its gateway, its worker protocol and the queue of commands. Every
// scene must reach the state that scenes.ts says, or nothing is written.

import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createPawlClient, type PawlClient } from "@pawl/client";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { startPostgres } from "@pawl/deploy/postgres.ts";
import { PgBoss } from "pg-boss";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { EXECUTOR_TOKEN } from "../support/member.ts";
import { databaseUrl, execute } from "../support/template.ts";
import { until } from "../support/until.ts";
import { contentOf, dumpDatabase, loadDump, pack } from "./dump.ts";
import { type Fate, startPeer, type Task } from "./peer.ts";
import { type Dump, DUMPS, fileOf } from "./dumps.ts";
import {
  BY_OLD,
  MODERATION_RULES,
  PAUSED,
  POISON,
  type Scene,
  TASK,
  TYPED,
  TYPED_DESCRIPTOR,
  workflowOf,
} from "./scene.ts";
import { COMMANDED, ENDED, PLAIN, REPEATED, SCHEDULED, WAITING } from "./scenes.ts";
import { type State, stateOf } from "./state.ts";

const DELIVERIES = 3;
const GLUE_TYPES = ["start", "end", "noop", "condition", "delay", "map", "loop"];
/** So short that a vanished executor is found within seconds. */
const SHORT = { PAWL_LEASE_MS: "1500", PAWL_RENEW_MS: "300", PAWL_SWEEP_MS: "300" };
/** So long that no claim is taken back while the dump is made. */
const LONG = { PAWL_LEASE_MS: "600000", PAWL_RENEW_MS: "10000" };

/** A build that knows more statuses tells with them why a run that runs has no node with an executor. */
const MOVING = new Set(["scheduled", "retrying"]);

/** What a scene is made with. */
type Parts = { readonly client: PawlClient; readonly cluster: Cluster; readonly dump: Dump };

const addressOf = ({ schedulers }: Cluster): string => `${LOOPBACK}:${schedulers[0]?.port ?? 0}`;

async function start({ client }: Parts, scene: Scene): Promise<string> {
  const { run } = await client.runs.start(workflowOf(scene), {
    ...scene.options,
    input: { scene: scene.name },
  });
  return run.runId;
}

/** Waits until the run is where its scene wants it. */
async function reach({ client }: Parts, { name, left }: Scene, runId: string): Promise<void> {
  let state: State | undefined;
  const isThere = async (): Promise<boolean> => {
    state = await stateOf(client, runId);
    const { nodes } = state;
    const isAsLeft = ([id, status]: readonly [string, string]): boolean => nodes[id] === status;
    const { events } = await client.events.list(runId);
    return (
      (state.status === left.status || (left.status === "running" && MOVING.has(state.status))) &&
      Object.entries(left.nodes ?? {}).every(isAsLeft) &&
      (left.event === undefined || events.some(({ type }) => type === left.event))
    );
  };
  await until(isThere, { what: `the run ${name}` }).catch((error: unknown) => {
    throw new Error(`${name} is ${JSON.stringify(state)}`, { cause: error });
  });
}

async function play(parts: Parts, scene: Scene): Promise<void> {
  const runId = await start(parts, scene);
  await reach(parts, scene, runId);
  if (scene.name !== "charged") return;
  const isRecorded = async (): Promise<boolean> =>
    (await parts.client.runs.effects(runId)).effects.some(({ commitEpoch }) => commitEpoch > 0n);
  await until(isRecorded, { what: "the result of the effect to be recorded" });
}

/** Fails or holds the tasks whose scene says so, and completes the rest. */
function fateOf({ config, iteration, attempt }: Task): Fate {
  if (config?.fail_first === true && attempt === 1) return "fail";
  return iteration >= (config?.hold_from ?? Number.POSITIVE_INFINITY) ? "hold" : "complete";
}

/** An executor takes the task and vanishes, until the scheduler gives the run up. */
async function poison(parts: Parts, scene: Scene): Promise<void> {
  const runId = await start(parts, scene);
  for (let delivery = 0; delivery < DELIVERIES; delivery++) {
    const options = { nodeTypes: [POISON], output: null, fate: (): Fate => "hold" };
    const peer = await startPeer(addressOf(parts.cluster), options);
    await until(() => peer.taken() > 0, { what: `delivery ${delivery + 1} of the poison` });
    await peer.vanish();
  }
  await reach(parts, scene, runId);
}

async function saveWorkflows({ client, dump: { live, waiting, glue } }: Parts): Promise<void> {
  for (const scene of [...ENDED, ...live, ...Object.values(WAITING), ...waiting, ...glue])
    await client.workflows.apply(scene.definition, { workflowId: workflowOf(scene) });
  for (const workflowId of [SCHEDULED, COMMANDED, REPEATED.workflowId])
    await client.workflows.apply(PLAIN, { workflowId });
}

/** A command as a plain job of pg-boss, as its own schedules would make it. */
async function command({ cluster }: Parts): Promise<void> {
  const boss = new PgBoss({
    ...{ connectionString: cluster.databaseUrl, schema: "pgboss" },
    ...{ migrate: false, supervise: false, schedule: false },
  });
  await boss.start();
  await boss.send("commands", { type: "start", graph_id: COMMANDED });
  await boss.stop({ graceful: false });
}

/** Rows that do not belong to a single run. */
async function playAround(parts: Parts): Promise<void> {
  const { client } = parts;
  const { workflowId, requestId, input, dedupeInputMs } = REPEATED;
  await client.runs.wait((await client.runs.start(workflowId, { requestId, input })).run.runId);
  await client.runs.wait((await client.runs.start(workflowId, { dedupeInputMs, input })).run.runId);
  const spec = { workflowId: SCHEDULED, expression: "*/5 * * * *", missed: "run_once" } as const;
  await client.schedules.create(SCHEDULED, spec);
  await command(parts);
  await until(async () => (await client.runs.list({ workflowId: COMMANDED })).runs.length === 1, {
    what: "the first command",
  });
  await client.queues.pause(PAUSED, { by: "ada", reason: "maintenance" });
  await client.workflows.pause(WAITING.pausedWorkflow.name, { by: "ada", reason: "a bad model" });
}

async function playTasks(parts: Parts): Promise<void> {
  const { client, cluster, dump } = parts;
  const fates = { output: BY_OLD, fate: fateOf };
  const types = { nodeTypes: [TASK, TYPED], descriptors: [TYPED_DESCRIPTOR] };
  await startPeer(addressOf(cluster), { ...types, ...fates });
  const { paused, ...waiting } = WAITING;
  for (const scene of [...ENDED, ...dump.live, ...dump.waiting, ...Object.values(waiting)])
    if (scene.name !== "poisoned" && scene.name !== "cancelled") await play(parts, scene);
  const cancelled = ENDED.find(({ name }) => name === "cancelled");
  if (cancelled !== undefined) {
    const runId = await start(parts, cancelled);
    await client.runs.cancel(runId);
    await reach(parts, cancelled, runId);
  }
  const runId = await start(parts, paused);
  await until(async () => (await stateOf(client, runId)).nodes["first"] === "running", {
    what: "the task of the run to pause",
  });
  await client.runs.pause(runId, { by: "ada" });
  await reach(parts, paused, runId);
}

/** In place of the executor, a peer that completes starts and holds every other node of the engine's own types. */
async function playGlue(parts: Parts): Promise<void> {
  if (parts.dump.glue.length === 0) return;
  await parts.cluster.executors[0]?.kill("SIGKILL");
  const peer = await startPeer(addressOf(parts.cluster), {
    nodeTypes: GLUE_TYPES,
    token: EXECUTOR_TOKEN,
    output: {},
    fate: ({ nodeType, scene }) =>
      nodeType === "start" && scene !== "glue-start" ? "complete" : "hold",
  });
  for (const scene of parts.dump.glue) {
    if (scene.name === "glue-queued") peer.rest();
    await play(parts, scene);
  }
}

async function makeDump(root: string, dump: Dump): Promise<string> {
  const folder = temporaryFolder("dump");
  const server = await startPostgres({ dataDir: join(folder, "postgres"), durable: false });
  const database = async (name: string): Promise<string> => {
    await execute(server.url, `create database ${name} template template0`);
    return databaseUrl(server.url, name);
  };
  try {
    const url = await database("old");
    const cluster = await startCluster({
      root,
      databaseUrl: url,
      env: SHORT,
      envOf: { executor: { PAWL_MODERATION_RULES: MODERATION_RULES } },
    });
    const parts = { cluster, client: createPawlClient({ baseUrl: cluster.url }), dump };
    await saveWorkflows(parts);
    for (const scene of ENDED) if (scene.name === "poisoned") await poison(parts, scene);
    await cluster.schedulers[0]?.restart(LONG);
    await playAround(parts);
    await playTasks(parts);
    await playGlue(parts);
    const { runs } = await parts.client.runs.list({ scheduleId: SCHEDULED });
    if (runs.length > 0) throw new Error("the schedule has fired meanwhile: make the dump again");
    const members = [...cluster.gateways, ...cluster.schedulers, ...cluster.executors];
    await Promise.all(members.map((member) => member.kill("SIGKILL")));
    await command(parts);
    const text = await dumpDatabase(url);
    const copy = await database("copy");
    await loadDump(copy, text);
    if (contentOf(await dumpDatabase(copy)) !== contentOf(text))
      throw new Error("the dump does not give the database it was made of");
    return text;
  } finally {
    await server.stop();
    rmSync(server.dataDir, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

const [folder, name] = process.argv.slice(2);
const dump = DUMPS.find((each) => each.name === name);
if (folder === undefined || dump === undefined) {
  console.error(
    `name the folder of an installed checkout, and ${DUMPS.map((each) => each.name).join(" or ")}`,
  );
  process.exit(2);
}
const text = await makeDump(resolve(folder), dump);
const bytes = pack(text);
writeFileSync(fileOf(dump), bytes);
console.log(`${fileOf(dump)}: ${bytes.length} bytes, ${text.length} before compression`);
process.exit(0);
