-- The class of the failure of each run, so that lists show it and filters find it. Null for a live run and for one that completed.
alter table runs add column failure_class text;

-- Runs that did not complete, newest first within a class. A run enters it at its end, so ticks of live runs do not write it.
create index runs_failed on runs (tenant_id, failure_class, run_id desc) where failure_class is not null;

-- Runs that ended before this migration. Their last event has the cause, or the node that failed the run has it. A cause of a user is
-- retriable.
update runs r
set failure_class = case r.status when 'timeout' then 'timeout' else coalesce(r.stop, 'cancelled') end
where r.ended_at is not null
  and r.status in ('timeout', 'cancelled');

update runs r
set
  failure_class = case
    when why.class is not null then why.class
    when why.cause = 'user_timeout' then 'user_timeout'
    when why.cause = 'interrupted' then 'interrupt'
    when why.cause = 'rolled_back' then 'rollback'
    when why.cause in (
      'input_contract_violation', 'set_failed', 'undo_failed', 'delivery_exhausted', 'upstream_failure', 'effect_unknown',
      'moderation_blocked', 'approval_rejected', 'rejected', 'workflow_not_found', 'too_deep', 'item_failed', 'max_iterations',
      'turn_failed', 'tool_failed', 'tool_call_invalid', 'max_turns', 'conversation_too_large', 'budget_exceeded', 'too_many_items',
      'limit_key_invalid', 'missing_variable', 'config_invalid', 'input_invalid', 'unknown_node_type', 'unknown_provider',
      'unknown_data_source', 'condition_type', 'condition_too_costly', 'context_too_large', 'node_too_large', 'output_too_large',
      'value_missing', 'value_corrupt', 'output_invalid', 'action_invalid', 'illegal_transition', 'memory_too_large', 'taint_denied',
      'taint_invalid', 'sanitize_failed', 'request_too_large', 'response_too_large', 'js_killed', 'url_blocked', 'header_injection',
      'http_status', 'query_error', 'MISSING_VARIABLE', 'CONFIG_INVALID', 'UNKNOWN_NODE_TYPE', 'UNKNOWN_PROVIDER',
      'UNKNOWN_DATA_SOURCE', 'CONDITION_TYPE', 'CONDITION_TOO_COSTLY', 'TOO_MANY_ITEMS', 'OUTPUT_TOO_LARGE', 'RESULT_TOO_LARGE',
      'result_too_large', 'OUTPUT_INVALID', 'REQUEST_TOO_LARGE', 'RESPONSE_TOO_LARGE', 'JS_KILLED', 'URL_BLOCKED', 'HEADER_INJECTION'
    ) then 'permanent'
    when why.cause in (
      'timeout', 'deadline_passed', 'approval_timeout', 'signal_timeout', 'js_timeout', 'query_timeout', 'JS_TIMEOUT'
    ) then 'timeout'
    when why.cause = 'cancelled' then 'cancelled'
    else 'retriable'
  end
from runs f
left join lateral (
  select
    coalesce(e.payload ->> 'failureClass', n.payload ->> 'failureClass') as class,
    coalesce(e.payload ->> 'cause', n.payload ->> 'cause', case n.type when 'node.timed_out' then 'timeout' end) as cause
  from run_events e
  left join lateral (
    select o.type, o.payload
    from run_events o
    where o.run_id = e.run_id
      and e.payload ->> 'cause' is null
      and o.node_id = e.payload ->> 'failedNodeId'
      and o.type in ('node.failed', 'node.timed_out')
    order by o.seq desc
    limit 1
  ) n on true
  where e.run_id = f.run_id
    and e.seq = f.last_seq
    and e.type = 'run.failed'
) why on true
where r.run_id = f.run_id
  and f.ended_at is not null
  and f.status = 'failed';
