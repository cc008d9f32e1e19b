"""How a handler ends: with a value, a Result, a Failed or a Cancelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Literal, TypeVar

from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire

T = TypeVar("T")

CancelReason = Literal["cancelled", "timeout", "claim_lost", "blocked", "drained"]
"""Why the host aborts a handler."""


class EffectClass(Enum):
    """The promise about an effect."""

    TRANSACTIONAL = wire.EFFECT_CLASS_TRANSACTIONAL
    """It commits in one transaction with a record of it in the same database."""
    IDEMPOTENT = wire.EFFECT_CLASS_IDEMPOTENT
    """The receiver recognises a repeat by its key, so the handler may make it again."""
    AT_MOST_ONCE = wire.EFFECT_CLASS_AT_MOST_ONCE
    """The handler never makes it again once it has begun, even if its result is unknown."""


TRANSACTIONAL = EffectClass.TRANSACTIONAL
IDEMPOTENT = EffectClass.IDEMPOTENT
AT_MOST_ONCE = EffectClass.AT_MOST_ONCE


@dataclass(frozen=True, slots=True)
class Usage:
    """What a handler used: the tokens of models, and their cost in micro-dollars if the handler knows it."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int | None = None
    model: str = ""

    def wire(self) -> wire.Usage:
        """As the host takes it. A number below 0 counts as 0."""
        counted = wire.Usage(
            input_tokens=max(0, self.input_tokens),
            output_tokens=max(0, self.output_tokens),
            model=self.model,
        )
        if self.cost_micros is not None:
            counted.cost_micros = max(0, self.cost_micros)
        return counted


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """An output with more: the handle to leave by, the tokens of a model, how many seconds the next nodes wait, and labels to add."""

    output: T
    handle: str = ""
    usage: Usage | None = None
    delay: float = 0.0
    taint: Sequence[str] = ()
    """Labels that the output gets beside those of the data that the handler got."""


class Failed(Exception):
    """Raise it to fail with a cause of your own, such as acme.card_declined: a dot keeps it apart from Pawl's causes."""

    def __init__(
        self,
        cause: str,
        message: str,
        *,
        permanent: bool = False,
        retry_after: float = 0.0,
        details: object = None,
    ) -> None:
        super().__init__(message)
        self.cause = cause
        self.message = message
        self.permanent = permanent
        """Never retry, whatever the policy of the node."""
        self.retry_after = retry_after
        """A retry waits at least this many seconds."""
        self.details = details
        """JSON for people and programs."""


class Cancelled(BaseException):
    """The host aborted this handler. It is no Exception, so that `except Exception` does not swallow it."""

    def __init__(self, reason: CancelReason) -> None:
        super().__init__(reason)
        self.reason = reason


class EffectRefused(Exception):
    """The host refused an effect: its name, its class or its result is not valid."""
