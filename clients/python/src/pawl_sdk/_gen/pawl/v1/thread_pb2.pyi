from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ThreadStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    THREAD_STATUS_UNSPECIFIED: _ClassVar[ThreadStatus]
    THREAD_STATUS_IDLE: _ClassVar[ThreadStatus]
    THREAD_STATUS_BUSY: _ClassVar[ThreadStatus]
    THREAD_STATUS_INTERRUPTED: _ClassVar[ThreadStatus]
    THREAD_STATUS_ERROR: _ClassVar[ThreadStatus]
THREAD_STATUS_UNSPECIFIED: ThreadStatus
THREAD_STATUS_IDLE: ThreadStatus
THREAD_STATUS_BUSY: ThreadStatus
THREAD_STATUS_INTERRUPTED: ThreadStatus
THREAD_STATUS_ERROR: ThreadStatus

class Thread(_message.Message):
    __slots__ = ("thread_id", "status", "metadata_json", "metadata", "run_id", "state_run_id", "run_count", "create_time", "update_time", "forked_from", "assistant_id", "values_left_out")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    FORKED_FROM_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_ID_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    status: ThreadStatus
    metadata_json: bytes
    metadata: _struct_pb2.Value
    run_id: str
    state_run_id: str
    run_count: int
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    forked_from: str
    assistant_id: str
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, thread_id: _Optional[str] = ..., status: _Optional[_Union[ThreadStatus, str]] = ..., metadata_json: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., run_id: _Optional[str] = ..., state_run_id: _Optional[str] = ..., run_count: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., forked_from: _Optional[str] = ..., assistant_id: _Optional[str] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class ThreadState(_message.Message):
    __slots__ = ("memory_json", "memory", "output_json", "output", "run_id", "values_left_out")
    MEMORY_JSON_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    memory_json: bytes
    memory: _struct_pb2.Value
    output_json: bytes
    output: _struct_pb2.Value
    run_id: str
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, memory_json: _Optional[bytes] = ..., memory: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., run_id: _Optional[str] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...
