// A scheduler dies between the mark of a deleted assistant and the removal of its runs. The other scheduler removes them.
import { createPawlClient, PawlError } from "@pawl/client";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { replaceScheduler } from "./processes.ts";

let cluster: Cluster;

beforeAll(async () => {
  const env = { PAWL_TEST: "1", PAWL_FAILPOINTS: "assistant.closed@1=kill" };
  cluster = await startCluster({ envOf: { scheduler: env } });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

test("a deletion of an assistant that a kill cuts off is finished by another scheduler (S4.22)", async () => {
  const pawl = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  await pawl.workflows.create(graph(["start > end"]), { workflowId: "short" });
  await pawl.assistants.create("tutor", { workflowId: "short" });
  for (const input of [1, 2, 3]) await pawl.run("", input, { assistantId: "tutor" });
  const deleted = pawl.assistants.delete("tutor").catch((error: unknown) => error);
  await cluster.schedulers[0]?.exited();
  await replaceScheduler(cluster);
  const outcome = await deleted;
  if (outcome instanceof PawlError) expect(outcome.reason).toBe("ASSISTANT_NOT_FOUND");
  else expect(outcome).toBeUndefined();
  const db = new pg.Client({ connectionString: cluster.databaseUrl });
  onTestFinished(() => db.end());
  await db.connect();
  const gone =
    "select (select count(*) from pawl.assistants) + (select count(*) from pawl.runs) = 0 as is_gone";
  await until(async () => (await db.query<{ is_gone: boolean }>(gone)).rows[0]?.is_gone, {
    what: "the runs to be removed",
  });
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await pawl.assistants.create("tutor", { workflowId: "short" });
});
