// A scheduler dies while it archives runs and while it restores them. A run is in the database, in the archive, or in both, and never in
// neither. A restored run is the same in every table, to the letter, and every reader and command works on it. A file that was damaged or
// forged is refused whole.
import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { createPawlClient, type PawlClient, PawlError } from "@pawl/client";
import { archiveNameOf } from "@pawl/platform/archive/store";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph, script } from "../flow/graph.ts";
import { SINK_EGRESS, type Sink, startSink } from "../flow/sink.ts";
import { storyOf } from "../flow/story.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { temporaryFolder } from "../support/folder.ts";
import { checkInvariants } from "../support/invariants.ts";
import type { Member } from "../support/member.ts";
import { rowsOf } from "../support/run-rows.ts";
import { until } from "../support/until.ts";
import { failpoints, replaceScheduler } from "./processes.ts";

let cluster: Cluster;
let client: PawlClient;
let db: pg.Client;
let sink: Sink;
const folder = temporaryFolder("archive");
const ARCHIVE = { PAWL_ARCHIVE: pathToFileURL(folder).href };
const RETENTION = { PAWL_RETENTION: "all=1s", PAWL_RETENTION_MS: "1000" };

beforeAll(async () => {
  sink = await startSink();
  const envOf = { scheduler: ARCHIVE, gateway: ARCHIVE };
  cluster = await startCluster({ env: SINK_EGRESS, envOf });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  db = new pg.Client({ connectionString: cluster.databaseUrl, options: "-c search_path=pawl" });
  await db.connect();
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs().slice(-20_000))));
afterAll(async () => {
  await db.end();
  await cluster.stop();
  await sink.stop();
  await rm(folder, { recursive: true });
});

const pathOf = (runId: string): string => join(folder, archiveNameOf(runId));
const textOf = async (runId: string): Promise<string> =>
  gunzipSync(await readFile(pathOf(runId))).toString();

const reasonOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => "accepted",
    (error: unknown) => (error instanceof PawlError ? error.reason : error),
  );
const isGone = async (runId: string): Promise<boolean> =>
  (await reasonOf(client.runs.get(runId))) === "RUN_NOT_FOUND";

async function exported(runId: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of client.archive.exportRun(runId)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function archivedIds(): Promise<string[]> {
  const { archivedRuns } = await client.archive.list();
  return archivedRuns.map(({ run }) => run?.runId ?? "");
}

/** A parent with a stored value, an approval, metadata and a thread, and its child with an effect. */
async function runFamily(): Promise<{ readonly parent: string; readonly child: string }> {
  const request = { url: sink.url("pay"), method: "POST" };
  const post = { type: "http", config: { ...request, idempotency_key_header: "Idempotency-Key" } };
  await client.workflows.create(graph(["start > pay > end"], { pay: post }), {
    workflowId: "child",
  });
  const definition = graph(["start > make > nested > ask > end"], {
    make: script('return { text: "é".repeat(200000), small: 1.50 }', { write_key: "made" }),
    nested: { type: "subworkflow", config: { workflow_id: "child" } },
    ask: { type: "approval", config: { message: "Pay?", assignees: ["ada"] } },
  });
  await client.workflows.create(definition, { workflowId: "parent" });
  const { run } = await client.runs.start("parent", {
    inputJson: '{ "amount" : 1.50 }',
    metadata: { team: "a", big: 1e21 },
    threadId: "chat",
    createThread: true,
  });
  const question = await until(
    async () => (await client.approvals.list({ runId: run.runId })).approvals[0],
    { what: "the question" },
  );
  const live = (await exported(run.runId)).trimEnd().split("\n");
  expect([live[0], live.at(-1)]).toEqual([
    expect.stringContaining('"status":"waiting"'),
    expect.stringContaining('"record":"manifest"'),
  ]);
  await client.approvals.approve(question.approvalId, { comment: "fine" });
  await client.runs.wait(run.runId);
  const { runs } = await client.runs.list({ workflowId: "child" });
  return { parent: run.runId, child: runs[0]?.runId ?? "" };
}

async function next(env: Readonly<Record<string, string>> = {}): Promise<Member> {
  return await replaceScheduler(cluster, { ...ARCHIVE, ...env });
}

test("a run is archived before it is removed, whatever kills the scheduler, and comes back the same with its child run (S4.1)", async () => {
  const { parent, child } = await runFamily();
  const before = [await rowsOf(db, parent), await rowsOf(db, child)];
  expect(before[0]?.["value_refs"]).not.toEqual([]);
  expect(before[0]?.["approvals"]).toHaveLength(1);
  expect(before[1]?.["effects"]).not.toEqual([]);
  await cluster.schedulers[0]?.kill("SIGKILL");

  const drafting = await next({ ...RETENTION, ...failpoints("archive.before-rename@1=kill") });
  expect(await drafting.exited()).toBe("SIGKILL");
  expect(await archivedIds()).toEqual([]);
  expect(await rowsOf(db, parent)).toEqual(before[0]);

  const written = await next({ ...RETENTION, ...failpoints("archive.after-write@1=kill") });
  expect(await written.exited()).toBe("SIGKILL");
  expect(await rowsOf(db, parent)).toEqual(before[0]);
  const bytes = await readFile(pathOf(parent));

  const last = await next(RETENTION);
  await until(async () => (await isGone(parent)) && (await isGone(child)), {
    what: "both runs to be removed",
  });
  expect((await readFile(pathOf(parent))).equals(bytes)).toBe(true);
  expect(await archivedIds()).toEqual([parent, child].toSorted());
  const { archivedRuns } = await client.archive.list({ filter: 'metadata.team = "a"' });
  expect(archivedRuns.map(({ run }) => run?.runId)).toEqual([parent]);
  expect((await client.archive.get(parent)).counts).toContainEqual(
    expect.objectContaining({ record: "approval", count: 1 }),
  );
  await last.stop();

  const doomed = await next(failpoints("restore.before-commit@1=kill"));
  const restoring = client.archive.restore(parent);
  expect(await doomed.exited()).toBe("SIGKILL");
  expect((await rowsOf(db, parent))["runs"]).toEqual([]);
  await next();
  const { restoredRunIds, missingRunIds, run } = await restoring;
  expect([restoredRunIds, missingRunIds]).toEqual([[parent, child], []]);
  expect(run?.restoreTime).toBeDefined();
  expect([await rowsOf(db, parent), await rowsOf(db, child)]).toEqual(before);
  expect((await client.archive.restore(parent)).restoredRunIds).toEqual([]);
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await readAndRepair(parent);
});

/** Everything that reads a run reads the restored one. */
async function readAndRepair(runId: string): Promise<void> {
  const story = await storyOf(client, runId);
  expect(story.status).toBe("completed");
  const made = story.outputOf("make") as { readonly text: string } | undefined;
  const whole = (await client.runs.whole(runId, made ?? null)) as { readonly text: string };
  expect(whole.text).toHaveLength(200_000);
  const early = await client.runs.get(runId, { atEventId: 3 });
  expect(Number(early.run.lastEventId)).toBe(3);
  expect(await exported(runId)).toBe(await textOf(runId));
  const repaired = await client.runs.repair(runId, { fromNodes: ["ask"] });
  const question = await until(
    async () => (await client.approvals.list({ runId: repaired.run.runId })).approvals[0],
    { what: "the question of the repair" },
  );
  await client.approvals.approve(question.approvalId);
  expect((await storyOf(client, repaired.run.runId)).status).toBe("completed");
}

/** A changed file under the name of the run, with a manifest that fits its lines. */
async function forge(runId: string, text: string, change: (lines: string[]) => string[]) {
  const lines = change(text.trimEnd().split("\n").slice(0, -1));
  const counts: Record<string, number> = {};
  for (const line of lines) {
    const name = /^\{"record":"(\w+)"/.exec(line)?.[1] ?? "";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  const body = lines.map((line) => `${line}\n`).join("");
  const sha256 = createHash("sha256").update(body).digest("hex");
  const manifest = {
    ...{ record: "manifest", format: 1, run_id: runId, lines: lines.length, counts, sha256 },
  };
  await writeFile(pathOf(runId), gzipSync(`${body}${JSON.stringify(manifest)}\n`));
}

test("a damaged or forged file is refused whole with its line, and a run that differs in the database is a conflict", async () => {
  await next();
  const { run } = await client.runs.test(graph(["start > a > end"]));
  await client.runs.wait(run.runId);
  const { runId } = run;
  await mkdir(dirname(pathOf(runId)), { recursive: true });
  const text = await exported(runId);
  await writeFile(pathOf(runId), gzipSync(text));
  expect((await client.archive.restore(runId)).restoredRunIds).toEqual([]);
  await db.query("update run_events set payload = payload || '{\"x\":1}' where run_id = $1", [
    runId,
  ]);
  expect(await reasonOf(client.archive.restore(runId))).toBe("ARCHIVE_CONFLICT");
  await client.runs.delete(runId);

  const at = text.split("\n").findIndex((line) => line.startsWith('{"record":"event"'));
  const edit = (place: number, from: RegExp | string, to: string) => (lines: string[]) =>
    lines.map((line, index) => (index === place ? line.replace(from, to) : line));
  const forgeries: readonly (readonly [string, number, (lines: string[]) => string[]])[] = [
    ["an event is missing", at + 2, (lines) => lines.toSpliced(at + 1, 1)],
    ["a format of a later version", 1, edit(0, '"format":1', '"format":2')],
    ["another status", text.split("\n").length - 1, edit(0, '"completed"', '"failed"')],
    ["an unknown type", at + 2, edit(at + 1, /"type":"[a-z._]+"/, '"type":"run.forged"')],
    ["an event that does not fold", at + 2, edit(at + 1, /"node_id":"[a-z]*"/, '"node_id":"z"')],
    ["a prototype", at + 1, edit(at, '"payload":"{', '"payload":"{\\"__proto__\\": {}, ')],
    ["a graph of another run", at, edit(at - 1, /"digest":"../, '"digest":"zz')],
    ["a type that the column does not take", at + 1, edit(at, '"ordinal":0', '"ordinal":1e99')],
  ];
  for (const [what, line, change] of forgeries) {
    await forge(runId, text, change);
    const error: unknown = await client.archive.restore(runId).catch((thrown: unknown) => thrown);
    expect(error, what).toMatchObject({ reason: "ARCHIVE_INVALID", metadata: { run_id: runId } });
    expect((error as PawlError).metadata["line"], what).toBe(String(line));
    expect((await rowsOf(db, runId))["run_events"], what).toEqual([]);
  }
  await writeFile(pathOf(runId), gzipSync(text).subarray(0, 100));
  expect(await reasonOf(client.archive.restore(runId))).toBe("ARCHIVE_INVALID");
  expect(await reasonOf(client.archive.get(runId))).toBe("ARCHIVE_INVALID");
  await writeFile(pathOf(runId), gzipSync(text.replace("completed", "Completed")));
  expect(await reasonOf(client.archive.restore(runId))).toBe("ARCHIVE_INVALID");
  await rm(pathOf(runId));
  expect(await reasonOf(client.archive.restore(runId))).toBe("ARCHIVED_RUN_NOT_FOUND");
  expect(await reasonOf(client.archive.list({ month: "2026-6" }))).toBe("INPUT_INVALID");
  expect(await reasonOf(client.archive.list({ filter: "input.x = 1" }))).toBe("FILTER_INVALID");
  await writeFile(pathOf(runId), gzipSync(text));
  // Retention leaves the log of an old run to its month.
  await db.query(
    `insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
     select $1, seq, 'node.queued', 'a', seq, 0, 0, 0, '{}' from unnest(array[1, 2, 99]) seq`,
    [runId],
  );
  const racing = await Promise.all([1, 2, 3].map(() => client.archive.restore(runId)));
  expect(racing.flatMap(({ restoredRunIds }) => restoredRunIds)).toEqual([runId]);
  expect(await exported(runId)).toBe(text);
  expect(await checkInvariants(cluster.databaseUrl, [runId])).toEqual([]);
});
