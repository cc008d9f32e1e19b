from google.protobuf import struct_pb2 as _struct_pb2
from pawl_sdk._gen.pawl.v1 import approval_pb2 as _approval_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListApprovalsRequest(_message.Message):
    __slots__ = ("states", "workflow_id", "run_id", "assignee", "page_size", "page_token")
    STATES_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ASSIGNEE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedScalarFieldContainer[_approval_pb2.ApprovalState]
    workflow_id: str
    run_id: str
    assignee: str
    page_size: int
    page_token: str
    def __init__(self, states: _Optional[_Iterable[_Union[_approval_pb2.ApprovalState, str]]] = ..., workflow_id: _Optional[str] = ..., run_id: _Optional[str] = ..., assignee: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListApprovalsResponse(_message.Message):
    __slots__ = ("approvals", "next_page_token")
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    approvals: _containers.RepeatedCompositeFieldContainer[_approval_pb2.Approval]
    next_page_token: str
    def __init__(self, approvals: _Optional[_Iterable[_Union[_approval_pb2.Approval, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetApprovalRequest(_message.Message):
    __slots__ = ("approval_id",)
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    def __init__(self, approval_id: _Optional[str] = ...) -> None: ...

class GetApprovalResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: _approval_pb2.Approval
    def __init__(self, approval: _Optional[_Union[_approval_pb2.Approval, _Mapping]] = ...) -> None: ...

class ApproveApprovalRequest(_message.Message):
    __slots__ = ("approval_id", "response_json", "response", "comment", "decided_by", "request_id")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_JSON_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    response_json: bytes
    response: _struct_pb2.Value
    comment: str
    decided_by: str
    request_id: str
    def __init__(self, approval_id: _Optional[str] = ..., response_json: _Optional[bytes] = ..., response: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., comment: _Optional[str] = ..., decided_by: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class ApproveApprovalResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: _approval_pb2.Approval
    def __init__(self, approval: _Optional[_Union[_approval_pb2.Approval, _Mapping]] = ...) -> None: ...

class RejectApprovalRequest(_message.Message):
    __slots__ = ("approval_id", "response_json", "response", "comment", "decided_by", "request_id")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_JSON_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    response_json: bytes
    response: _struct_pb2.Value
    comment: str
    decided_by: str
    request_id: str
    def __init__(self, approval_id: _Optional[str] = ..., response_json: _Optional[bytes] = ..., response: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., comment: _Optional[str] = ..., decided_by: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class RejectApprovalResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: _approval_pb2.Approval
    def __init__(self, approval: _Optional[_Union[_approval_pb2.Approval, _Mapping]] = ...) -> None: ...
