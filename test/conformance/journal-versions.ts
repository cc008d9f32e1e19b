// Versions, seqs and unique facts: they make a decision count once.

import { randomUUID } from "node:crypto";
import { definitionId, nodeId } from "@pawl/core/name/ids";
import { isUniqueViolation } from "@pawl/platform/db/failure";
import { RunMoved, WorkflowMoved } from "@pawl/platform/store/tick/journal";
import { expect, test } from "vitest";
import { appends, begin, change, completed, newRun, queued, runStarted, step } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const JOIN = nodeId("join");
const seqs = (events: readonly { readonly seq: number }[]): number[] =>
  events.map((event) => event.seq);

/** Versions and unique facts on one kind of store. */
export function versionSuite(open: OpenStore): void {
  sequences(open);
  comparisons(open);
  assumptions(open);
  batches(open);
  uniqueFacts(open);
}

function sequences(open: OpenStore): void {
  test("seqs are contiguous from 1 over transactions of any size (S3.2)", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    await step(journal, run, 1, { facts: [queued(nodeId("a")), queued(nodeId("b"))] });
    const last = await step(journal, run, 2, { facts: [queued(nodeId("c"))] });
    const seen = await see(run);
    expect(last).toBe(4);
    expect(seqs(seen.events)).toEqual([1, 2, 3, 4]);
    expect(seen.run).toMatchObject({ version: 3, lastSeq: 4 });
    expect(seen.events.map((event) => event.nodeId)).toEqual(["", "a", "b", "c"]);
  });

  test("an event holds exactly what its fact held", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    await step(journal, run, 1, { facts: [completed(7, { iteration: 2, attempt: 3 })] });
    expect((await see(run)).events[1]).toEqual({
      seq: 2,
      type: "node.completed",
      nodeId: "fetch",
      iteration: 2,
      attempt: 3,
      epoch: 7,
      payload: { durationMs: 3 },
      value: { body: [1, 2] },
    });
  });
}

function comparisons(open: OpenStore): void {
  test("a decision made on an old version loses and changes nothing (S3.3, S3.46)", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    await step(journal, run, 1, { facts: [queued()] });
    const before = await see(run);
    const late = step(journal, run, 1, {
      facts: [completed(2)],
      over: { status: "completed", ended: true },
    });
    await expect(late).rejects.toBeInstanceOf(RunMoved);
    expect(await see(run)).toEqual(before);
  });

  test("a run that is not there counts as moved", async () => {
    const { journal } = await setup(open);
    const nowhere = step(journal, newRun().runId, 1, { facts: [queued()] });
    await expect(nowhere).rejects.toBeInstanceOf(RunMoved);
  });

  test("of two schedulers that dispatch one join at once exactly one wins (S3.3, S3.5, S3.49)", async () => {
    const { journal, rival, see, prepare } = await setup(open);
    await prepare(["work"]);
    const run = await begin(journal);
    const dispatch = (by: typeof journal): Promise<number> =>
      step(by, run, 1, {
        facts: [queued(JOIN)],
        also: (tx) => {
          const job = { runId: run, nodeId: JOIN, iteration: 0, attempt: 1 };
          void tx.enqueue([{ ...job, nodeType: "work", priority: 0 }]);
        },
      });
    const results = await Promise.allSettled([dispatch(journal), dispatch(rival)]);
    const lost = results.filter((result) => result.status === "rejected");
    expect(lost.map((result) => result.reason)).toEqual([expect.any(RunMoved)]);
    expect((await see(run)).events.map((event) => event.type)).toEqual([
      "run.started",
      "node.queued",
    ]);
    const jobs = await journal.transact((tx) => tx.fetch("work", 10));
    expect(jobs).toHaveLength(1);
    const [loaded] = await rival.load([{ runId: run, afterSeq: 1 }]);
    expect(loaded?.events.map((event) => event.type)).toEqual(["node.queued"]);
  });

  test("the winner's projection is the run's", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    const why = { errorMessage: "no luck", failureClass: "permanent" as const };
    const over = { status: "failed", hasFailures: true, ...why, ended: true };
    await step(journal, run, 1, { facts: [queued()], over: { ...over, status: "failed" } });
    expect((await see(run)).run).toEqual({
      status: "failed",
      version: 2,
      lastSeq: 2,
      hasFailures: true,
      ...why,
      hasEnded: true,
    });
  });
}

function assumptions(open: OpenStore): void {
  test("a run that assumes an old version of its workflow to be the newest is refused, and all with it", async () => {
    const { journal, workflows, see } = await setup(open);
    const saved = { tenantId: "acme", workflowId: "orders", title: "", nodeCount: 1, body: "{}" };
    const version = (digest: string) => ({
      ...saved,
      digest,
      definitionId: definitionId(randomUUID()),
      requestId: null,
      requestHash: null,
    });
    const [old, newest] = [version("1"), version("2")];
    await workflows.create(old);
    await workflows.update(newest, 0);
    const assuming = (id: typeof old.definitionId) =>
      newRun({ definitionId: id, assumesNewest: true });
    const [good, bad] = [assuming(newest.definitionId), assuming(old.definitionId)];
    const gone = { ...assuming(newest.definitionId), workflowId: "gone" };
    for (const stale of [bad, gone])
      await expect(
        journal.transact((tx) => void tx.insertRuns([good, stale])),
      ).rejects.toBeInstanceOf(WorkflowMoved);
    expect((await see(good.runId)).run).toBeUndefined();
    await journal.transact((tx) => void tx.insertRuns([good, newRun()]));
    expect((await see(good.runId)).run).toMatchObject({ version: 1 });
  });
}

function batches(open: OpenStore): void {
  test("a batch with one run that moved changes none of its runs (S3.3)", async () => {
    const { journal, see } = await setup(open);
    const [still, moved] = [await begin(journal), await begin(journal)];
    await step(journal, moved, 1, { facts: [queued()] });
    const before = [await see(still), await see(moved)];
    const batch = journal.transact((tx) => {
      void tx.advance([change(still, 1, 1), change(moved, 1, 1)]);
      void tx.append([...appends(still, [queued()]), ...appends(moved, [completed(2)])]);
    });
    await expect(batch).rejects.toBeInstanceOf(RunMoved);
    expect([await see(still), await see(moved)]).toEqual(before);
  });

  test("two batches over the same runs in opposite order do not lock each other out", async () => {
    const { journal, rival, see } = await setup(open);
    const runs = await Promise.all([1, 2, 3, 4].map(async () => newRun()));
    await journal.transact((tx) => {
      void tx.insertRuns(runs);
      void tx.append(runs.flatMap((run) => appends(run.runId, [runStarted])));
    });
    const ids = runs.map((run) => run.runId);
    const advance = (by: typeof journal, order: typeof ids): Promise<unknown> =>
      by.transact((tx) => tx.advance(order.map((id) => change(id, 1, 0))));
    const results = await Promise.allSettled([
      advance(journal, ids),
      advance(rival, ids.toReversed()),
    ]);
    expect(results.map((result) => result.status).toSorted()).toEqual(["fulfilled", "rejected"]);
    for (const id of ids) expect((await see(id)).run).toMatchObject({ version: 2 });
  });

  test("work that throws leaves nothing behind", async () => {
    const { journal, see } = await setup(open);
    const run = newRun();
    const broken = journal.transact((tx) => {
      void tx.insertRuns([run]);
      void tx.append(appends(run.runId, [runStarted]));
      throw new Error("changed its mind");
    });
    await expect(broken).rejects.toThrow("changed its mind");
    expect(await see(run.runId)).toEqual({ run: undefined, events: [], leases: [], effects: [] });
  });
}

function uniqueFacts(open: OpenStore): void {
  test("a second result of an attempt is refused by its key and changes nothing (S3.4, S3.10, S3.37, S3.53)", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    await step(journal, run, 1, { facts: [completed(2)] });
    const before = await see(run);
    const again = step(journal, run, 2, { facts: [completed(2)] });
    await expect(again).rejects.toSatisfy(isUniqueViolation);
    expect(await see(run)).toEqual(before);
  });

  test("another attempt or iteration of a node has results of its own (S3.10)", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    await step(journal, run, 1, { facts: [completed(2)] });
    await step(journal, run, 2, {
      facts: [completed(2, { attempt: 2 }), completed(2, { iteration: 1 })],
    });
    expect(seqs((await see(run)).events)).toEqual([1, 2, 3, 4]);
  });

  test("a request id starts one run", async () => {
    const { journal, see } = await setup(open);
    const first = await begin(journal, { requestId: "r-1", requestHash: "h" });
    const second = newRun({ requestId: "r-1", requestHash: "h" });
    const repeat = journal.transact((tx) => tx.insertRuns([second]));
    await expect(repeat).rejects.toSatisfy(isUniqueViolation);
    expect((await see(second.runId)).run).toBeUndefined();
    await begin(journal, { requestId: "r-1", requestHash: "h", tenantId: "other" });
    expect((await see(first)).run).toBeDefined();
  });
}
