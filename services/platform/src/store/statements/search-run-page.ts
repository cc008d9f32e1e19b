// Runs that a search finds, newest first, before a run id: runs of the workflows whose words begin with the text or with each of its
// words, runs whose id begins with it, and runs whose short id it is. Each way walks an index, up to a limit where it may find
// much. `short` is kept apart from the tenant, or the planner may walk all runs of the tenant. `$4`, `$5`, `$12` and `$13` empty mean
// no filter.

import { LIMITS } from "@pawl/core/data/limits";
import type { Statement } from "../../db/sql.ts";

const FILTER = `run_id < $2::uuid
      and (cardinality($4::text[]) = 0 or status = any ($4::text[]))
      and ($5::text = '' or kind = $5::text)
      and ($12::text = '' or workflow_id = $12::text)
      and ($13::text = '' or schedule_id = $13::text)`;

/** Above every character: `begins` ends below the text and this. */
const LAST = "chr(1114111)";
const begins = (word: string, text: string): string =>
  `${word} ~>=~ ${text} and ${word} ~<~ (${text} || ${LAST})`;

export const searchRunPage: Statement = {
  name: "pawl_search_run_page",
  text: `
with short as materialized (
  select run_id, tenant_id, status, kind, workflow_id, schedule_id
  from runs
  where right(run_id::text, 8) = $11::text
), matched as (
  select workflow_id
  from (
    select workflow_id
    from workflow_words
    where tenant_id = $1::text
      and ${begins("word", "$6::text")}
    order by word using ~<~
    limit ${LIMITS.searchMatches}
  ) by_text
  union
  select workflow_id
  from (
    select w.workflow_id
    from workflow_words w
    where w.tenant_id = $1::text
      and ${begins("w.word", "$7::text")}
      and not exists (
        select
        from unnest($8::text[]) other
        where not exists (
          select
          from workflow_words o
          where o.tenant_id = $1::text
            and o.workflow_id = w.workflow_id
            and ${begins("o.word", "other")}
        )
      )
    order by w.word using ~<~
    limit ${LIMITS.searchMatches}
  ) by_words
), found as (
  select newest.run_id
  from matched m
  cross join lateral (
    select run_id
    from runs
    where tenant_id = $1::text
      and workflow_id = m.workflow_id
      and ${FILTER}
    order by run_id desc
    limit $3::integer
  ) newest
  union
  select run_id
  from (
    select run_id
    from runs
    where tenant_id = $1::text
      and run_id between $9::uuid and $10::uuid
      and ${FILTER}
    order by run_id desc
    limit $3::integer
  ) by_prefix
  union
  select run_id
  from short
  where tenant_id = $1::text
    and ${FILTER}
)
select run_id, definition_id, workflow_id, workflow_version, kind, status, last_seq, has_failures, priority,
  error_message, traceparent, created_at, ended_at, deadline_at, parent_run_id, parent_node_id, parent_iteration,
  quarantined_at, quarantine_reason, quarantine_detail,
  schedule_id, schedule_at
from runs
where run_id in (select run_id from found order by run_id desc limit $3::integer)
order by run_id desc
limit $3::integer
`,
};
