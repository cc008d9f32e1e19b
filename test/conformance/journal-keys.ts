// Rows that a start adds: the graph of a test run, and the key of an input that may not be started again.

import { randomUUID } from "node:crypto";
import { isUniqueViolation } from "@pawl/platform/db/failure";
import { definitionId, type RunId } from "@pawl/core/name/ids";
import type { TestGraph } from "@pawl/platform/store/runs/runs";
import type { Transaction } from "@pawl/platform/store/tick/journal";
import { expect, test } from "vitest";
import { until } from "../support/until.ts";
import { HOUR_MS, newRun, newRunId } from "./facts.ts";
import { setup } from "./setup.ts";
import type { OpenStore } from "./store.ts";

const newGraph = (): TestGraph => ({
  definitionId: definitionId(randomUUID()),
  tenantId: "acme",
  digest: "d",
  title: "t",
  nodeCount: 1,
  body: '{"nodes":[]}',
});

const keyed = (inputKey: string, runId: RunId, ttlMs = HOUR_MS) => [
  { tenantId: "acme", inputKey, runId, ttlMs },
];

/** Starts a run under a key; true when the key refused it. */
const isRefused = async (started: Promise<unknown>): Promise<boolean> =>
  await started.then(
    () => false,
    (error: unknown) => {
      if (isUniqueViolation(error)) return true;
      throw error;
    },
  );

const start =
  (inputKey: string, runId: RunId, ttlMs?: number) =>
  (tx: Transaction): void => {
    void tx.insertRuns([newRun({ runId })]);
    void tx.keepInputKeys(keyed(inputKey, runId, ttlMs));
  };

/** Keys and graphs on one kind of store. */
export function keySuite(open: OpenStore): void {
  test("a test graph is kept with its run or not at all, and found by its own id only (S3.13)", async () => {
    const { journal, workflows } = await setup(open);
    const [kept, refused] = [newGraph(), newGraph()];
    const request = { requestId: "r-1", requestHash: "h", kind: "test", workflowId: null } as const;
    const begin = (graph: TestGraph): Promise<void> =>
      journal.transact((tx) => {
        void tx.saveGraphs([graph]);
        void tx.insertRuns([newRun({ ...request, definitionId: graph.definitionId })]);
      });
    await begin(kept);
    expect(await isRefused(begin(refused))).toBe(true);
    const row = { workflowId: null, version: 0, body: kept.body };
    expect(await workflows.load(kept.definitionId)).toMatchObject(row);
    expect(await workflows.load(refused.definitionId)).toBeUndefined();
    expect(await workflows.find("acme", "orders", 0)).toBeUndefined();
  });

  test("an input that was started refuses a second run while its key lives (S1.59, X23)", async () => {
    const { journal, see } = await setup(open);
    const [first, second] = [newRunId(), newRunId()];
    await journal.transact(start("key", first));
    expect(await isRefused(journal.transact(start("key", second)))).toBe(true);
    expect((await see(second)).run).toBeUndefined();
    expect(await journal.findInputKeys("acme", ["key", "other"])).toEqual([
      { inputKey: "key", runId: first },
    ]);
    expect(await journal.findInputKeys("others", ["key"])).toEqual([]);
    await journal.transact(start("other", second));
  });

  test("an input may be started again once its time is over (X23)", async () => {
    const { journal } = await setup(open);
    const [first, second] = [newRunId(), newRunId()];
    await journal.transact(start("key", first, 1));
    await until(async () => (await journal.findInputKeys("acme", ["key"])).length === 0, {
      what: "the key to expire",
    });
    await journal.transact(start("key", second));
    expect(await journal.findInputKeys("acme", ["key"])).toEqual([
      { inputKey: "key", runId: second },
    ]);
  });

  test("an input whose run was removed may be started again (X23)", async () => {
    const { journal } = await setup(open);
    const [first, second] = [newRunId(), newRunId()];
    await journal.transact((tx) => {
      void tx.insertRuns([newRun({ runId: first, kind: "temporary", ended: true })]);
      void tx.keepInputKeys(keyed("key", first));
    });
    expect(await journal.deleteUnkept([first])).toEqual([first]);
    expect(await journal.findInputKeys("acme", ["key"])).toEqual([]);
    await journal.transact(start("key", second));
    expect(await journal.findInputKeys("acme", ["key"])).toEqual([
      { inputKey: "key", runId: second },
    ]);
  });

  test("two writers who start one input at once start one run (S1.59, X23)", async () => {
    const { journal, rival } = await setup(open);
    const refused = await Promise.all(
      [journal, rival].map((writer) => isRefused(writer.transact(start("key", newRunId())))),
    );
    expect(refused.filter((each) => !each)).toHaveLength(1);
  });
}
