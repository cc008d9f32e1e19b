// Databases of older builds, whose services were killed under them. This build migrates each, reads the runs that have ended
// and finishes the others. make-dump.ts makes the dumps, and scenes.ts lists their runs.

import { runStatusName, type StartRunOptions } from "@pawl/client";
import { ApprovalState } from "@pawl/proto/pawl/v1/approval_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { storyOf } from "../flow/story.ts";
import { dumpSchema } from "../support/dump-schema.ts";
import { checkInvariants } from "../support/invariants.ts";
import { emptyDatabase, freshDatabase } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { contentOf, dumpDatabase, loadDump } from "./dump.ts";
import { BEFORE_STATE, type Dump, DUMPS, WITH_STATE } from "./dumps.ts";
import { type Opened, openDump, textOf } from "./opened.ts";
import { PAUSED, POISON, TYPED, TYPED_DESCRIPTOR, working } from "./scene.ts";
import { COMMANDED, ENDED, REPEATED, SCHEDULED, WAITING } from "./scenes.ts";
import { STATE_WAITING } from "./state-scenes.ts";

/** Tables that the scheduler makes for each month. */
const MONTHS = /^create table run_events_\d{4}_\d{2} .*\n/gm;

const opened = new Map<Dump, Opened>();

beforeAll(async () => {
  for (const dump of DUMPS) opened.set(dump, await openDump(dump));
});
beforeEach(({ onTestFailed }) =>
  onTestFailed(() => {
    for (const { cluster } of opened.values()) console.error(cluster.logs());
  }),
);
afterAll(() => Promise.all([...opened.values()].map(({ close }) => close())));

function open(dump: Dump): Opened {
  const found = opened.get(dump);
  if (found === undefined) throw new Error(`${dump.name} is not open`);
  return found;
}

const over = DUMPS.flatMap((dump) => ENDED.map((scene) => ({ ...scene, scene, dump })));
const left = DUMPS.flatMap((dump) =>
  [...dump.live, ...dump.glue].map((scene) => ({ ...scene, scene, dump })),
);

test.for(DUMPS)("the dump $name gives the database that it was made of", async (dump) => {
  const copy = await emptyDatabase();
  await loadDump(copy.url, textOf(dump));
  expect(contentOf(await dumpDatabase(copy.url))).toBe(contentOf(textOf(dump)));
  await copy.drop();
});

test.for(DUMPS)("an upgraded database of $name has the schema of a new one", async (dump) => {
  const fresh = await freshDatabase();
  const schemaOf = async (url: string): Promise<string> =>
    (await dumpSchema(url, "pawl")).replaceAll(MONTHS, "");
  expect(await schemaOf(open(dump).url)).toBe(await schemaOf(fresh.url));
  await fresh.drop();
});

test.for(over)("a run of $dump.name that was $name reads as before", async ({ dump, scene }) => {
  const { client, runOf, expectEnd } = open(dump);
  const before = (await client.runs.get(runOf(scene))).run.lastEventId;
  await expectEnd(scene);
  const story = await storyOf(client, runOf(scene));
  expect(story.run.lastEventId).toBe(before);
  expect(story.events.map(({ eventId }) => eventId)).toEqual(
    story.events.map((_, index) => index + 1),
  );
});

test.for(left)("a run of $dump.name left $name ends as its scene says", async ({ dump, scene }) => {
  await open(dump).expectEnd(scene);
});

test.for(DUMPS)("a claim that died with its executor is recovered once ($name)", async (dump) => {
  const { client, runOf } = open(dump);
  const story = await storyOf(client, runOf({ name: "leased" }));
  expect(story.of("run.recovered", "work")).toHaveLength(1);
  expect(story.of("node.started", "work")).toHaveLength(2);
});

test.for(DUMPS)(
  "a child run of the dump ends with its parent, and the two are still linked ($name)",
  async (dump) => {
    const { client, runOf } = open(dump);
    const parent = runOf({ name: "nesting" });
    const { run } = await client.runs.get(runOf({ name: "nested" }));
    expect(runStatusName(run.status)).toBe("completed");
    expect(run).toMatchObject({ parentRunId: parent, parentNodeId: "work" });
  },
);

test.for(DUMPS)(
  "an approval that was open is found by its assignee and answered ($name)",
  async (dump) => {
    const { client, runOf, expectEnd } = open(dump);
    const asked = { assignee: "finance", states: [ApprovalState.OPEN] };
    const { approvals } = await client.approvals.list(asked);
    expect(approvals).toMatchObject([{ runId: runOf(WAITING.approval), message: "Go?" }]);
    await client.approvals.approve(approvals[0]?.approvalId ?? "", { decidedBy: "ada" });
    await expectEnd(WAITING.approval);
  },
);

test.for(DUMPS)("a node that moderation held is decided ($name)", async (dump) => {
  const { client, runOf, expectEnd } = open(dump);
  await client.runs.decide(runOf(WAITING.moderated), "work", "approve");
  await expectEnd(WAITING.moderated);
});

test.for(DUMPS)(
  "a paused run is still paused, and ends once it is resumed ($name)",
  async (dump) => {
    const { client, runOf, expectEnd } = open(dump);
    const { run } = await client.runs.get(runOf(WAITING.paused));
    expect(run.pause).toMatchObject({ by: "ada" });
    await client.runs.resume(run.runId);
    await expectEnd(WAITING.paused);
  },
);

test.for(DUMPS)(
  "a paused workflow and a paused queue hold their runs until they are resumed ($name)",
  async (dump) => {
    const { client, expectEnd } = open(dump);
    const pauses = await client.queues.pauses();
    expect(pauses.map(({ reason }) => reason)).toEqual(["maintenance", "a bad model"]);
    await client.queues.resume(PAUSED);
    await client.workflows.resume(WAITING.pausedWorkflow.name);
    await expectEnd(WAITING.pausedQueue);
    await expectEnd(WAITING.pausedWorkflow);
  },
);

test.for(DUMPS)(
  "a schedule starts the occurrence that passed while the services were away ($name)",
  async (dump) => {
    const { client } = open(dump);
    expect((await client.schedules.get(SCHEDULED)).nextTimes).toHaveLength(5);
    const scheduled = async () => (await client.runs.list({ scheduleId: SCHEDULED })).runs;
    await until(async () => (await scheduled()).length > 0, { what: "a run of the schedule" });
    // No further run may begin while the last test looks at all of them.
    await client.schedules.pause(SCHEDULED);
    for (const { runId } of await scheduled())
      expect(runStatusName((await client.runs.wait(runId)).status)).toBe("completed");
  },
);

test.for(DUMPS)("a command that waited in the queue is carried out ($name)", async (dump) => {
  const { client } = open(dump);
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

test.for(DUMPS)("a repeat of a request or of an input is still known ($name)", async (dump) => {
  const { client } = open(dump);
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

test.for(DUMPS)("an open dead letter is redriven as a new run ($name)", async (dump) => {
  const { client, runOf } = open(dump);
  const { deadLetters } = await client.deadLetters.list({});
  expect(deadLetters).toMatchObject([{ runId: runOf({ name: "poisoned" }), nodeType: POISON }]);
  const ids = deadLetters.map(({ deadLetterId }) => deadLetterId);
  const { redriven } = await client.deadLetters.redrive({ ids });
  const ended = await client.runs.wait(redriven[0]?.runId ?? "");
  expect(runStatusName(ended.status)).toBe("completed");
});

test("a node type that an older build knew is known with its schema before an executor describes it again", async () => {
  const { client } = open(BEFORE_STATE);
  expect(await client.nodeTypes.get(TYPED)).toMatchObject(TYPED_DESCRIPTOR);
  const wrong = working({ type: TYPED, config: { hold_from: "late" } });
  await expect(client.workflows.apply(wrong, { workflowId: "wrong" })).rejects.toMatchObject({
    reason: "DEFINITION_INVALID",
  });
});

test("a run that waits for a signal takes it, and one without budget continues with a top-up", async () => {
  const { client, runOf, expectEnd } = open(WITH_STATE);
  await client.runs.signal(runOf(STATE_WAITING.signal), "go");
  await client.runs.topUp(runOf(STATE_WAITING.budget), { nodeExecutions: 1 });
  await expectEnd(STATE_WAITING.signal);
  await expectEnd(STATE_WAITING.budget);
});

test.for(DUMPS)(
  "every log of the dump is whole when all its runs have ended ($name)",
  async (dump) => {
    const { client, url } = open(dump);
    const { runs } = await client.runs.list({ pageSize: 100 });
    expect(runs.filter(({ endTime }) => endTime === undefined)).toEqual([]);
    expect(await checkInvariants(url)).toEqual([]);
  },
);
