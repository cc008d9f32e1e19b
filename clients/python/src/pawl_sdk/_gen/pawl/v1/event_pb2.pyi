from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pawl_sdk._gen.pawl.v1 import pause_pb2 as _pause_pb2
from pawl_sdk._gen.pawl.v1 import run_pb2 as _run_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RunEvent(_message.Message):
    __slots__ = ("event_id", "run_id", "workflow_id", "type", "time", "correlation", "node_id", "iteration", "attempt", "epoch", "reused_event_id", "run_started", "run_status_changed", "run_completed", "run_failed", "run_cancelled", "run_timed_out", "run_recovered", "heartbeat", "run_metadata_set", "run_budget_raised", "run_thread_taken", "memory_updated", "node_queued", "node_started", "node_stream_delta", "node_log", "node_retried", "node_completed", "node_failed", "node_cancelled", "node_skipped", "node_timed_out", "node_blocked", "node_invalidated", "node_expanded", "node_decided", "moderation_flagged", "contract_violated", "run_signalled")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    REUSED_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_STARTED_FIELD_NUMBER: _ClassVar[int]
    RUN_STATUS_CHANGED_FIELD_NUMBER: _ClassVar[int]
    RUN_COMPLETED_FIELD_NUMBER: _ClassVar[int]
    RUN_FAILED_FIELD_NUMBER: _ClassVar[int]
    RUN_CANCELLED_FIELD_NUMBER: _ClassVar[int]
    RUN_TIMED_OUT_FIELD_NUMBER: _ClassVar[int]
    RUN_RECOVERED_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    RUN_METADATA_SET_FIELD_NUMBER: _ClassVar[int]
    RUN_BUDGET_RAISED_FIELD_NUMBER: _ClassVar[int]
    RUN_THREAD_TAKEN_FIELD_NUMBER: _ClassVar[int]
    MEMORY_UPDATED_FIELD_NUMBER: _ClassVar[int]
    NODE_QUEUED_FIELD_NUMBER: _ClassVar[int]
    NODE_STARTED_FIELD_NUMBER: _ClassVar[int]
    NODE_STREAM_DELTA_FIELD_NUMBER: _ClassVar[int]
    NODE_LOG_FIELD_NUMBER: _ClassVar[int]
    NODE_RETRIED_FIELD_NUMBER: _ClassVar[int]
    NODE_COMPLETED_FIELD_NUMBER: _ClassVar[int]
    NODE_FAILED_FIELD_NUMBER: _ClassVar[int]
    NODE_CANCELLED_FIELD_NUMBER: _ClassVar[int]
    NODE_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    NODE_TIMED_OUT_FIELD_NUMBER: _ClassVar[int]
    NODE_BLOCKED_FIELD_NUMBER: _ClassVar[int]
    NODE_INVALIDATED_FIELD_NUMBER: _ClassVar[int]
    NODE_EXPANDED_FIELD_NUMBER: _ClassVar[int]
    NODE_DECIDED_FIELD_NUMBER: _ClassVar[int]
    MODERATION_FLAGGED_FIELD_NUMBER: _ClassVar[int]
    CONTRACT_VIOLATED_FIELD_NUMBER: _ClassVar[int]
    RUN_SIGNALLED_FIELD_NUMBER: _ClassVar[int]
    event_id: int
    run_id: str
    workflow_id: str
    type: str
    time: _timestamp_pb2.Timestamp
    correlation: Correlation
    node_id: str
    iteration: int
    attempt: int
    epoch: int
    reused_event_id: int
    run_started: RunStarted
    run_status_changed: RunStatusChanged
    run_completed: RunCompleted
    run_failed: RunFailed
    run_cancelled: RunCancelled
    run_timed_out: RunTimedOut
    run_recovered: RunRecovered
    heartbeat: Heartbeat
    run_metadata_set: RunMetadataSet
    run_budget_raised: RunBudgetRaised
    run_thread_taken: RunThreadTaken
    memory_updated: MemoryUpdated
    node_queued: NodeQueued
    node_started: NodeStarted
    node_stream_delta: NodeStreamDelta
    node_log: NodeLog
    node_retried: NodeRetried
    node_completed: NodeCompleted
    node_failed: NodeFailed
    node_cancelled: NodeCancelled
    node_skipped: NodeSkipped
    node_timed_out: NodeTimedOut
    node_blocked: NodeBlocked
    node_invalidated: NodeInvalidated
    node_expanded: NodeExpanded
    node_decided: NodeDecided
    moderation_flagged: ModerationFlagged
    contract_violated: ContractViolated
    run_signalled: RunSignalled
    def __init__(self, event_id: _Optional[int] = ..., run_id: _Optional[str] = ..., workflow_id: _Optional[str] = ..., type: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., correlation: _Optional[_Union[Correlation, _Mapping]] = ..., node_id: _Optional[str] = ..., iteration: _Optional[int] = ..., attempt: _Optional[int] = ..., epoch: _Optional[int] = ..., reused_event_id: _Optional[int] = ..., run_started: _Optional[_Union[RunStarted, _Mapping]] = ..., run_status_changed: _Optional[_Union[RunStatusChanged, _Mapping]] = ..., run_completed: _Optional[_Union[RunCompleted, _Mapping]] = ..., run_failed: _Optional[_Union[RunFailed, _Mapping]] = ..., run_cancelled: _Optional[_Union[RunCancelled, _Mapping]] = ..., run_timed_out: _Optional[_Union[RunTimedOut, _Mapping]] = ..., run_recovered: _Optional[_Union[RunRecovered, _Mapping]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping]] = ..., run_metadata_set: _Optional[_Union[RunMetadataSet, _Mapping]] = ..., run_budget_raised: _Optional[_Union[RunBudgetRaised, _Mapping]] = ..., run_thread_taken: _Optional[_Union[RunThreadTaken, _Mapping]] = ..., memory_updated: _Optional[_Union[MemoryUpdated, _Mapping]] = ..., node_queued: _Optional[_Union[NodeQueued, _Mapping]] = ..., node_started: _Optional[_Union[NodeStarted, _Mapping]] = ..., node_stream_delta: _Optional[_Union[NodeStreamDelta, _Mapping]] = ..., node_log: _Optional[_Union[NodeLog, _Mapping]] = ..., node_retried: _Optional[_Union[NodeRetried, _Mapping]] = ..., node_completed: _Optional[_Union[NodeCompleted, _Mapping]] = ..., node_failed: _Optional[_Union[NodeFailed, _Mapping]] = ..., node_cancelled: _Optional[_Union[NodeCancelled, _Mapping]] = ..., node_skipped: _Optional[_Union[NodeSkipped, _Mapping]] = ..., node_timed_out: _Optional[_Union[NodeTimedOut, _Mapping]] = ..., node_blocked: _Optional[_Union[NodeBlocked, _Mapping]] = ..., node_invalidated: _Optional[_Union[NodeInvalidated, _Mapping]] = ..., node_expanded: _Optional[_Union[NodeExpanded, _Mapping]] = ..., node_decided: _Optional[_Union[NodeDecided, _Mapping]] = ..., moderation_flagged: _Optional[_Union[ModerationFlagged, _Mapping]] = ..., contract_violated: _Optional[_Union[ContractViolated, _Mapping]] = ..., run_signalled: _Optional[_Union[RunSignalled, _Mapping]] = ...) -> None: ...

class Correlation(_message.Message):
    __slots__ = ("trace_id", "parent_event_id", "wave", "phase")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    WAVE_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    parent_event_id: int
    wave: int
    phase: str
    def __init__(self, trace_id: _Optional[str] = ..., parent_event_id: _Optional[int] = ..., wave: _Optional[int] = ..., phase: _Optional[str] = ...) -> None: ...

class RunStarted(_message.Message):
    __slots__ = ("input_json", "input", "definition_digest", "workflow_version", "kind", "deadline_time", "idempotency_key", "max_iterations", "goal", "constraints", "max_retries", "schedule_id", "schedule_time", "thread_id", "thread_position", "start_at", "yields_thread", "assistant_id", "assistant_version", "config_json", "config", "slot", "rate", "taint", "repair_of", "plan_digest", "undoes_run_id", "undoes_node_id", "undoes_iteration", "values_left_out", "budget", "daily_budget")
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_VERSION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_TIME_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    MAX_ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    MAX_RETRIES_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_TIME_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    THREAD_POSITION_FIELD_NUMBER: _ClassVar[int]
    START_AT_FIELD_NUMBER: _ClassVar[int]
    YIELDS_THREAD_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_ID_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_VERSION_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    REPAIR_OF_FIELD_NUMBER: _ClassVar[int]
    PLAN_DIGEST_FIELD_NUMBER: _ClassVar[int]
    UNDOES_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    UNDOES_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    UNDOES_ITERATION_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    DAILY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    input_json: bytes
    input: _struct_pb2.Value
    definition_digest: str
    workflow_version: int
    kind: _run_pb2.RunKind
    deadline_time: _timestamp_pb2.Timestamp
    idempotency_key: str
    max_iterations: int
    goal: str
    constraints: _containers.RepeatedScalarFieldContainer[str]
    max_retries: int
    schedule_id: str
    schedule_time: _timestamp_pb2.Timestamp
    thread_id: str
    thread_position: int
    start_at: _timestamp_pb2.Timestamp
    yields_thread: bool
    assistant_id: str
    assistant_version: int
    config_json: bytes
    config: _struct_pb2.Value
    slot: Limit
    rate: Limit
    taint: _containers.RepeatedCompositeFieldContainer[_run_pb2.TaintLabel]
    repair_of: str
    plan_digest: str
    undoes_run_id: str
    undoes_node_id: str
    undoes_iteration: int
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    budget: _run_pb2.Budget
    daily_budget: _run_pb2.Amounts
    def __init__(self, input_json: _Optional[bytes] = ..., input: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., definition_digest: _Optional[str] = ..., workflow_version: _Optional[int] = ..., kind: _Optional[_Union[_run_pb2.RunKind, str]] = ..., deadline_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., idempotency_key: _Optional[str] = ..., max_iterations: _Optional[int] = ..., goal: _Optional[str] = ..., constraints: _Optional[_Iterable[str]] = ..., max_retries: _Optional[int] = ..., schedule_id: _Optional[str] = ..., schedule_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., thread_id: _Optional[str] = ..., thread_position: _Optional[int] = ..., start_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., yields_thread: bool = ..., assistant_id: _Optional[str] = ..., assistant_version: _Optional[int] = ..., config_json: _Optional[bytes] = ..., config: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., slot: _Optional[_Union[Limit, _Mapping]] = ..., rate: _Optional[_Union[Limit, _Mapping]] = ..., taint: _Optional[_Iterable[_Union[_run_pb2.TaintLabel, _Mapping]]] = ..., repair_of: _Optional[str] = ..., plan_digest: _Optional[str] = ..., undoes_run_id: _Optional[str] = ..., undoes_node_id: _Optional[str] = ..., undoes_iteration: _Optional[int] = ..., values_left_out: _Optional[_Iterable[str]] = ..., budget: _Optional[_Union[_run_pb2.Budget, _Mapping]] = ..., daily_budget: _Optional[_Union[_run_pb2.Amounts, _Mapping]] = ...) -> None: ...

class Limit(_message.Message):
    __slots__ = ("key", "limit", "per_ms", "scope")
    KEY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    PER_MS_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    key: str
    limit: int
    per_ms: int
    scope: str
    def __init__(self, key: _Optional[str] = ..., limit: _Optional[int] = ..., per_ms: _Optional[int] = ..., scope: _Optional[str] = ...) -> None: ...

class RunStatusChanged(_message.Message):
    __slots__ = ("to", "deadline_time", "scope", "by", "reason", "ending", "waiting_for", "budget_day", "budget_reserved")
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_TIME_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ENDING_FIELD_NUMBER: _ClassVar[int]
    WAITING_FOR_FIELD_NUMBER: _ClassVar[int]
    BUDGET_DAY_FIELD_NUMBER: _ClassVar[int]
    BUDGET_RESERVED_FIELD_NUMBER: _ClassVar[int]
    to: _run_pb2.RunStatus
    deadline_time: _timestamp_pb2.Timestamp
    scope: _pause_pb2.PauseScope
    by: str
    reason: str
    ending: RunEnding
    waiting_for: str
    budget_day: str
    budget_reserved: _run_pb2.Amounts
    def __init__(self, to: _Optional[_Union[_run_pb2.RunStatus, str]] = ..., deadline_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., scope: _Optional[_Union[_pause_pb2.PauseScope, str]] = ..., by: _Optional[str] = ..., reason: _Optional[str] = ..., ending: _Optional[_Union[RunEnding, _Mapping]] = ..., waiting_for: _Optional[str] = ..., budget_day: _Optional[str] = ..., budget_reserved: _Optional[_Union[_run_pb2.Amounts, _Mapping]] = ..., **kwargs) -> None: ...

class RunEnding(_message.Message):
    __slots__ = ("status", "message", "cause", "failed_node_id", "failure_class", "stop")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    FAILED_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    status: _run_pb2.RunStatus
    message: str
    cause: str
    failed_node_id: str
    failure_class: _run_pb2.FailureClass
    stop: _run_pb2.StopMode
    def __init__(self, status: _Optional[_Union[_run_pb2.RunStatus, str]] = ..., message: _Optional[str] = ..., cause: _Optional[str] = ..., failed_node_id: _Optional[str] = ..., failure_class: _Optional[_Union[_run_pb2.FailureClass, str]] = ..., stop: _Optional[_Union[_run_pb2.StopMode, str]] = ...) -> None: ...

class RunCompleted(_message.Message):
    __slots__ = ("output_json", "output", "has_failures", "taint", "compensation", "values_left_out")
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    HAS_FAILURES_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    COMPENSATION_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    output_json: bytes
    output: _struct_pb2.Value
    has_failures: bool
    taint: _containers.RepeatedCompositeFieldContainer[_run_pb2.TaintLabel]
    compensation: _run_pb2.Compensation
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., has_failures: bool = ..., taint: _Optional[_Iterable[_Union[_run_pb2.TaintLabel, _Mapping]]] = ..., compensation: _Optional[_Union[_run_pb2.Compensation, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class RunFailed(_message.Message):
    __slots__ = ("failed_node_id", "message", "cause", "failure_class", "compensation")
    FAILED_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    COMPENSATION_FIELD_NUMBER: _ClassVar[int]
    failed_node_id: str
    message: str
    cause: str
    failure_class: _run_pb2.FailureClass
    compensation: _run_pb2.Compensation
    def __init__(self, failed_node_id: _Optional[str] = ..., message: _Optional[str] = ..., cause: _Optional[str] = ..., failure_class: _Optional[_Union[_run_pb2.FailureClass, str]] = ..., compensation: _Optional[_Union[_run_pb2.Compensation, _Mapping]] = ...) -> None: ...

class RunCancelled(_message.Message):
    __slots__ = ("reason", "failure_class", "compensation", "stop")
    REASON_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    COMPENSATION_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    reason: str
    failure_class: _run_pb2.FailureClass
    compensation: _run_pb2.Compensation
    stop: _run_pb2.StopMode
    def __init__(self, reason: _Optional[str] = ..., failure_class: _Optional[_Union[_run_pb2.FailureClass, str]] = ..., compensation: _Optional[_Union[_run_pb2.Compensation, _Mapping]] = ..., stop: _Optional[_Union[_run_pb2.StopMode, str]] = ...) -> None: ...

class RunTimedOut(_message.Message):
    __slots__ = ("deadline_time", "failure_class", "compensation")
    DEADLINE_TIME_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    COMPENSATION_FIELD_NUMBER: _ClassVar[int]
    deadline_time: _timestamp_pb2.Timestamp
    failure_class: _run_pb2.FailureClass
    compensation: _run_pb2.Compensation
    def __init__(self, deadline_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., failure_class: _Optional[_Union[_run_pb2.FailureClass, str]] = ..., compensation: _Optional[_Union[_run_pb2.Compensation, _Mapping]] = ...) -> None: ...

class RunRecovered(_message.Message):
    __slots__ = ("reason", "executor_id", "lost_deliveries", "awaits_budget")
    REASON_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
    LOST_DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    AWAITS_BUDGET_FIELD_NUMBER: _ClassVar[int]
    reason: str
    executor_id: str
    lost_deliveries: int
    awaits_budget: bool
    def __init__(self, reason: _Optional[str] = ..., executor_id: _Optional[str] = ..., lost_deliveries: _Optional[int] = ..., awaits_budget: bool = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class MemoryUpdated(_message.Message):
    __slots__ = ("values_json", "values", "keys", "replaced", "taint", "values_left_out")
    VALUES_JSON_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    REPLACED_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    values_json: bytes
    values: _struct_pb2.Value
    keys: _containers.RepeatedScalarFieldContainer[str]
    replaced: _containers.RepeatedScalarFieldContainer[str]
    taint: _containers.RepeatedCompositeFieldContainer[KeyTaint]
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, values_json: _Optional[bytes] = ..., values: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., keys: _Optional[_Iterable[str]] = ..., replaced: _Optional[_Iterable[str]] = ..., taint: _Optional[_Iterable[_Union[KeyTaint, _Mapping]]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class RunThreadTaken(_message.Message):
    __slots__ = ("thread_id", "from_run_id", "memory_json", "memory", "taint", "values_left_out")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_JSON_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    from_run_id: str
    memory_json: bytes
    memory: _struct_pb2.Value
    taint: _containers.RepeatedCompositeFieldContainer[KeyTaint]
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, thread_id: _Optional[str] = ..., from_run_id: _Optional[str] = ..., memory_json: _Optional[bytes] = ..., memory: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., taint: _Optional[_Iterable[_Union[KeyTaint, _Mapping]]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class KeyTaint(_message.Message):
    __slots__ = ("key", "labels")
    KEY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    key: str
    labels: _containers.RepeatedCompositeFieldContainer[_run_pb2.TaintLabel]
    def __init__(self, key: _Optional[str] = ..., labels: _Optional[_Iterable[_Union[_run_pb2.TaintLabel, _Mapping]]] = ...) -> None: ...

class RunSignalled(_message.Message):
    __slots__ = ("name", "payload_json", "payload", "request_id", "values_left_out")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_JSON_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    name: str
    payload_json: bytes
    payload: _struct_pb2.Value
    request_id: str
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., payload_json: _Optional[bytes] = ..., payload: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., request_id: _Optional[str] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class RunMetadataSet(_message.Message):
    __slots__ = ("metadata_json", "metadata", "values_left_out")
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    metadata_json: bytes
    metadata: _struct_pb2.Value
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, metadata_json: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class RunBudgetRaised(_message.Message):
    __slots__ = ("amounts", "by", "reason", "request_id")
    AMOUNTS_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    amounts: _run_pb2.Amounts
    by: str
    reason: str
    request_id: str
    def __init__(self, amounts: _Optional[_Union[_run_pb2.Amounts, _Mapping]] = ..., by: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class NodeQueued(_message.Message):
    __slots__ = ("not_before_time", "slot", "rate", "reserved")
    NOT_BEFORE_TIME_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    not_before_time: _timestamp_pb2.Timestamp
    slot: Limit
    rate: Limit
    reserved: _run_pb2.Amounts
    def __init__(self, not_before_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., slot: _Optional[_Union[Limit, _Mapping]] = ..., rate: _Optional[_Union[Limit, _Mapping]] = ..., reserved: _Optional[_Union[_run_pb2.Amounts, _Mapping]] = ...) -> None: ...

class NodeStarted(_message.Message):
    __slots__ = ("executor_id", "taint")
    EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    executor_id: str
    taint: _containers.RepeatedCompositeFieldContainer[_run_pb2.TaintLabel]
    def __init__(self, executor_id: _Optional[str] = ..., taint: _Optional[_Iterable[_Union[_run_pb2.TaintLabel, _Mapping]]] = ...) -> None: ...

class NodeStreamDelta(_message.Message):
    __slots__ = ("delta_index", "text", "media", "cut_bytes")
    DELTA_INDEX_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    CUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    delta_index: int
    text: str
    media: Media
    cut_bytes: int
    def __init__(self, delta_index: _Optional[int] = ..., text: _Optional[str] = ..., media: _Optional[_Union[Media, _Mapping]] = ..., cut_bytes: _Optional[int] = ...) -> None: ...

class Media(_message.Message):
    __slots__ = ("url", "mime")
    URL_FIELD_NUMBER: _ClassVar[int]
    MIME_FIELD_NUMBER: _ClassVar[int]
    url: str
    mime: str
    def __init__(self, url: _Optional[str] = ..., mime: _Optional[str] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens", "cost_micros", "model", "node_executions")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_MICROS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    NODE_EXECUTIONS_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    cost_micros: int
    model: str
    node_executions: int
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost_micros: _Optional[int] = ..., model: _Optional[str] = ..., node_executions: _Optional[int] = ...) -> None: ...

class NodeLog(_message.Message):
    __slots__ = ("level", "message", "cut_bytes")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    level: str
    message: str
    cut_bytes: int
    def __init__(self, level: _Optional[str] = ..., message: _Optional[str] = ..., cut_bytes: _Optional[int] = ...) -> None: ...

class NodeRetried(_message.Message):
    __slots__ = ("cause", "message", "delay_ms", "failure_class", "usage", "awaits_budget")
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    AWAITS_BUDGET_FIELD_NUMBER: _ClassVar[int]
    cause: str
    message: str
    delay_ms: int
    failure_class: _run_pb2.FailureClass
    usage: Usage
    awaits_budget: bool
    def __init__(self, cause: _Optional[str] = ..., message: _Optional[str] = ..., delay_ms: _Optional[int] = ..., failure_class: _Optional[_Union[_run_pb2.FailureClass, str]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., awaits_budget: bool = ...) -> None: ...

class NodeCompleted(_message.Message):
    __slots__ = ("output_json", "output", "handle", "duration_ms", "queue_delay_ms", "usage", "goto", "set_by", "signal_request_id", "taint", "sanitized", "calls", "values_left_out")
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    GOTO_FIELD_NUMBER: _ClassVar[int]
    SET_BY_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    SANITIZED_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    output_json: bytes
    output: _struct_pb2.Value
    handle: str
    duration_ms: int
    queue_delay_ms: int
    usage: Usage
    goto: Goto
    set_by: SetBy
    signal_request_id: str
    taint: _containers.RepeatedCompositeFieldContainer[_run_pb2.TaintLabel]
    sanitized: Sanitized
    calls: _containers.RepeatedCompositeFieldContainer[ToolCall]
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., handle: _Optional[str] = ..., duration_ms: _Optional[int] = ..., queue_delay_ms: _Optional[int] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., goto: _Optional[_Union[Goto, _Mapping]] = ..., set_by: _Optional[_Union[SetBy, _Mapping]] = ..., signal_request_id: _Optional[str] = ..., taint: _Optional[_Iterable[_Union[_run_pb2.TaintLabel, _Mapping]]] = ..., sanitized: _Optional[_Union[Sanitized, _Mapping]] = ..., calls: _Optional[_Iterable[_Union[ToolCall, _Mapping]]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class Sanitized(_message.Message):
    __slots__ = ("labels", "reason")
    LABELS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    labels: _containers.RepeatedScalarFieldContainer[str]
    reason: str
    def __init__(self, labels: _Optional[_Iterable[str]] = ..., reason: _Optional[str] = ...) -> None: ...

class SetBy(_message.Message):
    __slots__ = ("by", "reason")
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    by: str
    reason: str
    def __init__(self, by: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ("id", "name", "fault")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    FAULT_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    fault: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., fault: _Optional[str] = ...) -> None: ...

class Goto(_message.Message):
    __slots__ = ("node_id", "kind", "reason")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    kind: str
    reason: str
    def __init__(self, node_id: _Optional[str] = ..., kind: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class NodeFailed(_message.Message):
    __slots__ = ("cause", "message", "failure_class", "details_json", "details", "signal_request_id", "values_left_out", "usage")
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    cause: str
    message: str
    failure_class: _run_pb2.FailureClass
    details_json: bytes
    details: _struct_pb2.Value
    signal_request_id: str
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    usage: Usage
    def __init__(self, cause: _Optional[str] = ..., message: _Optional[str] = ..., failure_class: _Optional[_Union[_run_pb2.FailureClass, str]] = ..., details_json: _Optional[bytes] = ..., details: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., signal_request_id: _Optional[str] = ..., values_left_out: _Optional[_Iterable[str]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ...) -> None: ...

class NodeCancelled(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class NodeSkipped(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class NodeTimedOut(_message.Message):
    __slots__ = ("timeout_ms", "message", "failure_class", "usage")
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    timeout_ms: int
    message: str
    failure_class: _run_pb2.FailureClass
    usage: Usage
    def __init__(self, timeout_ms: _Optional[int] = ..., message: _Optional[str] = ..., failure_class: _Optional[_Union[_run_pb2.FailureClass, str]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ...) -> None: ...

class NodeBlocked(_message.Message):
    __slots__ = ("reason", "child_run_id", "phase", "approval_id", "message", "assignees", "deadline_time", "signal", "taint", "usage", "reserved")
    REASON_FIELD_NUMBER: _ClassVar[int]
    CHILD_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ASSIGNEES_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_TIME_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    reason: str
    child_run_id: str
    phase: str
    approval_id: str
    message: str
    assignees: _containers.RepeatedScalarFieldContainer[str]
    deadline_time: _timestamp_pb2.Timestamp
    signal: str
    taint: _containers.RepeatedCompositeFieldContainer[_run_pb2.TaintLabel]
    usage: Usage
    reserved: _run_pb2.Amounts
    def __init__(self, reason: _Optional[str] = ..., child_run_id: _Optional[str] = ..., phase: _Optional[str] = ..., approval_id: _Optional[str] = ..., message: _Optional[str] = ..., assignees: _Optional[_Iterable[str]] = ..., deadline_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., signal: _Optional[str] = ..., taint: _Optional[_Iterable[_Union[_run_pb2.TaintLabel, _Mapping]]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., reserved: _Optional[_Union[_run_pb2.Amounts, _Mapping]] = ...) -> None: ...

class NodeDecided(_message.Message):
    __slots__ = ("decision", "reason", "comment", "decided_by", "approval_id", "response_json", "response", "dropped", "awaits_budget", "values_left_out")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_JSON_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    AWAITS_BUDGET_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    decision: str
    reason: str
    comment: str
    decided_by: str
    approval_id: str
    response_json: bytes
    response: _struct_pb2.Value
    dropped: _containers.RepeatedScalarFieldContainer[str]
    awaits_budget: bool
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, decision: _Optional[str] = ..., reason: _Optional[str] = ..., comment: _Optional[str] = ..., decided_by: _Optional[str] = ..., approval_id: _Optional[str] = ..., response_json: _Optional[bytes] = ..., response: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., dropped: _Optional[_Iterable[str]] = ..., awaits_budget: bool = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class NodeExpanded(_message.Message):
    __slots__ = ("width", "items_json", "items", "taint", "values_left_out")
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    ITEMS_JSON_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    width: int
    items_json: bytes
    items: _struct_pb2.Value
    taint: _containers.RepeatedCompositeFieldContainer[_run_pb2.TaintLabel]
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, width: _Optional[int] = ..., items_json: _Optional[bytes] = ..., items: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., taint: _Optional[_Iterable[_Union[_run_pb2.TaintLabel, _Mapping]]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class NodeInvalidated(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class ModerationFlagged(_message.Message):
    __slots__ = ("phase", "details_json", "details", "values_left_out")
    PHASE_FIELD_NUMBER: _ClassVar[int]
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    phase: str
    details_json: bytes
    details: _struct_pb2.Value
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, phase: _Optional[str] = ..., details_json: _Optional[bytes] = ..., details: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class ContractViolated(_message.Message):
    __slots__ = ("phase", "errors_json", "errors", "values_left_out")
    PHASE_FIELD_NUMBER: _ClassVar[int]
    ERRORS_JSON_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    phase: str
    errors_json: bytes
    errors: _struct_pb2.Value
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, phase: _Optional[str] = ..., errors_json: _Optional[bytes] = ..., errors: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class ExecutionTag(_message.Message):
    __slots__ = ("event_id", "node_id", "iteration", "tag", "metadata_json", "metadata", "time", "values_left_out")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    TAG_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    event_id: int
    node_id: str
    iteration: int
    tag: str
    metadata_json: bytes
    metadata: _struct_pb2.Value
    time: _timestamp_pb2.Timestamp
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, event_id: _Optional[int] = ..., node_id: _Optional[str] = ..., iteration: _Optional[int] = ..., tag: _Optional[str] = ..., metadata_json: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...
