// Recovery on Postgres, over the pool.

import { crc32 } from "node:zlib";
import type { RunId } from "@pawl/core/name/ids";
import type { Pool } from "../db/pool.ts";
import { type Queryable, run } from "../db/sql.ts";
import { jobId } from "../queue/job-id.ts";
import { BOSS_SCHEMA, queueName } from "../queue/queue-name.ts";
import type { DroppedJob } from "../queue/queue.ts";
import type { Lease } from "./journal.ts";
import type { Recovery } from "./recovery.ts";
import { deleteTestEvents } from "./statements/delete-test-events.ts";
import { dropSnapshot } from "./statements/drop-snapshot.ts";
import { leasesOfRuns } from "./statements/leases-of-runs.ts";
import { lockedRuns } from "./statements/locked-runs.ts";
import { probeLog } from "./statements/probe-log.ts";
import { quarantineRun } from "./statements/quarantine-run.ts";
import { quietRuns } from "./statements/quiet-runs.ts";
import { releaseRun } from "./statements/release-run.ts";
import { saveSnapshot } from "./statements/save-snapshot.ts";
import { tornRuns } from "./statements/torn-runs.ts";

/** Before every cursor of a walk. */
const BEGINNING = ["-infinity", "00000000-0000-0000-0000-000000000000"] as const;

interface LeaseRow {
  readonly run_id: RunId;
  readonly node_id: Lease["nodeId"];
  readonly iteration: number;
  readonly epoch: number;
  readonly executor_id: Lease["executorId"];
}

/** Recovery over a pool. */
export const createRecovery = (db: Pick<Pool, "query" | "transaction">): Recovery => ({
  quarantine: async (runId, { reason, detail }) =>
    (await run(db, quarantineRun, [runId, reason, detail])).length > 0,
  release: async (runId) => (await run(db, releaseRun, [runId])).length > 0,
  saveSnapshot: async (runId, { seq, format, body }) => {
    await run(db, saveSnapshot, [runId, seq, format, snapshotDigest(body), body]);
  },
  dropSnapshot: async (runId) => {
    await run(db, dropSnapshot, [runId]);
  },
  quietRuns: async ({ quietMs, after, limit }) => {
    const values = [...(after ?? BEGINNING), limit, quietMs];
    type Row = { readonly run_id: RunId; readonly deadline: string; readonly is_quiet: boolean };
    const rows = await run<Row>(db, quietRuns, values);
    const last = rows.length < limit ? undefined : rows.at(-1);
    return {
      runIds: rows.filter((row) => row.is_quiet).map((row) => row.run_id),
      next: last === undefined ? undefined : [last.deadline, last.run_id],
    };
  },
  missingJobs: (jobs) => missingJobs(db, jobs),
  leasesOfRuns: async (runIds) => {
    const rows = await run<LeaseRow>(db, leasesOfRuns, [runIds]);
    return rows.map((row) => ({
      runId: row.run_id,
      nodeId: row.node_id,
      iteration: row.iteration,
      epoch: row.epoch,
      executorId: row.executor_id,
    }));
  },
  lockedRuns: async (runIds) =>
    (await run<{ readonly run_id: RunId }>(db, lockedRuns, [runIds])).map((row) => row.run_id),
  tornRuns: async (runIds) => {
    type Row = { readonly run_id: RunId; readonly seq: number };
    const rows = await run<Row>(db, tornRuns, [runIds]);
    return rows.map((row) => ({ runId: row.run_id, straySeq: row.seq }));
  },
  probe: () =>
    db.transaction(async (tx) => {
      const ofNoRun = crypto.randomUUID();
      await run(tx, probeLog, [ofNoRun]);
      await run(tx, deleteTestEvents, [ofNoRun]);
    }),
});

/** What a body is known again by. */
export const snapshotDigest = (body: string): number => crc32(body);

/** One probe of pg-boss's primary key a job, and one of the slots that executions wait for. */
async function missingJobs(db: Queryable, jobs: readonly DroppedJob[]): Promise<DroppedJob[]> {
  if (jobs.length === 0) return [];
  const { rows } = await db.query<{ at: number }>({
    name: "pawl_missing_jobs",
    text: `
select n.at
from unnest($1::text[], $2::uuid[], $3::uuid[], $4::text[], $5::integer[])
  with ordinality as n (name, id, run_id, node_id, iteration, at)
where not exists (
  select 1
  from ${BOSS_SCHEMA}.job j
  where j.name = n.name
    and j.id = n.id
    and j.state < 'completed'
)
and not exists (
  select 1
  from slots s
  where s.run_id = n.run_id
    and s.node_id = n.node_id
    and s.iteration = n.iteration
    and s.state = 'waiting'
)`,
    values: [
      jobs.map((job) => queueName(job.nodeType)),
      jobs.map(jobId),
      jobs.map((job) => job.runId),
      jobs.map((job) => job.nodeId),
      jobs.map((job) => job.iteration),
    ],
  });
  const missing = new Set(rows.map((row) => row.at));
  return jobs.filter((_, index) => missing.has(index + 1));
}
