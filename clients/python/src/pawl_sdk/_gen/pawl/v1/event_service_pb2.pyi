from pawl_sdk._gen.pawl.v1 import event_pb2 as _event_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WatchRunRequest(_message.Message):
    __slots__ = ("run_id", "after_event_id", "types")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    after_event_id: int
    types: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run_id: _Optional[str] = ..., after_event_id: _Optional[int] = ..., types: _Optional[_Iterable[str]] = ...) -> None: ...

class WatchRunResponse(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.RunEvent]
    def __init__(self, events: _Optional[_Iterable[_Union[_event_pb2.RunEvent, _Mapping]]] = ...) -> None: ...

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
