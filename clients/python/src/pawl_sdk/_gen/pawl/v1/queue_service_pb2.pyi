from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pawl_sdk._gen.pawl.v1 import pause_pb2 as _pause_pb2
from pawl_sdk._gen.pawl.v1 import queued_command_pb2 as _queued_command_pb2
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
    __slots__ = ("total", "queues", "commands")
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    total: QueueDepth
    queues: _containers.RepeatedCompositeFieldContainer[QueueDepth]
    commands: _queued_command_pb2.CommandDepth
    def __init__(self, total: _Optional[_Union[QueueDepth, _Mapping]] = ..., queues: _Optional[_Iterable[_Union[QueueDepth, _Mapping]]] = ..., commands: _Optional[_Union[_queued_command_pb2.CommandDepth, _Mapping]] = ...) -> None: ...

class GetQueueStatsRequest(_message.Message):
    __slots__ = ("node_type", "range", "step")
    NODE_TYPE_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    node_type: str
    range: _duration_pb2.Duration
    step: _duration_pb2.Duration
    def __init__(self, node_type: _Optional[str] = ..., range: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., step: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class QueueStats(_message.Message):
    __slots__ = ("time", "node_type", "slots", "active", "available", "waiting", "oldest_ms", "median_ms", "runs_pending", "runs_running", "pending_oldest_ms", "pending_median_ms", "connections", "connections_in_use")
    TIME_FIELD_NUMBER: _ClassVar[int]
    NODE_TYPE_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    OLDEST_MS_FIELD_NUMBER: _ClassVar[int]
    MEDIAN_MS_FIELD_NUMBER: _ClassVar[int]
    RUNS_PENDING_FIELD_NUMBER: _ClassVar[int]
    RUNS_RUNNING_FIELD_NUMBER: _ClassVar[int]
    PENDING_OLDEST_MS_FIELD_NUMBER: _ClassVar[int]
    PENDING_MEDIAN_MS_FIELD_NUMBER: _ClassVar[int]
    CONNECTIONS_FIELD_NUMBER: _ClassVar[int]
    CONNECTIONS_IN_USE_FIELD_NUMBER: _ClassVar[int]
    time: _timestamp_pb2.Timestamp
    node_type: str
    slots: int
    active: int
    available: int
    waiting: int
    oldest_ms: int
    median_ms: int
    runs_pending: int
    runs_running: int
    pending_oldest_ms: int
    pending_median_ms: int
    connections: int
    connections_in_use: int
    def __init__(self, time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., node_type: _Optional[str] = ..., slots: _Optional[int] = ..., active: _Optional[int] = ..., available: _Optional[int] = ..., waiting: _Optional[int] = ..., oldest_ms: _Optional[int] = ..., median_ms: _Optional[int] = ..., runs_pending: _Optional[int] = ..., runs_running: _Optional[int] = ..., pending_oldest_ms: _Optional[int] = ..., pending_median_ms: _Optional[int] = ..., connections: _Optional[int] = ..., connections_in_use: _Optional[int] = ...) -> None: ...

class PoolStats(_message.Message):
    __slots__ = ("process_id", "service", "kind", "pool", "size", "in_use", "idle")
    PROCESS_ID_FIELD_NUMBER: _ClassVar[int]
    SERVICE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    IN_USE_FIELD_NUMBER: _ClassVar[int]
    IDLE_FIELD_NUMBER: _ClassVar[int]
    process_id: str
    service: str
    kind: str
    pool: str
    size: int
    in_use: int
    idle: int
    def __init__(self, process_id: _Optional[str] = ..., service: _Optional[str] = ..., kind: _Optional[str] = ..., pool: _Optional[str] = ..., size: _Optional[int] = ..., in_use: _Optional[int] = ..., idle: _Optional[int] = ...) -> None: ...

class GetQueueStatsResponse(_message.Message):
    __slots__ = ("total", "queues", "pools", "points", "step")
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    POOLS_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    total: QueueStats
    queues: _containers.RepeatedCompositeFieldContainer[QueueStats]
    pools: _containers.RepeatedCompositeFieldContainer[PoolStats]
    points: _containers.RepeatedCompositeFieldContainer[QueueStats]
    step: _duration_pb2.Duration
    def __init__(self, total: _Optional[_Union[QueueStats, _Mapping]] = ..., queues: _Optional[_Iterable[_Union[QueueStats, _Mapping]]] = ..., pools: _Optional[_Iterable[_Union[PoolStats, _Mapping]]] = ..., points: _Optional[_Iterable[_Union[QueueStats, _Mapping]]] = ..., step: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class EnqueueCommandRequest(_message.Message):
    __slots__ = ("type", "workflow_id", "run_id", "input_json", "input", "answer", "priority", "max_attempts", "delay", "request_id")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    MAX_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    DELAY_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    type: _queued_command_pb2.CommandType
    workflow_id: str
    run_id: str
    input_json: bytes
    input: _struct_pb2.Value
    answer: _queued_command_pb2.CommandAnswer
    priority: int
    max_attempts: int
    delay: _duration_pb2.Duration
    request_id: str
    def __init__(self, type: _Optional[_Union[_queued_command_pb2.CommandType, str]] = ..., workflow_id: _Optional[str] = ..., run_id: _Optional[str] = ..., input_json: _Optional[bytes] = ..., input: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., answer: _Optional[_Union[_queued_command_pb2.CommandAnswer, _Mapping]] = ..., priority: _Optional[int] = ..., max_attempts: _Optional[int] = ..., delay: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class EnqueueCommandResponse(_message.Message):
    __slots__ = ("command",)
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    command: _queued_command_pb2.QueuedCommand
    def __init__(self, command: _Optional[_Union[_queued_command_pb2.QueuedCommand, _Mapping]] = ...) -> None: ...

class GetCommandRequest(_message.Message):
    __slots__ = ("command_id",)
    COMMAND_ID_FIELD_NUMBER: _ClassVar[int]
    command_id: str
    def __init__(self, command_id: _Optional[str] = ...) -> None: ...

class GetCommandResponse(_message.Message):
    __slots__ = ("command",)
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    command: _queued_command_pb2.QueuedCommand
    def __init__(self, command: _Optional[_Union[_queued_command_pb2.QueuedCommand, _Mapping]] = ...) -> None: ...

class ListCommandsRequest(_message.Message):
    __slots__ = ("states", "page_size", "page_token")
    STATES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedScalarFieldContainer[_queued_command_pb2.CommandState]
    page_size: int
    page_token: str
    def __init__(self, states: _Optional[_Iterable[_Union[_queued_command_pb2.CommandState, str]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListCommandsResponse(_message.Message):
    __slots__ = ("commands", "next_page_token")
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    commands: _containers.RepeatedCompositeFieldContainer[_queued_command_pb2.QueuedCommand]
    next_page_token: str
    def __init__(self, commands: _Optional[_Iterable[_Union[_queued_command_pb2.QueuedCommand, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class CancelCommandRequest(_message.Message):
    __slots__ = ("command_id", "request_id")
    COMMAND_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    command_id: str
    request_id: str
    def __init__(self, command_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class CancelCommandResponse(_message.Message):
    __slots__ = ("command",)
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    command: _queued_command_pb2.QueuedCommand
    def __init__(self, command: _Optional[_Union[_queued_command_pb2.QueuedCommand, _Mapping]] = ...) -> None: ...

class RedriveCommandRequest(_message.Message):
    __slots__ = ("command_id", "request_id")
    COMMAND_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    command_id: str
    request_id: str
    def __init__(self, command_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class RedriveCommandResponse(_message.Message):
    __slots__ = ("command",)
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    command: _queued_command_pb2.QueuedCommand
    def __init__(self, command: _Optional[_Union[_queued_command_pb2.QueuedCommand, _Mapping]] = ...) -> None: ...

class DiscardCommandRequest(_message.Message):
    __slots__ = ("command_id", "request_id")
    COMMAND_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    command_id: str
    request_id: str
    def __init__(self, command_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class DiscardCommandResponse(_message.Message):
    __slots__ = ("command",)
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    command: _queued_command_pb2.QueuedCommand
    def __init__(self, command: _Optional[_Union[_queued_command_pb2.QueuedCommand, _Mapping]] = ...) -> None: ...

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
