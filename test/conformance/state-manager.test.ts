// The operations of the state manager of the first designs, under their names here (docs/contributing/design-names.md), on both stores. Deletion of a test
// run is in journal-reads.ts.

import { randomUUID } from "node:crypto";
import { runContextJson } from "@pawl/core/log/context";
import { view } from "@pawl/core/log/view";
import { nodeId, type RunId } from "@pawl/core/name/ids";
import type { Outcome } from "@pawl/core/plan/result";
import { openPool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import { getRun } from "@pawl/platform/store/runs/reads";
import { createJournal } from "@pawl/platform/store/tick/postgres";
import { connect, type Engine } from "@pawl/scheduler/tick/tick.fixture";
import { describe, expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";
import { appends, begin, change, completed, HOUR_MS, newRun, queued, runStarted } from "./facts.ts";
import { openMemory } from "./memory.ts";
import { postgresWith } from "./postgres.ts";
import { finish, foldOf, stage } from "./recovery-setup.ts";
import { setup } from "./setup.ts";
import type { OpenStore, StoreUnderTest } from "./store.ts";

const openPostgres = postgresWith();

describe.each([
  ["memory", openMemory],
  ["Postgres", openPostgres],
] as const)("state manager on %s", (_, open) => {
  logging(open);
  creating(open);
  reading(open);
  completing(open);
  recovering(open);
});

const [A, B, C] = [nodeId("a"), nodeId("b"), nodeId("c")];

function logging(open: OpenStore): void {
  test("many events of many runs are appended together, and the answer counts them for each run (S3.38)", async () => {
    const { journal, see } = await setup(open);
    const [one, other] = [await begin(journal), await begin(journal)];
    const lastSeqs = await journal.transact(async (tx) => {
      const advanced = tx.advance([change(one, 1, 3), change(other, 1, 1)]);
      void tx.append([
        ...appends(one, [queued(A), queued(B), queued(C)]),
        ...appends(other, [queued(A)]),
      ]);
      return await advanced;
    });
    expect([lastSeqs.get(one), lastSeqs.get(other)]).toEqual([4, 2]);
    const nodes = async (runId: RunId) => (await see(runId)).events.map(({ nodeId: id }) => id);
    expect(await nodes(one)).toEqual(["", A, B, C]);
    expect(await nodes(other)).toEqual(["", A]);
  });
}

function creating(open: OpenStore): void {
  test("a run and the event with its input are written together, or neither (S3.38)", async () => {
    const { journal, see } = await setup(open);
    await begin(journal, { requestId: "taken", requestHash: "h" });
    const insert = (requestId: string) => {
      const run = newRun({ requestId, requestHash: "h" });
      const written = journal.transact((tx) => {
        void tx.insertRuns([run]);
        void tx.append(appends(run.runId, [runStarted]));
      });
      return { runId: run.runId, written };
    };
    const refused = insert("taken");
    await expect(refused.written).rejects.toThrow();
    expect(await see(refused.runId)).toMatchObject({ run: undefined, events: [] });
    const accepted = insert("new");
    await accepted.written;
    expect(await see(accepted.runId)).toMatchObject({
      run: { status: "running", version: 1, lastSeq: 1 },
      events: [{ seq: 1, type: "run.started", value: { name: "Ada" } }],
    });
  });

  test("a start answers with the run, and its context holds the input alone (S3.38)", async () => {
    const { definitionId, begin: newEngine } = await stage(open);
    const engine = newEngine();
    const answer = await engine.start(definitionId, null, "", { input: '{"n":1}' });
    expect(answer).toMatchObject({ duplicate: false, runId: expect.any(String) });
    expect(await contextOf(newEngine(), answer.runId)).toEqual({
      input: { n: 1 },
      nodes: {},
      vars: {},
    });
  });
}

async function contextOf(engine: Engine, runId: RunId): Promise<unknown> {
  const found = await foldOf(engine, runId);
  if (found.kind !== "folded") throw new Error(`run ${runId} is ${found.kind}`);
  return JSON.parse(runContextJson(found.state));
}

/** The executions of a run in order, by their status in the view. */
async function statusesOf(store: StoreUnderTest, runId: RunId): Promise<Record<string, string>> {
  const [run] = await store.journal.load([{ runId, afterSeq: 0 }]);
  const nodes = [...view(run?.events ?? []).nodes.values()];
  return Object.fromEntries(nodes.map(({ key, status }) => [key, status]));
}

/** Starts a run of start, a, b, c, and reports `outcome` for the node a. */
async function runToA(open: OpenStore, outcome?: Outcome) {
  const { store, definitionId, begin: newEngine } = await stage(open);
  const engine = newEngine();
  const executor = connect(engine, 1);
  const { runId } = await engine.start(definitionId, null, "", { input: '{"n":1}' });
  for (const result of [DONE, outcome]) {
    const [claim] = executor.take();
    if (claim === undefined) throw new Error("no node was handed out");
    if (result === undefined) break;
    executor.session.letGo(claim);
    await engine.outcome(claim, result);
  }
  return { store, engine, newEngine, executor, runId };
}

const DONE: Outcome = { kind: "completed", outputJson: '{"done":true}', durationMs: 1 };
const BROKEN: Outcome = {
  ...{ kind: "failed", cause: "provider_error", message: "no host" },
  ...{ permanent: true, durationMs: 1 },
};

function reading(open: OpenStore): void {
  test("a run is read without its events, input and outputs (S3.38)", async () => {
    const { store, runId } = await runToA(open);
    const lastSeq = (await store.see(runId)).run?.lastSeq ?? 0;
    const [run] = await store.journal.load([{ runId, afterSeq: lastSeq }]);
    expect(run).toMatchObject({ runId, lastSeq, hasEnded: false, events: [] });
    expect(JSON.stringify(run)).not.toMatch(/"n":1|"done"|"input"|"value"/);
  });

  test("the context is assembled from the log alone: the input, and the outputs of completed nodes (S3.38)", async () => {
    const { newEngine, runId } = await runToA(open, DONE);
    expect(await contextOf(newEngine(), runId)).toEqual({
      input: { n: 1 },
      nodes: { start: { done: true }, a: { done: true } },
      vars: {},
    });
  });

  test("the view names the nodes that completed and those that were dispatched, and no other (S3.38)", async () => {
    const { store, runId } = await runToA(open);
    expect(await statusesOf(store, runId)).toEqual({ start: "completed", a: "running" });
    const later = await runToA(open, DONE);
    expect(await statusesOf(later.store, later.runId)).toEqual({
      ...{ start: "completed", a: "completed", b: "running" },
    });
  });
}

type Ran = Awaited<ReturnType<typeof runToA>>;

const cancel = ({ engine, runId }: Ran): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const [answer, requestId] = [{ resolve, reject }, randomUUID()];
    engine.loop.submit({ kind: "cancel", runId, reason: "enough", requestId, answer });
  });

function completing(open: OpenStore): void {
  test.each([
    ["completed", DONE, (ran: Ran) => finish(ran.engine, ran.store, ran.runId, ran.executor)],
    ["failed", BROKEN, async () => undefined],
    ["cancelled", undefined, cancel],
  ] as const)(
    "the terminal event of a run that is %s is written with the status (S3.38, X26)",
    async (status, outcome, end) => {
      const ran = await runToA(open, outcome);
      await end(ran);
      const { run, events, leases } = await ran.store.see(ran.runId);
      expect(run).toMatchObject({ status, hasEnded: true, lastSeq: events.length });
      expect(events.at(-1)?.type).toBe(`run.${status}`);
      const isEnd = (type: string): boolean => /^run\.(completed|failed|cancelled)$/.test(type);
      expect(events.filter(({ type }) => isEnd(type))).toHaveLength(1);
      expect(leases).toEqual([]);
    },
  );
}

function recovering(open: OpenStore): void {
  test("a claim whose executor is gone is found and marked as recovered once; another executor finishes the run (S3.38, X14)", async () => {
    const { store, engine, newEngine, executor, runId } = await runToA(open);
    engine.connected.leave(executor.session);
    // The executor never registered with the store, so its claim has run out.
    const stale = await store.executors.expiredLeases(10);
    expect(stale).toMatchObject([{ runId, nodeId: "a", executorId: executor.session.executorId }]);
    const [lease] = stale;
    if (lease === undefined) throw new Error("no lease expired");
    const { nodeId: node, iteration, epoch, executorId } = lease;
    const claim = { runId, nodeId: node, iteration, epoch };
    const mark = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const answer = { resolve, reject };
        engine.loop.submit({ kind: "lost", claim, reason: "lease_expired", executorId, answer });
      });
    expect([await mark(), await mark()]).toEqual(["taken", "stale"]);
    expect(await store.executors.expiredLeases(10)).toEqual([]);
    const names = async () => (await store.see(runId)).events.map(({ type }) => type);
    expect((await names()).filter((type) => type === "run.recovered")).toHaveLength(1);
    await finish(newEngine(), store, runId);
    expect((await names()).at(-1)).toBe("run.completed");
  });

  test("a node that completes between the look of a sweep and its mark stays completed (S4.36, X14)", async () => {
    const { store, engine, executor, runId } = await runToA(open);
    // The executor never registered with the store, so the sweep takes its claim for expired.
    const [lease] = await store.executors.expiredLeases(10);
    if (lease === undefined) throw new Error("no lease expired");
    const { nodeId: node, iteration, epoch, executorId } = lease;
    const claim = { runId, nodeId: node, iteration, epoch };
    expect(await engine.outcome({ ...claim, executorId: executor.session.executorId })).toBe(
      "settled",
    );
    // The executor has room now, so the node behind may start at any moment.
    const eventsOfA = async () =>
      (await store.see(runId)).events.filter(
        ({ nodeId: id, type }) => id === node || type.startsWith("run"),
      );
    const before = await eventsOfA();
    const mark = new Promise((resolve, reject) => {
      const answer = { resolve, reject };
      engine.loop.submit({ kind: "lost", claim, reason: "lease_expired", executorId, answer });
    });
    expect(await mark).toBe("stale");
    expect(await eventsOfA()).toEqual(before);
  });
}

/** A journal of its own on a fresh database, to see how Postgres was asked. */
async function openOwn() {
  const database = await freshDatabase();
  const { url } = database;
  const pool = openPool(url, { max: 1, name: "pawl-state" });
  const boss = new BossQueue(url, (error) => console.warn(error));
  const journal = createJournal({ url, pool, queue: boss });
  onTestFinished(async () => {
    await journal.close();
    await pool.end();
    await database.drop();
  });
  return { pool, journal };
}

test("Postgres gets many events of many runs in one statement, without a begin and a commit (S3.38)", async () => {
  const { pool, journal } = await openOwn();
  const runs = await Promise.all(Array.from({ length: 20 }, () => begin(journal)));
  await journal.transact((tx) => {
    void tx.advance(runs.map((run) => change(run, 1, 3)));
    void tx.append(runs.flatMap((run) => appends(run, [queued(A), queued(B), completed(2)])));
  });
  // Rows of one command have the same transaction and the same command number.
  const text = `
select count(*)::integer as count, count(distinct (xmin::text, cmin::text))::integer as commands
from run_events where seq > 1`;
  expect((await pool.query({ text })).rows).toEqual([{ count: 60, commands: 1 }]);
  // The tests beside this one have databases of their own on the same server.
  const last = `
select query from pg_stat_activity
where datname = current_database() and application_name = 'pawl-tick'`;
  const { rows } = await pool.query<{ query: string }>({ text: last });
  expect(rows).toHaveLength(1);
  expect(rows[0]?.query).toMatch(/insert into run_events/);
});

test("the record of a run has no context: neither input nor output (S3.38)", async () => {
  const { pool, journal } = await openOwn();
  const runId = await begin(journal, { deadlineAt: Date.now() + HOUR_MS });
  const record = await getRun(pool, "acme", runId);
  expect(record).toMatchObject({ runId, status: "running", lastSeq: 1 });
  expect(JSON.stringify(record)).not.toContain("Ada");
});
