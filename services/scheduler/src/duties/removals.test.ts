// A removal that fails keeps no other one waiting.

import { type RunId, runId } from "@pawl/core/name/ids";
import { createMemoryStore } from "@pawl/platform/store/memory/store";
import { createLogger } from "@pawl/platform/telemetry/log";
import { expect, test } from "vitest";
import { sweepRemovals } from "./removals.ts";
import { temporarySweeper } from "./temporary.ts";

const log = createLogger({ service: "scheduler", level: "silent" });

test("a closed thread that cannot be removed keeps no other thread and no assistant (S4.2, S4.22)", async () => {
  const removed: string[] = [];
  const holders = (name: string) => ({
    closed: async () =>
      [1, 2].map((n) => ({ tenantId: "acme", threadId: "", assistantId: `${name}-${n}` })),
    removeSome: async ({ assistantId: id }: { readonly assistantId: string }) => {
      if (id.endsWith("1")) throw new Error("a statement took too long");
      removed.push(id);
      return "removed" as const;
    },
  });
  const pool = { query: async () => ({ rows: [], rowCount: 0 }) };
  const parts = { threads: holders("thread"), assistants: holders("assistant"), pool, log };
  await sweepRemovals(parts as never);
  expect(removed).toEqual(["thread-2", "assistant-2"]);
});

test("a temporary run that cannot be removed keeps no other one (S4.9)", async () => {
  const ids = Array.from({ length: 120 }, (_, n) => runId(`t${n}`));
  const removed: RunId[] = [];
  const journal = {
    ...createMemoryStore().journal,
    dueTemporary: async () => ids.map((id) => ({ runId: id, dueInMs: 0 })),
    deleteUnkept: async (runIds: readonly RunId[]) => {
      if (runIds.includes(runId("t3"))) throw new Error("a statement took too long");
      removed.push(...runIds);
      return runIds;
    },
  };
  const timing = { intervalMs: 3_600_000, graceMs: 0, slackMs: 0 };
  const { sweeper } = temporarySweeper({ journal, log }, timing);
  const done = Promise.withResolvers<void>();
  const all = journal.deleteUnkept;
  journal.deleteUnkept = async (runIds) => {
    const deleted = await all(runIds);
    if (removed.length === ids.length - 1) done.resolve();
    return deleted;
  };
  sweeper.start();
  await done.promise;
  await sweeper.stop();
  expect(removed.toSorted()).toEqual(ids.filter((id) => id !== "t3").toSorted());
});
