// Waits for signals: opened and closed with the events of their transaction, found by their deadline.

import type { RunId } from "@pawl/core/name/ids";
import type { NewWait } from "@pawl/platform/store/signals/signals";
import type { Journal, Transaction } from "@pawl/platform/store/tick/journal";
import { expect, test } from "vitest";
import { begin, HOUR_MS, NODE, queued, step } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const wait = (runId: RunId, iteration: number, timeoutMs: number | null = null): NewWait => ({
  ...{ runId, nodeId: NODE, iteration, timeoutMs },
  name: 'paid "by" {card}',
});

const open = async (journal: Journal, runId: RunId, ...waits: NewWait[]): Promise<void> => {
  const also = (tx: Transaction): void => void tx.openWaits(waits);
  await step(journal, runId, 1, { facts: [queued()], also });
};

/** Waits for signals on one kind of store. */
export function waitSuite(openStore: OpenStore): void {
  test("waits with a deadline come soonest first, and say how far it is (S2.19)", async () => {
    const { journal } = await setup(openStore);
    const run = await begin(journal);
    const own = async () => (await journal.dueWaits(1_000)).filter(({ runId }) => runId === run);
    await open(journal, run, wait(run, 0), wait(run, 1, 2 * HOUR_MS), wait(run, 2, HOUR_MS));
    const due = await own();
    expect(due.map(({ iteration }) => iteration)).toEqual([2, 1]);
    expect(due[0]).toMatchObject({ runId: run, nodeId: NODE });
    expect(due[0]?.dueInMs).toBeGreaterThan(HOUR_MS / 2);
    expect(due[0]?.dueInMs).toBeLessThanOrEqual(HOUR_MS);
    await journal.transact((tx) => tx.closeWaits([wait(run, 2), wait(run, 7)]));
    expect((await own()).map(({ iteration }) => iteration)).toEqual([1]);
    expect(await journal.dueWaits(0)).toEqual([]);
  });

  test("a due wait of a run in quarantine is left out, and those of other runs come (S0.37)", async () => {
    const { journal, recovery } = await setup(openStore);
    const [ill, well] = [await begin(journal), await begin(journal)];
    for (const run of [ill, well]) await open(journal, run, wait(run, 0, 1));
    const cause = { reason: "EVENT_LOG_CORRUPTION", detail: "a gap" } as const;
    expect(await recovery.quarantine(ill, cause)).toBe(true);
    const found = (await journal.dueWaits(1_000)).map(({ runId }) => runId);
    expect(found).toContain(well);
    expect(found).not.toContain(ill);
  });

  test("a wait is opened with its transaction or not at all, and only once", async () => {
    const { journal } = await setup(openStore);
    const run = await begin(journal);
    const asked = wait(run, 0, HOUR_MS);
    const also = (tx: Transaction): void => void tx.openWaits([asked]);
    await expect(step(journal, run, 9, { facts: [queued()], also })).rejects.toThrow("moved on");
    expect((await journal.dueWaits(1_000)).filter(({ runId }) => runId === run)).toEqual([]);
    await open(journal, run, asked);
    await expect(step(journal, run, 2, { facts: [queued()], also })).rejects.toThrow(
      /duplicate key/,
    );
  });
}
