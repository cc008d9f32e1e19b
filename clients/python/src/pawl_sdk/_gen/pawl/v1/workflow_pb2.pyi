from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pawl_sdk._gen.pawl.v1 import run_pb2 as _run_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Workflow(_message.Message):
    __slots__ = ("workflow_id", "version", "title", "definition_json", "definition", "definition_digest", "create_time", "update_time", "node_count", "values_left_out")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_JSON_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    NODE_COUNT_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    version: int
    title: str
    definition_json: bytes
    definition: _struct_pb2.Value
    definition_digest: str
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    node_count: int
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, workflow_id: _Optional[str] = ..., version: _Optional[int] = ..., title: _Optional[str] = ..., definition_json: _Optional[bytes] = ..., definition: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., definition_digest: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., node_count: _Optional[int] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class DefinitionSource(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class Violation(_message.Message):
    __slots__ = ("path", "reason", "message", "node_id", "line", "column")
    PATH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    path: str
    reason: str
    message: str
    node_id: str
    line: int
    column: int
    def __init__(self, path: _Optional[str] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., node_id: _Optional[str] = ..., line: _Optional[int] = ..., column: _Optional[int] = ...) -> None: ...

class DailyBudget(_message.Message):
    __slots__ = ("workflow_id", "day", "limit", "reserved", "used", "reset_time")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    DAY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    RESET_TIME_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    day: str
    limit: _run_pb2.Amounts
    reserved: _run_pb2.Amounts
    used: _run_pb2.Amounts
    reset_time: _timestamp_pb2.Timestamp
    def __init__(self, workflow_id: _Optional[str] = ..., day: _Optional[str] = ..., limit: _Optional[_Union[_run_pb2.Amounts, _Mapping]] = ..., reserved: _Optional[_Union[_run_pb2.Amounts, _Mapping]] = ..., used: _Optional[_Union[_run_pb2.Amounts, _Mapping]] = ..., reset_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
