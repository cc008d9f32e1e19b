// Questions to people: opened and closed with the events of their transaction, found by id and by deadline.

import { randomUUID } from "node:crypto";
import { approvalId, definitionId, type RunId } from "@pawl/core/name/ids";
import type { ClosedApproval, NewApproval } from "@pawl/platform/store/approvals/approvals";
import type { Journal, Transaction } from "@pawl/platform/store/tick/journal";
import { expect, test } from "vitest";
import { begin, HOUR_MS, NODE, queued, step } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const question = (runId: RunId, over: Partial<NewApproval> = {}): NewApproval => ({
  approvalId: approvalId(randomUUID()),
  runId,
  nodeId: NODE,
  iteration: 0,
  reason: "approval",
  message: "Ship it?",
  detailsJson: '{"order":7}',
  assignees: ["ops", 'a "quoted" one, with {braces}'],
  deadlineMs: null,
  ...over,
});

const answer = (approval: NewApproval, state: ClosedApproval["state"]): ClosedApproval => ({
  approvalId: approval.approvalId,
  state,
  decidedBy: "ada",
  comment: "",
  responseJson: "1",
});

const open = async (journal: Journal, ...approvals: NewApproval[]): Promise<void> => {
  const [first] = approvals;
  if (first === undefined) return;
  const also = (tx: Transaction): void => void tx.openApprovals(approvals);
  await step(journal, first.runId, 1, { facts: [queued()], also });
};

/** Approvals on one kind of store. */
export function approvalSuite(openStore: OpenStore): void {
  deadlines(openStore);
  test("an approval is found with its run's definition, until it is closed once (S0.53)", async () => {
    const { journal } = await setup(openStore);
    const definition = definitionId(randomUUID());
    const run = await begin(journal, { definitionId: definition });
    const asked = question(run, { iteration: 3 });
    await open(journal, asked);
    const { approvalId: id, nodeId, iteration, reason } = asked;
    const place = {
      approvalId: id,
      runId: run,
      nodeId,
      iteration,
      reason,
      definitionId: definition,
    };
    expect(await journal.findApproval(id)).toEqual({ ...place, state: "open" });
    await journal.transact((tx) => tx.closeApprovals([answer(asked, "approved")]));
    await journal.transact((tx) => tx.closeApprovals([answer(asked, "cancelled")]));
    expect(await journal.findApproval(id)).toEqual({ ...place, state: "approved" });
    expect(await journal.findApproval(approvalId(randomUUID()))).toBeUndefined();
  });

  test("approvals are opened with their transaction or not at all", async () => {
    const { journal } = await setup(openStore);
    const run = await begin(journal);
    const asked = question(run);
    const also = (tx: Transaction): void => void tx.openApprovals([asked]);
    await expect(step(journal, run, 9, { facts: [queued()], also })).rejects.toThrow("moved on");
    expect(await journal.findApproval(asked.approvalId)).toBeUndefined();
  });

  test("the approvals of a test run are deleted with it", async () => {
    const { journal } = await setup(openStore);
    const run = await begin(journal, { kind: "test", workflowId: null });
    const asked = question(run);
    await open(journal, asked);
    await step(journal, run, 2, { facts: [queued()], over: { status: "completed", ended: true } });
    expect(await journal.deleteUnkept([run])).toEqual([run]);
    expect(await journal.findApproval(asked.approvalId)).toBeUndefined();
  });
}

function deadlines(openStore: OpenStore): void {
  test("open approvals with a deadline come soonest first, and say how far it is", async () => {
    const { journal } = await setup(openStore);
    const run = await begin(journal);
    const [never, later, soon, closed] = [
      question(run),
      question(run, { deadlineMs: 2 * HOUR_MS }),
      question(run, { deadlineMs: HOUR_MS }),
      question(run, { deadlineMs: 1 }),
    ];
    await open(journal, never, later, soon, closed);
    await journal.transact((tx) => tx.closeApprovals([answer(closed, "timed_out")]));
    const own = async (limit: number) =>
      (await journal.dueApprovals(limit)).filter(({ runId }) => runId === run);
    const due = await own(1_000);
    expect(due.map((each) => each.approvalId)).toEqual([soon.approvalId, later.approvalId]);
    expect(due[0]).toMatchObject({ runId: run, nodeId: NODE, iteration: 0 });
    expect(due[0]?.dueInMs).toBeGreaterThan(HOUR_MS / 2);
    expect(due[0]?.dueInMs).toBeLessThanOrEqual(HOUR_MS);
  });

  test("a due approval of a run in quarantine is left out, and those of other runs come (S0.37)", async () => {
    const { journal, recovery } = await setup(openStore);
    const [ill, well] = [await begin(journal), await begin(journal)];
    const [held, due] = [question(ill, { deadlineMs: 1 }), question(well, { deadlineMs: 1 })];
    await open(journal, held);
    await open(journal, due);
    const cause = { reason: "EVENT_LOG_CORRUPTION", detail: "a gap" } as const;
    expect(await recovery.quarantine(ill, cause)).toBe(true);
    const found = (await journal.dueApprovals(1_000)).map((each) => each.approvalId);
    expect(found).toContain(due.approvalId);
    expect(found).not.toContain(held.approvalId);
  });
}
