from google.protobuf import struct_pb2 as _struct_pb2
from pawl_sdk._gen.pawl.v1 import thread_pb2 as _thread_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateThreadRequest(_message.Message):
    __slots__ = ("thread_id", "metadata_json", "metadata", "request_id", "assistant_id")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_ID_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    metadata_json: bytes
    metadata: _struct_pb2.Value
    request_id: str
    assistant_id: str
    def __init__(self, thread_id: _Optional[str] = ..., metadata_json: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., request_id: _Optional[str] = ..., assistant_id: _Optional[str] = ...) -> None: ...

class CreateThreadResponse(_message.Message):
    __slots__ = ("thread",)
    THREAD_FIELD_NUMBER: _ClassVar[int]
    thread: _thread_pb2.Thread
    def __init__(self, thread: _Optional[_Union[_thread_pb2.Thread, _Mapping]] = ...) -> None: ...

class GetThreadRequest(_message.Message):
    __slots__ = ("thread_id",)
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    def __init__(self, thread_id: _Optional[str] = ...) -> None: ...

class GetThreadResponse(_message.Message):
    __slots__ = ("thread",)
    THREAD_FIELD_NUMBER: _ClassVar[int]
    thread: _thread_pb2.Thread
    def __init__(self, thread: _Optional[_Union[_thread_pb2.Thread, _Mapping]] = ...) -> None: ...

class ListThreadsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "metadata_json", "metadata", "statuses")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    metadata_json: bytes
    metadata: _struct_pb2.Value
    statuses: _containers.RepeatedScalarFieldContainer[_thread_pb2.ThreadStatus]
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., metadata_json: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., statuses: _Optional[_Iterable[_Union[_thread_pb2.ThreadStatus, str]]] = ...) -> None: ...

class ListThreadsResponse(_message.Message):
    __slots__ = ("threads", "next_page_token")
    THREADS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    threads: _containers.RepeatedCompositeFieldContainer[_thread_pb2.Thread]
    next_page_token: str
    def __init__(self, threads: _Optional[_Iterable[_Union[_thread_pb2.Thread, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateThreadRequest(_message.Message):
    __slots__ = ("thread_id", "metadata_json", "metadata", "request_id", "assistant_id")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_ID_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    metadata_json: bytes
    metadata: _struct_pb2.Value
    request_id: str
    assistant_id: str
    def __init__(self, thread_id: _Optional[str] = ..., metadata_json: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., request_id: _Optional[str] = ..., assistant_id: _Optional[str] = ...) -> None: ...

class UpdateThreadResponse(_message.Message):
    __slots__ = ("thread",)
    THREAD_FIELD_NUMBER: _ClassVar[int]
    thread: _thread_pb2.Thread
    def __init__(self, thread: _Optional[_Union[_thread_pb2.Thread, _Mapping]] = ...) -> None: ...

class DeleteThreadRequest(_message.Message):
    __slots__ = ("thread_id", "force", "request_id")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    force: bool
    request_id: str
    def __init__(self, thread_id: _Optional[str] = ..., force: bool = ..., request_id: _Optional[str] = ...) -> None: ...

class DeleteThreadResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetThreadStateRequest(_message.Message):
    __slots__ = ("thread_id", "run_id", "at_event_id")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AT_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    run_id: str
    at_event_id: int
    def __init__(self, thread_id: _Optional[str] = ..., run_id: _Optional[str] = ..., at_event_id: _Optional[int] = ...) -> None: ...

class GetThreadStateResponse(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: _thread_pb2.ThreadState
    def __init__(self, state: _Optional[_Union[_thread_pb2.ThreadState, _Mapping]] = ...) -> None: ...

class ForkThreadRequest(_message.Message):
    __slots__ = ("thread_id", "new_thread_id", "run_id", "at_event_id", "metadata_json", "metadata", "request_id")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    NEW_THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AT_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    new_thread_id: str
    run_id: str
    at_event_id: int
    metadata_json: bytes
    metadata: _struct_pb2.Value
    request_id: str
    def __init__(self, thread_id: _Optional[str] = ..., new_thread_id: _Optional[str] = ..., run_id: _Optional[str] = ..., at_event_id: _Optional[int] = ..., metadata_json: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class ForkThreadResponse(_message.Message):
    __slots__ = ("thread",)
    THREAD_FIELD_NUMBER: _ClassVar[int]
    thread: _thread_pb2.Thread
    def __init__(self, thread: _Optional[_Union[_thread_pb2.Thread, _Mapping]] = ...) -> None: ...
