// The reads of a journal, and its one kind of deletion.

import { randomUUID } from "node:crypto";
import { definitionId } from "@pawl/core/name/ids";
import type { Transaction } from "@pawl/platform/store/tick/journal";
import { expect, test } from "vitest";
import {
  begin,
  claim,
  completed,
  delta,
  HOUR_MS,
  EXECUTOR,
  newRunId,
  queued,
  started,
  step,
} from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

/** Reads and deletions on one kind of store. */
export function readSuite(open: OpenStore): void {
  loading(open);
  finding(open);
  deleting(open);
}

function loading(open: OpenStore): void {
  test("load gives each run's events after its cursor, without partial output (S3.2)", async () => {
    const { journal } = await setup(open);
    const run = await begin(journal, { priority: 4, traceparent: "00-a-b-01" });
    const other = await begin(journal);
    const epoch = await claim(journal, run, 1, EXECUTOR);
    await journal.transact((tx) => tx.stream([delta(run, epoch, 1)]));
    await step(journal, run, 2, { facts: [completed(epoch)] });
    const loaded = await journal.load([
      { runId: run, afterSeq: 1 },
      { runId: newRunId(), afterSeq: 0 },
      { runId: other, afterSeq: 1 },
    ]);
    const [mine, theirs] = [run, other].map((id) => loaded.find((each) => each.runId === id));
    expect(loaded).toHaveLength(2);
    expect(mine).toMatchObject({ version: 3, priority: 4, workflowId: "orders" });
    expect(mine?.traceparent).toBe("00-a-b-01");
    expect(mine?.events.map((event) => [event.seq, event.type, event.epoch])).toEqual([
      [2, "node.started", epoch],
      [4, "node.completed", epoch],
    ]);
    expect(JSON.parse(mine?.events[1]?.value ?? "")).toEqual({ body: [1, 2] });
    expect(theirs).toMatchObject({ version: 1, events: [] });
  });

  test("the users' JSON is read back to the letter", async () => {
    const { journal } = await setup(open);
    const run = await begin(journal);
    const epoch = await claim(journal, run, 1, EXECUTOR);
    const value = '{ "z": 1,"a":2.50,"e":1e2, "n":-0.0,"big":1e300,"u":"\\u0041" }';
    await step(journal, run, 2, { facts: [{ ...completed(epoch), value }] });
    const [loaded] = await journal.load([{ runId: run, afterSeq: 2 }]);
    expect(loaded?.events.map((event) => event.value)).toEqual([value]);
  });

  test("load of nothing is nothing", async () => {
    const { journal } = await setup(open);
    expect(await journal.load([])).toEqual([]);
  });
}

function finding(open: OpenStore): void {
  test("a request id leads to the run it started, within its tenant", async () => {
    const { journal } = await setup(open);
    const run = await begin(journal, { requestId: "r-1", requestHash: "h-1" });
    await begin(journal, { requestId: "r-2", requestHash: "h-2", tenantId: "other" });
    expect(await journal.findRequest("acme", ["r-1", "r-2", "r-3"])).toEqual([
      { requestId: "r-1", requestHash: "h-1", runId: run },
    ]);
  });

  test("overdue runs are the live ones behind their deadline, the most overdue first", async () => {
    const { journal } = await setup(open);
    const late = await begin(journal, { deadlineAt: Date.now() - HOUR_MS });
    const later = await begin(journal, { deadlineAt: Date.now() - 2 * HOUR_MS });
    await begin(journal);
    const ended = await begin(journal, { deadlineAt: Date.now() - HOUR_MS });
    await step(journal, ended, 1, { facts: [queued()], over: { status: "timeout", ended: true } });
    expect(await journal.overdueRuns(10)).toEqual([later, late]);
    expect(await journal.overdueRuns(1)).toEqual([later]);
  });

  test("a run that waits or is paused is not overdue; a resumed run has the deadline it was given (X15)", async () => {
    const { journal } = await setup(open);
    const deadlineAt = Date.now() - HOUR_MS;
    const runs = await Promise.all([
      begin(journal, { deadlineAt }),
      begin(journal, { deadlineAt }),
    ]);
    const [waits, paused] = runs;
    await step(journal, waits, 1, { facts: [queued()], over: { status: "waiting" } });
    await step(journal, paused, 1, { facts: [queued()], over: { status: "paused" } });
    expect(await journal.overdueRuns(10)).toEqual([]);
    const moved = [{ runId: waits, deadlineAt: deadlineAt + 1_000 }];
    const also = (tx: Transaction): void => void tx.moveDeadlines(moved);
    await step(journal, waits, 2, { facts: [started(EXECUTOR)], also });
    await step(journal, paused, 2, { facts: [started(EXECUTOR)] });
    expect(await journal.overdueRuns(10)).toEqual([paused, waits]);
  });
}

function deleting(open: OpenStore): void {
  test("a finished test run is deleted whole, with its graph (S3.38)", async () => {
    const { journal, workflows, see } = await setup(open);
    const graph = definitionId(randomUUID());
    const row = { tenantId: "acme", digest: "d", title: "t", nodeCount: 1, body: "{}" };
    await journal.transact((tx) => tx.saveGraphs([{ ...row, definitionId: graph }]));
    const over = { kind: "test", workflowId: null, definitionId: graph, requestId: "r-1" } as const;
    const run = await begin(journal, { ...over, requestHash: "h" });
    expect(await journal.deleteUnkept([run])).toEqual([]);
    expect((await see(run)).events).toHaveLength(1);
    await step(journal, run, 1, { facts: [queued()], over: { status: "completed", ended: true } });
    expect(await journal.deleteUnkept([run])).toEqual([run]);
    expect(await see(run)).toEqual({ run: undefined, events: [], leases: [], effects: [] });
    expect(await workflows.load(graph)).toBeUndefined();
    expect(await journal.findRequest("acme", ["r-1"])).toEqual([]);
    expect(await journal.deleteUnkept([run])).toEqual([]);
  });

  test("a run of a saved workflow is never deleted (S3.38)", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    await step(journal, run, 1, { facts: [queued()], over: { status: "completed", ended: true } });
    expect(await journal.deleteUnkept([run])).toEqual([]);
    expect((await see(run)).events).toHaveLength(2);
  });
}
