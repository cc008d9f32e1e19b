// Facts about the runs of a stress, from the database itself: work handed out twice, and repeats that got into the log.
import { Client } from "pg";
import { REPEATED } from "./peer.ts";

/** Counts over the whole log. */
type LogFacts = {
  /** Node executions that were queued or claimed more often than they were taken back or tried again. */
  readonly doubleDispatches: number;
  /** Events that hold the result of a repeat. */
  readonly repeatsTaken: number;
  /** Claims lost and given again: none is expected, because no process dies. */
  readonly recovered: number;
  /** Settled node executions by run. */
  readonly settled: ReadonlyMap<string, number>;
  /** The executors that claimed anything. */
  readonly executorIds: readonly string[];
};

const DOUBLES = `
select count(*)::integer as count from (
  select count(*) filter (where type = 'node.queued') as queued, count(*) filter (where type = 'node.started') as started,
    1 + count(*) filter (where type in ('node.retried', 'run.recovered')) as due
  from pawl.run_events where node_id <> '' group by run_id, node_id, iteration
) as execution where queued > due or started > due`;

const REPEATS = `
select count(*)::integer as count from pawl.run_events
where value::text like '%' || $1 || '%' or payload::text like '%' || $1 || '%'`;

const SETTLED = `
select run_id as "runId", count(distinct (node_id, iteration))::integer as count from pawl.run_events
where type in ('node.completed', 'node.failed', 'node.skipped', 'node.cancelled', 'node.timed_out') group by run_id`;

/** Reads them. */
export async function readLogFacts(databaseUrl: string): Promise<LogFacts> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const count = async (text: string, values: unknown[] = []): Promise<number> =>
      (await client.query<{ count: number }>(text, values)).rows[0]?.count ?? 0;
    const { rows } = await client.query<{ runId: string; count: number }>(SETTLED);
    const executors = await client.query<{ id: string }>(
      "select distinct payload->>'executorId' as id from pawl.run_events where type = 'node.started'",
    );
    return {
      doubleDispatches: await count(DOUBLES),
      repeatsTaken: await count(REPEATS, [REPEATED]),
      recovered: await count(
        "select count(*)::integer as count from pawl.run_events where type = 'run.recovered'",
      ),
      settled: new Map(rows.map((row) => [row.runId, row.count])),
      executorIds: executors.rows.map(({ id }) => id),
    };
  } finally {
    await client.end();
  }
}
