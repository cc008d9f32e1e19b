from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pawl_sdk._gen.pawl.v1 import run_pb2 as _run_pb2
from pawl_sdk._gen.pawl.v1 import run_service_pb2 as _run_service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AssistantSpec(_message.Message):
    __slots__ = ("workflow_id", "workflow_version", "config_json", "config", "metadata_json", "metadata", "defaults", "values_left_out")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_VERSION_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    DEFAULTS_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    workflow_version: int
    config_json: bytes
    config: _struct_pb2.Value
    metadata_json: bytes
    metadata: _struct_pb2.Value
    defaults: StartDefaults
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, workflow_id: _Optional[str] = ..., workflow_version: _Optional[int] = ..., config_json: _Optional[bytes] = ..., config: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., metadata_json: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., defaults: _Optional[_Union[StartDefaults, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class StartDefaults(_message.Message):
    __slots__ = ("goal", "constraints", "budget", "multitask_strategy", "thread_release")
    GOAL_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    MULTITASK_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    THREAD_RELEASE_FIELD_NUMBER: _ClassVar[int]
    goal: str
    constraints: _containers.RepeatedScalarFieldContainer[str]
    budget: _run_pb2.Budget
    multitask_strategy: _run_service_pb2.MultitaskStrategy
    thread_release: _run_service_pb2.ThreadRelease
    def __init__(self, goal: _Optional[str] = ..., constraints: _Optional[_Iterable[str]] = ..., budget: _Optional[_Union[_run_pb2.Budget, _Mapping]] = ..., multitask_strategy: _Optional[_Union[_run_service_pb2.MultitaskStrategy, str]] = ..., thread_release: _Optional[_Union[_run_service_pb2.ThreadRelease, str]] = ...) -> None: ...

class Assistant(_message.Message):
    __slots__ = ("assistant_id", "spec", "version", "create_time", "update_time")
    ASSISTANT_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    assistant_id: str
    spec: AssistantSpec
    version: int
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, assistant_id: _Optional[str] = ..., spec: _Optional[_Union[AssistantSpec, _Mapping]] = ..., version: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
