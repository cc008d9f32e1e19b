-- Keeps the users' JSON to the letter. jsonb orders keys, drops spaces, writes 1e300 as 301 digits and returns 0 for -0. json keeps the
-- text. This migration rewrites the log: it takes as long as a copy, and nothing else runs meanwhile.
drop view execution_tags;

alter table run_events alter column value type json using value::text::json;
alter table approvals
  alter column details type json using details::text::json,
  alter column response type json using response::text::json;
alter table effects alter column result type json using result::text::json;

-- The same view, over the new type.
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
        case json_typeof(e.value) when 'object' then e.value::jsonb else '{}' end || jsonb_build_object('phase', e.payload -> 'phase')
      when 'contract.violated' then
        jsonb_build_object(
          'phase', e.payload -> 'phase',
          'errors', case json_typeof(e.value) when 'array' then e.value::jsonb else '[]' end
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
