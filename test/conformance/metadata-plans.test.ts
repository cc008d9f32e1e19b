// Lists by metadata read the generalized index, although the connections of Pawl switch bitmaps off.

import { openPool } from "@pawl/platform/db/pool";
import { listAssistants } from "@pawl/platform/store/assistants/reads";
import { listThreads } from "@pawl/platform/store/threads/reads";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../support/postgres.ts";

test("threads and assistants with a rare value of metadata are found among 20,000 by the index of the metadata (S4.22, S4.23)", async () => {
  const database = await freshDatabase();
  const pool = openPool(database.url, { max: 1, name: "pawl-plans" });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  const metadata = `jsonb_build_object('user', n, 'team', n % 3)`;
  for (const text of [
    `insert into threads (tenant_id, thread_id, metadata) select 'acme', 't' || n, ${metadata} from generate_series(1, 20000) n`,
    `insert into assistants (tenant_id, assistant_id, workflow_id, metadata)
     select 'acme', 'a' || n, 'w', ${metadata} from generate_series(1, 20000) n`,
    "analyze threads, assistants",
  ])
    await pool.query({ text });
  const asked = { size: 10, token: "" };
  const rare = '{"user": 777}';
  const threads = await listThreads(pool, "acme", { metadata: rare, statuses: [] }, asked);
  expect(threads.rows.map(({ threadId }) => threadId)).toEqual(["t777"]);
  const filter = { metadata: rare, workflowId: "" };
  const assistants = await listAssistants(pool, "acme", filter, asked);
  expect(assistants.rows.map(({ assistantId }) => assistantId)).toEqual(["a777"]);
  await pool.query({ text: "select pg_stat_force_next_flush()" });
  const { rows } = await pool.query({
    text: `select indexrelname as name, idx_scan as scans from pg_stat_user_indexes
      where indexrelname in ('threads_metadata', 'assistants_metadata') order by 1`,
  });
  expect(rows).toEqual([
    { name: "assistants_metadata", scans: 1 },
    { name: "threads_metadata", scans: 1 },
  ]);
});
