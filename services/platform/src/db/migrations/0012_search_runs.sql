-- What the search of runs looks in.

-- The short id that lists print: the last eight digits. A UUIDv7 begins with the time, so its first digits are shared by many runs.
create index runs_by_short_id on runs (right(run_id::text, 8));

-- The words by which people find a workflow, in lower case: its id, the words of its id, and the words of every title it has had.
-- They outlive the workflow, as its definitions do, so that the runs of a deleted one are found.
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
