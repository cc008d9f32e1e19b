"""The error of a call, typed by its reason.

The server names the reason in google.rpc.ErrorInfo. Without one the call never reached a Pawl server or was cut off on the way, and the
code of gRPC decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

from pawl_sdk._gen.pawl.errors.v1 import reason_pb2
from pawl_sdk._gen.pawl.v1 import run_service_pb2

UNREACHABLE = "UNREACHABLE"
"""The reason when no server answered."""
UNRECOGNISED = "UNRECOGNISED"
"""The reason when the server is newer than this package, or is no Pawl server. `server_reason` has its own word."""

_PREFIX = "REASON_"
_STATUS_TRAILER = "grpc-status-details-bin"
_KNOWN = frozenset(name.removeprefix(_PREFIX) for name in reason_pb2.Reason.keys()) - {"UNSPECIFIED"}
_NAMELESS = {
    grpc.StatusCode.CANCELLED: "CALLER_CANCELLED",
    grpc.StatusCode.DEADLINE_EXCEEDED: "DEADLINE_PASSED",
    grpc.StatusCode.UNIMPLEMENTED: "UNKNOWN_METHOD",
    grpc.StatusCode.PERMISSION_DENIED: "FORBIDDEN",
    grpc.StatusCode.UNAVAILABLE: UNREACHABLE,
    grpc.StatusCode.ABORTED: UNREACHABLE,
}


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule of a definition or of a request."""

    path: str
    """Where: a path such as nodes[3].config.timeout_ms."""
    reason: str
    """Which rule, UPPER_SNAKE."""
    message: str
    """What is wrong, for people."""


class PawlError(Exception):
    """The one error of calls. Compare `reason`; the message is for people."""

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        code: grpc.StatusCode = grpc.StatusCode.UNKNOWN,
        metadata: Mapping[str, str] | None = None,
        violations: Iterable[Violation] = (),
        retry_after: float | None = None,
        request_id: str | None = None,
        server_reason: str | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.code = code
        self.metadata: Mapping[str, str] = dict(metadata or {})
        """The variable parts of the message, for machines."""
        self.violations: tuple[Violation, ...] = tuple(violations)
        """Every broken rule at once."""
        self.retry_after = retry_after
        """How many seconds the server asks the caller to wait; None if another try cannot help."""
        self.request_id = request_id
        """Quote it when you report an INTERNAL error."""
        self.server_reason = server_reason
        """The reason as the server spelled it; None when no server named one."""

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _bare, (type(self), *self.args), dict(self.__dict__)

    @property
    def next(self) -> str | None:
        """What the server advises to do next, for people."""
        return self.metadata.get("next")

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later without a change by the caller."""
        return (
            self.retry_after is not None
            or self.reason == UNREACHABLE
            or self.code == grpc.StatusCode.UNAVAILABLE
        )


class RunFailed(Exception):
    """A run that `run` waited for ended, but not well. The call itself succeeded."""

    def __init__(
        self,
        run_id: str,
        status: str,
        error: str,
        failed_node_id: str = "",
        *,
        cause: str = "",
        failure_class: str = "",
    ) -> None:
        super().__init__(f"run {run_id} ended as {status}: {error or 'no message'}")
        self.run_id = run_id
        """The run."""
        self.status = status
        """How it ended: failed, cancelled or timeout."""
        self.error = error
        """The message of the run; empty when it has none."""
        self.failed_node_id = failed_node_id
        """The node that failed first; empty when none did, or when the gateway does not tell."""
        self.cause = cause
        """Why, for programs: the cause of the node, or cancelled, interrupted, rolled_back or deadline_passed."""
        self.failure_class = failure_class
        """What Pawl promises after this failure: timeout, user_timeout, interrupt, rollback, cancelled, retriable or permanent; empty when
        the gateway does not tell.
        """
        self._fetch: Callable[..., Any] | None = None

    def result(self, *, timeout: float | None = None) -> Any:
        """The record of the run, as `client.result` returns it: a RunResult, or a coroutine of one if an AsyncClient raised this."""
        if self._fetch is None:
            raise RuntimeError(f"this error has no client; read the record with client.result({self.run_id!r})")
        return self._fetch(self.run_id, timeout=timeout)

    def __reduce__(self) -> tuple[Any, ...]:
        # A client cannot leave its process.
        return _bare, (type(self), *self.args), {**self.__dict__, "_fetch": None}


def _bare(kind: type[Exception], *args: object) -> Exception:
    """An error without its fields, for pickle and copy: they set the fields from its dict. `__init__` takes other arguments than `args`."""
    return kind.__new__(kind, *args)


class _Failed(Protocol):
    """A failed call, of grpc as of grpc.aio."""

    def code(self) -> grpc.StatusCode | None: ...
    def details(self) -> str | None: ...
    def trailing_metadata(self) -> Iterable[tuple[str, str | bytes]] | None: ...


M = TypeVar("M", bound=Message)


def error_from(failed: _Failed) -> PawlError:
    """The error of a failed call."""
    code = failed.code() or grpc.StatusCode.UNKNOWN
    status = _status_of(failed.trailing_metadata() or ())
    named = _detail(status, error_details_pb2.ErrorInfo)
    retry = _detail(status, error_details_pb2.RetryInfo)
    broken = _detail(status, error_details_pb2.BadRequest)
    about = _detail(status, error_details_pb2.RequestInfo)
    return PawlError(
        _reason_of(code, named.reason if named else None),
        failed.details() or code.name,
        code=code,
        metadata=dict(named.metadata) if named else None,
        violations=[
            Violation(path=each.field, reason=each.reason, message=each.description)
            for each in (broken.field_violations if broken else ())
        ],
        retry_after=retry.retry_delay.ToMilliseconds() / 1000 if retry else None,
        request_id=about.request_id if about else None,
        server_reason=named.reason if named else None,
    )


_CODES = {code.value[0]: code for code in grpc.StatusCode}


def refusal_error(refusal: run_service_pb2.Refusal) -> PawlError:
    """The error of a submission that the gateway refused inside a stream."""
    code = _CODES.get(refusal.code, grpc.StatusCode.UNKNOWN)
    return PawlError(
        _reason_of(code, refusal.reason),
        refusal.message,
        code=code,
        metadata=dict(refusal.metadata),
        violations=[
            Violation(path=each.path, reason=each.reason, message=each.message)
            for each in refusal.violations
        ],
        retry_after=refusal.retry_delay.ToMilliseconds() / 1000 if refusal.HasField("retry_delay") else None,
        request_id=refusal.origin_request_id or None,
        server_reason=refusal.reason,
    )


def _reason_of(code: grpc.StatusCode, named: str | None) -> str:
    if named is None:
        return _NAMELESS.get(code, UNRECOGNISED)
    return named if named in _KNOWN else UNRECOGNISED


def _status_of(trailer: Iterable[tuple[str, str | bytes]]) -> status_pb2.Status:
    status = status_pb2.Status()
    for key, value in trailer:
        if key == _STATUS_TRAILER and isinstance(value, bytes):
            try:
                status.ParseFromString(value)
            except DecodeError:
                status.Clear()
    return status


def _detail(status: status_pb2.Status, kind: type[M]) -> M | None:
    for packed in status.details:
        found = kind()
        if packed.Unpack(found):
            return found
    return None
