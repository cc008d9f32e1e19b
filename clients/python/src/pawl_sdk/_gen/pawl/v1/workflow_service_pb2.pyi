from google.protobuf import struct_pb2 as _struct_pb2
from pawl_sdk._gen.pawl.v1 import pause_pb2 as _pause_pb2
from pawl_sdk._gen.pawl.v1 import workflow_pb2 as _workflow_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateWorkflowRequest(_message.Message):
    __slots__ = ("workflow_id", "definition", "request_id", "strict")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    definition: _workflow_pb2.DefinitionSource
    request_id: str
    strict: bool
    def __init__(self, workflow_id: _Optional[str] = ..., definition: _Optional[_Union[_workflow_pb2.DefinitionSource, _Mapping]] = ..., request_id: _Optional[str] = ..., strict: bool = ...) -> None: ...

class CreateWorkflowResponse(_message.Message):
    __slots__ = ("workflow", "warnings")
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    workflow: _workflow_pb2.Workflow
    warnings: _containers.RepeatedCompositeFieldContainer[_workflow_pb2.Violation]
    def __init__(self, workflow: _Optional[_Union[_workflow_pb2.Workflow, _Mapping]] = ..., warnings: _Optional[_Iterable[_Union[_workflow_pb2.Violation, _Mapping]]] = ...) -> None: ...

class GetWorkflowRequest(_message.Message):
    __slots__ = ("workflow_id", "version")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    version: int
    def __init__(self, workflow_id: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class GetWorkflowResponse(_message.Message):
    __slots__ = ("workflow",)
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    workflow: _workflow_pb2.Workflow
    def __init__(self, workflow: _Optional[_Union[_workflow_pb2.Workflow, _Mapping]] = ...) -> None: ...

class ListWorkflowsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListWorkflowsResponse(_message.Message):
    __slots__ = ("workflows", "next_page_token")
    WORKFLOWS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    workflows: _containers.RepeatedCompositeFieldContainer[_workflow_pb2.Workflow]
    next_page_token: str
    def __init__(self, workflows: _Optional[_Iterable[_Union[_workflow_pb2.Workflow, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateWorkflowRequest(_message.Message):
    __slots__ = ("workflow_id", "definition", "expected_version", "request_id", "strict")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    STRICT_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    definition: _workflow_pb2.DefinitionSource
    expected_version: int
    request_id: str
    strict: bool
    def __init__(self, workflow_id: _Optional[str] = ..., definition: _Optional[_Union[_workflow_pb2.DefinitionSource, _Mapping]] = ..., expected_version: _Optional[int] = ..., request_id: _Optional[str] = ..., strict: bool = ...) -> None: ...

class UpdateWorkflowResponse(_message.Message):
    __slots__ = ("workflow", "warnings")
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    workflow: _workflow_pb2.Workflow
    warnings: _containers.RepeatedCompositeFieldContainer[_workflow_pb2.Violation]
    def __init__(self, workflow: _Optional[_Union[_workflow_pb2.Workflow, _Mapping]] = ..., warnings: _Optional[_Iterable[_Union[_workflow_pb2.Violation, _Mapping]]] = ...) -> None: ...

class DeleteWorkflowRequest(_message.Message):
    __slots__ = ("workflow_id", "force", "request_id")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    FORCE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    force: bool
    request_id: str
    def __init__(self, workflow_id: _Optional[str] = ..., force: bool = ..., request_id: _Optional[str] = ...) -> None: ...

class DeleteWorkflowResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ValidateWorkflowRequest(_message.Message):
    __slots__ = ("definition",)
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    definition: _workflow_pb2.DefinitionSource
    def __init__(self, definition: _Optional[_Union[_workflow_pb2.DefinitionSource, _Mapping]] = ...) -> None: ...

class ValidateWorkflowResponse(_message.Message):
    __slots__ = ("violations", "definition_json", "definition", "values_left_out", "warnings")
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_JSON_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    violations: _containers.RepeatedCompositeFieldContainer[_workflow_pb2.Violation]
    definition_json: bytes
    definition: _struct_pb2.Value
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    warnings: _containers.RepeatedCompositeFieldContainer[_workflow_pb2.Violation]
    def __init__(self, violations: _Optional[_Iterable[_Union[_workflow_pb2.Violation, _Mapping]]] = ..., definition_json: _Optional[bytes] = ..., definition: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ..., warnings: _Optional[_Iterable[_Union[_workflow_pb2.Violation, _Mapping]]] = ...) -> None: ...

class PauseWorkflowRequest(_message.Message):
    __slots__ = ("workflow_id", "by", "reason", "request_id")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    by: str
    reason: str
    request_id: str
    def __init__(self, workflow_id: _Optional[str] = ..., by: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class PauseWorkflowResponse(_message.Message):
    __slots__ = ("pause",)
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    pause: _pause_pb2.Pause
    def __init__(self, pause: _Optional[_Union[_pause_pb2.Pause, _Mapping]] = ...) -> None: ...

class ResumeWorkflowRequest(_message.Message):
    __slots__ = ("workflow_id", "by", "reason", "request_id")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    by: str
    reason: str
    request_id: str
    def __init__(self, workflow_id: _Optional[str] = ..., by: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class ResumeWorkflowResponse(_message.Message):
    __slots__ = ("resuming",)
    RESUMING_FIELD_NUMBER: _ClassVar[int]
    resuming: bool
    def __init__(self, resuming: bool = ...) -> None: ...

class ListDailyBudgetsRequest(_message.Message):
    __slots__ = ("workflow_id", "page_size", "page_token")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    page_size: int
    page_token: str
    def __init__(self, workflow_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDailyBudgetsResponse(_message.Message):
    __slots__ = ("daily_budgets", "next_page_token")
    DAILY_BUDGETS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    daily_budgets: _containers.RepeatedCompositeFieldContainer[_workflow_pb2.DailyBudget]
    next_page_token: str
    def __init__(self, daily_budgets: _Optional[_Iterable[_Union[_workflow_pb2.DailyBudget, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
