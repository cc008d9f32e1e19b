from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NodeType(_message.Message):
    __slots__ = ("type", "description", "built_in", "input_schema", "output_schema", "config_schema", "executors", "update_time", "external")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    BUILT_IN_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    CONFIG_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    EXECUTORS_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_FIELD_NUMBER: _ClassVar[int]
    type: str
    description: str
    built_in: bool
    input_schema: str
    output_schema: str
    config_schema: str
    executors: int
    update_time: _timestamp_pb2.Timestamp
    external: bool
    def __init__(self, type: _Optional[str] = ..., description: _Optional[str] = ..., built_in: bool = ..., input_schema: _Optional[str] = ..., output_schema: _Optional[str] = ..., config_schema: _Optional[str] = ..., executors: _Optional[int] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., external: bool = ...) -> None: ...

class ListNodeTypesRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListNodeTypesResponse(_message.Message):
    __slots__ = ("node_types", "next_page_token")
    NODE_TYPES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    node_types: _containers.RepeatedCompositeFieldContainer[NodeType]
    next_page_token: str
    def __init__(self, node_types: _Optional[_Iterable[_Union[NodeType, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetNodeTypeRequest(_message.Message):
    __slots__ = ("type",)
    TYPE_FIELD_NUMBER: _ClassVar[int]
    type: str
    def __init__(self, type: _Optional[str] = ...) -> None: ...

class GetNodeTypeResponse(_message.Message):
    __slots__ = ("node_type",)
    NODE_TYPE_FIELD_NUMBER: _ClassVar[int]
    node_type: NodeType
    def __init__(self, node_type: _Optional[_Union[NodeType, _Mapping]] = ...) -> None: ...

class Executor(_message.Message):
    __slots__ = ("executor_id", "description", "process_name", "language", "sdk", "build", "node_types", "slots", "busy", "silent_ms", "scheduler_id", "connect_time", "give_up_ms")
    EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PROCESS_NAME_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    SDK_FIELD_NUMBER: _ClassVar[int]
    BUILD_FIELD_NUMBER: _ClassVar[int]
    NODE_TYPES_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    BUSY_FIELD_NUMBER: _ClassVar[int]
    SILENT_MS_FIELD_NUMBER: _ClassVar[int]
    SCHEDULER_ID_FIELD_NUMBER: _ClassVar[int]
    CONNECT_TIME_FIELD_NUMBER: _ClassVar[int]
    GIVE_UP_MS_FIELD_NUMBER: _ClassVar[int]
    executor_id: str
    description: str
    process_name: str
    language: str
    sdk: str
    build: str
    node_types: _containers.RepeatedScalarFieldContainer[str]
    slots: int
    busy: int
    silent_ms: int
    scheduler_id: str
    connect_time: _timestamp_pb2.Timestamp
    give_up_ms: int
    def __init__(self, executor_id: _Optional[str] = ..., description: _Optional[str] = ..., process_name: _Optional[str] = ..., language: _Optional[str] = ..., sdk: _Optional[str] = ..., build: _Optional[str] = ..., node_types: _Optional[_Iterable[str]] = ..., slots: _Optional[int] = ..., busy: _Optional[int] = ..., silent_ms: _Optional[int] = ..., scheduler_id: _Optional[str] = ..., connect_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., give_up_ms: _Optional[int] = ...) -> None: ...

class ListExecutorsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListExecutorsResponse(_message.Message):
    __slots__ = ("executors",)
    EXECUTORS_FIELD_NUMBER: _ClassVar[int]
    executors: _containers.RepeatedCompositeFieldContainer[Executor]
    def __init__(self, executors: _Optional[_Iterable[_Union[Executor, _Mapping]]] = ...) -> None: ...
