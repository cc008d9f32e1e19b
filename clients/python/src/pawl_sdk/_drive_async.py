"""Makes the steps of a call with asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import Any, TypeVar, cast

import grpc
import grpc.aio

from pawl_sdk._gateways import METADATA, Gateways
from pawl_sdk._lanes_async import AsyncLanes
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
    Pause,
    Step,
    Steps,
    Submit,
)
from pawl_sdk._entry import Entry
from pawl_sdk.errors import error_from

T = TypeVar("T")


# A loop keeps weak references to its tasks only.
_endings: set[asyncio.Task[None]] = set()


async def _read_to_end(stream: grpc.aio.UnaryStreamCall[Any, Any], timeout: float) -> None:
    """Reads a stream whose messages do not matter until the server ends it."""
    try:
        async with asyncio.timeout(timeout):
            while await stream.read() is not grpc.aio.EOF:
                pass
    except (TimeoutError, grpc.aio.AioRpcError):
        pass  # The caller has every event.
    finally:
        stream.cancel()


class AsyncDriver:
    """Makes the steps of one call. It has at most one open stream."""

    def __init__(self, gateways: Gateways[grpc.aio.Channel], lanes: AsyncLanes) -> None:
        self._gateways = gateways
        self._lanes = lanes
        self._used = gateways.current
        self._open: grpc.aio.UnaryStreamCall[Any, Any] | None = None
        self._submitted: list[Entry] = []

    async def run(self, steps: Steps[T]) -> T:
        """Makes all steps and returns their value."""
        try:
            end = await self._advance(steps)
            result: T = end.value
            return result
        finally:
            self._leave()

    async def emit(self, steps: Emissions[T]) -> AsyncGenerator[T, None]:
        """Yields what the steps emit."""
        try:
            while isinstance(came := await self._advance(steps), Emit):
                yield came.value
        finally:
            self._leave()

    async def _advance(
        self, steps: Generator[Step | Emit[Any], Any, Any] | Steps[Any]
    ) -> Emit[Any] | End:
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
                answer = await self._make(step)
            except Exception as raised:
                error = raised

    async def _make(self, step: Step) -> Any:
        used = self._used
        try:
            match step:
                case Call(method, request, timeout):
                    used = self._gateways.current
                    call = used.unary_unary(
                        method.path,
                        request_serializer=type(request).SerializeToString,
                        response_deserializer=method.answer.FromString,
                    )
                    return await call(request, timeout=timeout, metadata=METADATA)
                case Open(method, request):
                    self._used = self._gateways.current
                    stream = self._used.unary_stream(
                        method.path,
                        request_serializer=type(request).SerializeToString,
                        response_deserializer=method.answer.FromString,
                    )
                    self._open = stream(request, metadata=METADATA)
                case Next(timeout):
                    return await self._next(timeout)
                case Close():
                    self._close()
                case LetEnd(timeout):
                    self._let_end(timeout)
                case Pause(seconds):
                    await asyncio.sleep(seconds)
                case Now():
                    return asyncio.get_running_loop().time()
                case Submit(start, wait):
                    entry = self._lanes.submit(start, wait)
                    self._submitted.append(entry)
                    return entry
                case Await(future):
                    # The lanes of this driver make futures of the loop.
                    return await cast("asyncio.Future[Any]", future)
        except grpc.aio.AioRpcError as raised:
            error = error_from(raised)
            if error.retryable:
                self._gateways.leave(used)
            raise error from None
        return None

    async def _next(self, timeout: float) -> Any:
        if self._open is None:
            return None
        try:
            async with asyncio.timeout(timeout):
                message = await self._open.read()
        except TimeoutError:
            self._gateways.leave(self._used)
            return SILENT
        return None if message is grpc.aio.EOF else message

    def _let_end(self, timeout: float) -> None:
        if self._open is not None:
            ending = asyncio.create_task(_read_to_end(self._open, timeout))
            _endings.add(ending)
            ending.add_done_callback(_endings.discard)
            self._open = None

    def _close(self) -> None:
        if self._open is not None:
            self._open.cancel()
            self._open = None

    def _leave(self) -> None:
        self._close()
        for entry in self._submitted:
            self._lanes.withdraw(entry)
