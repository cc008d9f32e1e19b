// How often something happened to nodes, over all runs of a database.
import { Client } from "pg";

/** Distinct node executions with an event of this type, and such events in all. */
export async function nodeCounts(
  databaseUrl: string,
  type: string,
): Promise<{ readonly nodes: number; readonly events: number }> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ nodes: number; events: number }>(
      `select count(distinct (run_id, node_id, iteration))::integer as nodes, count(*)::integer as events
       from pawl.run_events where type = $1`,
      [type],
    );
    return rows[0] ?? { nodes: 0, events: 0 };
  } finally {
    await client.end();
  }
}
