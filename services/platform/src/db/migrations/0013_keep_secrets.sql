-- Keys that all processes of a deployment share, without a setting. A migration makes them once, and services read them.
create table secrets (
  name text primary key,
  value bytea not null check (octet_length(value) >= 32)
);
-- gen_random_uuid draws from the strong generator of the database: 244 random bits.
insert into secrets (name, value)
values ('page_tokens', uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
