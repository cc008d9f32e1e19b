"""The steps of which every call is made. The core is generators that yield steps; a driver makes them, with threads or with asyncio.

So `Client` and `AsyncClient` have one core, and the core has no I/O, no clock and no thread.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from google.protobuf.message import Message

from pawl_sdk._gen.pawl.v1 import run_service_pb2

T = TypeVar("T")
Reply = TypeVar("Reply", bound=Message)


class Settles(Protocol[T]):
    """A future, of threads as of asyncio."""

    def done(self) -> bool: ...
    def cancelled(self) -> bool: ...
    def result(self) -> T: ...
    def exception(self) -> BaseException | None: ...
    def set_result(self, result: T, /) -> None: ...
    def set_exception(self, exception: Exception, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Method(Generic[Reply]):
    """One method of a service, and the class of its answers."""

    path: str
    answer: type[Reply]


@dataclass(frozen=True, slots=True)
class Call:
    """Make a unary call; the answer is sent back, and a failure is thrown as PawlError."""

    method: Method[Any]
    request: Message
    timeout: float


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Open:
    """Open a stream of answers; the driver keeps it until Close."""

    method: Method[Any]
    request: Message


@dataclass(frozen=True, slots=True)
class Next:
    """Read the next message of the open stream: the message, None at its end, SILENT when nothing came in time."""

    timeout: float


@dataclass(frozen=True, slots=True)
class Close:
    """Close the open stream; nothing if there is none."""


@dataclass(frozen=True, slots=True)
class LetEnd:
    """Let the server end the open stream: its last message came. The driver cancels it when the server does not end it in time.

    A cancel would reset the stream, and a gateway closes an HTTP/2 connection on which a client resets many streams.
    """

    timeout: float


@dataclass(frozen=True, slots=True)
class Submit:
    """Put starts on a standing stream; their entries are sent back. The driver withdraws those that have no answer when the call ends."""

    starts: Sequence[run_service_pb2.StartRunRequest]
    wait: bool


@dataclass(frozen=True, slots=True)
class Await:
    """Wait until a future of an Entry is settled; its result is sent back, and its error is thrown."""

    future: Settles[Any]


@dataclass(frozen=True, slots=True)
class Together:
    """Make the steps of several calls at once, a few at a time. The value or the PawlError of each is sent back, in order."""

    calls: Sequence[Steps[Any]]
    limit: int


@dataclass(frozen=True, slots=True)
class Work:
    """Wait until a lane has submissions. Only the keeper of a lane makes it."""


@dataclass(frozen=True, slots=True)
class OpenLane:
    """Open a stream of SubmitRuns to one of the gateways; the driver sends on it what the lane gives. Only the keeper of a lane makes it."""

    gateway: int


@dataclass(frozen=True, slots=True)
class Now:
    """Read a clock that only grows, in seconds."""


@dataclass(frozen=True, slots=True)
class Emit(Generic[T]):
    """Hand a value to the caller of a watch."""

    value: T


@dataclass(frozen=True, slots=True)
class End:
    """The value with which steps ended."""

    value: Any


class Silent:
    """The answer of Next when nothing came in time."""


SILENT = Silent()

Step: TypeAlias = Call | Sleep | Open | Next | Close | LetEnd | Now | Submit | Await | Together | Work | OpenLane
Steps: TypeAlias = Generator[Step, Any, T]
"""Steps that end with a value."""
Emissions: TypeAlias = Generator["Step | Emit[T]", Any, None]
"""Steps that emit values on their way."""
OnReconnect: TypeAlias = "Callable[[Reconnect], None]"


@dataclass(frozen=True, slots=True)
class Reconnect:
    """Why a watch lost its connection, and when it opens the next one."""

    cause: str
    """closed, error, gap or silence."""
    error: Exception
    retry: int
    """Reconnects in a row without progress, from 1."""
    delay: float
    after_event_id: int
