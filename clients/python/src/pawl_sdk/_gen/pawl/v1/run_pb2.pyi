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

class Run(_message.Message):
    __slots__ = ("run_id", "workflow_id", "workflow_version", "kind", "status", "has_failures", "last_event_id", "input_json", "input", "output_json", "output", "error_message", "create_time", "end_time", "deadline_time", "nodes", "trace_id", "priority", "waiting_reason", "parent_run_id", "parent_node_id", "parent_iteration", "schedule_id", "schedule_time", "quarantine", "pause", "values_left_out")
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
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_TIME_FIELD_NUMBER: _ClassVar[int]
    QUARANTINE_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
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
    schedule_id: str
    schedule_time: _timestamp_pb2.Timestamp
    quarantine: RunQuarantine
    pause: _pause_pb2.Pause
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run_id: _Optional[str] = ..., workflow_id: _Optional[str] = ..., workflow_version: _Optional[int] = ..., kind: _Optional[_Union[RunKind, str]] = ..., status: _Optional[_Union[RunStatus, str]] = ..., has_failures: bool = ..., last_event_id: _Optional[int] = ..., input_json: _Optional[bytes] = ..., input: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., error_message: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., deadline_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., nodes: _Optional[_Iterable[_Union[NodeRun, _Mapping]]] = ..., trace_id: _Optional[str] = ..., priority: _Optional[int] = ..., waiting_reason: _Optional[str] = ..., parent_run_id: _Optional[str] = ..., parent_node_id: _Optional[str] = ..., parent_iteration: _Optional[int] = ..., schedule_id: _Optional[str] = ..., schedule_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., quarantine: _Optional[_Union[RunQuarantine, _Mapping]] = ..., pause: _Optional[_Union[_pause_pb2.Pause, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

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
    __slots__ = ("node_id", "iteration", "status", "attempt", "handle", "output_json", "output", "error_message", "start_time", "end_time", "lost_deliveries", "hold", "output_left_out_bytes", "release_time", "round", "item", "values_left_out")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    LOST_DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    HOLD_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_LEFT_OUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    RELEASE_TIME_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    ITEM_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    iteration: int
    status: NodeStatus
    attempt: int
    handle: str
    output_json: bytes
    output: _struct_pb2.Value
    error_message: str
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    lost_deliveries: int
    hold: NodeHold
    output_left_out_bytes: int
    release_time: _timestamp_pb2.Timestamp
    round: int
    item: int
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, node_id: _Optional[str] = ..., iteration: _Optional[int] = ..., status: _Optional[_Union[NodeStatus, str]] = ..., attempt: _Optional[int] = ..., handle: _Optional[str] = ..., output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., error_message: _Optional[str] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., lost_deliveries: _Optional[int] = ..., hold: _Optional[_Union[NodeHold, _Mapping]] = ..., output_left_out_bytes: _Optional[int] = ..., release_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., round: _Optional[int] = ..., item: _Optional[int] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class NodeHold(_message.Message):
    __slots__ = ("reason", "phase", "output_json", "output", "approval_id", "message", "deadline_time", "output_left_out_bytes", "values_left_out")
    REASON_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_TIME_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_LEFT_OUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    reason: str
    phase: str
    output_json: bytes
    output: _struct_pb2.Value
    approval_id: str
    message: str
    deadline_time: _timestamp_pb2.Timestamp
    output_left_out_bytes: int
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, reason: _Optional[str] = ..., phase: _Optional[str] = ..., output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., approval_id: _Optional[str] = ..., message: _Optional[str] = ..., deadline_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., output_left_out_bytes: _Optional[int] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...
