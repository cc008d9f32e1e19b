// Assistants: edited with their version compared, named by runs, and removed with their runs.

import type { RunId } from "@pawl/core/name/ids";
import type { AssistantSpec } from "@pawl/platform/store/assistants/assistants";
import { AssistantMoved } from "@pawl/platform/store/tick/journal";
import { expect, test } from "vitest";
import { appends, change, newRun, runStarted } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore, StoreUnderTest } from "./store.ts";

const KEY = { tenantId: "acme", assistantId: "tutor" };
const SPEC: AssistantSpec = {
  ...{ workflowId: "ask", workflowVersion: 0, config: '{"n": 1.50}', metadata: '{"team": "a"}' },
  defaults: { goal: "teach", budget: { tokens: 7 } },
};

/** Inserts a run of the assistant. */
async function begin({ journal }: StoreUnderTest): Promise<RunId> {
  const run = newRun();
  await journal.transact((tx) => {
    void tx.insertRuns([run]);
    void tx.append(appends(run.runId, [runStarted]));
    void tx.nameAssistants([{ ...KEY, runId: run.runId }]);
  });
  return run.runId;
}

/** Assistants on one kind of store. */
export function assistantSuite(open: OpenStore): void {
  test("assistants are created once, and an edit of an older version changes nothing (S4.22)", async () => {
    const { assistants } = await setup(open);
    const made = await assistants.create(KEY, SPEC);
    expect(made).toMatchObject({ isNew: true, assistant: { ...KEY, ...SPEC, version: 1 } });
    expect(await assistants.create(KEY, { ...SPEC, config: "{}" })).toMatchObject({
      isNew: false,
      assistant: { config: SPEC.config },
    });
    const edited = { ...SPEC, workflowVersion: 3, defaults: {} };
    expect(await assistants.update(KEY, edited, 1)).toMatchObject({ ...edited, version: 2 });
    expect(await assistants.update(KEY, SPEC, 1)).toBeUndefined();
    expect(await assistants.update({ ...KEY, assistantId: "none" }, SPEC, 1)).toBeUndefined();
    expect(await assistants.find(KEY)).toMatchObject({ ...edited, version: 2 });
  });

  test("an assistant is removed with its runs, not while one lives, and no run of it starts behind the mark (S4.22)", async () => {
    const store = await setup(open);
    const { assistants, journal, threads } = store;
    await assistants.create(KEY, SPEC);
    const thread = { tenantId: "acme", threadId: "chat", metadata: "{}", memory: "{}" };
    const nothing = {
      memoryTaint: null,
      output: null,
      forkedFrom: null,
      requestId: null,
      sha256s: [],
    };
    await threads.create({ ...thread, ...nothing, assistantId: "tutor" });
    const runId = await begin(store);
    expect(await assistants.liveRuns(KEY)).toEqual([runId]);
    expect(await assistants.close(KEY)).toBe("busy");
    await journal.transact(async (tx) => {
      await tx.advance([change(runId, 1, 0, { status: "completed", ended: true })]);
    });
    expect(await assistants.close(KEY)).toBe("closed");
    expect(await assistants.close(KEY)).toBe("missing");
    expect(await assistants.find(KEY)).toBeUndefined();
    expect(await assistants.create(KEY, SPEC)).toBeUndefined();
    expect(await assistants.update(KEY, SPEC, 1)).toBeUndefined();
    expect(await assistants.closed()).toMatchObject([KEY]);
    await expect(begin(store)).rejects.toThrow(AssistantMoved);
    expect(await assistants.removeSome(KEY)).toBe("removed");
    // Another scheduler has removed it.
    expect(await assistants.removeSome(KEY)).toBe("removed");
    expect(await assistants.closed()).toEqual([]);
    expect(await journal.load([{ runId, afterSeq: 0 }])).toEqual([]);
    expect(await threads.find(thread)).toMatchObject({ assistantId: null });
    expect(await assistants.create(KEY, SPEC)).toMatchObject({ isNew: true });
  });
}
