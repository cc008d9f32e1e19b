-- Values that are too large for the log, by the digest of their JSON text. The bytes are in a store of values: the table value_parts, a
-- directory or a bucket. A new row gets a new generation, and the bytes have the generation in their name. So bytes that are removed never
-- belong to a row that was written since.
create table stored_values (
  sha256 text primary key,
  generation uuid not null,
  bytes bigint not null,
  -- The digest of each part. Null until all parts are stored.
  digests text[],
  -- Since when no run may refer to the value. A sweep looks at these rows only.
  loose_at timestamptz default now()
);

create index stored_values_loose on stored_values (loose_at) where loose_at is not null;

-- Which runs refer to which values. The transaction of an event that names a value sets is_named. A row that no event names ends after a
-- grace.
create table value_refs (
  run_id uuid not null,
  sha256 text not null references stored_values (sha256),
  is_named boolean not null default false,
  touched_at timestamptz not null default now(),
  primary key (run_id, sha256)
);

create index value_refs_sha256 on value_refs (sha256);

create index value_refs_unnamed on value_refs (touched_at) where not is_named;

-- Bytes that belong to no row of stored_values and are still to be removed.
create table value_garbage (
  generation uuid primary key,
  parts integer not null
);

-- The store of values in this database.
create table value_parts (
  generation uuid not null,
  part integer not null,
  data bytea not null,
  primary key (generation, part)
);
