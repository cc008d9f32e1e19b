from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pawl_sdk._gen.pawl.v1 import pause_pb2 as _pause_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RunStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_STATUS_UNSPECIFIED: _ClassVar[RunStatus]
    RUN_STATUS_PENDING: _ClassVar[RunStatus]
    RUN_STATUS_SCHEDULED: _ClassVar[RunStatus]
    RUN_STATUS_RUNNING: _ClassVar[RunStatus]
    RUN_STATUS_WAITING: _ClassVar[RunStatus]
    RUN_STATUS_RETRYING: _ClassVar[RunStatus]
    RUN_STATUS_PAUSED: _ClassVar[RunStatus]
    RUN_STATUS_COMPENSATING: _ClassVar[RunStatus]
    RUN_STATUS_COMPLETED: _ClassVar[RunStatus]
    RUN_STATUS_FAILED: _ClassVar[RunStatus]
    RUN_STATUS_CANCELLED: _ClassVar[RunStatus]
    RUN_STATUS_TIMEOUT: _ClassVar[RunStatus]

class NodeStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NODE_STATUS_UNSPECIFIED: _ClassVar[NodeStatus]
    NODE_STATUS_PENDING: _ClassVar[NodeStatus]
    NODE_STATUS_QUEUED: _ClassVar[NodeStatus]
    NODE_STATUS_RUNNING: _ClassVar[NodeStatus]
    NODE_STATUS_RETRYING: _ClassVar[NodeStatus]
    NODE_STATUS_WAITING: _ClassVar[NodeStatus]
    NODE_STATUS_COMPLETED: _ClassVar[NodeStatus]
    NODE_STATUS_FAILED: _ClassVar[NodeStatus]
    NODE_STATUS_TIMED_OUT: _ClassVar[NodeStatus]
    NODE_STATUS_CANCELLED: _ClassVar[NodeStatus]
    NODE_STATUS_SKIPPED: _ClassVar[NodeStatus]
    NODE_STATUS_INVALIDATED: _ClassVar[NodeStatus]

class RunKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_KIND_UNSPECIFIED: _ClassVar[RunKind]
    RUN_KIND_SAVED: _ClassVar[RunKind]
    RUN_KIND_TEST: _ClassVar[RunKind]
    RUN_KIND_TEMPORARY: _ClassVar[RunKind]

class FailureClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAILURE_CLASS_UNSPECIFIED: _ClassVar[FailureClass]
    FAILURE_CLASS_TIMEOUT: _ClassVar[FailureClass]
    FAILURE_CLASS_USER_TIMEOUT: _ClassVar[FailureClass]
    FAILURE_CLASS_INTERRUPT: _ClassVar[FailureClass]
    FAILURE_CLASS_ROLLBACK: _ClassVar[FailureClass]
    FAILURE_CLASS_CANCELLED: _ClassVar[FailureClass]
    FAILURE_CLASS_RETRIABLE: _ClassVar[FailureClass]
    FAILURE_CLASS_PERMANENT: _ClassVar[FailureClass]

class StopMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STOP_MODE_UNSPECIFIED: _ClassVar[StopMode]
    STOP_MODE_INTERRUPT: _ClassVar[StopMode]
    STOP_MODE_ROLLBACK: _ClassVar[StopMode]

class WaitingReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WAITING_REASON_UNSPECIFIED: _ClassVar[WaitingReason]
    WAITING_REASON_PAUSED: _ClassVar[WaitingReason]
    WAITING_REASON_HUMAN_APPROVAL: _ClassVar[WaitingReason]
    WAITING_REASON_MODERATION: _ClassVar[WaitingReason]
    WAITING_REASON_SIGNAL: _ClassVar[WaitingReason]
    WAITING_REASON_CHILD_RUN: _ClassVar[WaitingReason]
    WAITING_REASON_BUDGET: _ClassVar[WaitingReason]
    WAITING_REASON_SLOT: _ClassVar[WaitingReason]
    WAITING_REASON_RETRY: _ClassVar[WaitingReason]
    WAITING_REASON_DELAY: _ClassVar[WaitingReason]
    WAITING_REASON_THREAD: _ClassVar[WaitingReason]

class OnExceeded(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_EXCEEDED_UNSPECIFIED: _ClassVar[OnExceeded]
    ON_EXCEEDED_FAIL: _ClassVar[OnExceeded]
    ON_EXCEEDED_PAUSE: _ClassVar[OnExceeded]
RUN_STATUS_UNSPECIFIED: RunStatus
RUN_STATUS_PENDING: RunStatus
RUN_STATUS_SCHEDULED: RunStatus
RUN_STATUS_RUNNING: RunStatus
RUN_STATUS_WAITING: RunStatus
RUN_STATUS_RETRYING: RunStatus
RUN_STATUS_PAUSED: RunStatus
RUN_STATUS_COMPENSATING: RunStatus
RUN_STATUS_COMPLETED: RunStatus
RUN_STATUS_FAILED: RunStatus
RUN_STATUS_CANCELLED: RunStatus
RUN_STATUS_TIMEOUT: RunStatus
NODE_STATUS_UNSPECIFIED: NodeStatus
NODE_STATUS_PENDING: NodeStatus
NODE_STATUS_QUEUED: NodeStatus
NODE_STATUS_RUNNING: NodeStatus
NODE_STATUS_RETRYING: NodeStatus
NODE_STATUS_WAITING: NodeStatus
NODE_STATUS_COMPLETED: NodeStatus
NODE_STATUS_FAILED: NodeStatus
NODE_STATUS_TIMED_OUT: NodeStatus
NODE_STATUS_CANCELLED: NodeStatus
NODE_STATUS_SKIPPED: NodeStatus
NODE_STATUS_INVALIDATED: NodeStatus
RUN_KIND_UNSPECIFIED: RunKind
RUN_KIND_SAVED: RunKind
RUN_KIND_TEST: RunKind
RUN_KIND_TEMPORARY: RunKind
FAILURE_CLASS_UNSPECIFIED: FailureClass
FAILURE_CLASS_TIMEOUT: FailureClass
FAILURE_CLASS_USER_TIMEOUT: FailureClass
FAILURE_CLASS_INTERRUPT: FailureClass
FAILURE_CLASS_ROLLBACK: FailureClass
FAILURE_CLASS_CANCELLED: FailureClass
FAILURE_CLASS_RETRIABLE: FailureClass
FAILURE_CLASS_PERMANENT: FailureClass
STOP_MODE_UNSPECIFIED: StopMode
STOP_MODE_INTERRUPT: StopMode
STOP_MODE_ROLLBACK: StopMode
WAITING_REASON_UNSPECIFIED: WaitingReason
WAITING_REASON_PAUSED: WaitingReason
WAITING_REASON_HUMAN_APPROVAL: WaitingReason
WAITING_REASON_MODERATION: WaitingReason
WAITING_REASON_SIGNAL: WaitingReason
WAITING_REASON_CHILD_RUN: WaitingReason
WAITING_REASON_BUDGET: WaitingReason
WAITING_REASON_SLOT: WaitingReason
WAITING_REASON_RETRY: WaitingReason
WAITING_REASON_DELAY: WaitingReason
WAITING_REASON_THREAD: WaitingReason
ON_EXCEEDED_UNSPECIFIED: OnExceeded
ON_EXCEEDED_FAIL: OnExceeded
ON_EXCEEDED_PAUSE: OnExceeded

class Run(_message.Message):
    __slots__ = ("run_id", "workflow_id", "workflow_version", "kind", "status", "has_failures", "last_event_id", "input_json", "input", "output_json", "output", "error_message", "cause", "failure_class", "create_time", "end_time", "deadline_time", "nodes", "trace_id", "priority", "waiting_reason", "parent_run_id", "parent_node_id", "parent_iteration", "metadata_json", "metadata", "restore_time", "schedule_id", "schedule_time", "thread_id", "start_at", "assistant_id", "stop", "quarantine", "pause", "repair_of", "repaired_by", "state", "input_taint", "output_taint", "compensation", "undoes_run_id", "undoes_node_id", "undoes_iteration", "values_left_out", "usage", "budget")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_VERSION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    HAS_FAILURES_FIELD_NUMBER: _ClassVar[int]
    LAST_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_TIME_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    WAITING_REASON_FIELD_NUMBER: _ClassVar[int]
    PARENT_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ITERATION_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    RESTORE_TIME_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_TIME_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    START_AT_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_ID_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    QUARANTINE_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    REPAIR_OF_FIELD_NUMBER: _ClassVar[int]
    REPAIRED_BY_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    INPUT_TAINT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TAINT_FIELD_NUMBER: _ClassVar[int]
    COMPENSATION_FIELD_NUMBER: _ClassVar[int]
    UNDOES_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    UNDOES_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    UNDOES_ITERATION_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    workflow_id: str
    workflow_version: int
    kind: RunKind
    status: RunStatus
    has_failures: bool
    last_event_id: int
    input_json: bytes
    input: _struct_pb2.Value
    output_json: bytes
    output: _struct_pb2.Value
    error_message: str
    cause: str
    failure_class: FailureClass
    create_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    deadline_time: _timestamp_pb2.Timestamp
    nodes: _containers.RepeatedCompositeFieldContainer[NodeRun]
    trace_id: str
    priority: int
    waiting_reason: str
    parent_run_id: str
    parent_node_id: str
    parent_iteration: int
    metadata_json: bytes
    metadata: _struct_pb2.Value
    restore_time: _timestamp_pb2.Timestamp
    schedule_id: str
    schedule_time: _timestamp_pb2.Timestamp
    thread_id: str
    start_at: _timestamp_pb2.Timestamp
    assistant_id: str
    stop: StopMode
    quarantine: RunQuarantine
    pause: _pause_pb2.Pause
    repair_of: str
    repaired_by: _containers.RepeatedScalarFieldContainer[str]
    state: WorkflowState
    input_taint: _containers.RepeatedCompositeFieldContainer[TaintLabel]
    output_taint: _containers.RepeatedCompositeFieldContainer[TaintLabel]
    compensation: Compensation
    undoes_run_id: str
    undoes_node_id: str
    undoes_iteration: int
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    usage: RunUsage
    budget: Budget
    def __init__(self, run_id: _Optional[str] = ..., workflow_id: _Optional[str] = ..., workflow_version: _Optional[int] = ..., kind: _Optional[_Union[RunKind, str]] = ..., status: _Optional[_Union[RunStatus, str]] = ..., has_failures: bool = ..., last_event_id: _Optional[int] = ..., input_json: _Optional[bytes] = ..., input: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., error_message: _Optional[str] = ..., cause: _Optional[str] = ..., failure_class: _Optional[_Union[FailureClass, str]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., deadline_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., nodes: _Optional[_Iterable[_Union[NodeRun, _Mapping]]] = ..., trace_id: _Optional[str] = ..., priority: _Optional[int] = ..., waiting_reason: _Optional[str] = ..., parent_run_id: _Optional[str] = ..., parent_node_id: _Optional[str] = ..., parent_iteration: _Optional[int] = ..., metadata_json: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., restore_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., schedule_id: _Optional[str] = ..., schedule_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., thread_id: _Optional[str] = ..., start_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., assistant_id: _Optional[str] = ..., stop: _Optional[_Union[StopMode, str]] = ..., quarantine: _Optional[_Union[RunQuarantine, _Mapping]] = ..., pause: _Optional[_Union[_pause_pb2.Pause, _Mapping]] = ..., repair_of: _Optional[str] = ..., repaired_by: _Optional[_Iterable[str]] = ..., state: _Optional[_Union[WorkflowState, _Mapping]] = ..., input_taint: _Optional[_Iterable[_Union[TaintLabel, _Mapping]]] = ..., output_taint: _Optional[_Iterable[_Union[TaintLabel, _Mapping]]] = ..., compensation: _Optional[_Union[Compensation, _Mapping]] = ..., undoes_run_id: _Optional[str] = ..., undoes_node_id: _Optional[str] = ..., undoes_iteration: _Optional[int] = ..., values_left_out: _Optional[_Iterable[str]] = ..., usage: _Optional[_Union[RunUsage, _Mapping]] = ..., budget: _Optional[_Union[Budget, _Mapping]] = ...) -> None: ...

class TaintLabel(_message.Message):
    __slots__ = ("label", "node_id")
    LABEL_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    label: str
    node_id: str
    def __init__(self, label: _Optional[str] = ..., node_id: _Optional[str] = ...) -> None: ...

class Compensation(_message.Message):
    __slots__ = ("undone", "left", "open", "not_undone", "ending", "executions")
    UNDONE_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    NOT_UNDONE_FIELD_NUMBER: _ClassVar[int]
    ENDING_FIELD_NUMBER: _ClassVar[int]
    EXECUTIONS_FIELD_NUMBER: _ClassVar[int]
    undone: int
    left: int
    open: int
    not_undone: _containers.RepeatedCompositeFieldContainer[NotUndone]
    ending: RunStatus
    executions: _containers.RepeatedCompositeFieldContainer[NodeRun]
    def __init__(self, undone: _Optional[int] = ..., left: _Optional[int] = ..., open: _Optional[int] = ..., not_undone: _Optional[_Iterable[_Union[NotUndone, _Mapping]]] = ..., ending: _Optional[_Union[RunStatus, str]] = ..., executions: _Optional[_Iterable[_Union[NodeRun, _Mapping]]] = ...) -> None: ...

class NotUndone(_message.Message):
    __slots__ = ("node_id", "iteration", "message")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    iteration: int
    message: str
    def __init__(self, node_id: _Optional[str] = ..., iteration: _Optional[int] = ..., message: _Optional[str] = ...) -> None: ...

class WorkflowState(_message.Message):
    __slots__ = ("workflow_id", "run_id", "goal", "constraints", "status", "current_node", "current_nodes", "iteration_count", "max_iterations", "started_at", "max_execution_time_ms", "retry_count", "retries", "max_retries", "last_error", "compensation_stack", "waiting_for", "waiting_since", "waiting_timeout_at", "total_tokens_used", "max_token_budget", "total_cost_usd", "budget_usd", "memory_json", "memory", "visited_nodes", "visited_nodes_left_out", "supervisor_history", "created_at", "updated_at", "event_id", "values_left_out")
    class RetriesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CURRENT_NODE_FIELD_NUMBER: _ClassVar[int]
    CURRENT_NODES_FIELD_NUMBER: _ClassVar[int]
    ITERATION_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    MAX_EXECUTION_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    RETRY_COUNT_FIELD_NUMBER: _ClassVar[int]
    RETRIES_FIELD_NUMBER: _ClassVar[int]
    MAX_RETRIES_FIELD_NUMBER: _ClassVar[int]
    LAST_ERROR_FIELD_NUMBER: _ClassVar[int]
    COMPENSATION_STACK_FIELD_NUMBER: _ClassVar[int]
    WAITING_FOR_FIELD_NUMBER: _ClassVar[int]
    WAITING_SINCE_FIELD_NUMBER: _ClassVar[int]
    WAITING_TIMEOUT_AT_FIELD_NUMBER: _ClassVar[int]
    TOTAL_TOKENS_USED_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    TOTAL_COST_USD_FIELD_NUMBER: _ClassVar[int]
    BUDGET_USD_FIELD_NUMBER: _ClassVar[int]
    MEMORY_JSON_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    VISITED_NODES_FIELD_NUMBER: _ClassVar[int]
    VISITED_NODES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    SUPERVISOR_HISTORY_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    run_id: str
    goal: str
    constraints: _containers.RepeatedScalarFieldContainer[str]
    status: RunStatus
    current_node: str
    current_nodes: _containers.RepeatedScalarFieldContainer[str]
    iteration_count: int
    max_iterations: int
    started_at: _timestamp_pb2.Timestamp
    max_execution_time_ms: int
    retry_count: int
    retries: _containers.ScalarMap[str, int]
    max_retries: int
    last_error: str
    compensation_stack: _containers.RepeatedCompositeFieldContainer[CompensationEntry]
    waiting_for: WaitingReason
    waiting_since: _timestamp_pb2.Timestamp
    waiting_timeout_at: _timestamp_pb2.Timestamp
    total_tokens_used: int
    max_token_budget: int
    total_cost_usd: float
    budget_usd: float
    memory_json: bytes
    memory: _struct_pb2.Value
    visited_nodes: _containers.RepeatedScalarFieldContainer[str]
    visited_nodes_left_out: int
    supervisor_history: _containers.RepeatedCompositeFieldContainer[SupervisorDecision]
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    event_id: int
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, workflow_id: _Optional[str] = ..., run_id: _Optional[str] = ..., goal: _Optional[str] = ..., constraints: _Optional[_Iterable[str]] = ..., status: _Optional[_Union[RunStatus, str]] = ..., current_node: _Optional[str] = ..., current_nodes: _Optional[_Iterable[str]] = ..., iteration_count: _Optional[int] = ..., max_iterations: _Optional[int] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., max_execution_time_ms: _Optional[int] = ..., retry_count: _Optional[int] = ..., retries: _Optional[_Mapping[str, int]] = ..., max_retries: _Optional[int] = ..., last_error: _Optional[str] = ..., compensation_stack: _Optional[_Iterable[_Union[CompensationEntry, _Mapping]]] = ..., waiting_for: _Optional[_Union[WaitingReason, str]] = ..., waiting_since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., waiting_timeout_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., total_tokens_used: _Optional[int] = ..., max_token_budget: _Optional[int] = ..., total_cost_usd: _Optional[float] = ..., budget_usd: _Optional[float] = ..., memory_json: _Optional[bytes] = ..., memory: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., visited_nodes: _Optional[_Iterable[str]] = ..., visited_nodes_left_out: _Optional[int] = ..., supervisor_history: _Optional[_Iterable[_Union[SupervisorDecision, _Mapping]]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., event_id: _Optional[int] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class CompensationEntry(_message.Message):
    __slots__ = ("action_id", "compensation_action")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    COMPENSATION_ACTION_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    compensation_action: CompensationAction
    def __init__(self, action_id: _Optional[str] = ..., compensation_action: _Optional[_Union[CompensationAction, _Mapping]] = ...) -> None: ...

class CompensationAction(_message.Message):
    __slots__ = ("type", "payload_json", "payload", "values_left_out")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_JSON_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    type: str
    payload_json: bytes
    payload: _struct_pb2.Value
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, type: _Optional[str] = ..., payload_json: _Optional[bytes] = ..., payload: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class SupervisorDecision(_message.Message):
    __slots__ = ("node_id", "next", "reason", "time", "iteration", "route", "event_id")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    ROUTE_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    next: str
    reason: str
    time: _timestamp_pb2.Timestamp
    iteration: int
    route: str
    event_id: int
    def __init__(self, node_id: _Optional[str] = ..., next: _Optional[str] = ..., reason: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., iteration: _Optional[int] = ..., route: _Optional[str] = ..., event_id: _Optional[int] = ...) -> None: ...

class RunQuarantine(_message.Message):
    __slots__ = ("time", "reason", "detail")
    TIME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    time: _timestamp_pb2.Timestamp
    reason: str
    detail: str
    def __init__(self, time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class NodeRun(_message.Message):
    __slots__ = ("node_id", "iteration", "status", "attempt", "handle", "output_json", "output", "error_message", "cause", "failure_class", "start_time", "end_time", "lost_deliveries", "hold", "output_left_out_bytes", "release_time", "round", "item", "signal", "taint", "read_taint", "turn", "tool", "undoes", "values_left_out", "usage")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    LOST_DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    HOLD_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_LEFT_OUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    RELEASE_TIME_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    ITEM_FIELD_NUMBER: _ClassVar[int]
    SIGNAL_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    READ_TAINT_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    UNDOES_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    iteration: int
    status: NodeStatus
    attempt: int
    handle: str
    output_json: bytes
    output: _struct_pb2.Value
    error_message: str
    cause: str
    failure_class: FailureClass
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    lost_deliveries: int
    hold: NodeHold
    output_left_out_bytes: int
    release_time: _timestamp_pb2.Timestamp
    round: int
    item: int
    signal: SignalWait
    taint: _containers.RepeatedCompositeFieldContainer[TaintLabel]
    read_taint: _containers.RepeatedCompositeFieldContainer[TaintLabel]
    turn: int
    tool: str
    undoes: int
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    usage: RunUsage
    def __init__(self, node_id: _Optional[str] = ..., iteration: _Optional[int] = ..., status: _Optional[_Union[NodeStatus, str]] = ..., attempt: _Optional[int] = ..., handle: _Optional[str] = ..., output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., error_message: _Optional[str] = ..., cause: _Optional[str] = ..., failure_class: _Optional[_Union[FailureClass, str]] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., lost_deliveries: _Optional[int] = ..., hold: _Optional[_Union[NodeHold, _Mapping]] = ..., output_left_out_bytes: _Optional[int] = ..., release_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., round: _Optional[int] = ..., item: _Optional[int] = ..., signal: _Optional[_Union[SignalWait, _Mapping]] = ..., taint: _Optional[_Iterable[_Union[TaintLabel, _Mapping]]] = ..., read_taint: _Optional[_Iterable[_Union[TaintLabel, _Mapping]]] = ..., turn: _Optional[int] = ..., tool: _Optional[str] = ..., undoes: _Optional[int] = ..., values_left_out: _Optional[_Iterable[str]] = ..., usage: _Optional[_Union[RunUsage, _Mapping]] = ...) -> None: ...

class SignalWait(_message.Message):
    __slots__ = ("name", "since_time", "deadline_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SINCE_TIME_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    since_time: _timestamp_pb2.Timestamp
    deadline_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., since_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., deadline_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class NodeHold(_message.Message):
    __slots__ = ("reason", "phase", "output_json", "output", "approval_id", "message", "deadline_time", "output_left_out_bytes", "taint", "values_left_out")
    REASON_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_TIME_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_LEFT_OUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    reason: str
    phase: str
    output_json: bytes
    output: _struct_pb2.Value
    approval_id: str
    message: str
    deadline_time: _timestamp_pb2.Timestamp
    output_left_out_bytes: int
    taint: _containers.RepeatedCompositeFieldContainer[TaintLabel]
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, reason: _Optional[str] = ..., phase: _Optional[str] = ..., output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., approval_id: _Optional[str] = ..., message: _Optional[str] = ..., deadline_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., output_left_out_bytes: _Optional[int] = ..., taint: _Optional[_Iterable[_Union[TaintLabel, _Mapping]]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class Budget(_message.Message):
    __slots__ = ("tokens", "cost_micros", "node_executions", "on_exceeded")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_MICROS_FIELD_NUMBER: _ClassVar[int]
    NODE_EXECUTIONS_FIELD_NUMBER: _ClassVar[int]
    ON_EXCEEDED_FIELD_NUMBER: _ClassVar[int]
    tokens: int
    cost_micros: int
    node_executions: int
    on_exceeded: OnExceeded
    def __init__(self, tokens: _Optional[int] = ..., cost_micros: _Optional[int] = ..., node_executions: _Optional[int] = ..., on_exceeded: _Optional[_Union[OnExceeded, str]] = ...) -> None: ...

class Amounts(_message.Message):
    __slots__ = ("tokens", "cost_micros", "node_executions")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_MICROS_FIELD_NUMBER: _ClassVar[int]
    NODE_EXECUTIONS_FIELD_NUMBER: _ClassVar[int]
    tokens: int
    cost_micros: int
    node_executions: int
    def __init__(self, tokens: _Optional[int] = ..., cost_micros: _Optional[int] = ..., node_executions: _Optional[int] = ...) -> None: ...

class RunUsage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens", "cost_micros", "node_executions", "assumed", "reserved")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_MICROS_FIELD_NUMBER: _ClassVar[int]
    NODE_EXECUTIONS_FIELD_NUMBER: _ClassVar[int]
    ASSUMED_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    cost_micros: int
    node_executions: int
    assumed: Amounts
    reserved: Amounts
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost_micros: _Optional[int] = ..., node_executions: _Optional[int] = ..., assumed: _Optional[_Union[Amounts, _Mapping]] = ..., reserved: _Optional[_Union[Amounts, _Mapping]] = ...) -> None: ...
