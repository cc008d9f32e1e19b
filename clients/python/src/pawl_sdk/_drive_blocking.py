"""Makes the steps of a call with blocking calls.

A call ends early in two ways: its time limit passes, or another thread closes the client. Both are noticed at the end of the step under way,
and the steps are then left: their own rules would repeat the call.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar, cast

import grpc

from pawl_sdk._entry import Entry, closed, left
from pawl_sdk._gateways import METADATA, Gateways
from pawl_sdk._lanes_blocking import BlockingLanes
from pawl_sdk._pull import Pull
from pawl_sdk._steps import (
    SILENT,
    Await,
    Call,
    Close,
    Emissions,
    Emit,
    End,
    LetEnd,
    Next,
    Now,
    Open,
    Sleep,
    Step,
    Steps,
    Submit,
    Together,
)
from pawl_sdk.errors import PawlError, error_from

T = TypeVar("T")

# A timer may fire a little early.
_TICK = 0.002


class BlockingDriver:
    """Makes the steps of one call. It has at most one open stream."""

    def __init__(
        self, gateways: Gateways[grpc.Channel], lanes: BlockingLanes, owner: object, timeout: float | None = None
    ) -> None:
        self._gateways = gateways
        self._lanes = lanes
        self._owner = owner
        """What must not be collected while this call is under way."""
        self._timeout = timeout
        self._until = None if timeout is None else time.monotonic() + timeout
        self._used = gateways.current
        self._open: Pull[Any] | None = None
        self._submitted: list[Entry] = []

    def run(self, steps: Steps[T]) -> T:
        """Makes all steps and returns their value."""
        try:
            end = self._advance(steps)
            result: T = end.value
            return result
        finally:
            self._leave()

    def emit(self, steps: Emissions[T]) -> Iterator[T]:
        """Yields what the steps emit."""
        try:
            while isinstance(came := self._advance(steps), Emit):
                yield came.value
        finally:
            self._leave()

    def _advance(self, steps: Generator[Step | Emit[Any], Any, Any] | Steps[Any]) -> Emit[Any] | End:
        """Makes steps up to the next emission or the end."""
        answer: Any = None
        error: Exception | None = None
        while True:
            try:
                step = steps.send(answer) if error is None else steps.throw(error)
            except StopIteration as end:
                return End(end.value)
            if isinstance(step, Emit):
                return step
            answer, error = None, None
            try:
                answer = self._make(step)
            except Exception as raised:
                error = raised
            if error is not None or answer is SILENT or isinstance(step, Sleep):
                self._check_end(steps, error)

    def _check_end(self, steps: Generator[Any, Any, Any], error: Exception | None) -> None:
        """Raises PawlError if the client is closed or the time of the call is up."""
        if isinstance(error, PawlError) and error.server_reason is not None:
            return
        if self._lanes.is_closed:
            steps.close()
            raise closed() from None
        if self._rest == 0:
            steps.close()
            raise left(self._timeout) from None

    @property
    def _rest(self) -> float | None:
        """How many seconds are left of the call; None without a limit."""
        if self._until is None:
            return None
        rest = self._until - time.monotonic()
        return rest if rest > _TICK else 0.0

    def _within(self, seconds: float) -> float:
        """At most the rest of the time of the call."""
        rest = self._rest
        return seconds if rest is None else min(seconds, rest)

    def _make(self, step: Step) -> Any:
        match step:
            case Call(method, request, timeout):
                used = self._gateways.current
                call = used.unary_unary(
                    method.path,
                    request_serializer=type(request).SerializeToString,
                    response_deserializer=method.answer.FromString,
                )
                try:
                    return call(request, timeout=self._within(timeout), metadata=METADATA)
                except grpc.RpcError as error:
                    raise self._failed(used, error_from(error)) from None  # type: ignore[arg-type]  # a failed call is its own error
            case Open(method, request):
                self._used = self._gateways.current
                stream = self._used.unary_stream(
                    method.path,
                    request_serializer=type(request).SerializeToString,
                    response_deserializer=method.answer.FromString,
                )
                self._open = Pull(stream(request, metadata=METADATA), "pawl-watch")
            case Next(timeout):
                return self._next(timeout)
            case Close():
                self._close()
            case LetEnd(timeout):
                if self._open is not None:
                    self._open.let_end(timeout)
                    self._open = None
            case Sleep(seconds):
                self._lanes.sleep(self._within(seconds))
            case Now():
                return time.monotonic()
            case Submit(starts, wait):
                entries = self._lanes.submit(starts, wait)
                self._submitted.extend(entries)
                return entries
            case Await(future):
                # The lanes of this driver make futures of threads.
                return cast("Future[Any]", future).result(self._rest)
            case Together(calls, limit):
                return self._together(calls, limit)
        return None

    def _together(self, calls: Sequence[Steps[Any]], limit: int) -> list[Any]:
        pool = ThreadPoolExecutor(min(limit, len(calls)), "pawl-calls")
        try:
            return list(pool.map(self._outcome, calls))
        finally:
            pool.shutdown(cancel_futures=True)

    def _outcome(self, steps: Steps[Any]) -> Any:
        try:
            return BlockingDriver(self._gateways, self._lanes, self._owner).run(steps)
        except PawlError as error:
            return error

    def _next(self, timeout: float) -> Any:
        if self._open is None:
            return None
        try:
            message = self._open.next(self._within(timeout))
        except PawlError as error:
            raise self._failed(self._used, error) from None
        if message is SILENT and self._rest != 0:
            self._gateways.leave(self._used)
        return message

    def _failed(self, used: grpc.Channel, error: PawlError) -> PawlError:
        if error.retryable:
            self._gateways.leave(used)
        return error

    def _close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _leave(self) -> None:
        self._close()
        for entry in self._submitted:
            self._lanes.withdraw(entry)
