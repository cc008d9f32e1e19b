-- Fails a statement with an SQLSTATE of the engine, so that a conflict has a name: PW001 a run moved on, PW002 the pauses changed, PW003 a
-- workflow moved on. The function is volatile, so PostgreSQL calls it even if no one reads its result.
create function pawl_require(is_met boolean, state text) returns boolean
language plpgsql
volatile
as $$
begin
  if is_met then
    return true;
  end if;
  raise exception 'a condition of the statement is not met' using errcode = state;
end
$$;
