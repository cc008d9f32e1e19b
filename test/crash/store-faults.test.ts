// The database answers with errors of every kind while executors report their results. The scheduler never drops a result: it stores each
// one once the database takes writes again. Until then readiness and commands report the error.
import { createPawlClient, type PawlClient } from "@pawl/client";
import { ExplainReason } from "@pawl/proto/pawl/v1/explain_pb";
import { RunStatus } from "@pawl/proto/pawl/v1/run_pb";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { call, graph } from "../flow/graph.ts";
import { SINK_EGRESS, startSink, type Sink } from "../flow/sink.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { checkInvariants } from "../support/invariants.ts";
import type { Member } from "../support/member.ts";
import { startPrivatePostgres, type PrivatePostgres } from "../support/postgres.ts";
import { execute } from "../support/template.ts";
import { until } from "../support/until.ts";

const RUNS = 8;

let postgres: PrivatePostgres;
let cluster: Cluster;
let client: PawlClient;
let sink: Sink;

beforeAll(async () => {
  postgres = await startPrivatePostgres();
  sink = await startSink();
  cluster = await startCluster({ databaseUrl: postgres.url, envOf: { executor: SINK_EGRESS } });
  client = createPawlClient({ baseUrl: cluster.url, attempts: 1 });
  const work = call(sink.url("hold"));
  await client.workflows.create(graph(["start > work > end"], { work }), { workflowId: "held" });
});
beforeEach(({ onTestFailed }) => onTestFailed(() => console.error(cluster.logs())));
afterAll(async () => {
  await cluster.stop();
  await postgres.stop();
  await sink.stop();
});

/** Runs one statement each, in sessions that may write whatever the default is. */
async function admin(...statements: readonly string[]): Promise<void> {
  const db = new Client({
    connectionString: postgres.url,
    options: "-c default_transaction_read_only=off",
  });
  await db.connect();
  for (const text of statements) await db.query(text);
  await db.end();
}

const OTHERS = "pid <> pg_backend_pid() and application_name like 'pawl-%'";
const TERMINATE = `select pg_terminate_backend(pid) from pg_stat_activity where ${OTHERS}`;

type Fault = { readonly begin: () => Promise<unknown>; readonly end: () => Promise<unknown> };

/** Every append to the log is answered with this SQLSTATE. */
const refusing = (state: string): Fault => ({
  begin: () =>
    admin(
      `create function pawl.refuse() returns trigger language plpgsql as $$
       begin raise exception 'refused by the test' using errcode = '${state}'; end $$`,
      `create trigger refuse before insert on pawl.run_events for each statement execute function pawl.refuse()`,
    ),
  end: () => admin("drop trigger refuse on pawl.run_events", "drop function pawl.refuse()"),
});

const FAULTS: Readonly<Record<string, Fault>> = {
  "a read-only server (25006)": {
    begin: () =>
      admin("alter system set default_transaction_read_only = on", "select pg_reload_conf()"),
    end: () => admin("alter system reset default_transaction_read_only", "select pg_reload_conf()"),
  },
  // A setting of the database applies to later sessions only: present sessions stay read-only until they are replaced.
  "a read-only database whose sessions outlive the setting (25006)": {
    begin: () => admin("alter database postgres set default_transaction_read_only = on", TERMINATE),
    end: () => admin("alter database postgres reset default_transaction_read_only"),
  },
  "a server that became a standby and is promoted again (57P01, 57P03, 25006)": {
    begin: async () => {
      await postgres.crash("SIGINT");
      await postgres.restartAsStandby();
    },
    end: () => execute(postgres.url, "select pg_promote()"),
  },
  "a full disk (53100)": refusing("53100"),
  "too many connections (53300)": refusing("53300"),
  "a disk that fails (58030)": refusing("58030"),
  "a revoked permission (42501)": refusing("42501"),
  "a page that is corrupt (XX001)": refusing("XX001"),
  "a statement that took too long (57014)": refusing("57014"),
  "a code that is known to neither (ZZ999)": refusing("ZZ999"),
};

const readyz = async ({ probePort }: Member): Promise<Response> =>
  fetch(`http://127.0.0.1:${probePort}/readyz`);

/** The answer of a member at /readyz once it is not ready. */
const whyNotReady = (member: Member): Promise<string> =>
  until(
    async () => {
      const response = await readyz(member);
      return response.status === 503 ? await response.text() : undefined;
    },
    { what: `${member.name} to say that it is not ready`, timeoutMs: 10_000 },
  );

/** The explanation of a node whose result the scheduler has and cannot store. */
const whyUnstored = (runId: string): Promise<string> =>
  until(
    async () => {
      const { reason, summary } = await client.runs.explain(runId, "work");
      return reason === ExplainReason.RESULT_UNSTORED ? summary : undefined;
    },
    { what: "a result that is not stored", timeoutMs: 10_000 },
  );

const isCompleted = async (runId: string): Promise<boolean> =>
  (await client.runs.get(runId)).run.status === RunStatus.COMPLETED;

test.each(Object.entries(FAULTS))(
  "results that arrive during %s are stored afterwards, and nothing is restarted (S3.37)",
  async (_, fault) => {
    const from = sink.calls.length;
    const runIds: string[] = [];
    while (runIds.length < RUNS) runIds.push((await client.runs.start("held")).run.runId);
    await until(() => sink.calls.length === from + RUNS, { what: "every node to run" });
    const members = [...cluster.schedulers, ...cluster.gateways];
    await fault.begin();
    try {
      for (const received of sink.calls.slice(from)) received.answer(200);
      for (const member of members) expect(await whyNotReady(member)).toMatch(/database/);
      expect(await whyUnstored(runIds[0] ?? "")).toContain("database");
      await expect(client.runs.start("held")).rejects.toMatchObject({
        reason: "STORE_UNAVAILABLE",
        retryable: true,
      });
    } finally {
      await fault.end();
    }
    for (const member of members)
      await until(async () => (await readyz(member)).ok, { what: `${member.name} to be ready` });
    for (const runId of runIds)
      await until(() => isCompleted(runId), { what: `run ${runId} to complete` });
    // Each node ran once: no process had to be killed, and no claim was taken back.
    expect(sink.calls.length).toBe(from + RUNS);
    expect(await checkInvariants(postgres.url, runIds)).toEqual([]);
    for (const member of [...members, ...cluster.executors])
      expect(member.logs().split('"ready"').length - 1, member.name).toBe(1);
  },
);

test("sessions that are ended again and again (57P01) delay results and lose none", async () => {
  const from = sink.calls.length;
  const { run } = await client.runs.start("held");
  await until(() => sink.calls.length === from + 1, { what: "the node to run" });
  await admin(TERMINATE);
  sink.calls[from]?.answer(200);
  for (let round = 0; round < 5; round += 1) await admin(TERMINATE);
  await until(() => isCompleted(run.runId), { what: "the run to complete" });
  expect(await checkInvariants(postgres.url, [run.runId])).toEqual([]);
});
