"""Makes the steps of a call with blocking calls."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import Any, TypeVar

import grpc

from pawl_sdk._gateways import METADATA, Gateways
from pawl_sdk._lanes_blocking import BlockingLanes
from pawl_sdk._pull import Pull
from pawl_sdk._steps import SILENT, Await, Call, Close, Emissions, Emit, End, LetEnd, Next, Now, Open, Pause, Step, Steps, Submit
from pawl_sdk._entry import Entry
from pawl_sdk.errors import PawlError, error_from

T = TypeVar("T")


class BlockingDriver:
    """Makes the steps of one call. It has at most one open stream."""

    def __init__(self, gateways: Gateways[grpc.Channel], lanes: BlockingLanes) -> None:
        self._gateways = gateways
        self._lanes = lanes
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
                    return call(request, timeout=timeout, metadata=METADATA)
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
            case Pause(seconds):
                time.sleep(seconds)
            case Now():
                return time.monotonic()
            case Submit(start, wait):
                entry = self._lanes.submit(start, wait)
                self._submitted.append(entry)
                return entry
            case Await(future):
                return future.result()
        return None

    def _next(self, timeout: float) -> Any:
        if self._open is None:
            return None
        try:
            message = self._open.next(timeout)
        except PawlError as error:
            raise self._failed(self._used, error) from None
        if message is SILENT:
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
