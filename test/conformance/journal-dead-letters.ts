// Dead letters: written with the events of their transaction, found while open, closed once.

import { randomUUID } from "node:crypto";
import { nodeId, type RunId } from "@pawl/core/name/ids";
import type {
  DeadLetterFilter,
  NewDeadLetter,
} from "@pawl/platform/store/dead-letters/dead-letters";
import type { Journal, Transaction } from "@pawl/platform/store/tick/journal";
import { expect, test } from "vitest";
import { begin, newExecutorId, newRunId, NODE, queued, runStarted, step } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";
import { draft } from "./workflows.ts";

const TENANT = "acme";

const letterOf = (runId: RunId, over: Partial<NewDeadLetter> = {}): NewDeadLetter => ({
  deadLetterId: randomUUID(),
  runId,
  nodeId: NODE,
  iteration: 2,
  attempt: 1,
  nodeType: "http",
  deliveries: 3,
  executorId: newExecutorId(),
  reason: "stream_broken",
  errorMessage: "the node lost 3 deliveries",
  ...over,
});

const bury = (journal: Journal, runId: RunId, ...letters: NewDeadLetter[]): Promise<unknown> => {
  const also = (tx: Transaction): void => void tx.bury(letters);
  return step(journal, runId, 1, { facts: [queued()], also });
};

const only = (over: Partial<DeadLetterFilter> = {}): DeadLetterFilter => ({
  ids: [],
  workflowId: "",
  nodeType: "",
  beforeMs: undefined,
  ...over,
});

/** Dead letters on one kind of store. */
export function deadLetterSuite(openStore: OpenStore): void {
  test("a dead letter is found with what its run was started as, until it is closed once (S0.56)", async () => {
    const { journal, deadLetters } = await setup(openStore);
    const run = await begin(journal, { workflowVersion: 4, priority: 7 });
    const letter = letterOf(run);
    await bury(journal, run, letter);
    const filter = only({ ids: [letter.deadLetterId] });
    const [found] = await deadLetters.open(TENANT, filter, 10);
    expect(found).toMatchObject({ ...letter, workflowId: "orders", state: "open" });
    expect(found).toMatchObject({ workflowVersion: 4, priority: 7, hasEnded: false });
    const origin = await deadLetters.originOf(run);
    expect(JSON.parse(origin?.input ?? "")).toEqual({ name: "Ada" });
    expect(origin).toMatchObject({ started: runStarted.payload, metadata: undefined });
    expect(await deadLetters.originOf(newRunId())).toBeUndefined();
    const [redriveRunId, requestId] = [newRunId(), randomUUID()];
    const ids = [letter.deadLetterId, randomUUID()];
    expect(await deadLetters.close("other", ids, { requestId, redriveRunId })).toEqual([]);
    expect(await deadLetters.close(TENANT, ids, { requestId, redriveRunId })).toEqual(filter.ids);
    const late = { requestId: randomUUID(), redriveRunId: null };
    expect(await deadLetters.close(TENANT, ids, late)).toEqual([]);
    expect(await deadLetters.open(TENANT, filter, 10)).toEqual([]);
    const closed = [{ deadLetterId: letter.deadLetterId, redriveRunId }];
    expect(await deadLetters.closedBy(TENANT, requestId)).toEqual(closed);
    expect(await deadLetters.closedBy(TENANT, late.requestId)).toEqual([]);
  });

  test("dead letters are buried with their transaction or not at all (S0.56)", async () => {
    const { journal, deadLetters } = await setup(openStore);
    const run = await begin(journal);
    const letter = letterOf(run);
    const also = (tx: Transaction): void => void tx.bury([letter]);
    await expect(step(journal, run, 9, { facts: [queued()], also })).rejects.toThrow("moved on");
    expect(await deadLetters.open(TENANT, only({ ids: [letter.deadLetterId] }), 10)).toEqual([]);
  });

  test("open dead letters come oldest first, those of live runs last, narrowed by workflow, type and time", async () => {
    const { journal, deadLetters, workflows } = await setup(openStore);
    const workflowId = `w-${randomUUID()}`;
    await workflows.create(draft({ workflowId }));
    const run = await begin(journal, { workflowId });
    const ids = [randomUUID(), randomUUID()].toSorted();
    const [first, second] = ids.map((deadLetterId, index) =>
      letterOf(run, { deadLetterId, nodeId: nodeId(`n${index}`), nodeType: `t${index}` }),
    );
    if (first === undefined || second === undefined) throw new Error("there are two");
    await bury(journal, run, second, first);
    const idsOf = async (over: Partial<DeadLetterFilter>, limit = 10) =>
      (await deadLetters.open(TENANT, only({ workflowId, ...over }), limit)).map(
        (each) => each.deadLetterId,
      );
    expect(await idsOf({})).toEqual(ids);
    expect(await idsOf({}, 1)).toEqual(ids.slice(0, 1));
    expect(await idsOf({ nodeType: "t1" })).toEqual(ids.slice(1));
    expect(await idsOf({ beforeMs: 1 })).toEqual([]);
    expect(await idsOf({ beforeMs: Date.now() + 3_600_000 })).toEqual(ids);
    const ended = letterOf(await begin(journal, { workflowId }));
    await step(journal, ended.runId, 1, {
      facts: [queued()],
      over: { status: "failed", ended: true },
      also: (tx) => void tx.bury([ended]),
    });
    expect(await idsOf({})).toEqual([ended.deadLetterId, ...ids]);
    const [open] = await deadLetters.open("other", only({ workflowId }), 10);
    expect(open).toBeUndefined();
  });

  countSuite(openStore);
}

/** How many there are, and their end. */
function countSuite(openStore: OpenStore): void {
  test("a dead letter says whether its workflow is still there", async () => {
    const { journal, deadLetters, workflows } = await setup(openStore);
    const workflowId = `w-${randomUUID()}`;
    await workflows.create(draft({ workflowId }));
    const has = async (id: string): Promise<boolean | undefined> => {
      const letter = letterOf(await begin(journal, { workflowId: id }));
      await bury(journal, letter.runId, letter);
      const [found] = await deadLetters.open(TENANT, only({ ids: [letter.deadLetterId] }), 1);
      return found?.hasWorkflow;
    };
    expect([await has(workflowId), await has(`gone-${randomUUID()}`)]).toEqual([true, false]);
  });

  test("a survey counts open dead letters (S0.13, S0.57)", async () => {
    const { journal, deadLetters } = await setup(openStore);
    const run = await begin(journal);
    const letter = letterOf(run);
    await bury(journal, run, letter);
    const { openDeadLetters: before } = await journal.survey();
    expect(before).toBeGreaterThan(0);
    const by = { requestId: randomUUID(), redriveRunId: null };
    expect(await deadLetters.close(TENANT, [letter.deadLetterId], by)).toHaveLength(1);
    expect((await journal.survey()).openDeadLetters).toBe(before - 1);
  });

  test("the dead letters of a test run are deleted with it", async () => {
    const { journal, deadLetters } = await setup(openStore);
    const run = await begin(journal, { kind: "test", workflowId: null });
    const letter = letterOf(run);
    await bury(journal, run, letter);
    await step(journal, run, 2, { facts: [queued()], over: { status: "failed", ended: true } });
    expect(await journal.deleteUnkept([run])).toEqual([run]);
    expect(await deadLetters.close(TENANT, [letter.deadLetterId], late())).toEqual([]);
  });
}

const late = () => ({ requestId: randomUUID(), redriveRunId: null });
