from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pawl_sdk._gen.pawl.v1 import run_service_pb2 as _run_service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CommandType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMMAND_TYPE_UNSPECIFIED: _ClassVar[CommandType]
    COMMAND_TYPE_START: _ClassVar[CommandType]
    COMMAND_TYPE_RESUME: _ClassVar[CommandType]

class CommandState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMMAND_STATE_UNSPECIFIED: _ClassVar[CommandState]
    COMMAND_STATE_WAITING: _ClassVar[CommandState]
    COMMAND_STATE_ACTIVE: _ClassVar[CommandState]
    COMMAND_STATE_PAUSED: _ClassVar[CommandState]
    COMMAND_STATE_COMPLETED: _ClassVar[CommandState]
    COMMAND_STATE_DEAD_LETTER: _ClassVar[CommandState]
    COMMAND_STATE_CANCELLED: _ClassVar[CommandState]
    COMMAND_STATE_DISCARDED: _ClassVar[CommandState]
COMMAND_TYPE_UNSPECIFIED: CommandType
COMMAND_TYPE_START: CommandType
COMMAND_TYPE_RESUME: CommandType
COMMAND_STATE_UNSPECIFIED: CommandState
COMMAND_STATE_WAITING: CommandState
COMMAND_STATE_ACTIVE: CommandState
COMMAND_STATE_PAUSED: CommandState
COMMAND_STATE_COMPLETED: CommandState
COMMAND_STATE_DEAD_LETTER: CommandState
COMMAND_STATE_CANCELLED: CommandState
COMMAND_STATE_DISCARDED: CommandState

class CommandAnswer(_message.Message):
    __slots__ = ("node_id", "iteration", "decision", "comment", "decided_by", "response_json", "response", "values_left_out")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_JSON_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    iteration: int
    decision: _run_service_pb2.Decision
    comment: str
    decided_by: str
    response_json: bytes
    response: _struct_pb2.Value
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, node_id: _Optional[str] = ..., iteration: _Optional[int] = ..., decision: _Optional[_Union[_run_service_pb2.Decision, str]] = ..., comment: _Optional[str] = ..., decided_by: _Optional[str] = ..., response_json: _Optional[bytes] = ..., response: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class QueuedCommand(_message.Message):
    __slots__ = ("command_id", "state", "type", "workflow_id", "run_id", "started_run_id", "input_json", "input", "answer", "priority", "attempts", "max_attempts", "error_message", "create_time", "due_time", "values_left_out")
    COMMAND_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    MAX_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    DUE_TIME_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    command_id: str
    state: CommandState
    type: CommandType
    workflow_id: str
    run_id: str
    started_run_id: str
    input_json: bytes
    input: _struct_pb2.Value
    answer: CommandAnswer
    priority: int
    attempts: int
    max_attempts: int
    error_message: str
    create_time: _timestamp_pb2.Timestamp
    due_time: _timestamp_pb2.Timestamp
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, command_id: _Optional[str] = ..., state: _Optional[_Union[CommandState, str]] = ..., type: _Optional[_Union[CommandType, str]] = ..., workflow_id: _Optional[str] = ..., run_id: _Optional[str] = ..., started_run_id: _Optional[str] = ..., input_json: _Optional[bytes] = ..., input: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., answer: _Optional[_Union[CommandAnswer, _Mapping]] = ..., priority: _Optional[int] = ..., attempts: _Optional[int] = ..., max_attempts: _Optional[int] = ..., error_message: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., due_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class CommandDepth(_message.Message):
    __slots__ = ("waiting", "active", "paused", "dead_letter")
    WAITING_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    DEAD_LETTER_FIELD_NUMBER: _ClassVar[int]
    waiting: int
    active: int
    paused: int
    dead_letter: int
    def __init__(self, waiting: _Optional[int] = ..., active: _Optional[int] = ..., paused: _Optional[int] = ..., dead_letter: _Optional[int] = ...) -> None: ...
