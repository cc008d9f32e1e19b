from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EffectState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EFFECT_STATE_UNSPECIFIED: _ClassVar[EffectState]
    EFFECT_STATE_BEGUN: _ClassVar[EffectState]
    EFFECT_STATE_COMMITTED: _ClassVar[EffectState]
EFFECT_STATE_UNSPECIFIED: EffectState
EFFECT_STATE_BEGUN: EffectState
EFFECT_STATE_COMMITTED: EffectState

class Effect(_message.Message):
    __slots__ = ("key", "node_id", "iteration", "name", "effect_class", "state", "attempt", "begin_epoch", "commit_epoch", "begin_time", "commit_time")
    KEY_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    EFFECT_CLASS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    BEGIN_EPOCH_FIELD_NUMBER: _ClassVar[int]
    COMMIT_EPOCH_FIELD_NUMBER: _ClassVar[int]
    BEGIN_TIME_FIELD_NUMBER: _ClassVar[int]
    COMMIT_TIME_FIELD_NUMBER: _ClassVar[int]
    key: str
    node_id: str
    iteration: int
    name: str
    effect_class: str
    state: EffectState
    attempt: int
    begin_epoch: int
    commit_epoch: int
    begin_time: _timestamp_pb2.Timestamp
    commit_time: _timestamp_pb2.Timestamp
    def __init__(self, key: _Optional[str] = ..., node_id: _Optional[str] = ..., iteration: _Optional[int] = ..., name: _Optional[str] = ..., effect_class: _Optional[str] = ..., state: _Optional[_Union[EffectState, str]] = ..., attempt: _Optional[int] = ..., begin_epoch: _Optional[int] = ..., commit_epoch: _Optional[int] = ..., begin_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., commit_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
