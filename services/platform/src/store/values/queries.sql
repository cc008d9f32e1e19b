-- Values that are too large for the log: which exist, and which runs refer to them. Threads have their own references (`thread_values`). `values/` has the bytes.

-- name: open
-- The row of a value, made if it does not exist.
with made as (
  insert into stored_values (sha256, generation, bytes)
  values (:sha256::text, :generation::uuid, :bytes::bigint)
  on conflict (sha256) do nothing
  returning generation, digests
)
select generation, digests is not null as is_stored from made
union all
select generation, digests is not null as is_stored
from stored_values
where sha256 = :sha256::text
limit 1

-- name: seal
-- Marks the value as stored, and lets the run refer to it. Returns no row if a sweep has replaced the generation.
with sealed as (
  update stored_values
  set digests = :digests::text[]
  where sha256 = :sha256::text
    and generation = :generation::uuid
  returning sha256
)
insert into value_refs (run_id, sha256)
select :run_id::uuid, sealed.sha256
from sealed
on conflict (run_id, sha256) do update set touched_at = now()
returning sha256

-- name: touch
-- Keeps the references of a run that an outcome is about to name. Returns those that exist.
update value_refs
set touched_at = now()
where run_id = :run_id::uuid
  and sha256 = any (:sha256::text[])
returning sha256

-- name: refer
-- Records that events of this transaction name values. Fails the transaction if a value does not exist.
insert into value_refs (run_id, sha256, is_named)
select n.run_id, n.sha256, true
from unnest(:run_id::uuid[], :sha256::text[]) as n (run_id, sha256)
order by n.sha256, n.run_id
on conflict (run_id, sha256) do update set is_named = true

-- name: find
-- A stored value to which the run refers.
select s.generation, s.bytes::float8 as bytes, s.digests
from value_refs v
join stored_values s on s.sha256 = v.sha256
where v.run_id = :run_id::uuid
  and v.sha256 = :sha256::text
  and s.digests is not null

-- name: has_claim
-- Whether an executor holds this claim.
select true as held
from leases
where run_id = :run_id::uuid
  and node_id = :node_id::text
  and iteration = :iteration::integer
  and epoch = :epoch::bigint

-- name: drop_unnamed
-- Ends references that no event has named within the grace.
with old as (
  select ctid
  from value_refs
  where not is_named
    and touched_at < now() - :grace_ms::double precision * interval '1 millisecond'
  order by touched_at
  limit :limit::integer
  for update skip locked
), ended as (
  delete from value_refs
  where ctid = any (array(select ctid from old))
  returning sha256
)
update stored_values
set loose_at = coalesce(loose_at, now())
where sha256 = any (array(select sha256 from ended))
returning sha256

-- name: keep_referred
-- Values to which runs or threads refer are not loose.
with referred as (
  select s.sha256
  from stored_values s
  where s.loose_at < now() - :grace_ms::double precision * interval '1 millisecond'
    and (
      (select v.run_id from value_refs v where v.sha256 = s.sha256 limit 1) is not null
      or (select t.thread_id from thread_values t where t.sha256 = s.sha256 limit 1) is not null
    )
  order by s.loose_at
  limit :limit::integer
  for no key update skip locked
)
update stored_values
set loose_at = null
where sha256 = any (array(select sha256 from referred))
returning sha256

-- name: drop_loose
-- Deletes values to which no run and no thread has referred within the grace. Their bytes become garbage.
with loose as (
  select sha256
  from stored_values s
  where s.loose_at < now() - :grace_ms::double precision * interval '1 millisecond'
    and (select v.run_id from value_refs v where v.sha256 = s.sha256 limit 1) is null
    and (select t.thread_id from thread_values t where t.sha256 = s.sha256 limit 1) is null
  order by s.loose_at
  limit :limit::integer
  for update skip locked
), dropped as (
  delete from stored_values
  where sha256 = any (array(select sha256 from loose))
  returning generation, bytes
)
insert into value_garbage (generation, parts)
select generation, ceil(bytes / :part_bytes::double precision)::integer
from dropped
returning generation

-- name: garbage
-- Bytes to remove.
select generation, parts
from value_garbage
order by generation
limit :limit::integer

-- name: forget
-- The bytes of these generations are removed.
delete from value_garbage where generation = any (:generation::uuid[])

-- name: write_part
-- Stores a part in this database. The same part again changes nothing.
insert into value_parts (generation, part, data)
values (:generation::uuid, :part::integer, :data::bytea)
on conflict (generation, part) do nothing

-- name: read_part
select data
from value_parts
where generation = :generation::uuid
  and part = :part::integer

-- name: remove_parts
delete from value_parts where generation = :generation::uuid
