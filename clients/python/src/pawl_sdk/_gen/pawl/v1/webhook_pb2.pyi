from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pawl_sdk._gen.pawl.v1 import run_pb2 as _run_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WebhookDeliveryState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WEBHOOK_DELIVERY_STATE_UNSPECIFIED: _ClassVar[WebhookDeliveryState]
    WEBHOOK_DELIVERY_STATE_PENDING: _ClassVar[WebhookDeliveryState]
    WEBHOOK_DELIVERY_STATE_DELIVERED: _ClassVar[WebhookDeliveryState]
    WEBHOOK_DELIVERY_STATE_DEAD: _ClassVar[WebhookDeliveryState]
WEBHOOK_DELIVERY_STATE_UNSPECIFIED: WebhookDeliveryState
WEBHOOK_DELIVERY_STATE_PENDING: WebhookDeliveryState
WEBHOOK_DELIVERY_STATE_DELIVERED: WebhookDeliveryState
WEBHOOK_DELIVERY_STATE_DEAD: WebhookDeliveryState

class RunWebhook(_message.Message):
    __slots__ = ("url", "events", "endpoint_id", "secret", "headers")
    class HeadersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    URL_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    url: str
    events: _containers.RepeatedScalarFieldContainer[str]
    endpoint_id: str
    secret: str
    headers: _containers.ScalarMap[str, str]
    def __init__(self, url: _Optional[str] = ..., events: _Optional[_Iterable[str]] = ..., endpoint_id: _Optional[str] = ..., secret: _Optional[str] = ..., headers: _Optional[_Mapping[str, str]] = ...) -> None: ...

class RunResult(_message.Message):
    __slots__ = ("run_id", "workflow_id", "workflow_version", "status", "output_json", "output", "state", "exception", "has_failures", "last_event_id", "run_started_at", "run_ended_at", "webhooks", "values_left_out")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_VERSION_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    EXCEPTION_FIELD_NUMBER: _ClassVar[int]
    HAS_FAILURES_FIELD_NUMBER: _ClassVar[int]
    LAST_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    RUN_ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    WEBHOOKS_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    workflow_id: str
    workflow_version: int
    status: _run_pb2.RunStatus
    output_json: bytes
    output: _struct_pb2.Value
    state: _run_pb2.WorkflowState
    exception: RunException
    has_failures: bool
    last_event_id: int
    run_started_at: _timestamp_pb2.Timestamp
    run_ended_at: _timestamp_pb2.Timestamp
    webhooks: _containers.RepeatedCompositeFieldContainer[RunWebhookStatus]
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run_id: _Optional[str] = ..., workflow_id: _Optional[str] = ..., workflow_version: _Optional[int] = ..., status: _Optional[_Union[_run_pb2.RunStatus, str]] = ..., output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., state: _Optional[_Union[_run_pb2.WorkflowState, _Mapping]] = ..., exception: _Optional[_Union[RunException, _Mapping]] = ..., has_failures: bool = ..., last_event_id: _Optional[int] = ..., run_started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., run_ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., webhooks: _Optional[_Iterable[_Union[RunWebhookStatus, _Mapping]]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class RunException(_message.Message):
    __slots__ = ("cause", "message", "node_id", "failure_class", "details_json", "details", "values_left_out")
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    cause: str
    message: str
    node_id: str
    failure_class: _run_pb2.FailureClass
    details_json: bytes
    details: _struct_pb2.Value
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, cause: _Optional[str] = ..., message: _Optional[str] = ..., node_id: _Optional[str] = ..., failure_class: _Optional[_Union[_run_pb2.FailureClass, str]] = ..., details_json: _Optional[bytes] = ..., details: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class RunWebhookStatus(_message.Message):
    __slots__ = ("delivery_id", "event_type", "state", "attempts", "status_code", "error")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    event_type: str
    state: WebhookDeliveryState
    attempts: int
    status_code: int
    error: str
    def __init__(self, delivery_id: _Optional[str] = ..., event_type: _Optional[str] = ..., state: _Optional[_Union[WebhookDeliveryState, str]] = ..., attempts: _Optional[int] = ..., status_code: _Optional[int] = ..., error: _Optional[str] = ...) -> None: ...

class WebhookEndpoint(_message.Message):
    __slots__ = ("endpoint_id", "spec", "version", "disabled", "disabled_reason", "previous_secret_until", "create_time", "update_time")
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    DISABLED_REASON_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_SECRET_UNTIL_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    spec: WebhookEndpointSpec
    version: int
    disabled: bool
    disabled_reason: str
    previous_secret_until: _timestamp_pb2.Timestamp
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, endpoint_id: _Optional[str] = ..., spec: _Optional[_Union[WebhookEndpointSpec, _Mapping]] = ..., version: _Optional[int] = ..., disabled: bool = ..., disabled_reason: _Optional[str] = ..., previous_secret_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class WebhookEndpointSpec(_message.Message):
    __slots__ = ("url", "description", "events", "workflow_ids", "by_reference", "headers")
    class HeadersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    URL_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_IDS_FIELD_NUMBER: _ClassVar[int]
    BY_REFERENCE_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    url: str
    description: str
    events: _containers.RepeatedScalarFieldContainer[str]
    workflow_ids: _containers.RepeatedScalarFieldContainer[str]
    by_reference: bool
    headers: _containers.ScalarMap[str, str]
    def __init__(self, url: _Optional[str] = ..., description: _Optional[str] = ..., events: _Optional[_Iterable[str]] = ..., workflow_ids: _Optional[_Iterable[str]] = ..., by_reference: bool = ..., headers: _Optional[_Mapping[str, str]] = ...) -> None: ...

class WebhookDelivery(_message.Message):
    __slots__ = ("delivery_id", "run_id", "workflow_id", "event_type", "event_id", "endpoint_id", "url", "state", "attempts", "status_code", "error", "create_time", "next_attempt_time", "end_time", "waiting_reason")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    NEXT_ATTEMPT_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    WAITING_REASON_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    run_id: str
    workflow_id: str
    event_type: str
    event_id: int
    endpoint_id: str
    url: str
    state: WebhookDeliveryState
    attempts: int
    status_code: int
    error: str
    create_time: _timestamp_pb2.Timestamp
    next_attempt_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    waiting_reason: str
    def __init__(self, delivery_id: _Optional[str] = ..., run_id: _Optional[str] = ..., workflow_id: _Optional[str] = ..., event_type: _Optional[str] = ..., event_id: _Optional[int] = ..., endpoint_id: _Optional[str] = ..., url: _Optional[str] = ..., state: _Optional[_Union[WebhookDeliveryState, str]] = ..., attempts: _Optional[int] = ..., status_code: _Optional[int] = ..., error: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., next_attempt_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., waiting_reason: _Optional[str] = ...) -> None: ...

class WebhookAttempt(_message.Message):
    __slots__ = ("number", "end_time", "latency_ms", "status_code", "error", "executor_id")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    STATUS_CODE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
    number: int
    end_time: _timestamp_pb2.Timestamp
    latency_ms: int
    status_code: int
    error: str
    executor_id: str
    def __init__(self, number: _Optional[int] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., latency_ms: _Optional[int] = ..., status_code: _Optional[int] = ..., error: _Optional[str] = ..., executor_id: _Optional[str] = ...) -> None: ...
