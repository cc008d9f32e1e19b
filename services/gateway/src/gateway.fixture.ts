// A whole gateway in this process for tests: a database of its own, a scheduler that answers as the test wants, and rows written straight
// into the log, as a scheduler would write them.

import { randomUUID } from "node:crypto";
import { parseDefinition } from "@pawl/core/definition/parse";
import { type RunId, runId } from "@pawl/core/name/ids";
import { openPool, type Pool } from "@pawl/platform/db/pool";
import { serveCommands } from "@pawl/platform/lanes/command-server";
import { startGrpcServer } from "@pawl/platform/rpc/grpc-server";
import { type Implementation, serve } from "@pawl/platform/rpc/implementation";
import { DEFAULT_TENANT } from "@pawl/core/name/tenant";
import { createLogger } from "@pawl/platform/telemetry/log";
import { RunService } from "@pawl/proto/pawl/v1/run_service_pb";
import { WorkflowService } from "@pawl/proto/pawl/v1/workflow_service_pb";
import { onTestFinished } from "vitest";
import { freshDatabase } from "../../../test/support/postgres.ts";
import { compose } from "./compose.ts";
import { parseConfig } from "./config.ts";

const DEFINITION = JSON.stringify({
  id: "orders",
  nodes: [
    { id: "start", type: "start" },
    { id: "a", type: "noop" },
  ],
  edges: [{ source: "start", target: "a" }],
});

export interface GatewayFixture {
  readonly url: string;
  readonly port: number;
  readonly pool: Pool;
  /** Adds a run with `run.started` as its only event. */
  addRun(): Promise<RunId>;
  /** Appends an event and notifies, in one statement as one tick would. */
  append(run: RunId, type: string, event?: AppendedEvent): Promise<number>;
  stopScheduler(): Promise<void>;
  /** Drains the gateway. */
  stop(): Promise<void>;
}

interface AppendedEvent {
  readonly nodeId?: string;
  readonly payload?: object;
  readonly value?: unknown;
  readonly status?: string;
}

/** Starts it; everything ends with the test. */
export async function startGateway(
  scheduler: {
    readonly runs?: Implementation<typeof RunService>;
    readonly workflows?: Implementation<typeof WorkflowService>;
  } = {},
  env: Readonly<Record<string, string>> = {},
  databaseUrl?: string,
): Promise<GatewayFixture> {
  const database =
    databaseUrl === undefined
      ? await freshDatabase()
      : { url: databaseUrl, drop: () => Promise.resolve() };
  const pool = openPool(database.url, { max: 2, name: "fixture" });
  const services = [
    serve(RunService, scheduler.runs ?? {}),
    serve(WorkflowService, scheduler.workflows ?? {}),
  ];
  const commands = serveCommands(services, () => undefined);
  const fake = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: [commands.service],
    onInternal: () => undefined,
  });
  const config = parseConfig({
    DATABASE_URL: database.url,
    PAWL_GATEWAY_PORT: "0",
    PAWL_SCHEDULER_ADDRESS: `127.0.0.1:${fake.port}`,
    PAWL_DRAIN_MS: "3000",
    ...env,
  });
  const gateway = await compose(config, {
    log: createLogger({ service: "gateway", level: "silent" }),
    telemetry: { metricsText: () => Promise.resolve("pawl_test 1\n") },
  });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= gateway.stop());
  onTestFinished(async () => {
    await stop();
    await fake.stop(0);
    await pool.end();
    await database.drop();
  });
  const port = gateway.port ?? 0;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    pool,
    addRun: () => addRun(pool),
    append: (run, type, event) => append(pool, run, type, event),
    stopScheduler: () => fake.stop(0),
    stop,
  };
}

async function addRun(pool: Pool): Promise<RunId> {
  const parsed = parseDefinition(DEFINITION);
  const body = parsed.ok ? parsed.canonicalJson : "";
  const definition = randomUUID();
  const version = await pool.query<{ next: number }>({
    text: "select coalesce(max(version), 0) + 1 as next from definitions",
  });
  await pool.query({
    text: `insert into definitions (definition_id, tenant_id, workflow_id, version, digest, title, node_count, body)
      values ($1, $2, 'orders', $3, 'd', 'orders', 2, $4)`,
    values: [definition, DEFAULT_TENANT, version.rows[0]?.next, body],
  });
  const run = runId(randomUUID());
  await pool.query({
    text: `insert into runs (run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, version, last_seq, deadline_at, traceparent)
      values ($1, $2, $3, 'orders', 1, 'saved', 'running', 1, 0, now() + interval '1 hour', $4)`,
    values: [
      run,
      DEFAULT_TENANT,
      definition,
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ],
  });
  const payload = { definitionDigest: "d", workflowVersion: 1, kind: "saved", deadlineAt: 0 };
  await append(pool, run, "run.started", { nodeId: "", payload, value: { n: 1 } });
  return run;
}

async function append(
  pool: Pool,
  run: RunId,
  type: string,
  event: AppendedEvent = {},
): Promise<number> {
  const { rows } = await pool.query<{ last_seq: number }>({
    text: `with moved as (
        update runs set last_seq = last_seq + 1, status = coalesce($6, status), ended_at = case when $6 = 'completed' then now() end
        where run_id = $1 returning last_seq
      ), added as (
        insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload, value)
        select $1, last_seq, $2::text, $3::text, 0, last_seq, 0, last_seq, $4::jsonb, $5::jsonb from moved
      )
      select last_seq, pg_notify('pawl_runs', $1::text || ':' || last_seq || case when $6 = 'completed' then '!' else '' end)
      from moved`,
    values: [
      run,
      type,
      event.nodeId ?? "a",
      JSON.stringify(event.payload ?? {}),
      event.value === undefined ? null : JSON.stringify(event.value),
      event.status ?? null,
    ],
  });
  return rows[0]?.last_seq ?? 0;
}
