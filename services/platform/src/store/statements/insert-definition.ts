// Keeps the next version of a workflow. Numbers go on where a removed workflow of the same id left off, so a version never
// means two things; two writers of one number meet at the unique index definitions_version. Its words are kept for the search.

import type { Statement } from "../../db/sql.ts";

export const insertDefinition: Statement = {
  name: "pawl_insert_definition",
  text: `
with kept as (
  insert into definitions (
    definition_id, tenant_id, workflow_id, version, digest, title, node_count, body, request_id, request_hash
  )
  values (
    $1::uuid, $2::text, $3::text,
    (
      select coalesce(max(d.version), 0) + 1
      from definitions d
      where d.tenant_id = $2::text
        and d.workflow_id = $3::text
    ),
    $4::text, $5::text, $6::integer, $7::text, $8::text, $9::text
  )
  returning definition_id, workflow_id, version, digest, title, node_count, body, created_at
), words as (
  insert into workflow_words (tenant_id, workflow_id, word)
  select $2::text, $3::text, word
  from unnest($10::text[]) word
  on conflict do nothing
)
select definition_id, workflow_id, version, digest, title, node_count, body, created_at
from kept
`,
};
