"""Makes the steps of a call with asyncio.

A call ends early in three ways: its time limit passes, a task closes the client, or the caller's task is cancelled. For the last two
gRPC raises CancelledError; only the last one is the caller's own. The steps are then left: their own rules would repeat the call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from typing import Any, TypeVar, cast

import grpc
import grpc.aio

from pawl_sdk._entry import Entry, closed, left
from pawl_sdk._gateways import METADATA, Gateways
from pawl_sdk._lanes_async import AsyncLanes, is_cancelled
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
from pawl_sdk.errors import UNREACHABLE, PawlError, error_from

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

    def __init__(
        self, gateways: Gateways[grpc.aio.Channel], lanes: AsyncLanes, owner: object, timeout: float | None = None
    ) -> None:
        self._gateways = gateways
        self._lanes = lanes
        self._owner = owner
        """What must not be collected while this call is under way."""
        self._timeout = timeout
        self._until = None if timeout is None else asyncio.get_running_loop().time() + timeout
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
                async with asyncio.timeout_at(self._until):
                    answer = await self._make(step)
            except TimeoutError:
                steps.close()
                raise left(self._timeout) from None
            except asyncio.CancelledError:
                if is_cancelled():
                    raise
                error = PawlError(UNREACHABLE, "the client cancelled the call")
            except Exception as raised:
                error = raised
            if self._lanes.is_closed and (error is not None or isinstance(step, Sleep)):
                if not isinstance(error, PawlError) or error.server_reason is None:
                    steps.close()
                    raise closed() from None

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
                case Sleep(seconds):
                    await self._lanes.sleep(seconds)
                case Now():
                    return asyncio.get_running_loop().time()
                case Submit(starts, wait):
                    entries = self._lanes.submit(starts, wait)
                    self._submitted.extend(entries)
                    return entries
                case Await(future):
                    # The lanes of this driver make futures of the loop.
                    return await cast("asyncio.Future[Any]", future)
                case Together(calls, limit):
                    return await self._together(calls, limit)
        except grpc.aio.AioRpcError as raised:
            error = error_from(raised)
            if error.retryable:
                self._gateways.leave(used)
            raise error from None
        return None

    async def _together(self, calls: Sequence[Steps[Any]], limit: int) -> list[Any]:
        places = asyncio.Semaphore(limit)

        async def outcome(steps: Steps[Any]) -> Any:
            async with places:
                try:
                    return await AsyncDriver(self._gateways, self._lanes, self._owner).run(steps)
                except PawlError as error:
                    return error

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(outcome(steps)) for steps in calls]
        return [task.result() for task in tasks]

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
