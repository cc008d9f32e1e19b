// The same random history on both stores: both give the same answers and commit the same rows.

import { randomUUID } from "node:crypto";
import type { RunId } from "@pawl/core/name/ids";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { newExecutorId, newRunId } from "./facts.ts";
import { openMemory } from "./memory.ts";
import { operation, outcomeOf, toWork, type World } from "./operation.ts";
import { postgresWith } from "./postgres.ts";
import type { StoreUnderTest } from "./store.ts";

const openPostgres = postgresWith();

fc.configureGlobal({ seed: 1 });

const HISTORIES = 50;
const NODE_TYPE = "work";

const newWorld = (): World => ({
  tenantId: randomUUID(),
  nodeType: NODE_TYPE,
  runIds: [newRunId(), newRunId(), newRunId()],
  executorId: newExecutorId(),
});

/** Everything that a caller can read of a store, except times and handles, which always differ. */
async function picture(store: StoreUnderTest, world: World): Promise<unknown> {
  const mine: ReadonlySet<RunId> = new Set(world.runIds);
  const jobs: unknown[] = [];
  for (;;) {
    const [job] = await store.journal.transact((tx) => tx.fetch(NODE_TYPE, 1));
    if (job === undefined) break;
    jobs.push([job.runId, job.nodeId]);
  }
  const loaded = await store.journal.load(world.runIds.map((runId) => ({ runId, afterSeq: 1 })));
  const expired = await store.executors.expiredLeases(10_000);
  const requests = await store.journal.findRequest(world.tenantId, ["request-1", "request-2"]);
  return {
    runs: await Promise.all(world.runIds.map((runId) => store.see(runId))),
    loaded: Object.fromEntries(
      loaded.map((run) => [run.runId, [run.version, run.events.map((event) => event.seq)]]),
    ),
    requests: new Set(requests.map((each) => `${each.requestId} ${each.runId}`)),
    expired: expired.filter((lease) => mine.has(lease.runId)),
    jobs,
  };
}

test("any history of operations leaves memory and Postgres alike (S0.46, S0.60, S3.46, S3.54)", async () => {
  const [memory, postgres] = [await openMemory(), await openPostgres()];
  onTestFinished(async () => {
    await Promise.all([memory.close(), postgres.close()]);
  });
  await postgres.prepare([NODE_TYPE]);
  const history = fc.array(operation, { minLength: 5, maxLength: 25, size: "max" });
  const property = fc.asyncProperty(history, async (operations) => {
    const world = newWorld();
    for (const op of operations) {
      const seen = await Promise.all(world.runIds.map((runId) => memory.see(runId)));
      const work = toWork(op, world, seen);
      const expected = await outcomeOf(memory.journal, work);
      expect(await outcomeOf(postgres.journal, work), JSON.stringify(op)).toEqual(expected);
    }
    expect(await picture(postgres, world)).toEqual(await picture(memory, world));
  });
  await fc.assert(property, { numRuns: HISTORIES });
});
