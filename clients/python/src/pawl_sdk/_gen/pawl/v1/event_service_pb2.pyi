from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pawl_sdk._gen.pawl.v1 import event_pb2 as _event_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StreamMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STREAM_MODE_UNSPECIFIED: _ClassVar[StreamMode]
    STREAM_MODE_VALUES: _ClassVar[StreamMode]
    STREAM_MODE_UPDATES: _ClassVar[StreamMode]
    STREAM_MODE_DEBUG: _ClassVar[StreamMode]
    STREAM_MODE_METADATA: _ClassVar[StreamMode]
    STREAM_MODE_CONTROL: _ClassVar[StreamMode]
    STREAM_MODE_MESSAGES: _ClassVar[StreamMode]
STREAM_MODE_UNSPECIFIED: StreamMode
STREAM_MODE_VALUES: StreamMode
STREAM_MODE_UPDATES: StreamMode
STREAM_MODE_DEBUG: StreamMode
STREAM_MODE_METADATA: StreamMode
STREAM_MODE_CONTROL: StreamMode
STREAM_MODE_MESSAGES: StreamMode

class WatchRunRequest(_message.Message):
    __slots__ = ("run_id", "after_event_id", "types", "modes", "node_ids", "node_types")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    MODES_FIELD_NUMBER: _ClassVar[int]
    NODE_IDS_FIELD_NUMBER: _ClassVar[int]
    NODE_TYPES_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    after_event_id: int
    types: _containers.RepeatedScalarFieldContainer[str]
    modes: _containers.RepeatedScalarFieldContainer[StreamMode]
    node_ids: _containers.RepeatedScalarFieldContainer[str]
    node_types: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run_id: _Optional[str] = ..., after_event_id: _Optional[int] = ..., types: _Optional[_Iterable[str]] = ..., modes: _Optional[_Iterable[_Union[StreamMode, str]]] = ..., node_ids: _Optional[_Iterable[str]] = ..., node_types: _Optional[_Iterable[str]] = ...) -> None: ...

class WatchRunResponse(_message.Message):
    __slots__ = ("events", "items")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.RunEvent]
    items: _containers.RepeatedCompositeFieldContainer[StreamItem]
    def __init__(self, events: _Optional[_Iterable[_Union[_event_pb2.RunEvent, _Mapping]]] = ..., items: _Optional[_Iterable[_Union[StreamItem, _Mapping]]] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("runs", "types", "modes", "node_ids", "node_types", "cursor")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    MODES_FIELD_NUMBER: _ClassVar[int]
    NODE_IDS_FIELD_NUMBER: _ClassVar[int]
    NODE_TYPES_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[WatchedRun]
    types: _containers.RepeatedScalarFieldContainer[str]
    modes: _containers.RepeatedScalarFieldContainer[StreamMode]
    node_ids: _containers.RepeatedScalarFieldContainer[str]
    node_types: _containers.RepeatedScalarFieldContainer[str]
    cursor: str
    def __init__(self, runs: _Optional[_Iterable[_Union[WatchedRun, _Mapping]]] = ..., types: _Optional[_Iterable[str]] = ..., modes: _Optional[_Iterable[_Union[StreamMode, str]]] = ..., node_ids: _Optional[_Iterable[str]] = ..., node_types: _Optional[_Iterable[str]] = ..., cursor: _Optional[str] = ...) -> None: ...

class WatchedRun(_message.Message):
    __slots__ = ("run_id", "after_event_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    after_event_id: int
    def __init__(self, run_id: _Optional[str] = ..., after_event_id: _Optional[int] = ...) -> None: ...

class WatchResponse(_message.Message):
    __slots__ = ("run_id", "events", "items", "done", "reason", "cursor")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.RunEvent]
    items: _containers.RepeatedCompositeFieldContainer[StreamItem]
    done: bool
    reason: str
    cursor: str
    def __init__(self, run_id: _Optional[str] = ..., events: _Optional[_Iterable[_Union[_event_pb2.RunEvent, _Mapping]]] = ..., items: _Optional[_Iterable[_Union[StreamItem, _Mapping]]] = ..., done: bool = ..., reason: _Optional[str] = ..., cursor: _Optional[str] = ...) -> None: ...

class WatchThreadRequest(_message.Message):
    __slots__ = ("thread_id", "cursor", "types", "modes", "node_ids", "node_types", "until_idle", "skip_finished")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    MODES_FIELD_NUMBER: _ClassVar[int]
    NODE_IDS_FIELD_NUMBER: _ClassVar[int]
    NODE_TYPES_FIELD_NUMBER: _ClassVar[int]
    UNTIL_IDLE_FIELD_NUMBER: _ClassVar[int]
    SKIP_FINISHED_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    cursor: str
    types: _containers.RepeatedScalarFieldContainer[str]
    modes: _containers.RepeatedScalarFieldContainer[StreamMode]
    node_ids: _containers.RepeatedScalarFieldContainer[str]
    node_types: _containers.RepeatedScalarFieldContainer[str]
    until_idle: bool
    skip_finished: bool
    def __init__(self, thread_id: _Optional[str] = ..., cursor: _Optional[str] = ..., types: _Optional[_Iterable[str]] = ..., modes: _Optional[_Iterable[_Union[StreamMode, str]]] = ..., node_ids: _Optional[_Iterable[str]] = ..., node_types: _Optional[_Iterable[str]] = ..., until_idle: bool = ..., skip_finished: bool = ...) -> None: ...

class WatchThreadResponse(_message.Message):
    __slots__ = ("run_id", "events", "items", "cursor")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.RunEvent]
    items: _containers.RepeatedCompositeFieldContainer[StreamItem]
    cursor: str
    def __init__(self, run_id: _Optional[str] = ..., events: _Optional[_Iterable[_Union[_event_pb2.RunEvent, _Mapping]]] = ..., items: _Optional[_Iterable[_Union[StreamItem, _Mapping]]] = ..., cursor: _Optional[str] = ...) -> None: ...

class StreamItem(_message.Message):
    __slots__ = ("event_id", "run_id", "mode", "time", "event", "data_json", "data", "values_left_out")
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    DATA_JSON_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    event_id: int
    run_id: str
    mode: StreamMode
    time: _timestamp_pb2.Timestamp
    event: _event_pb2.RunEvent
    data_json: bytes
    data: _struct_pb2.Value
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, event_id: _Optional[int] = ..., run_id: _Optional[str] = ..., mode: _Optional[_Union[StreamMode, str]] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., event: _Optional[_Union[_event_pb2.RunEvent, _Mapping]] = ..., data_json: _Optional[bytes] = ..., data: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class ListEventsRequest(_message.Message):
    __slots__ = ("run_id", "after_event_id", "page_size")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    after_event_id: int
    page_size: int
    def __init__(self, run_id: _Optional[str] = ..., after_event_id: _Optional[int] = ..., page_size: _Optional[int] = ...) -> None: ...

class ListEventsResponse(_message.Message):
    __slots__ = ("events", "has_more")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    HAS_MORE_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.RunEvent]
    has_more: bool
    def __init__(self, events: _Optional[_Iterable[_Union[_event_pb2.RunEvent, _Mapping]]] = ..., has_more: bool = ...) -> None: ...

class ListTagsRequest(_message.Message):
    __slots__ = ("run_id", "after_event_id", "page_size", "node_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    after_event_id: int
    page_size: int
    node_id: str
    def __init__(self, run_id: _Optional[str] = ..., after_event_id: _Optional[int] = ..., page_size: _Optional[int] = ..., node_id: _Optional[str] = ...) -> None: ...

class ListTagsResponse(_message.Message):
    __slots__ = ("tags", "has_more")
    TAGS_FIELD_NUMBER: _ClassVar[int]
    HAS_MORE_FIELD_NUMBER: _ClassVar[int]
    tags: _containers.RepeatedCompositeFieldContainer[_event_pb2.ExecutionTag]
    has_more: bool
    def __init__(self, tags: _Optional[_Iterable[_Union[_event_pb2.ExecutionTag, _Mapping]]] = ..., has_more: bool = ...) -> None: ...
