from google.protobuf import duration_pb2 as _duration_pb2
from pawl_sdk._gen.pawl.v1 import webhook_pb2 as _webhook_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateEndpointRequest(_message.Message):
    __slots__ = ("endpoint_id", "spec", "secret", "request_id")
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    spec: _webhook_pb2.WebhookEndpointSpec
    secret: str
    request_id: str
    def __init__(self, endpoint_id: _Optional[str] = ..., spec: _Optional[_Union[_webhook_pb2.WebhookEndpointSpec, _Mapping]] = ..., secret: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class CreateEndpointResponse(_message.Message):
    __slots__ = ("endpoint", "secret")
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    endpoint: _webhook_pb2.WebhookEndpoint
    secret: str
    def __init__(self, endpoint: _Optional[_Union[_webhook_pb2.WebhookEndpoint, _Mapping]] = ..., secret: _Optional[str] = ...) -> None: ...

class GetEndpointRequest(_message.Message):
    __slots__ = ("endpoint_id",)
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    def __init__(self, endpoint_id: _Optional[str] = ...) -> None: ...

class GetEndpointResponse(_message.Message):
    __slots__ = ("endpoint",)
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    endpoint: _webhook_pb2.WebhookEndpoint
    def __init__(self, endpoint: _Optional[_Union[_webhook_pb2.WebhookEndpoint, _Mapping]] = ...) -> None: ...

class ListEndpointsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListEndpointsResponse(_message.Message):
    __slots__ = ("endpoints", "next_page_token")
    ENDPOINTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    endpoints: _containers.RepeatedCompositeFieldContainer[_webhook_pb2.WebhookEndpoint]
    next_page_token: str
    def __init__(self, endpoints: _Optional[_Iterable[_Union[_webhook_pb2.WebhookEndpoint, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateEndpointRequest(_message.Message):
    __slots__ = ("endpoint_id", "spec", "disabled", "expected_version", "request_id")
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    spec: _webhook_pb2.WebhookEndpointSpec
    disabled: bool
    expected_version: int
    request_id: str
    def __init__(self, endpoint_id: _Optional[str] = ..., spec: _Optional[_Union[_webhook_pb2.WebhookEndpointSpec, _Mapping]] = ..., disabled: bool = ..., expected_version: _Optional[int] = ..., request_id: _Optional[str] = ...) -> None: ...

class UpdateEndpointResponse(_message.Message):
    __slots__ = ("endpoint",)
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    endpoint: _webhook_pb2.WebhookEndpoint
    def __init__(self, endpoint: _Optional[_Union[_webhook_pb2.WebhookEndpoint, _Mapping]] = ...) -> None: ...

class DeleteEndpointRequest(_message.Message):
    __slots__ = ("endpoint_id", "request_id")
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    request_id: str
    def __init__(self, endpoint_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class DeleteEndpointResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RotateSecretRequest(_message.Message):
    __slots__ = ("endpoint_id", "secret", "overlap", "request_id")
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    OVERLAP_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    endpoint_id: str
    secret: str
    overlap: _duration_pb2.Duration
    request_id: str
    def __init__(self, endpoint_id: _Optional[str] = ..., secret: _Optional[str] = ..., overlap: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class RotateSecretResponse(_message.Message):
    __slots__ = ("endpoint", "secret")
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    endpoint: _webhook_pb2.WebhookEndpoint
    secret: str
    def __init__(self, endpoint: _Optional[_Union[_webhook_pb2.WebhookEndpoint, _Mapping]] = ..., secret: _Optional[str] = ...) -> None: ...

class ListDeliveriesRequest(_message.Message):
    __slots__ = ("run_id", "endpoint_id", "states", "page_size", "page_token")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_ID_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    endpoint_id: str
    states: _containers.RepeatedScalarFieldContainer[_webhook_pb2.WebhookDeliveryState]
    page_size: int
    page_token: str
    def __init__(self, run_id: _Optional[str] = ..., endpoint_id: _Optional[str] = ..., states: _Optional[_Iterable[_Union[_webhook_pb2.WebhookDeliveryState, str]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDeliveriesResponse(_message.Message):
    __slots__ = ("deliveries", "next_page_token")
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    deliveries: _containers.RepeatedCompositeFieldContainer[_webhook_pb2.WebhookDelivery]
    next_page_token: str
    def __init__(self, deliveries: _Optional[_Iterable[_Union[_webhook_pb2.WebhookDelivery, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetDeliveryRequest(_message.Message):
    __slots__ = ("delivery_id",)
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    def __init__(self, delivery_id: _Optional[str] = ...) -> None: ...

class GetDeliveryResponse(_message.Message):
    __slots__ = ("delivery", "body", "attempts")
    DELIVERY_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    delivery: _webhook_pb2.WebhookDelivery
    body: bytes
    attempts: _containers.RepeatedCompositeFieldContainer[_webhook_pb2.WebhookAttempt]
    def __init__(self, delivery: _Optional[_Union[_webhook_pb2.WebhookDelivery, _Mapping]] = ..., body: _Optional[bytes] = ..., attempts: _Optional[_Iterable[_Union[_webhook_pb2.WebhookAttempt, _Mapping]]] = ...) -> None: ...

class RedeliverRequest(_message.Message):
    __slots__ = ("delivery_id", "request_id")
    DELIVERY_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    delivery_id: str
    request_id: str
    def __init__(self, delivery_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class RedeliverResponse(_message.Message):
    __slots__ = ("delivery",)
    DELIVERY_FIELD_NUMBER: _ClassVar[int]
    delivery: _webhook_pb2.WebhookDelivery
    def __init__(self, delivery: _Optional[_Union[_webhook_pb2.WebhookDelivery, _Mapping]] = ...) -> None: ...
