// The effect ledger and longer leases: fenced by the claim, recorded once, gone with their run.

import type { RunId } from "@pawl/core/name/ids";
import type { Journal } from "@pawl/platform/store/tick/journal";
import type { EffectBegin, EffectCommit } from "@pawl/platform/store/effects/effects";
import type { Extension } from "@pawl/platform/store/leases/leases";
import { expect, test } from "vitest";
import {
  begin,
  change,
  claim,
  completed,
  delta,
  EXECUTOR,
  HOUR_MS,
  newExecutorId,
  newRun,
  NODE,
  queued,
  runStarted,
  appends,
  step,
} from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const key = { nodeId: NODE, iteration: 0 };

const beginOf = (runId: RunId, epoch: number, over: Partial<EffectBegin> = {}): EffectBegin => ({
  runId,
  ...key,
  epoch,
  executorId: EXECUTOR,
  name: "charge",
  class: "idempotent",
  ...over,
});

const commitOf = (runId: RunId, epoch: number, result: unknown): EffectCommit => ({
  runId,
  ...key,
  epoch,
  executorId: EXECUTOR,
  name: "charge",
  resultJson: JSON.stringify(result),
});

const extensionOf = (runId: RunId, epoch: number, extendMs: number): Extension => ({
  runId,
  ...key,
  epoch,
  executorId: EXECUTOR,
  extendMs,
});

/** A claimed run whose first claim was lost to a second one. */
async function twiceClaimed(
  journal: Journal,
  between: (run: RunId, epoch: number) => Promise<unknown> = async () => undefined,
): Promise<{ readonly run: RunId; readonly stale: number; readonly live: number }> {
  const run = await begin(journal);
  const stale = await claim(journal, run, 1, EXECUTOR);
  await between(run, stale);
  await step(journal, run, 2, {
    facts: [queued(NODE, 1)],
    also: (tx) => void tx.closeLeases([{ runId: run, ...key }]),
  });
  return { run, stale, live: await claim(journal, run, 3, EXECUTOR) };
}

/** The ledger and longer leases on one kind of store. */
export function effectSuite(open: OpenStore): void {
  ledger(open);
  repairs(open);
  batches(open);
  fencing(open);
  extensions(open);
}

function ledger(open: OpenStore): void {
  test("an effect is new to the claim that begins it, however often it says so, and its first result counts", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    const epoch = await claim(journal, run, 1, EXECUTOR);
    const began = () => journal.transact((tx) => tx.beginEffects([beginOf(run, epoch)]));
    expect(await began()).toEqual([{ state: "new" }]);
    expect(await began()).toEqual([{ state: "new" }]);
    const commit = (result: unknown) =>
      journal.transact((tx) => tx.commitEffects([commitOf(run, epoch, result)]));
    expect(await commit({ id: 7 })).toEqual(["committed"]);
    expect(await commit({ id: 8 })).toEqual(["committed"]);
    const { effects, run: row } = await see(run);
    expect(effects).toEqual([
      {
        ...key,
        name: "charge",
        class: "idempotent",
        begunEpoch: epoch,
        committedEpoch: epoch,
        result: { id: 7 },
      },
    ]);
    // No decision was made, so a scheduler that planned meanwhile does not lose its compare-and-swap.
    expect(row).toMatchObject({ version: 2, lastSeq: 2 });
  });

  test("a later claim learns that an effect was begun, and its result once it is known (S0.38)", async () => {
    const { journal } = await setup(open);
    const { run, live } = await twiceClaimed(journal, (id, epoch) =>
      journal.transact((tx) => tx.beginEffects([beginOf(id, epoch)])),
    );
    const began = () => journal.transact((tx) => tx.beginEffects([beginOf(run, live)]));
    expect(await began()).toEqual([{ state: "begun_before" }]);
    await journal.transact((tx) => tx.commitEffects([commitOf(run, live, null)]));
    expect(await began()).toEqual([{ state: "committed", resultJson: "null" }]);
  });
}

function repairs(open: OpenStore): void {
  test("a run that repairs another one gets the effects of its nodes as begun before, with their results; its link is unique (X28)", async () => {
    const { journal } = await setup(open);
    const origin = await begin(journal);
    const epoch = await claim(journal, origin, 1, EXECUTOR);
    await journal.transact(async (tx) => {
      void tx.beginEffects([beginOf(origin, epoch), beginOf(origin, epoch, { name: "mail" })]);
      await tx.commitEffects([commitOf(origin, epoch, { id: 7 })]);
    });
    const run = await begin(journal);
    const link = { runId: run, repairOf: origin, planDigest: "d" };
    const kept = { runId: run, fromRunId: origin, nodeId: NODE, fromBase: 0, toBase: 0 };
    const repair = () =>
      journal.transact((tx) => {
        void tx.linkRepairs([link]);
        void tx.copyEffects([kept, { ...kept, nodeId: "other" }]);
      });
    await repair();
    await expect(repair()).rejects.toMatchObject({ code: "23505" });
    const live = await claim(journal, run, 1, EXECUTOR);
    const begun = await journal.transact((tx) =>
      tx.beginEffects([
        beginOf(run, live),
        beginOf(run, live, { name: "mail" }),
        beginOf(run, live, { name: "new" }),
      ]),
    );
    expect(begun).toMatchObject([
      { state: "committed", resultJson: expect.stringContaining("7") },
      { state: "begun_before" },
      { state: "new" },
    ]);
  });
}

function batches(open: OpenStore): void {
  test("many effects of many runs are begun and committed in one transaction", async () => {
    const { journal } = await setup(open);
    const runs = await Promise.all(
      [1, 2, 3].map(async () => {
        const run = await begin(journal);
        return { run, epoch: await claim(journal, run, 1, EXECUTOR) };
      }),
    );
    const [begun, committed, unknown] = await journal.transact(async (tx) => {
      const names = ["a", "b"];
      const all = runs.flatMap(({ run, epoch }) =>
        names.map((name) => beginOf(run, epoch, { name, class: "at_most_once" })),
      );
      const results = all.map(({ name, ...each }) => ({
        ...commitOf(each.runId, each.epoch, "x"),
        name,
      }));
      return await Promise.all([
        tx.beginEffects(all),
        tx.commitEffects(results),
        tx.commitEffects(runs.map(({ run, epoch }) => commitOf(run, epoch, 1))),
      ]);
    });
    expect(begun).toEqual(Array.from({ length: 6 }, () => ({ state: "new" })));
    expect(committed).toEqual(Array(6).fill("committed"));
    expect(unknown).toEqual(Array(3).fill("not_begun"));
  });

  test("effects are deleted with their run (X19)", async () => {
    const { journal, see } = await setup(open);
    const row = newRun({ kind: "test" });
    const { runId } = row;
    await journal.transact((tx) => {
      void tx.insertRuns([row]);
      void tx.append(appends(runId, [runStarted]));
    });
    const epoch = await claim(journal, runId, 1, EXECUTOR);
    await journal.transact((tx) => tx.beginEffects([beginOf(runId, epoch)]));
    await journal.transact((tx) => {
      void tx.advance([change(runId, 2, 1, { status: "completed", ended: true })]);
      void tx.append(appends(runId, [completed(epoch)]));
      void tx.closeLeases([{ runId, ...key }]);
    });
    expect((await see(runId)).effects).toHaveLength(1);
    expect(await journal.deleteUnkept([runId])).toEqual([runId]);
    expect((await see(runId)).effects).toEqual([]);
  });
}

function fencing(open: OpenStore): void {
  test("a claim that was lost begins, commits and extends nothing (S0.40, S0.42, S0.43)", async () => {
    const { journal, see } = await setup(open);
    const { run, stale, live } = await twiceClaimed(journal, (id, epoch) =>
      journal.transact((tx) => tx.beginEffects([beginOf(id, epoch)])),
    );
    const before = await see(run);
    const refused = await journal.transact((tx) =>
      Promise.all([
        tx.beginEffects([beginOf(run, stale), beginOf(run, stale, { name: "other" })]),
        tx.commitEffects([commitOf(run, stale, "late")]),
        tx.extendLeases([extensionOf(run, stale, HOUR_MS)]),
        tx.stream([]),
      ]),
    );
    expect(refused).toEqual([[{ state: "stale" }, { state: "stale" }], ["stale"], [false], []]);
    expect(await see(run)).toEqual(before);
    await journal.transact((tx) => tx.commitEffects([commitOf(run, live, "mine")]));
    const late = await journal.transact((tx) => tx.beginEffects([beginOf(run, stale)]));
    // A zombie does not even get the result of another executor's work.
    expect(late).toEqual([{ state: "stale" }]);
  });

  test("an executor that names the claim of another one begins, commits, extends and streams nothing", async () => {
    const { journal, see } = await setup(open);
    const run = await begin(journal);
    const epoch = await claim(journal, run, 1, EXECUTOR);
    await journal.transact((tx) => tx.beginEffects([beginOf(run, epoch)]));
    const before = await see(run);
    const executorId = newExecutorId();
    const refused = await journal.transact((tx) =>
      Promise.all([
        tx.beginEffects([beginOf(run, epoch, { executorId, name: "other" })]),
        tx.commitEffects([{ ...commitOf(run, epoch, "mine"), executorId }]),
        tx.extendLeases([{ ...extensionOf(run, epoch, HOUR_MS), executorId }]),
        tx.stream([delta(run, epoch, 0, { executor: executorId })]),
      ]),
    );
    expect(refused).toEqual([[{ state: "stale" }], ["stale"], [false], [false]]);
    expect(await see(run)).toEqual(before);
    // In one statement with the holder's own, under the same epoch and ordinal.
    const both = [delta(run, epoch, 0, { executor: executorId }), delta(run, epoch, 0)];
    expect(await journal.transact((tx) => tx.stream(both))).toEqual([false, true]);
  });

  test("two schedulers at once cannot let a claim commit an effect after it was taken back (S0.40)", async () => {
    const { journal, rival, see } = await setup(open);
    for (let round = 0; round < 10; round++) {
      const run = await begin(journal);
      const stale = await claim(journal, run, 1, EXECUTOR);
      await journal.transact((tx) => tx.beginEffects([beginOf(run, stale)]));
      const [committed] = await Promise.all([
        rival.transact((tx) => tx.commitEffects([commitOf(run, stale, "old")])),
        step(journal, run, 2, {
          facts: [queued(NODE, 1)],
          also: (tx) => void tx.closeLeases([{ runId: run, ...key }]),
        }),
      ]);
      const { effects } = await see(run);
      expect(effects[0]?.result).toEqual(committed[0] === "committed" ? "old" : null);
    }
  });
}

function extensions(open: OpenStore): void {
  test("a lease that was extended outlives its executor until then (S0.9)", async () => {
    const { journal, executors } = await setup(open);
    const run = await begin(journal);
    const epoch = await claim(journal, run, 1, EXECUTOR);
    const isExpired = async (): Promise<boolean> =>
      (await executors.expiredLeases(10_000)).some((lease) => lease.runId === run);
    expect(await isExpired()).toBe(true);
    const extend = (extendMs: number) =>
      journal.transact((tx) => tx.extendLeases([extensionOf(run, epoch, extendMs)]));
    expect(await extend(HOUR_MS)).toEqual([true]);
    expect(await isExpired()).toBe(false);
    expect(await extend(0)).toEqual([true]);
    expect(await isExpired()).toBe(true);
  });
}
