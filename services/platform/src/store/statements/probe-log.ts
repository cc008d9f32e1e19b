// An event of no run, written to see whether the database takes writes; the same transaction takes it away (delete-test-events.ts).

import type { Statement } from "../../db/sql.ts";

export const probeLog: Statement = {
  name: "pawl_probe_log",
  text: `
insert into run_events (run_id, seq, type, node_id, iteration, attempt, epoch, ordinal, payload)
values ($1::uuid, 1, 'run.started', '', 0, 0, 0, 0, '{}')
`,
};
