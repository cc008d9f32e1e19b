// A terminal event is announced with exactly the columns that a read gives.

import type { Fact } from "@pawl/core/log/event";
import { openPool } from "@pawl/platform/db/pool";
import { BossQueue } from "@pawl/platform/queue/boss";
import { createJournal } from "@pawl/platform/store/tick/postgres";
import { readEvents } from "@pawl/platform/store/log/reads";
import { parseEnd } from "@pawl/platform/ends/parse-end";
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
  const journal = createJournal({ url, pool, queue: boss });
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
  const finish = async (end: Fact, isAtOnce: boolean): Promise<void> => {
    const facts = [queued(), end];
    const over = { status: "completed", ended: true } as const;
    const run = newRun(isAtOnce ? { ...over, eventCount: 3 } : {});
    const wake = { runId: run.runId, lastSeq: 3, ended: true };
    await journal.transact((tx) => {
      // Other runs in the same transaction must not be announced.
      void tx.insertRuns([newRun(), run, newRun()]);
      void tx.append(appends(run.runId, isAtOnce ? [runStarted, ...facts] : [runStarted]));
      if (isAtOnce) void tx.wake([wake]);
    });
    if (!isAtOnce)
      await step(journal, run.runId, 1, { facts, over, also: (tx) => void tx.wake([wake]) });
    const hint = `pawl_runs ${run.runId}:3!`;
    await until(() => heard.includes(hint), { what: "the hint" });
    const { events } = await readEvents(pool, run.runId, 2, 10);
    const announced = heard.splice(0).slice(0, -1);
    expect(announced.map((one) => parseEnd(one.replace("pawl_ends ", "")))).toEqual(
      JSON.stringify(end).length > 1_000 ? [] : events,
    );
  };
  return finish;
}

test("a terminal event is announced as a read gives it, before the hint that names its run, and nothing else is", async () => {
  const finish = await setup();
  for (const end of ENDS) for (const isAtOnce of [true, false]) await finish(end, isAtOnce);
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
