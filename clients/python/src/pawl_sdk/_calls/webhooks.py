"""Webhooks: receivers, their secrets, deliveries, and the record of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Unpack

from google.protobuf.duration_pb2 import Duration

from pawl_sdk._calls.caller import Caller, fresh_id
from pawl_sdk._gen.pawl.v1 import webhook_pb2
from pawl_sdk._gen.pawl.v1 import webhook_service_pb2 as service
from pawl_sdk._plain import values_of
from pawl_sdk._steps import Method, Steps
from pawl_sdk.webhooks import (
    DeliveryDetails,
    DeliveryPage,
    EndpointOptions,
    EndpointPage,
    EndpointSecret,
    RunWebhook,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
)

_CREATE = Method("/pawl.v1.WebhookService/CreateEndpoint", service.CreateEndpointResponse)
_GET = Method("/pawl.v1.WebhookService/GetEndpoint", service.GetEndpointResponse)
_LIST = Method("/pawl.v1.WebhookService/ListEndpoints", service.ListEndpointsResponse)
_UPDATE = Method("/pawl.v1.WebhookService/UpdateEndpoint", service.UpdateEndpointResponse)
_DELETE = Method("/pawl.v1.WebhookService/DeleteEndpoint", service.DeleteEndpointResponse)
_ROTATE = Method("/pawl.v1.WebhookService/RotateSecret", service.RotateSecretResponse)
_DELIVERIES = Method("/pawl.v1.WebhookService/ListDeliveries", service.ListDeliveriesResponse)
_DELIVERY = Method("/pawl.v1.WebhookService/GetDelivery", service.GetDeliveryResponse)
_REDELIVER = Method("/pawl.v1.WebhookService/Redeliver", service.RedeliverResponse)


def run_webhook(webhook: RunWebhook | None) -> webhook_pb2.RunWebhook | None:
    """The receiver of a start in the form of the wire."""
    if webhook is None:
        return None
    return webhook_pb2.RunWebhook(
        url=webhook.get("url", ""),
        events=webhook.get("events", ()),
        endpoint_id=webhook.get("endpoint_id", ""),
        secret=webhook.get("secret", ""),
        headers=webhook.get("headers", {}),
    )


def _spec(url: str, options: EndpointOptions) -> webhook_pb2.WebhookEndpointSpec:
    return webhook_pb2.WebhookEndpointSpec(
        url=url,
        description=options.get("description", ""),
        events=options.get("events", ()),
        workflow_ids=options.get("workflow_ids", ()),
        by_reference=options.get("by_reference", False),
        headers=options.get("headers", {}),
    )


@dataclass(frozen=True, slots=True)
class WebhookCalls:
    """The calls of webhooks."""

    caller: Caller

    def create(
        self,
        endpoint_id: str,
        url: str,
        secret: str,
        request_id: str | None,
        **options: Unpack[EndpointOptions],
    ) -> Steps[EndpointSecret]:
        request = service.CreateEndpointRequest(
            endpoint_id=endpoint_id,
            spec=_spec(url, options),
            secret=secret,
            request_id=request_id or fresh_id(),
        )
        answer = yield from self.caller.call(_CREATE, request)
        return EndpointSecret(WebhookEndpoint.of(answer.endpoint), answer.secret)

    def get(self, endpoint_id: str) -> Steps[WebhookEndpoint]:
        answer = yield from self.caller.call(_GET, service.GetEndpointRequest(endpoint_id=endpoint_id))
        return WebhookEndpoint.of(answer.endpoint)

    def list(self, page_size: int, page_token: str) -> Steps[EndpointPage]:
        request = service.ListEndpointsRequest(page_size=page_size, page_token=page_token)
        answer = yield from self.caller.call(_LIST, request)
        return EndpointPage(tuple(map(WebhookEndpoint.of, answer.endpoints)), answer.next_page_token)

    def update(
        self,
        endpoint_id: str,
        url: str | None,
        disabled: bool,
        expected_version: int,
        request_id: str | None,
        **options: Unpack[EndpointOptions],
    ) -> Steps[WebhookEndpoint]:
        request = service.UpdateEndpointRequest(
            endpoint_id=endpoint_id,
            spec=None if url is None else _spec(url, options),
            disabled=disabled,
            expected_version=expected_version,
            request_id=request_id or fresh_id(),
        )
        answer = yield from self.caller.call(_UPDATE, request)
        return WebhookEndpoint.of(answer.endpoint)

    def delete(self, endpoint_id: str, request_id: str | None) -> Steps[None]:
        request = service.DeleteEndpointRequest(
            endpoint_id=endpoint_id, request_id=request_id or fresh_id()
        )
        yield from self.caller.call(_DELETE, request)

    def rotate_secret(
        self, endpoint_id: str, secret: str, overlap: float | None, request_id: str | None
    ) -> Steps[EndpointSecret]:
        request = service.RotateSecretRequest(
            endpoint_id=endpoint_id, secret=secret, request_id=request_id or fresh_id()
        )
        if overlap is not None:
            duration = Duration()
            duration.FromMilliseconds(round(overlap * 1000))
            request.overlap.CopyFrom(duration)
        answer = yield from self.caller.call(_ROTATE, request)
        return EndpointSecret(WebhookEndpoint.of(answer.endpoint), answer.secret)

    def deliveries(
        self, run_id: str, endpoint_id: str, states: Iterable[str], page_size: int, page_token: str
    ) -> Steps[DeliveryPage]:
        request = service.ListDeliveriesRequest(
            run_id=run_id,
            endpoint_id=endpoint_id,
            states=values_of(webhook_pb2.WebhookDeliveryState.DESCRIPTOR, states),
            page_size=page_size,
            page_token=page_token,
        )
        answer = yield from self.caller.call(_DELIVERIES, request)
        return DeliveryPage(tuple(map(WebhookDelivery.of, answer.deliveries)), answer.next_page_token)

    def delivery(self, delivery_id: str) -> Steps[DeliveryDetails]:
        answer = yield from self.caller.call(
            _DELIVERY, service.GetDeliveryRequest(delivery_id=delivery_id)
        )
        calls = tuple(
            WebhookAttempt(each.number, each.status_code, each.error, each.latency_ms / 1000)
            for each in answer.attempts
        )
        return DeliveryDetails(WebhookDelivery.of(answer.delivery), answer.body, calls)

    def redeliver(self, delivery_id: str, request_id: str | None) -> Steps[WebhookDelivery]:
        request = service.RedeliverRequest(delivery_id=delivery_id, request_id=request_id or fresh_id())
        answer = yield from self.caller.call(_REDELIVER, request)
        return WebhookDelivery.of(answer.delivery)
