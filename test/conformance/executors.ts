// What every store promises about who is alive. A lease of 0 ms is over when it is given; an hour outlasts any test.

import { randomUUID } from "node:crypto";
import type { ExecutorSession } from "@pawl/platform/store/executors";
import { describe, expect, test } from "vitest";
import { begin, claim, HOUR_MS, newExecutorId, NODE } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore, StoreUnderTest } from "./store.ts";

const hello = (leaseMs: number) => ({
  nodeTypes: ["http", "javascript"],
  slots: 4,
  description: "a test",
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

  test("one renewal keeps many executors and all their leases alive", async () => {
    const store = await setup(open);
    const [one, other] = [await join(store, 0), await join(store, 0)];
    expect(await store.executors.expiredLeases(10)).toHaveLength(2);
    await store.executors.renew([one.session, other.session], HOUR_MS);
    expect(await store.executors.expiredLeases(10)).toEqual([]);
    await store.executors.renew([], HOUR_MS);
  });

  test("a lease of an executor nobody knows is expired", async () => {
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

  test("a broken connection never lengthens the life of its executor", async () => {
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

function holdings(open: OpenStore): void {
  test("the leases of an executor are told apart from others and from young ones", async () => {
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
