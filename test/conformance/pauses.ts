// The promises of a store about pauses of workflows and queues, on memory and on Postgres alike.

import type { RunId } from "@pawl/core/name/ids";
import { PausesMoved } from "@pawl/platform/store/tick/journal";
import type { PauseKey, PauseRecord } from "@pawl/platform/store/pauses/pauses";
import { afterAll, describe, expect, test } from "vitest";
import {
  appends,
  begin,
  change,
  newExecutorId,
  newRun,
  NODE,
  runStarted,
  started,
  step,
} from "./facts.ts";
import type { OpenStore, StoreUnderTest } from "./store.ts";

const ADA = { by: "ada", reason: "a bad model" };
const BEN = { by: "ben", reason: "mended" };
const workflow = (name: string): PauseKey => ({ scope: "workflow", tenantId: "acme", name });
const queue = (name: string): PauseKey => ({ scope: "queue", tenantId: "acme", name });

/** All suites of pauses on one kind of store. */
export function pauseSuite(name: string, open: OpenStore): void {
  describe(`pauses on ${name}`, () => {
    // One store for all: every test names its own workflows and queues, and counts epochs from where it begins.
    let opened: Promise<StoreUnderTest> | undefined;
    const shared = (): Promise<StoreUnderTest> => (opened ??= open());
    afterAll(async () => (await opened)?.close());
    holding(shared);
    settling(shared);
    fencing(shared);
  });
}

const heldIn = async ({ pauses }: StoreUnderTest, name: string): Promise<PauseRecord | undefined> =>
  (await pauses.read()).pauses.find((each) => each.name === name);

const followers = ({ pauses }: StoreUnderTest, pause: PauseRecord, limit = 10, after?: RunId) =>
  pauses.runsOf(pause, { after, limit });

function holding(shared: () => Promise<StoreUnderTest>): void {
  test("a queue keeps its first pause until it is resumed; each change has the next epoch", async () => {
    const { pauses, journal } = await shared();
    const { epoch } = await pauses.read();
    const held = await pauses.pause(queue("held"), ADA);
    expect(held).toMatchObject({ ...queue("held"), ...ADA, state: "paused", epoch: epoch + 1 });
    expect(await pauses.pause(queue("held"), BEN)).toEqual(held);
    expect((await pauses.read()).epoch).toBe(epoch + 1);
    expect((await journal.survey()).pauseEpoch).toBe(epoch + 1);
    expect(await pauses.resume(queue("held"), BEN)).toEqual(held);
    expect(await pauses.resume(queue("held"), BEN)).toBeUndefined();
    expect(await pauses.resume(queue("never"), BEN)).toBeUndefined();
    const { epoch: last, pauses: all } = await pauses.read();
    expect([last, all.filter((each) => each.name === "held")]).toEqual([epoch + 2, []]);
  });

  test("pauses made at once have an epoch each", async () => {
    const { pauses } = await shared();
    const { epoch } = await pauses.read();
    const keys = ["a", "b", "c", "d"].map((name) => queue(`at-once-${name}`));
    const held = await Promise.all(keys.map((key) => pauses.pause(key, ADA)));
    expect(new Set(held.map((each) => each.epoch)).size).toBe(4);
    expect((await pauses.read()).epoch).toBe(epoch + 4);
    await Promise.all(keys.map((key) => pauses.resume(key, BEN)));
  });
}

function settling(shared: () => Promise<StoreUnderTest>): void {
  test("a workflow is pausing until its runs have followed, and resuming until they have gone on", async () => {
    const store = await shared();
    const { pauses } = store;
    const pausing = await pauses.pause(workflow("orders-1"), ADA);
    expect(pausing.state).toBe("pausing");
    await pauses.settle(pausing);
    expect(await heldIn(store, "orders-1")).toEqual({ ...pausing, state: "paused" });
    const resuming = await pauses.resume(workflow("orders-1"), BEN);
    expect(resuming).toMatchObject({
      state: "resuming",
      ...ADA,
      resumedBy: BEN.by,
      resumeReason: BEN.reason,
    });
    expect(await pauses.resume(workflow("orders-1"), ADA)).toEqual(resuming);
    if (resuming !== undefined) await pauses.settle(resuming);
    expect(await heldIn(store, "orders-1")).toBeUndefined();
  });

  test("a scheduler that works on a pause that has been changed since changes nothing", async () => {
    const store = await shared();
    const { pauses } = store;
    const first = await pauses.pause(workflow("orders-2"), ADA);
    const resuming = await pauses.resume(workflow("orders-2"), BEN);
    const again = await pauses.pause(workflow("orders-2"), BEN);
    expect(again).toMatchObject({ state: "pausing", ...BEN, resumedBy: "" });
    for (const late of [first, resuming]) {
      expect(late && (await pauses.tend(late))).toBe(false);
      if (late !== undefined) await pauses.settle(late);
    }
    expect(await heldIn(store, "orders-2")).toEqual(again);
    expect(await pauses.tend(again)).toBe(true);
  });

  test("a pause that no scheduler tends is taken by the scheduler that looks, and then left alone for a while", async () => {
    const { pauses } = await shared();
    const left = await pauses.pause(workflow("orders-3"), ADA);
    const mine = (taken: readonly PauseRecord[]) => taken.filter(({ name }) => name === "orders-3");
    expect(mine(await pauses.take(60_000))).toEqual([]);
    expect(mine(await pauses.take(-1))).toEqual([left]);
    expect(mine(await pauses.take(60_000))).toEqual([]);
    await pauses.settle(left);
    expect(mine(await pauses.take(-1))).toEqual([]);
  });

  test("the runs that have yet to follow are the live ones of the workflow, by page", async () => {
    const store = await shared();
    const { journal, pauses } = store;
    const mine = { workflowId: "orders-4" };
    const live = await Promise.all([
      begin(journal, mine),
      begin(journal, { ...mine, status: "waiting" }),
      begin(journal, { ...mine, status: "pending" }),
    ]);
    const held = await begin(journal, { ...mine, status: "paused" });
    await begin(journal, { ...mine, status: "completed", ended: true });
    await begin(journal, { workflowId: "others" });
    const ids = live.toSorted();
    const pausing = await pauses.pause(workflow("orders-4"), ADA);
    expect(await followers(store, pausing)).toEqual(ids);
    expect(await followers(store, pausing, 2)).toEqual(ids.slice(0, 2));
    expect(await followers(store, pausing, 2, ids[1])).toEqual(ids.slice(2));
    const resuming = await pauses.resume(workflow("orders-4"), BEN);
    expect(resuming && (await followers(store, resuming))).toEqual([held]);
  });
}

function fencing(shared: () => Promise<StoreUnderTest>): void {
  test("a start or a claim decided on older pauses does not commit, and changes nothing", async () => {
    const { journal, pauses, see } = await shared();
    const run = await begin(journal);
    const { epoch: old } = await pauses.read();
    await pauses.pause(queue("fenced"), ADA);
    const executor = newExecutorId();
    const claimed = (epoch: number) =>
      step(journal, run, 1, {
        facts: [started(executor)],
        also: (tx) => {
          tx.assumePauses(epoch);
          const place = { runId: run, nodeId: NODE, iteration: 0, attempt: 1 };
          void tx.openLeases([{ ...place, back: 0, executorId: executor }]);
        },
      });
    await expect(claimed(old)).rejects.toThrow(PausesMoved);
    const fresh = newRun();
    const begun = journal.transact((tx) => {
      tx.assumePauses(old);
      void tx.insertRuns([fresh]);
      void tx.append(appends(fresh.runId, [runStarted]));
    });
    await expect(begun).rejects.toThrow(PausesMoved);
    expect((await see(fresh.runId)).run).toBeUndefined();
    expect(await see(run)).toMatchObject({ run: { version: 1 }, leases: [] });
    await claimed((await pauses.read()).epoch);
    expect((await see(run)).leases).toHaveLength(1);
    await pauses.resume(queue("fenced"), BEN);
  });

  test("a pause is answered after every claim that was under way, at any scheduler", async () => {
    const { journal, rival, pauses } = await shared();
    const run = await begin(journal);
    const { epoch } = await pauses.read();
    const isOpen = Promise.withResolvers<void>();
    const claiming = rival.transact(async (tx) => {
      tx.assumePauses(epoch);
      await tx.advance([change(run, 1, 0)]);
      isOpen.resolve();
      // Enough time for a pause that would not wait.
      for (let look = 0; look < 40; look += 1) {
        await tx.lock([run]);
        await journal.load([{ runId: run, afterSeq: 0 }]);
      }
    });
    await isOpen.promise;
    await pauses.pause(queue("awaited"), ADA);
    // The claim is committed by now. Which of the two promises resolves first does not matter.
    const [claimed] = await journal.load([{ runId: run, afterSeq: 0 }]);
    expect(claimed?.version).toBe(2);
    await claiming;
    await pauses.resume(queue("awaited"), BEN);
  });
}
