from google.protobuf import struct_pb2 as _struct_pb2
from pawl_sdk._gen.pawl.v1 import assistant_pb2 as _assistant_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateAssistantRequest(_message.Message):
    __slots__ = ("assistant_id", "spec", "request_id")
    ASSISTANT_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    assistant_id: str
    spec: _assistant_pb2.AssistantSpec
    request_id: str
    def __init__(self, assistant_id: _Optional[str] = ..., spec: _Optional[_Union[_assistant_pb2.AssistantSpec, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class CreateAssistantResponse(_message.Message):
    __slots__ = ("assistant",)
    ASSISTANT_FIELD_NUMBER: _ClassVar[int]
    assistant: _assistant_pb2.Assistant
    def __init__(self, assistant: _Optional[_Union[_assistant_pb2.Assistant, _Mapping]] = ...) -> None: ...

class GetAssistantRequest(_message.Message):
    __slots__ = ("assistant_id",)
    ASSISTANT_ID_FIELD_NUMBER: _ClassVar[int]
    assistant_id: str
    def __init__(self, assistant_id: _Optional[str] = ...) -> None: ...

class GetAssistantResponse(_message.Message):
    __slots__ = ("assistant",)
    ASSISTANT_FIELD_NUMBER: _ClassVar[int]
    assistant: _assistant_pb2.Assistant
    def __init__(self, assistant: _Optional[_Union[_assistant_pb2.Assistant, _Mapping]] = ...) -> None: ...

class ListAssistantsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "metadata_json", "metadata", "workflow_id")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    metadata_json: bytes
    metadata: _struct_pb2.Value
    workflow_id: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., metadata_json: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., workflow_id: _Optional[str] = ...) -> None: ...

class ListAssistantsResponse(_message.Message):
    __slots__ = ("assistants", "next_page_token")
    ASSISTANTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    assistants: _containers.RepeatedCompositeFieldContainer[_assistant_pb2.Assistant]
    next_page_token: str
    def __init__(self, assistants: _Optional[_Iterable[_Union[_assistant_pb2.Assistant, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateAssistantRequest(_message.Message):
    __slots__ = ("assistant_id", "spec", "expected_version", "request_id")
    ASSISTANT_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    assistant_id: str
    spec: _assistant_pb2.AssistantSpec
    expected_version: int
    request_id: str
    def __init__(self, assistant_id: _Optional[str] = ..., spec: _Optional[_Union[_assistant_pb2.AssistantSpec, _Mapping]] = ..., expected_version: _Optional[int] = ..., request_id: _Optional[str] = ...) -> None: ...

class UpdateAssistantResponse(_message.Message):
    __slots__ = ("assistant",)
    ASSISTANT_FIELD_NUMBER: _ClassVar[int]
    assistant: _assistant_pb2.Assistant
    def __init__(self, assistant: _Optional[_Union[_assistant_pb2.Assistant, _Mapping]] = ...) -> None: ...

class DeleteAssistantRequest(_message.Message):
    __slots__ = ("assistant_id", "force", "request_id")
    ASSISTANT_ID_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    assistant_id: str
    force: bool
    request_id: str
    def __init__(self, assistant_id: _Optional[str] = ..., force: bool = ..., request_id: _Optional[str] = ...) -> None: ...

class DeleteAssistantResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
