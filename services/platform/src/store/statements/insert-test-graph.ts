// Keeps the graph of a test run. It carries no request id: that is the run's, which starts in the same transaction.

import type { Statement } from "../../db/sql.ts";

export const insertTestGraph: Statement = {
  name: "pawl_insert_test_graph",
  text: `
insert into definitions (definition_id, tenant_id, digest, title, node_count, body)
values ($1::uuid, $2::text, $3::text, $4::text, $5::integer, $6::text)
`,
};
