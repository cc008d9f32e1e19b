// Temporary runs: found when they may go, and deleted with the runs below them and everything that belongs to them.

import { randomUUID } from "node:crypto";
import type { RunId } from "@pawl/core/name/ids";
import type { NewDeadLetter } from "@pawl/platform/store/dead-letters/dead-letters";
import type { NewRun } from "@pawl/platform/store/runs/runs";
import type { Journal } from "@pawl/platform/store/tick/journal";
import { expect, test } from "vitest";
import { begin, HOUR_MS, newExecutorId, NODE, queued, step } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

/** A temporary run on one kind of store; `parent` is the run whose node started it. */
const temporary = (journal: Journal, parent?: RunId, over: Partial<NewRun> = {}): Promise<RunId> =>
  begin(journal, {
    kind: "temporary",
    parent: parent === undefined ? null : { runId: parent, nodeId: NODE, iteration: 0 },
    ...over,
  });

const end = (journal: Journal, runId: RunId) =>
  step(journal, runId, 1, { facts: [queued()], over: { status: "completed", ended: true } });

const letterOf = (runId: RunId): NewDeadLetter => ({
  ...{ deadLetterId: randomUUID(), runId, nodeId: NODE, iteration: 0, attempt: 1 },
  ...{ nodeType: "http", deliveries: 3, executorId: newExecutorId() },
  ...{ reason: "compensation_failed", errorMessage: "no" },
});

export function temporarySuite(open: OpenStore): void {
  const dueOf = async (journal: Journal, runIds: readonly RunId[], graceMs = 0) =>
    (await journal.dueTemporary({ graceMs, withinMs: 2 * HOUR_MS, limit: 1_000 })).filter(
      ({ runId }) => runIds.includes(runId),
    );

  test("a temporary run goes a while after its end, with the runs below it and their request ids (S4.9, X19)", async () => {
    const { journal, see } = await setup(open);
    const request = { requestId: "r-1", requestHash: "h" };
    const root = await temporary(journal, undefined, request);
    const child = await temporary(journal, root);
    const other = await begin(journal);
    expect(await dueOf(journal, [root, child])).toEqual([]);
    await end(journal, child);
    await end(journal, root);
    await end(journal, other);
    const [due] = await dueOf(journal, [root, child, other], HOUR_MS);
    expect(due?.runId).toBe(root);
    expect(due?.dueInMs).toBeGreaterThan(HOUR_MS - 60_000);
    expect(await dueOf(journal, [root, child], 3 * HOUR_MS)).toEqual([]);
    expect(await dueOf(journal, [root, child])).toMatchObject([{ runId: root }]);
    expect(await journal.deleteUnkept([root, child, other])).toEqual([root]);
    for (const gone of [root, child])
      expect(await see(gone)).toEqual({ run: undefined, events: [], leases: [], effects: [] });
    expect((await see(other)).events).toHaveLength(2);
    expect(await journal.findRequest("acme", ["r-1"])).toEqual([]);
    expect(await journal.deleteUnkept([root])).toEqual([]);
  });

  test("a temporary run stays while a run below it undoes its nodes", async () => {
    const { journal } = await setup(open);
    const root = await temporary(journal);
    const child = await temporary(journal, root);
    const grandchild = await temporary(journal, child);
    for (const runId of [root, child]) await end(journal, runId);
    expect(await dueOf(journal, [root])).toEqual([]);
    expect(await journal.deleteUnkept([root, child])).toEqual([]);
    await end(journal, grandchild);
    expect(await dueOf(journal, [root])).toMatchObject([{ runId: root }]);
    expect(await journal.deleteUnkept([root])).toEqual([root]);
  });

  test("a temporary run stays until a person has closed the dead letter of what it could not undo (S4.9)", async () => {
    const { journal, deadLetters } = await setup(open);
    const root = await temporary(journal);
    const letter = letterOf(root);
    const over = { status: "failed", ended: true } as const;
    await step(journal, root, 1, { facts: [queued()], over, also: (tx) => void tx.bury([letter]) });
    expect(await dueOf(journal, [root])).toEqual([]);
    const by = { requestId: randomUUID(), redriveRunId: null };
    await deadLetters.close("acme", [letter.deadLetterId], by);
    expect(await dueOf(journal, [root])).toMatchObject([{ runId: root }]);
  });
}
