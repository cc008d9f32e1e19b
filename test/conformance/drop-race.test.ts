// A race that only Postgres has: a job is dropped while another transaction is taking it.

import { nodeId } from "@pawl/core/name/ids";
import { expect, test } from "vitest";
import { newRunId } from "./facts.ts";
import { postgresWith } from "./postgres.ts";
import { setup } from "./setup.ts";

const openPostgres = postgresWith();

test("a drop never waits for the transaction that takes the job, so the two cannot block each other", async () => {
  const { journal, rival, prepare } = await setup(openPostgres);
  await prepare(["work"]);
  const key = { runId: newRunId(), nodeId: nodeId("a"), iteration: 0, attempt: 1 };
  const job = { ...key, nodeType: "work", priority: 0 };
  await journal.transact((tx) => tx.enqueue([job]));
  await expect(
    rival.transact(async (tx) => {
      expect(await tx.fetch("work", 1)).toHaveLength(1);
      await journal.transact((other) => other.dropJobs([job]));
      throw new Error("its run moved on");
    }),
  ).rejects.toThrow("its run moved on");
  // Back in the queue for its taker, which looks again on a fresh fold and drops it then.
  expect(await rival.transact((tx) => tx.fetch("work", 1))).toHaveLength(1);
  expect(await rival.transact((tx) => tx.fetch("work", 1))).toHaveLength(0);
});
