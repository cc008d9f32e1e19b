from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pawl_sdk._gen.pawl.v1 import run_pb2 as _run_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ExplainReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EXPLAIN_REASON_UNSPECIFIED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_WAITING_PARENTS: _ClassVar[ExplainReason]
    EXPLAIN_REASON_DECIDING: _ClassVar[ExplainReason]
    EXPLAIN_REASON_BACKOFF: _ClassVar[ExplainReason]
    EXPLAIN_REASON_DELAYED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_QUEUED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_NO_EXECUTOR: _ClassVar[ExplainReason]
    EXPLAIN_REASON_EXECUTORS_FULL: _ClassVar[ExplainReason]
    EXPLAIN_REASON_RUNNING: _ClassVar[ExplainReason]
    EXPLAIN_REASON_LEASE_LOST: _ClassVar[ExplainReason]
    EXPLAIN_REASON_WAITING_PERSON: _ClassVar[ExplainReason]
    EXPLAIN_REASON_WAITING_CHILD_RUN: _ClassVar[ExplainReason]
    EXPLAIN_REASON_BLOCKED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_RUN_PAUSED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_RUN_ENDED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_COMPLETED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_FAILED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_UPSTREAM_FAILED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_DELIVERY_EXHAUSTED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_TIMED_OUT: _ClassVar[ExplainReason]
    EXPLAIN_REASON_CANCELLED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_UNTAKEN_BRANCH: _ClassVar[ExplainReason]
    EXPLAIN_REASON_PARENT_NOT_COMPLETED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_INVALIDATED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_WAITING_ITERATIONS: _ClassVar[ExplainReason]
    EXPLAIN_REASON_WAITING_SLOT: _ClassVar[ExplainReason]
    EXPLAIN_REASON_WAITING_RATE: _ClassVar[ExplainReason]
    EXPLAIN_REASON_QUEUE_PAUSED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_RESULT_UNSTORED: _ClassVar[ExplainReason]
    EXPLAIN_REASON_WAITING_SIGNAL: _ClassVar[ExplainReason]
    EXPLAIN_REASON_WAITING_BUDGET: _ClassVar[ExplainReason]
    EXPLAIN_REASON_WAITING_THREAD: _ClassVar[ExplainReason]
EXPLAIN_REASON_UNSPECIFIED: ExplainReason
EXPLAIN_REASON_WAITING_PARENTS: ExplainReason
EXPLAIN_REASON_DECIDING: ExplainReason
EXPLAIN_REASON_BACKOFF: ExplainReason
EXPLAIN_REASON_DELAYED: ExplainReason
EXPLAIN_REASON_QUEUED: ExplainReason
EXPLAIN_REASON_NO_EXECUTOR: ExplainReason
EXPLAIN_REASON_EXECUTORS_FULL: ExplainReason
EXPLAIN_REASON_RUNNING: ExplainReason
EXPLAIN_REASON_LEASE_LOST: ExplainReason
EXPLAIN_REASON_WAITING_PERSON: ExplainReason
EXPLAIN_REASON_WAITING_CHILD_RUN: ExplainReason
EXPLAIN_REASON_BLOCKED: ExplainReason
EXPLAIN_REASON_RUN_PAUSED: ExplainReason
EXPLAIN_REASON_RUN_ENDED: ExplainReason
EXPLAIN_REASON_COMPLETED: ExplainReason
EXPLAIN_REASON_FAILED: ExplainReason
EXPLAIN_REASON_UPSTREAM_FAILED: ExplainReason
EXPLAIN_REASON_DELIVERY_EXHAUSTED: ExplainReason
EXPLAIN_REASON_TIMED_OUT: ExplainReason
EXPLAIN_REASON_CANCELLED: ExplainReason
EXPLAIN_REASON_UNTAKEN_BRANCH: ExplainReason
EXPLAIN_REASON_PARENT_NOT_COMPLETED: ExplainReason
EXPLAIN_REASON_INVALIDATED: ExplainReason
EXPLAIN_REASON_WAITING_ITERATIONS: ExplainReason
EXPLAIN_REASON_WAITING_SLOT: ExplainReason
EXPLAIN_REASON_WAITING_RATE: ExplainReason
EXPLAIN_REASON_QUEUE_PAUSED: ExplainReason
EXPLAIN_REASON_RESULT_UNSTORED: ExplainReason
EXPLAIN_REASON_WAITING_SIGNAL: ExplainReason
EXPLAIN_REASON_WAITING_BUDGET: ExplainReason
EXPLAIN_REASON_WAITING_THREAD: ExplainReason

class Explanation(_message.Message):
    __slots__ = ("reason", "status", "summary", "evidence", "next", "since_time", "until_time", "cause", "failure_class", "slot_wait")
    REASON_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    SINCE_TIME_FIELD_NUMBER: _ClassVar[int]
    UNTIL_TIME_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    SLOT_WAIT_FIELD_NUMBER: _ClassVar[int]
    reason: ExplainReason
    status: _run_pb2.NodeStatus
    summary: str
    evidence: _containers.RepeatedCompositeFieldContainer[Evidence]
    next: str
    since_time: _timestamp_pb2.Timestamp
    until_time: _timestamp_pb2.Timestamp
    cause: str
    failure_class: _run_pb2.FailureClass
    slot_wait: SlotWait
    def __init__(self, reason: _Optional[_Union[ExplainReason, str]] = ..., status: _Optional[_Union[_run_pb2.NodeStatus, str]] = ..., summary: _Optional[str] = ..., evidence: _Optional[_Iterable[_Union[Evidence, _Mapping]]] = ..., next: _Optional[str] = ..., since_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., until_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., cause: _Optional[str] = ..., failure_class: _Optional[_Union[_run_pb2.FailureClass, str]] = ..., slot_wait: _Optional[_Union[SlotWait, _Mapping]] = ...) -> None: ...

class SlotWait(_message.Message):
    __slots__ = ("key", "is_rate", "limit", "taken_count", "holders", "ahead_count")
    KEY_FIELD_NUMBER: _ClassVar[int]
    IS_RATE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    TAKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    HOLDERS_FIELD_NUMBER: _ClassVar[int]
    AHEAD_COUNT_FIELD_NUMBER: _ClassVar[int]
    key: str
    is_rate: bool
    limit: int
    taken_count: int
    holders: _containers.RepeatedCompositeFieldContainer[SlotHolder]
    ahead_count: int
    def __init__(self, key: _Optional[str] = ..., is_rate: bool = ..., limit: _Optional[int] = ..., taken_count: _Optional[int] = ..., holders: _Optional[_Iterable[_Union[SlotHolder, _Mapping]]] = ..., ahead_count: _Optional[int] = ...) -> None: ...

class SlotHolder(_message.Message):
    __slots__ = ("run_id", "node_id", "iteration")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    node_id: str
    iteration: int
    def __init__(self, run_id: _Optional[str] = ..., node_id: _Optional[str] = ..., iteration: _Optional[int] = ...) -> None: ...

class Evidence(_message.Message):
    __slots__ = ("event_id", "type", "node_id")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    event_id: int
    type: str
    node_id: str
    def __init__(self, event_id: _Optional[int] = ..., type: _Optional[str] = ..., node_id: _Optional[str] = ...) -> None: ...

class TaintTrace(_message.Message):
    __slots__ = ("labels", "steps", "truncated")
    LABELS_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    labels: _containers.RepeatedCompositeFieldContainer[_run_pb2.TaintLabel]
    steps: _containers.RepeatedCompositeFieldContainer[TaintStep]
    truncated: bool
    def __init__(self, labels: _Optional[_Iterable[_Union[_run_pb2.TaintLabel, _Mapping]]] = ..., steps: _Optional[_Iterable[_Union[TaintStep, _Mapping]]] = ..., truncated: bool = ...) -> None: ...

class TaintStep(_message.Message):
    __slots__ = ("event_id", "type", "node_id", "iteration", "labels", "added", "dropped", "reason", "sources", "run_id")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ADDED_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    event_id: int
    type: str
    node_id: str
    iteration: int
    labels: _containers.RepeatedScalarFieldContainer[str]
    added: _containers.RepeatedScalarFieldContainer[str]
    dropped: _containers.RepeatedScalarFieldContainer[str]
    reason: str
    sources: _containers.RepeatedCompositeFieldContainer[TaintSource]
    run_id: str
    def __init__(self, event_id: _Optional[int] = ..., type: _Optional[str] = ..., node_id: _Optional[str] = ..., iteration: _Optional[int] = ..., labels: _Optional[_Iterable[str]] = ..., added: _Optional[_Iterable[str]] = ..., dropped: _Optional[_Iterable[str]] = ..., reason: _Optional[str] = ..., sources: _Optional[_Iterable[_Union[TaintSource, _Mapping]]] = ..., run_id: _Optional[str] = ...) -> None: ...

class TaintSource(_message.Message):
    __slots__ = ("name", "event_id", "labels")
    FROM_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    name: str
    event_id: int
    labels: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., event_id: _Optional[int] = ..., labels: _Optional[_Iterable[str]] = ..., **kwargs) -> None: ...
