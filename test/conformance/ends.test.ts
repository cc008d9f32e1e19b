// Terminal events as they are announced: whoever hears one has what a read would have given.

import { randomUUID } from "node:crypto";
import type { Fact } from "@pawl/core/log/event";
import { openPool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import { PostgresJournal } from "@pawl/platform/store/journal-postgres";
import { readEvents } from "@pawl/platform/store/log";
import { parseEnd } from "@pawl/platform/wake/listen";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { appends, newRun, queued, runStarted, step } from "./facts.ts";

const place = { nodeId: "", iteration: 0, attempt: 0, epoch: 0 } as const;
/** JSON that a database writes in its own way. */
const VALUE = '{"b":1e2,  "a":["ü\\u00e9", 12345678901234567890.10]}';

const ENDS: readonly Fact[] = [
  { ...place, type: "run.completed", payload: { hasFailures: true }, value: VALUE },
  { ...place, type: "run.failed", payload: { failedNodeId: "fetch", message: 'no "host"' } },
  { ...place, type: "run.cancelled", payload: { reason: "asked", requestId: "r" } },
  { ...place, type: "run.timed_out", payload: { deadlineAt: 5 } },
];

async function setup() {
  const database = await freshDatabase();
  const { url } = database;
  const pool = openPool(url, { max: 2, name: "pawl-ends" });
  const boss = new BossQueue(url, (error) => console.warn(error));
  const journal = new PostgresJournal({ url, pool, boss });
  const listener = new Client({ connectionString: url });
  const heard: string[] = [];
  listener.on("notification", ({ channel, payload }) => heard.push(`${channel} ${payload ?? ""}`));
  onTestFinished(async () => {
    await listener.end();
    await journal.close();
    await boss.stop();
    await pool.end();
    await database.drop();
  });
  await listener.connect();
  await listener.query("listen pawl_ends; listen pawl_runs");
  /** Ends a run by `end`, in the transaction that starts it or in a later one. */
  const finish = async (end: Fact, isAtOnce: boolean, callId?: string): Promise<void> => {
    const facts = [queued(), end];
    const over = { status: "completed", ended: true } as const;
    const call = callId === undefined ? {} : { callId, workflowVersion: 7 };
    const run = newRun({ ...(isAtOnce ? { ...over, eventCount: 3 } : {}), ...call });
    const wake = { runId: run.runId, lastSeq: 3, ended: true };
    await journal.transact((tx) => {
      // Beside others, so that what is said is of this one.
      void tx.insertRuns([newRun({ callId: "other" }), run, newRun()]);
      void tx.append(appends(run.runId, isAtOnce ? [runStarted, ...facts] : [runStarted]));
      if (isAtOnce) void tx.wake([wake]);
    });
    if (!isAtOnce)
      await step(journal, run.runId, 1, { facts, over, also: (tx) => void tx.wake([wake]) });
    const hint = `pawl_runs ${run.runId}:3!`;
    await until(() => heard.includes(hint), { what: "the hint" });
    const { events } = await readEvents(pool, run.runId, 2, 10);
    const announced = heard.splice(0).slice(0, -1);
    const { workflowVersion, deadlineAt } = run;
    const accepted =
      isAtOnce && callId !== undefined ? { accepted: { callId, workflowVersion, deadlineAt } } : {};
    expect(announced.map((one) => parseEnd(one.replace("pawl_ends ", "")))).toEqual(
      JSON.stringify(end).length > 1_000 ? [] : events.map((event) => ({ event, ...accepted })),
    );
  };
  return finish;
}

test("a terminal event is announced as a read gives it, before the hint that names its run, and nothing else is", async () => {
  const finish = await setup();
  for (const end of ENDS) for (const isAtOnce of [true, false]) await finish(end, isAtOnce);
});

test("where the transaction accepted the run too, its call is named and told what it does not know; later ends name none", async () => {
  const finish = await setup();
  for (const end of ENDS)
    for (const isAtOnce of [true, false]) await finish(end, isAtOnce, randomUUID());
});

test("a long one is not announced: its hint says that it can be read", async () => {
  const finish = await setup();
  const value = JSON.stringify("x".repeat(2_000));
  for (const isAtOnce of [true, false])
    await finish(
      { ...place, type: "run.completed", payload: { hasFailures: false }, value },
      isAtOnce,
    );
});
