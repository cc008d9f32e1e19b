"""How every call is made.

A call that may succeed later is repeated. That is safe for mutations too: each one carries a request id, by which the server recognises a
repeat. The race it survives: an answer is lost after the server committed.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from pawl_sdk import _json
from pawl_sdk._gen.pawl.v1.workflow_pb2 import DefinitionSource
from pawl_sdk._steps import Call, Method, Reply, Sleep, Steps
from pawl_sdk._watch import backoff
from pawl_sdk.errors import PawlError
from pawl_sdk.options import Budget, ControlOptions, TopUpOptions


@dataclass(frozen=True, slots=True)
class Caller:
    """How often and how long each call is tried."""

    attempts: int = 4
    timeout: float = 30.0

    def call(self, method: Method[Reply], request: Message) -> Steps[Reply]:
        """Calls a method until it succeeds, fails for good or runs out of attempts."""
        attempt = 1
        while True:
            try:
                answer: Reply = yield Call(method, request, self.timeout)
                return answer
            except PawlError as error:
                yield Sleep(self.pause_after(error, attempt))
            attempt += 1

    def pause_after(self, error: PawlError, attempt: int) -> float:
        """The seconds before the next attempt. Raises the error when there is none."""
        if not error.retryable or attempt >= self.attempts:
            raise error
        return max(backoff(attempt), error.retry_after or 0)


def fresh_id() -> str:
    """A fresh request id."""
    return str(uuid.uuid4())


def json_bytes(value: object, text: str | None) -> bytes:
    """JSON text to the letter, or a value as JSON; nothing for None without text."""
    if text is not None:
        return text.encode()
    return b"" if value is None else _json.dumps(value).encode()


def source_of(definition: str | dict[str, Any]) -> DefinitionSource:
    """A definition as the server takes it: text in JSON or YAML, or a value."""
    return DefinitionSource(text=definition if isinstance(definition, str) else _json.dumps(definition))


def timestamp_of(time: datetime | None) -> Timestamp | None:
    """A time as a message. Raises ValueError for a time without a zone: the server cannot know which one is meant."""
    if time is None:
        return None
    if time.tzinfo is None:
        raise ValueError(f"{time!r} has no time zone; use datetime.now(timezone.utc), or set tzinfo")
    message = Timestamp()
    message.FromDatetime(time)
    return message


def duration_of(seconds: float | None) -> Duration | None:
    """Seconds as a message."""
    if seconds is None:
        return None
    message = Duration()
    message.FromMilliseconds(round(seconds * 1000))
    return message


def amount_fields(amounts: Budget | TopUpOptions) -> dict[str, int]:
    """The amounts of a budget as whole numbers. Money is in micro-dollars. Raises ValueError for an amount that is not above 0."""
    fields: dict[str, int] = {}
    if "tokens" in amounts:
        fields["tokens"] = amounts["tokens"]
    if "cost_usd" in amounts:
        fields["cost_micros"] = round(amounts["cost_usd"] * 1_000_000)
    if "node_executions" in amounts:
        fields["node_executions"] = amounts["node_executions"]
    for name, amount in fields.items():
        if amount < 1:
            raise ValueError(f"{name} must be above 0")
    return fields


def control_fields(options: ControlOptions) -> dict[str, str]:
    """The fields of a request that pauses or resumes."""
    return {
        "by": options.get("by", ""),
        "reason": options.get("reason", ""),
        "request_id": options.get("request_id") or fresh_id(),
    }
