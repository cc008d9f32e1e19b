// The promises of every store about live executors. A lease of 0 ms has expired when it is given; a lease of an hour outlasts any test.

import { randomUUID } from "node:crypto";
import type { ExecutorSession } from "@pawl/platform/store/leases/leases";
import { describe, expect, test } from "vitest";
import {
  appends,
  begin,
  claim,
  HOUR_MS,
  newExecutorId,
  newRun,
  NODE,
  runStarted,
  started,
  step,
} from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore, StoreUnderTest } from "./store.ts";

const hello = (leaseMs: number, instanceId: string | null = null) => ({
  instanceId,
  nodeTypes: ["http", "javascript"],
  slots: 4,
  description: "a test",
  schedulerId: null,
  leaseMs,
});

const newSession = (): ExecutorSession => ({
  executorId: newExecutorId(),
  sessionId: randomUUID(),
});

/** Registers an executor and gives it a lease. */
async function join(store: StoreUnderTest, leaseMs: number) {
  const session = newSession();
  await store.executors.register({ ...session, ...hello(leaseMs) });
  const run = await begin(store.journal);
  const epoch = await claim(store.journal, run, 1, session.executorId);
  const { executorId } = session;
  return { session, lease: { runId: run, nodeId: NODE, iteration: 0, epoch, executorId } };
}

/** All promises about executors on one kind of store. */
export function executorsSuite(name: string, open: OpenStore): void {
  describe(`executors on ${name}`, () => {
    lives(open);
    sessions(open);
    limits(open);
    processes(open);
    holdings(open);
  });
}

function lives(open: OpenStore): void {
  test("the leases of an executor that is not alive are expired, and of no other", async () => {
    const store = await setup(open);
    await join(store, HOUR_MS);
    const dead = await join(store, 0);
    expect(await store.executors.expiredLeases(10)).toEqual([{ ...dead.lease, hasLeft: false }]);
  });

  test("one renewal keeps many executors and all their leases alive (S4.5, S4.21)", async () => {
    const store = await setup(open);
    const [one, other] = [await join(store, 0), await join(store, 0)];
    expect(await store.executors.expiredLeases(10)).toHaveLength(2);
    await store.executors.renew([one.session, other.session], HOUR_MS);
    expect(await store.executors.expiredLeases(10)).toEqual([]);
    await store.executors.renew([], HOUR_MS);
  });

  test("a lease of an unknown executor is expired", async () => {
    const { journal, executors } = await setup(open);
    const run = await begin(journal);
    await claim(journal, run, 1, newExecutorId());
    expect(await executors.expiredLeases(10)).toMatchObject([{ runId: run, epoch: 2 }]);
  });

  test("expired leases come no more than asked for", async () => {
    const store = await setup(open);
    for (let count = 0; count < 3; count += 1) await join(store, 0);
    expect(await store.executors.expiredLeases(2)).toHaveLength(2);
  });
}

function sessions(open: OpenStore): void {
  test("a broken connection shortens the life of its executor", async () => {
    const store = await setup(open);
    const { session, lease } = await join(store, HOUR_MS);
    await store.executors.expireSoon(session, 0);
    expect(await store.executors.expiredLeases(10)).toEqual([{ ...lease, hasLeft: true }]);
  });

  test("a broken connection never lengthens the life of its executor (S4.21)", async () => {
    const store = await setup(open);
    const { session, lease } = await join(store, 0);
    await store.executors.expireSoon(session, HOUR_MS);
    expect(await store.executors.expiredLeases(10)).toMatchObject([lease]);
  });

  test("an older connection neither ends nor renews an executor that a newer one speaks for", async () => {
    const store = await setup(open);
    const { session: older, lease } = await join(store, HOUR_MS);
    const newer = { ...older, sessionId: randomUUID() };
    await store.executors.register({ ...newer, ...hello(HOUR_MS) });
    await store.executors.expireSoon(older, 0);
    expect(await store.executors.expiredLeases(10)).toEqual([]);
    await store.executors.expireSoon(newer, 0);
    await store.executors.renew([older], HOUR_MS);
    expect(await store.executors.expiredLeases(10)).toMatchObject([lease]);
  });
}

/** Another process registers with the id of an executor. */
const rivalOf = (session: ExecutorSession, instanceId: string | null) => ({
  ...session,
  sessionId: randomUUID(),
  ...hello(HOUR_MS, instanceId),
});

function limits(open: OpenStore): void {
  test("a lease that has lasted too long is found although its executor lives, with what it was allowed", async () => {
    const { executors, journal } = await setup(open);
    const session = newSession();
    await executors.register({ ...session, ...hello(HOUR_MS) });
    const { executorId } = session;
    const leased = async (limitMs?: number) => {
      const runId = await begin(journal);
      const place = { runId, nodeId: NODE, iteration: 0, executorId };
      const limit = limitMs === undefined ? {} : { limitMs };
      const epoch = await step(journal, runId, 1, {
        facts: [started(executorId)],
        also: (tx) => void tx.openLeases([{ ...place, back: 0, attempt: 1, ...limit }]),
      });
      return { ...place, epoch };
    };
    await leased();
    await leased(HOUR_MS);
    const overdue = await leased(0);
    const found = [{ ...overdue, hasLeft: false, limitMs: 0 }];
    expect(await executors.expiredLeases(10)).toEqual(found);
    // More time for its lease is no more time for its node.
    await journal.transact((tx) => tx.extendLeases([{ ...overdue, extendMs: HOUR_MS }]));
    expect(await executors.expiredLeases(10)).toEqual(found);
    await executors.expireSoon(session, 0);
    expect(await executors.expiredLeases(10)).toContainEqual({ ...found[0], hasLeft: true });
  });

  test("a lease of a new run has its limit too", async () => {
    const { executors, journal } = await setup(open);
    const run = newRun({ eventCount: 2 });
    const session = newSession();
    await executors.register({ ...session, ...hello(HOUR_MS) });
    const { executorId } = session;
    await journal.transact(async (tx) => {
      void tx.insertRuns([run]);
      void tx.append(appends(run.runId, [runStarted, started(executorId)]));
      const place = { runId: run.runId, nodeId: NODE, iteration: 0 };
      await tx.openLeases([{ ...place, back: 0, attempt: 1, executorId, limitMs: 0 }]);
    });
    expect(await executors.expiredLeases(10)).toMatchObject([{ runId: run.runId, limitMs: 0 }]);
  });
}

function processes(open: OpenStore): void {
  test("another process cannot take the id of an executor that lives, and changes nothing by trying", async () => {
    const { executors } = await setup(open);
    const holder = { ...newSession(), ...hello(HOUR_MS, randomUUID()) };
    expect(await executors.register(holder)).toBe(true);
    for (const instance of [randomUUID(), null]) {
      const rival = rivalOf(holder, instance);
      expect(await executors.register(rival)).toBe(false);
      expect(await executors.renew([rival], 0)).toEqual(new Set());
    }
    expect(await executors.renew([holder], HOUR_MS)).toEqual(new Set([holder.sessionId]));
  });

  test("a process takes its own id over from its older connection at once, and only the newer one renews", async () => {
    const { executors } = await setup(open);
    for (const instance of [randomUUID(), null]) {
      const older = { ...newSession(), ...hello(HOUR_MS, instance) };
      await executors.register(older);
      const newer = rivalOf(older, instance);
      expect(await executors.register(newer)).toBe(true);
      const renewed = await executors.renew([older, newer], HOUR_MS);
      expect(renewed).toEqual(new Set([newer.sessionId]));
    }
  });

  test("another process takes the id of an executor whose connection broke or whose life is over", async () => {
    const { executors } = await setup(open);
    const left = { ...newSession(), ...hello(HOUR_MS, randomUUID()) };
    await executors.register(left);
    await executors.expireSoon(left, HOUR_MS);
    expect(await executors.register(rivalOf(left, randomUUID()))).toBe(true);
    const dead = { ...newSession(), ...hello(0, randomUUID()) };
    await executors.register(dead);
    expect(await executors.register(rivalOf(dead, randomUUID()))).toBe(true);
  });

  test("only executors with a live lease are counted", async () => {
    const { executors } = await setup(open);
    expect(await executors.countAlive()).toBe(0);
    await executors.register({ ...newSession(), ...hello(HOUR_MS) });
    await executors.register({ ...newSession(), ...hello(0) });
    expect(await executors.countAlive()).toBe(1);
  });
}

function holdings(open: OpenStore): void {
  test("the store finds the leases of one executor, without those of others and without young ones", async () => {
    const store = await setup(open);
    const { session, lease } = await join(store, HOUR_MS);
    await join(store, HOUR_MS);
    expect(await store.executors.leasesOf(session.executorId, 0)).toEqual([lease]);
    expect(await store.executors.leasesOf(session.executorId, HOUR_MS)).toEqual([]);
  });

  test("a dead executor is forgotten once it holds nothing, and a lively one never", async () => {
    const store = await setup(open);
    const [idle, lively, holder] = [newSession(), newSession(), await join(store, 0)];
    await store.executors.register({ ...idle, ...hello(0) });
    await store.executors.register({ ...lively, ...hello(HOUR_MS) });
    await store.executors.forgetDead(HOUR_MS);
    expect(await store.executorIds()).toHaveLength(3);
    await store.executors.forgetDead(0);
    const left = [lively.executorId, holder.session.executorId];
    expect(await store.executorIds()).toEqual(left.toSorted());
  });
}
