"""Webhooks: receivers, deliveries and results as plain values, and the check of a signature for receivers."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict

from pawl_sdk import _json
from pawl_sdk._gen.pawl.v1 import run_pb2, webhook_pb2
from pawl_sdk._plain import failure_class_name, short_name, time_of
from pawl_sdk.state import WorkflowState

_TOLERANCE_SECONDS = 300
_PREFIX = "whsec_"


class RunWebhook(TypedDict, total=False):
    """A receiver of events of one run. It has a `url`, an `endpoint_id`, or both."""

    url: str
    events: Iterable[str]
    """Dotted types, such as run.completed; default the terminal ones."""
    endpoint_id: str
    """The endpoint whose secrets sign the calls, and whose headers they have."""
    secret: str
    """Signs the calls if no endpoint does: whsec_ and base64."""
    headers: Mapping[str, str]


class EndpointOptions(TypedDict, total=False):
    """The parts of a receiver that have defaults."""

    description: str
    events: Iterable[str]
    """Dotted types; default the terminal ones."""
    workflow_ids: Iterable[str]
    """Only runs of these workflows; default all saved ones."""
    by_reference: bool
    """It gets nothing by itself, only from runs and workflows that name it."""
    headers: Mapping[str, str]
    """Headers of every call; an update with an empty value keeps the value."""


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    """A receiver of webhooks for many runs. Values of headers are not shown."""

    endpoint_id: str
    url: str
    description: str
    events: tuple[str, ...]
    workflow_ids: tuple[str, ...]
    by_reference: bool
    header_names: tuple[str, ...]
    version: int
    disabled: bool
    disabled_reason: str

    @staticmethod
    def of(endpoint: webhook_pb2.WebhookEndpoint) -> WebhookEndpoint:
        spec = endpoint.spec
        return WebhookEndpoint(
            endpoint_id=endpoint.endpoint_id,
            url=spec.url,
            description=spec.description,
            events=tuple(spec.events),
            workflow_ids=tuple(spec.workflow_ids),
            by_reference=spec.by_reference,
            header_names=tuple(sorted(spec.headers)),
            version=endpoint.version,
            disabled=endpoint.disabled,
            disabled_reason=endpoint.disabled_reason,
        )


@dataclass(frozen=True, slots=True)
class EndpointSecret:
    """A receiver with its secret. No other call returns the secret again."""

    endpoint: WebhookEndpoint
    secret: str


@dataclass(frozen=True, slots=True)
class EndpointPage:
    """A page of receivers."""

    endpoints: tuple[WebhookEndpoint, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """One event that is sent to one receiver. `state` is pending, delivered or dead."""

    delivery_id: str
    run_id: str
    event_type: str
    endpoint_id: str
    url: str
    state: str
    attempts: int
    status_code: int
    error: str
    waiting_reason: str

    @staticmethod
    def of(delivery: webhook_pb2.WebhookDelivery) -> WebhookDelivery:
        return WebhookDelivery(
            delivery_id=delivery.delivery_id,
            run_id=delivery.run_id,
            event_type=delivery.event_type,
            endpoint_id=delivery.endpoint_id,
            url=delivery.url,
            state=short_name(webhook_pb2.WebhookDeliveryState.DESCRIPTOR, delivery.state),
            attempts=delivery.attempts,
            status_code=delivery.status_code,
            error=delivery.error,
            waiting_reason=delivery.waiting_reason,
        )


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """A page of deliveries."""

    deliveries: tuple[WebhookDelivery, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class WebhookAttempt:
    """One call of a delivery."""

    number: int
    status_code: int
    error: str
    latency: float
    """In seconds."""


@dataclass(frozen=True, slots=True)
class DeliveryDetails:
    """A delivery with the body of its calls, and the calls."""

    delivery: WebhookDelivery
    body: bytes
    attempts: tuple[WebhookAttempt, ...]


@dataclass(frozen=True, slots=True)
class RunException:
    """Why a run did not complete."""

    cause: str
    message: str
    node_id: str
    failure_class: str = ""
    """What Pawl promises after this failure, such as `user_timeout`."""
    details: Any = None
    """What the handler added, for example the frames of an error."""

    @staticmethod
    def of(why: webhook_pb2.RunException) -> RunException:
        details = _json.loads(why.details_json)
        return RunException(
            why.cause, why.message, why.node_id, failure_class_name(why.failure_class), details
        )


@dataclass(frozen=True, slots=True)
class RunWebhookStatus:
    """The state of one delivery in the record of its run."""

    delivery_id: str
    event_type: str
    state: str
    attempts: int
    status_code: int
    error: str


@dataclass(frozen=True, slots=True)
class RunResult:
    """The record of a run: how it ended, why, when, and what its webhooks got."""

    run_id: str
    workflow_id: str
    workflow_version: int
    status: str
    output: Any
    state: WorkflowState
    exception: RunException | None
    has_failures: bool
    last_event_id: int
    run_started_at: datetime | None
    run_ended_at: datetime | None
    webhooks: tuple[RunWebhookStatus, ...]

    @staticmethod
    def of(result: webhook_pb2.RunResult) -> RunResult:
        return RunResult(
            run_id=result.run_id,
            workflow_id=result.workflow_id,
            workflow_version=result.workflow_version,
            status=short_name(run_pb2.RunStatus.DESCRIPTOR, result.status),
            output=_json.loads(result.output_json),
            state=WorkflowState.of(result.state),
            exception=RunException.of(result.exception) if result.HasField("exception") else None,
            has_failures=result.has_failures,
            last_event_id=result.last_event_id,
            run_started_at=time_of(result.run_started_at),
            run_ended_at=time_of(result.run_ended_at),
            webhooks=tuple(
                RunWebhookStatus(
                    delivery_id=each.delivery_id,
                    event_type=each.event_type,
                    state=short_name(webhook_pb2.WebhookDeliveryState.DESCRIPTOR, each.state),
                    attempts=each.attempts,
                    status_code=each.status_code,
                    error=each.error,
                )
                for each in result.webhooks
            ),
        )


class WebhookRefused(ValueError):
    """Pawl did not send the webhook, or it is too old. Answer it with the status 400."""


def verify_webhook(
    headers: Mapping[str, str], body: bytes, *secrets: str, now: float | None = None
) -> dict[str, Any]:
    """Checks that a body was sent by Pawl, less than five minutes ago, and returns its event.

    Pass the body exactly as it arrived. Several secrets may be valid during a rotation. Store the header `webhook-id`: a delivery may
    come twice. Raises WebhookRefused.
    """
    known = {name.lower(): value for name, value in headers.items()}
    id_, stamp, given = (known.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not (id_ and stamp and given):
        raise WebhookRefused("a header is missing: webhook-id, webhook-timestamp or webhook-signature")
    if not stamp.isdecimal() or abs((time.time() if now is None else now) - int(stamp)) > _TOLERANCE_SECONDS:
        raise WebhookRefused("the timestamp is more than five minutes from now")
    text = f"{id_}.{stamp}.".encode() + body
    for secret in secrets:
        own = "v1," + base64.b64encode(hmac.digest(_key_of(secret), text, hashlib.sha256)).decode()
        if any(hmac.compare_digest(each.encode(), own.encode()) for each in given.split()):
            event: dict[str, Any] = _json.loads(body)
            return event
    raise WebhookRefused("no signature matches")


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True) if secret.startswith(_PREFIX) else b""
    except binascii.Error:
        key = b""
    if not key:
        raise WebhookRefused("the secret is not whsec_ and base64")
    return key
