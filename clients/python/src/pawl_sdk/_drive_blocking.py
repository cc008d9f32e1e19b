"""Makes the steps of a call with blocking calls."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import Any, TypeVar

import grpc

from pawl_sdk._pull import Pull
from pawl_sdk._steps import Call, Close, Emissions, Emit, End, LetEnd, Next, Now, Open, Pause, Step, Steps
from pawl_sdk.errors import error_from

T = TypeVar("T")


class BlockingDriver:
    """Makes the steps of one call. It has at most one open stream."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel
        self._open: Pull[Any] | None = None

    def run(self, steps: Steps[T]) -> T:
        """Makes all steps and returns their value."""
        try:
            end = self._advance(steps)
            result: T = end.value
            return result
        finally:
            self._close()

    def emit(self, steps: Emissions[T]) -> Iterator[T]:
        """Yields what the steps emit."""
        try:
            while isinstance(came := self._advance(steps), Emit):
                yield came.value
        finally:
            self._close()

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
                call = self._channel.unary_unary(
                    method.path,
                    request_serializer=type(request).SerializeToString,
                    response_deserializer=method.answer.FromString,
                )
                try:
                    return call(request, timeout=timeout)
                except grpc.RpcError as error:
                    raise error_from(error) from None  # type: ignore[arg-type]  # a failed call is its own error
            case Open(method, request):
                stream = self._channel.unary_stream(
                    method.path,
                    request_serializer=type(request).SerializeToString,
                    response_deserializer=method.answer.FromString,
                )
                self._open = Pull(stream(request), "pawl-watch")
            case Next(timeout):
                return None if self._open is None else self._open.next(timeout)
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
        return None

    def _close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None
