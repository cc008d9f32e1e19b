// Writes finished runs of a past time straight into the database: their ids are of that time, and each has a whole log.

import type { Queryable } from "@pawl/platform/db/query";

interface OldRuns {
  /** The time at which the first of them began. The others follow, a millisecond apart. */
  readonly at: Date;
  readonly count: number;
  /** Events of each run, at least two. */
  readonly events?: number;
  readonly status?: string;
  readonly workflowId?: string;
  readonly parentRunId?: string;
}

/** Returns the ids in the order in which the runs began. A run of a live status has no end. */
export async function writeOldRuns(db: Queryable, old: OldRuns): Promise<string[]> {
  const { at, count, events = 3, status = "completed", workflowId = "old" } = old;
  const isLive = !["completed", "failed", "cancelled", "timeout"].includes(status);
  const made = await db.query<{ readonly run_id: string }>({
    text: `insert into runs (run_id, tenant_id, definition_id, workflow_id, workflow_version, kind, status, version, last_seq, request_id,
        created_at, ended_at, deadline_at, parent_run_id)
      select (lpad(to_hex($1::bigint + n), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8'
          || substr(md5(random()::text), 1, 15))::uuid,
        'default', gen_random_uuid(), $2, 1, 'saved', $3, 1, $4::integer, gen_random_uuid()::text,
        to_timestamp(($1::bigint + n) / 1000.0), case when not $5 then to_timestamp(($1::bigint + n + 1000) / 1000.0) end,
        now() + interval '1 day', $7::uuid
      from generate_series(0, $6::integer - 1) n
      returning run_id`,
    values: [at.getTime(), workflowId, status, events, isLive, count, old.parentRunId ?? null],
  });
  const ids = made.rows.map((row) => row.run_id);
  // Some thousand events a statement, because a statement of a pool takes at most five seconds.
  const step = Math.max(1, Math.floor(50_000 / events));
  for (let from = 0; from < ids.length; from += step)
    await db.query({
      text: `insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
        select id, s, case when s = 1 then 'run.started' when s = $2 and not $3 then 'run.completed' else 'node.queued' end,
          'n', s, 0, 0, 0, jsonb_build_object('text', repeat('x', 60))
        from unnest($1::uuid[]) id, generate_series(1, $2::integer) s`,
      values: [ids.slice(from, from + step), events, isLive],
    });
  return ids;
}
