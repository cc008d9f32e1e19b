-- Filters of runs that people keep under a name.

-- part: columns
name, filter, created_at, updated_at

-- name: find
-- One filter by its name.
select {columns}
from run_filters
where tenant_id = :tenant_id::text
  and name = :name::text

-- name: page
-- Filters by name.
select {columns}
from run_filters
where tenant_id = :tenant_id::text
  and name > :after::text
order by name
limit :limit::integer

-- name: save
-- Keeps a filter, in place of the one that has the name.
insert into run_filters (tenant_id, name, filter)
values (:tenant_id::text, :name::text, :filter::text)
on conflict (tenant_id, name) do update set filter = excluded.filter, updated_at = now()
returning {columns}

-- name: remove
-- Deletes a filter.
delete from run_filters
where tenant_id = :tenant_id::text
  and name = :name::text
returning name
