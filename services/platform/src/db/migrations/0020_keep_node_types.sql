-- The catalogue: the descriptions that handlers publish of their node types. Schemas are JSON text, empty if the handler published none. A
-- writer names the revision that it replaces.
create table node_types (
  node_type text collate "C" primary key,
  description text not null,
  input_schema text not null,
  output_schema text not null,
  config_schema text not null,
  -- Digests of the builds that this one follows, with spaces between them.
  earlier text not null,
  revision integer not null,
  updated_at timestamptz not null default now()
);

-- Facts about an executor for people: the scheduler that it is connected to, and the user's process behind it.
alter table executors add column scheduler_id uuid;

alter table executors add column connected_at timestamptz;

alter table executors add column process_name text not null default '';

alter table executors add column language text not null default '';

alter table executors add column sdk text not null default '';

alter table executors add column build text not null default '';

-- When the process stopped answering. Null while it answers.
alter table executors add column silent_since timestamptz;
