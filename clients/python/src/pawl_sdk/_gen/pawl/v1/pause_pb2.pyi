from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PauseScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PAUSE_SCOPE_UNSPECIFIED: _ClassVar[PauseScope]
    PAUSE_SCOPE_RUN: _ClassVar[PauseScope]
    PAUSE_SCOPE_WORKFLOW: _ClassVar[PauseScope]
    PAUSE_SCOPE_QUEUE: _ClassVar[PauseScope]
PAUSE_SCOPE_UNSPECIFIED: PauseScope
PAUSE_SCOPE_RUN: PauseScope
PAUSE_SCOPE_WORKFLOW: PauseScope
PAUSE_SCOPE_QUEUE: PauseScope

class Pause(_message.Message):
    __slots__ = ("scope", "name", "by", "reason", "since_time", "resuming", "pausing", "waiting_for")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SINCE_TIME_FIELD_NUMBER: _ClassVar[int]
    RESUMING_FIELD_NUMBER: _ClassVar[int]
    PAUSING_FIELD_NUMBER: _ClassVar[int]
    WAITING_FOR_FIELD_NUMBER: _ClassVar[int]
    scope: PauseScope
    name: str
    by: str
    reason: str
    since_time: _timestamp_pb2.Timestamp
    resuming: bool
    pausing: bool
    waiting_for: str
    def __init__(self, scope: _Optional[_Union[PauseScope, str]] = ..., name: _Optional[str] = ..., by: _Optional[str] = ..., reason: _Optional[str] = ..., since_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., resuming: bool = ..., pausing: bool = ..., waiting_for: _Optional[str] = ...) -> None: ...
