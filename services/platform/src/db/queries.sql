-- What no table of the engine's nouns holds.

-- name: clock
-- The clock of the database, in milliseconds since the epoch.
select extract(epoch from clock_timestamp())::double precision * 1000 as now_ms

-- name: secret
-- A key that a migration made, once for all processes of a deployment.
select value
from secrets
where name = :name::text
