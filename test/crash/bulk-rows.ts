// The rows that bulks leave in the database, and dead letters for them.
import type { Pool } from "@pawl/platform/db/pool";

/** How many events of a type these runs have. */
export async function eventsOf(
  pool: Pool,
  runIds: readonly string[],
  type: string,
  to = "",
): Promise<number> {
  const { rows } = await pool.query<{ count: number }>({
    text: `select count(*)::integer as count from run_events
      where run_id = any ($1::uuid[]) and type = $2 and ($3 = '' or payload ->> 'to' = $3)`,
    values: [runIds, type, to],
  });
  return rows[0]?.count ?? 0;
}

/** How many runs repair these runs. */
export async function repairsOf(pool: Pool, runIds: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ count: number }>({
    text: "select count(*)::integer as count from run_repairs where repair_of = any ($1::uuid[])",
    values: [runIds],
  });
  return rows[0]?.count ?? 0;
}

/** How many runs redrives of these runs started. */
export async function redrivesOf(pool: Pool, runIds: readonly string[]): Promise<number> {
  const { rows } = await pool.query<{ count: number }>({
    text: "select count(*)::integer as count from run_requests where request_id = any ($1::text[])",
    values: [runIds.map((runId) => `redrive:${runId}`)],
  });
  return rows[0]?.count ?? 0;
}

/** Leaves an open dead letter at each of these runs. */
export async function killNodes(pool: Pool, runIds: readonly string[]): Promise<void> {
  await pool.query({
    text: `insert into dead_letters (dead_letter_id, tenant_id, run_id, workflow_id, node_id, iteration, attempt, node_type, deliveries,
      executor_id, reason, error_message)
      select gen_random_uuid(), tenant_id, run_id, workflow_id, 'say', 0, 1, 'javascript', 3, gen_random_uuid(), 'EXECUTOR_LOST', ''
      from runs where run_id = any ($1::uuid[])`,
    values: [runIds],
  });
}
