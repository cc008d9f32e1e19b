from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pawl_sdk._gen.pawl.v1 import pause_pb2 as _pause_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DeadLetterState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DEAD_LETTER_STATE_UNSPECIFIED: _ClassVar[DeadLetterState]
    DEAD_LETTER_STATE_OPEN: _ClassVar[DeadLetterState]
    DEAD_LETTER_STATE_REDRIVEN: _ClassVar[DeadLetterState]
    DEAD_LETTER_STATE_DISCARDED: _ClassVar[DeadLetterState]
DEAD_LETTER_STATE_UNSPECIFIED: DeadLetterState
DEAD_LETTER_STATE_OPEN: DeadLetterState
DEAD_LETTER_STATE_REDRIVEN: DeadLetterState
DEAD_LETTER_STATE_DISCARDED: DeadLetterState

class GetQueueDepthRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class QueueDepth(_message.Message):
    __slots__ = ("node_type", "waiting", "active", "paused", "dead_letter", "held")
    NODE_TYPE_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    DEAD_LETTER_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    node_type: str
    waiting: int
    active: int
    paused: int
    dead_letter: int
    held: bool
    def __init__(self, node_type: _Optional[str] = ..., waiting: _Optional[int] = ..., active: _Optional[int] = ..., paused: _Optional[int] = ..., dead_letter: _Optional[int] = ..., held: bool = ...) -> None: ...

class GetQueueDepthResponse(_message.Message):
    __slots__ = ("total", "queues")
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    total: QueueDepth
    queues: _containers.RepeatedCompositeFieldContainer[QueueDepth]
    def __init__(self, total: _Optional[_Union[QueueDepth, _Mapping]] = ..., queues: _Optional[_Iterable[_Union[QueueDepth, _Mapping]]] = ...) -> None: ...

class DeadLetter(_message.Message):
    __slots__ = ("dead_letter_id", "run_id", "workflow_id", "node_id", "iteration", "attempt", "node_type", "deliveries", "executor_id", "reason", "error_message", "die_time", "state", "redrive_run_id", "close_time")
    DEAD_LETTER_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    NODE_TYPE_FIELD_NUMBER: _ClassVar[int]
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DIE_TIME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REDRIVE_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CLOSE_TIME_FIELD_NUMBER: _ClassVar[int]
    dead_letter_id: str
    run_id: str
    workflow_id: str
    node_id: str
    iteration: int
    attempt: int
    node_type: str
    deliveries: int
    executor_id: str
    reason: str
    error_message: str
    die_time: _timestamp_pb2.Timestamp
    state: DeadLetterState
    redrive_run_id: str
    close_time: _timestamp_pb2.Timestamp
    def __init__(self, dead_letter_id: _Optional[str] = ..., run_id: _Optional[str] = ..., workflow_id: _Optional[str] = ..., node_id: _Optional[str] = ..., iteration: _Optional[int] = ..., attempt: _Optional[int] = ..., node_type: _Optional[str] = ..., deliveries: _Optional[int] = ..., executor_id: _Optional[str] = ..., reason: _Optional[str] = ..., error_message: _Optional[str] = ..., die_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., state: _Optional[_Union[DeadLetterState, str]] = ..., redrive_run_id: _Optional[str] = ..., close_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class DeadLetterFilter(_message.Message):
    __slots__ = ("dead_letter_ids", "workflow_id", "node_type", "before_time")
    DEAD_LETTER_IDS_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_TYPE_FIELD_NUMBER: _ClassVar[int]
    BEFORE_TIME_FIELD_NUMBER: _ClassVar[int]
    dead_letter_ids: _containers.RepeatedScalarFieldContainer[str]
    workflow_id: str
    node_type: str
    before_time: _timestamp_pb2.Timestamp
    def __init__(self, dead_letter_ids: _Optional[_Iterable[str]] = ..., workflow_id: _Optional[str] = ..., node_type: _Optional[str] = ..., before_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListDeadLettersRequest(_message.Message):
    __slots__ = ("filter", "states", "page_size", "page_token")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    filter: DeadLetterFilter
    states: _containers.RepeatedScalarFieldContainer[DeadLetterState]
    page_size: int
    page_token: str
    def __init__(self, filter: _Optional[_Union[DeadLetterFilter, _Mapping]] = ..., states: _Optional[_Iterable[_Union[DeadLetterState, str]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDeadLettersResponse(_message.Message):
    __slots__ = ("dead_letters", "next_page_token")
    DEAD_LETTERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    dead_letters: _containers.RepeatedCompositeFieldContainer[DeadLetter]
    next_page_token: str
    def __init__(self, dead_letters: _Optional[_Iterable[_Union[DeadLetter, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class LeftDeadLetters(_message.Message):
    __slots__ = ("reason", "count")
    REASON_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    reason: str
    count: int
    def __init__(self, reason: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class PreviewRedriveRequest(_message.Message):
    __slots__ = ("filter", "limit")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    filter: DeadLetterFilter
    limit: int
    def __init__(self, filter: _Optional[_Union[DeadLetterFilter, _Mapping]] = ..., limit: _Optional[int] = ...) -> None: ...

class PreviewRedriveResponse(_message.Message):
    __slots__ = ("redriven", "runs", "left", "first_ids")
    REDRIVEN_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    FIRST_IDS_FIELD_NUMBER: _ClassVar[int]
    redriven: int
    runs: int
    left: _containers.RepeatedCompositeFieldContainer[LeftDeadLetters]
    first_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, redriven: _Optional[int] = ..., runs: _Optional[int] = ..., left: _Optional[_Iterable[_Union[LeftDeadLetters, _Mapping]]] = ..., first_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class RedriveDeadLettersRequest(_message.Message):
    __slots__ = ("filter", "limit", "max_per_second", "request_id")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    MAX_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    filter: DeadLetterFilter
    limit: int
    max_per_second: int
    request_id: str
    def __init__(self, filter: _Optional[_Union[DeadLetterFilter, _Mapping]] = ..., limit: _Optional[int] = ..., max_per_second: _Optional[int] = ..., request_id: _Optional[str] = ...) -> None: ...

class RedrivenLetter(_message.Message):
    __slots__ = ("dead_letter_id", "run_id")
    DEAD_LETTER_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    dead_letter_id: str
    run_id: str
    def __init__(self, dead_letter_id: _Optional[str] = ..., run_id: _Optional[str] = ...) -> None: ...

class RedriveDeadLettersResponse(_message.Message):
    __slots__ = ("redriven", "left", "remaining")
    REDRIVEN_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    redriven: _containers.RepeatedCompositeFieldContainer[RedrivenLetter]
    left: _containers.RepeatedCompositeFieldContainer[LeftDeadLetters]
    remaining: int
    def __init__(self, redriven: _Optional[_Iterable[_Union[RedrivenLetter, _Mapping]]] = ..., left: _Optional[_Iterable[_Union[LeftDeadLetters, _Mapping]]] = ..., remaining: _Optional[int] = ...) -> None: ...

class DiscardDeadLettersRequest(_message.Message):
    __slots__ = ("filter", "limit", "request_id")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    filter: DeadLetterFilter
    limit: int
    request_id: str
    def __init__(self, filter: _Optional[_Union[DeadLetterFilter, _Mapping]] = ..., limit: _Optional[int] = ..., request_id: _Optional[str] = ...) -> None: ...

class DiscardDeadLettersResponse(_message.Message):
    __slots__ = ("dead_letter_ids",)
    DEAD_LETTER_IDS_FIELD_NUMBER: _ClassVar[int]
    dead_letter_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, dead_letter_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class PauseQueueRequest(_message.Message):
    __slots__ = ("node_type", "by", "reason", "request_id")
    NODE_TYPE_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    node_type: str
    by: str
    reason: str
    request_id: str
    def __init__(self, node_type: _Optional[str] = ..., by: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class PauseQueueResponse(_message.Message):
    __slots__ = ("pause",)
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    pause: _pause_pb2.Pause
    def __init__(self, pause: _Optional[_Union[_pause_pb2.Pause, _Mapping]] = ...) -> None: ...

class ResumeQueueRequest(_message.Message):
    __slots__ = ("node_type", "by", "reason", "request_id")
    NODE_TYPE_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    node_type: str
    by: str
    reason: str
    request_id: str
    def __init__(self, node_type: _Optional[str] = ..., by: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class ResumeQueueResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListPausesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListPausesResponse(_message.Message):
    __slots__ = ("pauses",)
    PAUSES_FIELD_NUMBER: _ClassVar[int]
    pauses: _containers.RepeatedCompositeFieldContainer[_pause_pb2.Pause]
    def __init__(self, pauses: _Optional[_Iterable[_Union[_pause_pb2.Pause, _Mapping]]] = ...) -> None: ...
