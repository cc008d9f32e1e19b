-- The indexes and words of the search for runs.

-- The short id that lists print: the last eight digits. The first digits of a UUIDv7 are the time, so many runs share them.
create index runs_by_short_id on runs (right(run_id::text, 8));

-- The words by which people find a workflow, in lower case: its id, the words of its id, and the words of all its titles. They stay after
-- the workflow is deleted, so people still find its runs.
create table workflow_words (
  tenant_id text not null,
  workflow_id text not null,
  word text not null,
  primary key (tenant_id, workflow_id, word)
);

create index workflow_words_by_word on workflow_words (tenant_id, word text_pattern_ops);

insert into workflow_words (tenant_id, workflow_id, word)
select d.tenant_id, d.workflow_id, w.word
from definitions d
cross join lateral (
  select lower(d.workflow_id) as word
  union
  select regexp_split_to_table(lower(d.workflow_id || ' ' || d.title), '[[:space:][:punct:]]+')
) w
where d.workflow_id is not null
  and w.word <> ''
on conflict do nothing;
