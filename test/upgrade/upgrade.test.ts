// A database of the build before this one, whose services were killed under it. This build migrates it, reads the runs that have ended and
// finishes the others. make-dump.ts makes the dump, and scenes.ts lists its runs.

import { readFileSync } from "node:fs";
import {
  createPawlClient,
  jsonOf,
  type PawlClient,
  runStatusName,
  type StartRunOptions,
} from "@pawl/client";
import { LOOPBACK } from "@pawl/deploy/ports.ts";
import { ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { dumpSchema } from "../support/dump-schema.ts";
import { checkInvariants } from "../support/invariants.ts";
import { emptyDatabase, type FreshDatabase, freshDatabase } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { contentOf, DUMP, dumpDatabase, loadDump, restoreDatabase, unpack } from "./dump.ts";
import { type Peer, startPeer } from "./peer.ts";
import { GLUE } from "./glue-scenes.ts";
import { BY_NEW, MODERATION_RULES, PAUSED, POISON, type Scene, TASK, UNSERVED } from "./scene.ts";
import { COMMANDED, ENDED, LIVE, REPEATED, SCHEDULED, WAITING } from "./scenes.ts";
import { stateOf } from "./state.ts";

const inputSchema = z.object({ scene: z.string() });
const DUMPED = unpack(readFileSync(DUMP));
/** Tables that the scheduler makes for each month. */
const MONTHS = /^create table run_events_\d{4}_\d{2} .*\n/gm;

let database: FreshDatabase;
let cluster: Cluster;
let client: PawlClient;
let peer: Peer;
/** The runs of the dump by the scene in their input. */
const runIds = new Map<string, string>();

beforeAll(async () => {
  database = await emptyDatabase();
  await restoreDatabase(database.url, DUMPED);
  cluster = await startCluster({
    databaseUrl: database.url,
    envOf: { executor: { PAWL_MODERATION_RULES: MODERATION_RULES } },
  });
  client = createPawlClient({ baseUrl: cluster.url });
  peer = await startPeer(`${LOOPBACK}:${cluster.schedulers[0]?.port ?? 0}`, {
    nodeTypes: [TASK, UNSERVED, PAUSED, POISON],
    output: BY_NEW,
    fate: () => "complete",
  });
  const { runs } = await client.runs.list({ pageSize: 100 });
  for (const { runId } of runs) {
    const { run } = await client.runs.get(runId);
    const input = inputSchema.safeParse(jsonOf(run.inputJson));
    if (input.success) runIds.set(input.data.scene, runId);
  }
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await peer.leave();
  await cluster.stop();
  await database.drop();
});

const runOf = ({ name }: Pick<Scene, "name">): string => runIds.get(name) ?? `no run of ${name}`;

/** Waits for the end of the run and compares it with its scene. */
async function expectEnd(scene: Scene): Promise<void> {
  await client.runs.wait(runOf(scene), { signal: AbortSignal.timeout(30_000) });
  const { status, output, nodes } = await stateOf(client, runOf(scene));
  const { ends } = scene;
  expect({ status, output, nodes }).toMatchObject({
    ...ends,
    ...(ends.output === undefined ? { output } : {}),
  });
}

test("a dump gives the database that it was made of", async () => {
  const copy = await emptyDatabase();
  await loadDump(copy.url, DUMPED);
  expect(contentOf(await dumpDatabase(copy.url))).toBe(contentOf(DUMPED));
  await copy.drop();
});

test("an upgraded database has the schema of a new one", async () => {
  const fresh = await freshDatabase();
  const schemaOf = async (url: string): Promise<string> =>
    (await dumpSchema(url, "pawl")).replaceAll(MONTHS, "");
  expect(await schemaOf(database.url)).toBe(await schemaOf(fresh.url));
  await fresh.drop();
});

test.each(ENDED)("a run that was $name reads as before", async (scene) => {
  const before = (await client.runs.get(runOf(scene))).run.lastEventId;
  await expectEnd(scene);
  const story = await storyOf(client, runOf(scene));
  expect(story.run.lastEventId).toBe(before);
  expect(story.events.map(({ eventId }) => eventId)).toEqual(
    story.events.map((_, index) => index + 1),
  );
});

test.each([...LIVE, ...GLUE])("a run left $name ends as its scene says", async (scene) => {
  await expectEnd(scene);
});

test("a claim that died with its executor is recovered once", async () => {
  const story = await storyOf(client, runOf({ name: "leased" }));
  expect(story.of("run.recovered", "work")).toHaveLength(1);
  expect(story.of("node.started", "work")).toHaveLength(2);
});

test("a child run of the dump ends with its parent, and the two are still linked", async () => {
  const parent = runOf({ name: "nesting" });
  const { run } = await client.runs.get(runOf({ name: "nested" }));
  expect(runStatusName(run.status)).toBe("completed");
  expect(run).toMatchObject({ parentRunId: parent, parentNodeId: "work" });
});

test("an approval that was open is found by its assignee and answered", async () => {
  const open = { assignee: "finance", states: [ApprovalState.OPEN] };
  const { approvals } = await client.approvals.list(open);
  expect(approvals).toMatchObject([{ runId: runOf(WAITING.approval), message: "Go?" }]);
  await client.approvals.approve(approvals[0]?.approvalId ?? "", { decidedBy: "ada" });
  await expectEnd(WAITING.approval);
});

test("a node that moderation held is decided", async () => {
  await client.runs.decide(runOf(WAITING.moderated), "work", "approve");
  await expectEnd(WAITING.moderated);
});

test("a paused run is still paused, and ends once it is resumed", async () => {
  const { run } = await client.runs.get(runOf(WAITING.paused));
  expect(run.pause).toMatchObject({ by: "ada" });
  await client.runs.resume(run.runId);
  await expectEnd(WAITING.paused);
});

test("a paused workflow and a paused queue hold their runs until they are resumed", async () => {
  const pauses = await client.queues.pauses();
  expect(pauses.map(({ reason }) => reason)).toEqual(["maintenance", "a bad model"]);
  await client.queues.resume(PAUSED);
  await client.workflows.resume(WAITING.pausedWorkflow.name);
  await expectEnd(WAITING.pausedQueue);
  await expectEnd(WAITING.pausedWorkflow);
});

test("a schedule starts the occurrence that passed while the services were away", async () => {
  expect((await client.schedules.get(SCHEDULED)).nextTimes).toHaveLength(5);
  const scheduled = async () => (await client.runs.list({ scheduleId: SCHEDULED })).runs;
  await until(async () => (await scheduled()).length > 0, { what: "a run of the schedule" });
  // No further run may begin while the last test looks at all of them.
  await client.schedules.pause(SCHEDULED);
  for (const { runId } of await scheduled())
    expect(runStatusName((await client.runs.wait(runId)).status)).toBe("completed");
});

test("a command that waited in the queue is carried out", async () => {
  const runs = await until(
    async () => {
      const page = await client.runs.list({ workflowId: COMMANDED });
      return page.runs.length === 2 ? page.runs : undefined;
    },
    { what: "the run of the second command" },
  );
  for (const { runId } of runs)
    expect(runStatusName((await client.runs.wait(runId)).status)).toBe("completed");
});

test("a repeat of a request or of an input is still known", async () => {
  const { workflowId, requestId, input, dedupeInputMs } = REPEATED;
  const before = await client.runs.list({ workflowId });
  const repeats: StartRunOptions[] = [
    { requestId, input },
    { dedupeInputMs, input },
  ];
  const again = [];
  for (const options of repeats) again.push(await client.runs.start(workflowId, options));
  expect(again).toMatchObject([{ isDuplicate: true }, { isDuplicate: true }]);
  expect(again.map(({ run }) => run.runId).toSorted()).toEqual(
    before.runs.map(({ runId }) => runId).toSorted(),
  );
});

test("an open dead letter is redriven as a new run", async () => {
  const { deadLetters } = await client.deadLetters.list({});
  expect(deadLetters).toMatchObject([{ runId: runOf({ name: "poisoned" }), nodeType: POISON }]);
  const ids = deadLetters.map(({ deadLetterId }) => deadLetterId);
  const { redriven } = await client.deadLetters.redrive({ ids });
  const ended = await client.runs.wait(redriven[0]?.runId ?? "");
  expect(runStatusName(ended.status)).toBe("completed");
});

test("every log of the dump is whole when all its runs have ended", async () => {
  const { runs } = await client.runs.list({ pageSize: 100 });
  expect(runs.filter(({ endTime }) => endTime === undefined)).toEqual([]);
  expect(await checkInvariants(database.url)).toEqual([]);
});
