// A run that is over in the commit that accepts it, and a scheduler that dies behind that commit, before it has told anybody. The end
// was announced by PostgreSQL with the call that waits for it, so the caller has both although nobody is left to answer.
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { createPawlClient } from "@pawl/client";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { graph } from "../flow/graph.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import { failpoints, replaceScheduler } from "./crew.ts";

const WORKFLOW = "instant";
const END = ["run.completed"];
/** Young processes are slow, and a run of theirs may take a second commit. */
const COMMITS_BEFORE = 40;
const TRIES_MAX = 10;
/** As long as nobody waits while a scheduler is there. */
const WAIT_MS = 10_000;

let cluster: Cluster;
let database: Client;
beforeAll(async () => {
  cluster = await startCluster({});
  database = new Client({ connectionString: cluster.databaseUrl });
  await database.connect();
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await database.end();
  await cluster.stop();
});

/** The newest run, if the commit that accepted it ended it. */
async function overAtOnce(): Promise<string | undefined> {
  const { rows } = await database.query<{ run_id: string; is_at_once: boolean | null }>(
    "select run_id, ended_at = created_at as is_at_once from pawl.runs order by created_at desc limit 1",
  );
  return rows[0]?.is_at_once === true ? rows[0].run_id : undefined;
}

test("a run that was over as it was accepted is its caller's, though the scheduler died behind the commit", async () => {
  const { runs, workflows } = createPawlClient({ baseUrl: cluster.url, attempts: 30 });
  const raw = createClient(RunService, createGrpcTransport({ baseUrl: cluster.url }));
  /** Which run it was and how it ended. */
  const execute = async () => {
    const request = { start: { workflowId: WORKFLOW }, types: END };
    let runId = "";
    const ends: string[] = [];
    for await (const { run, events } of raw.executeRun(request, { timeoutMs: WAIT_MS })) {
      runId ||= run?.runId ?? "";
      ends.push(...events.map(({ type }) => type));
    }
    return { runId, ends };
  };
  await workflows.create(graph([]), { workflowId: WORKFLOW });
  await cluster.schedulers[0]?.kill("SIGKILL");
  for (let tries = 1; ; tries += 1) {
    const doomed = await replaceScheduler(
      cluster,
      failpoints(`tick.after-commit@${COMMITS_BEFORE}=kill`),
    );
    // Said again until the gateway has found it.
    const { run } = await runs.start(WORKFLOW);
    await runs.wait(run.runId);
    let answered: unknown;
    // The last call is refused, or waits for a run that the next scheduler has to end.
    await expect(async () => {
      for (;;) answered = await execute();
    }).rejects.toThrow();
    expect(await doomed.exited()).toBe("SIGKILL");
    const runId = await overAtOnce();
    if (runId !== undefined) {
      // Nobody but the doomed one can have accepted it, and it was dead before it could say so.
      expect(answered).toEqual({ runId, ends: END });
      break;
    }
    expect(tries).toBeLessThan(TRIES_MAX);
  }
  expect(await checkInvariants(cluster.databaseUrl)).toEqual([]);
});
