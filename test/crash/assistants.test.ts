// A scheduler dies between the mark of a deleted assistant and the removal of its runs. The scheduler that replaces it dies between the removal of
// rows and that of their logs. The third one removes what is left.
import { createPawlClient, PawlError } from "@pawl/client";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { until } from "../support/until.ts";
import { failpoints, replaceScheduler } from "./processes.ts";

let cluster: Cluster;

beforeAll(async () => {
  const env = { PAWL_TEST: "1", PAWL_FAILPOINTS: "removal.closed@1=kill" };
  cluster = await startCluster({ envOf: { scheduler: env } });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(() => cluster.stop());

test("a deletion of an assistant that two kills cut off is finished by a third scheduler, with child runs and logs (S4.22)", async () => {
  const pawl = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  await pawl.workflows.create(graph(["start > end"]), { workflowId: "below" });
  const below = { type: "subworkflow", config: { workflow_id: "below" } };
  await pawl.workflows.create(graph(["start > child > end"], { child: below }), {
    workflowId: "short",
  });
  await pawl.assistants.create("tutor", { workflowId: "short" });
  for (const input of [1, 2, 3]) await pawl.run("", input, { assistantId: "tutor" });
  const deleted = pawl.assistants.delete("tutor").catch((error: unknown) => error);
  await cluster.schedulers[0]?.exited();
  const second = await replaceScheduler(cluster, failpoints("removal.before-logs@1=kill"));
  expect(await second.exited()).toBe("SIGKILL");
  const db = new pg.Client({ connectionString: cluster.databaseUrl });
  onTestFinished(() => db.end());
  await db.connect();
  const left = "select count(*)::integer as n from pawl.removed_logs";
  expect((await db.query<{ n: number }>(left)).rows[0]?.n).toBeGreaterThan(0);
  await replaceScheduler(cluster);
  const outcome = await deleted;
  if (outcome instanceof PawlError) expect(outcome.reason).toBe("ASSISTANT_NOT_FOUND");
  else expect(outcome).toBeUndefined();
  const tables = ["assistants", "runs", "run_events", "removed_logs"];
  const counts = tables.map((table) => `(select count(*) from pawl.${table})`).join(" + ");
  const gone = `select ${counts} = 0 as is_gone`;
  await until(async () => (await db.query<{ is_gone: boolean }>(gone)).rows[0]?.is_gone, {
    what: "the runs and their logs to be removed",
  });
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
  await pawl.assistants.create("tutor", { workflowId: "short" });
});
