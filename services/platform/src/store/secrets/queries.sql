-- Keys that a migration made, once for all processes of a deployment.

-- name: one
-- A key by its name.
select value
from secrets
where name = :name::text
