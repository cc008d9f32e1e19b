-- The catalogue of node types.

-- part: entry
node_type, description, input_schema, output_schema, config_schema, external, earlier, revision, updated_at

-- name: find
-- The entries of these types.
select {entry}
from node_types
where node_type = any (:node_types::text[])
order by node_type

-- name: page
-- A page of the catalogue by name, without the schemas.
select node_type, description, '' as input_schema, '' as output_schema, '' as config_schema, external, earlier, revision, updated_at
from node_types
where node_type > :after::text
order by node_type
limit :limit::integer

-- name: names
-- The names of all types, up to a bound.
select node_type
from node_types
order by node_type
limit :limit::integer

-- name: save
-- Writes new entries, and entries that follow the revision in the store. Returns the types that were written.
insert into node_types as n (
  node_type, description, input_schema, output_schema, config_schema, external, earlier, revision
)
select
  s.node_type, s.description, s.input_schema, s.output_schema, s.config_schema, s.external, s.earlier, s.revision
from unnest(
  :node_type::text[], :description::text[], :input_schema::text[], :output_schema::text[], :config_schema::text[],
  :external::boolean[], :earlier::text[], :revision::integer[]
) as s (node_type, description, input_schema, output_schema, config_schema, external, earlier, revision)
order by s.node_type
on conflict (node_type) do update
set
  description = excluded.description,
  input_schema = excluded.input_schema,
  output_schema = excluded.output_schema,
  config_schema = excluded.config_schema,
  external = excluded.external,
  earlier = excluded.earlier,
  revision = excluded.revision,
  updated_at = now()
where n.revision = excluded.revision - 1
returning node_type
