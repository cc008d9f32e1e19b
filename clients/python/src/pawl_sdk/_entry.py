"""A submission under way, and the errors with which it may end beside those of the gateway."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc

from pawl_sdk._gen.pawl.v1 import run_service_pb2
from pawl_sdk._steps import Settles
from pawl_sdk.errors import UNRECOGNISED, PawlError

if TYPE_CHECKING:
    from pawl_sdk._lane import Lane


class NoStream(Exception):
    """The gateway does not have SubmitRuns. The caller makes calls of their own instead, with the same request id."""


@dataclass(eq=False, slots=True)
class Entry:
    """A submission under way."""

    start: run_service_pb2.StartRunRequest
    wait: bool
    since: float
    """When the caller submitted it, or when the last news of it came."""
    accepted: Settles[Any]
    """The accepted run; None if the submission ended without one."""
    ended: Settles[Any]
    """The final answer: the end of the run if the caller waits for it, and None otherwise. Or the error."""
    tries: int = 0
    """How often a gateway refused it for now."""
    losses: int = 0
    """How many streams were lost under it."""
    lane: Lane | None = None

    def accept(self, accepted: run_service_pb2.AcceptedSubmission | None) -> None:
        if not self.accepted.done():
            self.accepted.set_result(accepted)

    def resolve(self, end: run_service_pb2.RunEnd | None) -> None:
        self.accept(None)
        if not self.ended.done():
            self.ended.set_result(end)

    def reject(self, error: Exception) -> None:
        self.accept(None)
        if not self.ended.done():
            self.ended.set_exception(error)


def copy_of(error: PawlError) -> PawlError:
    """The same error for another caller: raising an error adds frames to it."""
    return copy.copy(error)


def closed() -> PawlError:
    """The error of calls under way when the client is closed, and of later calls."""
    return PawlError("CALLER_CANCELLED", "the client is closed", code=grpc.StatusCode.CANCELLED)


def left(timeout: float | None) -> PawlError:
    """The error of a call whose caller set a time limit."""
    message = f"the caller left after {timeout} s; a run that was accepted continues"
    return PawlError("DEADLINE_PASSED", message, code=grpc.StatusCode.DEADLINE_EXCEEDED)


def unkept() -> PawlError:
    """The error of calls whose lane lost its keeper: the loop ended, or a task cancelled all others."""
    message = "the task that kept the stream of starts was cancelled; a run that was accepted continues"
    return PawlError("CALLER_CANCELLED", message, code=grpc.StatusCode.CANCELLED)


def broken(error: BaseException) -> PawlError:
    """The error of calls that no lane can carry, by a mistake of this package or for want of a thread."""
    return PawlError(UNRECOGNISED, f"no stream of starts can be kept: {error!r}")
