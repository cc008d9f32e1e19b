-- Fails a statement with an SQLSTATE of the engine's own, so that a conflict has a name: PW001 a run moved on, PW002 the pauses
-- changed, PW003 a workflow moved on. Volatile: PostgreSQL must call it, whatever becomes of its answer.
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
