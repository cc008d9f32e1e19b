// A queue of nodes on one plain table: the least that can take the place of pg-boss. No scheduler uses it. The suites run on it, and so
// show that the store and the tick know nothing of pg-boss.

import type { Pool } from "@pawl/platform/db/pool";
import type { NodeQueue, SendStatement } from "@pawl/platform/queue/node-queue";
import { type DroppedJob, type Job, jobId, type NewJob } from "@pawl/platform/queue/queue";
import { Turns } from "@pawl/platform/queue/turns";
import type { OtherQueue } from "./postgres.ts";

const TABLE = `
create table if not exists waiting_nodes (
  run_id uuid not null, node_type text not null, job_id uuid not null, rank bigint not null, job jsonb not null,
  due_at timestamptz not null, queued_at timestamptz not null default now(), place bigint generated always as identity,
  primary key (node_type, job_id)
)`;

const INSERT = `
insert into waiting_nodes (run_id, node_type, job_id, rank, job, due_at)
select n.run_id, $1, n.job_id, n.rank, n.job, coalesce(now() + n.delay_ms * interval '1 millisecond', '-infinity')
from unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::jsonb[], $6::float8[]) with ordinality
  as n (run_id, job_id, rank, job, delay_ms, at)
order by n.at
on conflict (node_type, job_id) do nothing`;

const FETCH = `
with taken as (
  delete from waiting_nodes
  where node_type = $1 and job_id = any (array(
    select job_id from waiting_nodes
    where node_type = $1 and due_at <= now()
    order by rank, place limit $2 for update skip locked
  ))
  returning job, rank, place
)
select job, rank::float8 as rank from taken order by rank, place`;

const DROP = `
delete from waiting_nodes
where place = any (array(
  select w.place
  from waiting_nodes w join unnest($1::text[], $2::uuid[]) as n (node_type, job_id) using (node_type, job_id)
  for update of w skip locked
))`;

const MISSING = `
select n.job_id as id
from unnest($1::text[], $2::uuid[]) as n (node_type, job_id) left join waiting_nodes w using (node_type, job_id)
where w.job_id is null`;

const DEPTHS = `
select node_type as "nodeType", count(*)::integer as "waitingCount",
  greatest(0, extract(epoch from min(due_at) - now())::float8 * 1000) as "dueInMs",
  greatest(0, extract(epoch from now() - min(greatest(due_at, queued_at)))::float8 * 1000) as "ageMs"
from waiting_nodes group by node_type`;

const sent = <T>(done: Promise<T>) => ({ issued: Promise.resolve(), done });

class TableQueue implements NodeQueue {
  readonly #turns = new Turns();

  insert(send: SendStatement, nodeType: string, jobs: readonly NewJob[]) {
    const values = [
      nodeType,
      jobs.map((job) => job.runId),
      jobs.map(jobId),
      jobs.map((job) => this.#turns.rankOf(job)),
      jobs.map((job) => JSON.stringify(toJob(job))),
      jobs.map((job) => job.delayMs ?? null),
    ];
    return sent(send({ text: INSERT, values }).then(() => undefined));
  }

  fetch(send: SendStatement, nodeType: string, count: number) {
    const taking = async (): Promise<Job[]> => {
      const { rows } = await send({ text: FETCH, values: [nodeType, count] });
      // The statement above names these columns.
      const taken = rows as { readonly job: Job; readonly rank: number }[];
      for (const { rank } of taken) this.#turns.served(nodeType, rank);
      if (taken.length < count) this.#turns.emptied(nodeType);
      return taken.map(({ job }) => job);
    };
    return sent(taking());
  }

  async drop(send: SendStatement, jobs: readonly DroppedJob[]): Promise<void> {
    await send({ text: DROP, values: keysOf(jobs) });
  }

  async missing(db: Pick<Pool, "query">, jobs: readonly DroppedJob[]): Promise<DroppedJob[]> {
    const { rows } = await db.query<{ id: string }>({ text: MISSING, values: keysOf(jobs) });
    const ids = new Set(rows.map(({ id }) => id));
    return jobs.filter((job) => ids.has(jobId(job)));
  }

  async depths(db: Pick<Pool, "query">) {
    const { rows } = await db.query<{
      readonly nodeType: string;
      readonly waitingCount: number;
      readonly dueInMs: number;
      readonly ageMs: number;
    }>({ text: DEPTHS });
    return rows;
  }
}

const keysOf = (jobs: readonly DroppedJob[]): unknown[] => [
  jobs.map((job) => job.nodeType),
  jobs.map(jobId),
];

const toJob = ({ runId, nodeId, iteration, attempt, nodeType, ...job }: NewJob): Job => ({
  jobId: jobId({ runId, nodeId, iteration, attempt }),
  ...{ runId, nodeId, iteration, attempt, nodeType },
  ...(job.isGranted === true && { isGranted: true }),
});

export const TABLE_QUEUE: OtherQueue = {
  make: async (pool) => {
    await pool.query({ text: TABLE });
    return new TableQueue();
  },
  loseJobs: "delete from waiting_nodes where run_id = $1",
};
