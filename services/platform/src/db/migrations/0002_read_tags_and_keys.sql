-- Tags are a view of the log. Every status transition has one row, with the metadata of its kind. The view repeats core/src/log/tags.ts,
-- and a test compares the two. No statement writes tags, so they cannot differ from the log.
create view execution_tags as
select e.run_id, e.node_id, e.iteration, e.seq, t.tag, t.metadata, e.at
from run_events e
cross join lateral (
  select
    case e.type when 'node.timed_out' then 'timed_out' else replace(e.type, '.', '_') end as tag,
    case e.type
      when 'node.queued' then jsonb_build_object('attempt', e.attempt)
      when 'node.started' then jsonb_build_object('attempt', e.attempt, 'wave', coalesce(e.payload -> 'wave', '0'))
      when 'node.expanded' then jsonb_build_object('width', e.payload -> 'width')
      when 'node.retried' then
        jsonb_build_object('attempt', e.attempt, 'cause', e.payload -> 'cause', 'delay_ms', e.payload -> 'delayMs')
      when 'node.timed_out' then jsonb_build_object('timeout_ms', e.payload -> 'timeoutMs')
      when 'node.failed' then
        jsonb_build_object('error_code', e.payload -> 'cause', 'error_message', e.payload -> 'message')
      when 'node.completed' then
        jsonb_build_object(
          'duration_ms', e.payload -> 'durationMs',
          'input_tokens', coalesce(e.payload -> 'usage' -> 'inputTokens', '0'),
          'output_tokens', coalesce(e.payload -> 'usage' -> 'outputTokens', '0')
        )
      when 'node.cancelled' then '{}'
      when 'moderation.flagged' then
        case jsonb_typeof(e.value) when 'object' then e.value else '{}' end || jsonb_build_object('phase', e.payload -> 'phase')
      when 'contract.violated' then
        jsonb_build_object(
          'phase', e.payload -> 'phase',
          'errors', case jsonb_typeof(e.value) when 'array' then e.value else '[]' end
        )
      when 'run.status.changed' then jsonb_build_object('from', e.payload -> 'from', 'to', e.payload -> 'to')
      when 'run.completed' then jsonb_build_object('has_failures', e.payload -> 'hasFailures')
      when 'run.failed' then jsonb_build_object('error_message', e.payload -> 'message')
      when 'run.started' then '{}'
      when 'run.timed_out' then '{}'
      else jsonb_build_object('reason', e.payload -> 'reason')
    end as metadata
) t
where e.type in (
  'run.started', 'run.status.changed', 'run.completed', 'run.failed', 'run.cancelled', 'run.timed_out', 'run.recovered',
  'node.queued', 'node.started', 'node.expanded', 'node.retried', 'node.completed', 'node.failed', 'node.cancelled', 'node.skipped',
  'node.timed_out', 'node.blocked', 'node.invalidated', 'moderation.flagged', 'contract.violated'
);

-- Set when the connection of an executor ended. A lease that ends later was lost with its stream.
alter table executors add column left_at timestamptz;

-- Runs that must not start twice for the same input, for as long as their caller asked. One row for each live key.
create table input_keys (
  tenant_id text not null,
  -- sha256 of the workflow's id and the canonical JSON of the input.
  input_key text not null,
  run_id uuid not null,
  expires_at timestamptz not null,
  primary key (tenant_id, input_key)
);

create index input_keys_expiry on input_keys (expires_at);
