"""The standing streams of an `AsyncClient`: each lane has a task that keeps its stream. Everything runs on one loop, so nothing is locked.

The race it survives: the task of a lane may be cancelled at any await, by the end of the loop or by a program that cancels all tasks. It
then rejects the submissions of its lane, and the next submission opens another lane.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import grpc
import grpc.aio

from pawl_sdk._entry import Entry, broken, closed, unkept
from pawl_sdk._gateways import METADATA
from pawl_sdk._gen.pawl.v1 import run_service_pb2
from pawl_sdk._lane import Lane
from pawl_sdk._steps import SILENT, Close, Next, Now, OpenLane, Sleep, Step, Work
from pawl_sdk._submit import SUBMIT_RUNS, Streams, keep
from pawl_sdk.errors import UNREACHABLE, PawlError, error_from

_log = logging.getLogger("pawl_sdk")


def is_cancelled() -> bool:
    """Whether the current task was cancelled. gRPC raises CancelledError also when the client itself cancels a call."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class AsyncLanes:
    """Starts a task with the first submission of a lane."""

    def __init__(self, attempts: int, timeout: float, own_channel: Callable[[int], grpc.aio.Channel]) -> None:
        self._own_channel = own_channel
        self._streams = Streams(attempts, timeout, self._keep)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = asyncio.Event()

    @property
    def is_closed(self) -> bool:
        return self._streams.closed is not None

    def submit(self, starts: Sequence[run_service_pb2.StartRunRequest], wait: bool) -> list[Entry]:
        """The entries end with PawlError or NoStream if no stream can carry them."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        entries = [Entry(start, wait, now, loop.create_future(), loop.create_future()) for start in starts]
        self._streams.submit(entries)
        return entries

    def withdraw(self, entry: Entry) -> None:
        """The call of this submission is over."""
        self._streams.withdraw(entry)
        if not entry.ended.cancelled():
            entry.ended.exception()  # The loop logs an error that no caller took.

    async def sleep(self, seconds: float) -> None:
        """Waits, at most until the client is closed."""
        try:
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        except TimeoutError:
            pass

    def drop(self) -> None:
        """Rejects the calls under way, and cancels the tasks."""
        self._streams.close(closed)
        self._closing.set()
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Rejects the calls under way, and ends the tasks."""
        self.drop()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _keep(self, lane: Lane) -> None:
        task = asyncio.create_task(_Keeper(lane, self._own_channel).run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Keeper:
    """Keeps one lane."""

    def __init__(self, lane: Lane, own_channel: Callable[[int], grpc.aio.Channel]) -> None:
        self._lane = lane
        self._own_channel = own_channel
        self._news = asyncio.Event()
        lane.wake = self._news.set
        self._channel: grpc.aio.Channel | None = None
        self._open: grpc.aio.StreamStreamCall[Any, Any] | None = None
        self._sending: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Makes the steps of the lane until the client is closed."""
        reason: Callable[[], Exception] = unkept
        try:
            await self._make_all()
        except Exception as error:
            reason = partial(broken, error)
        finally:
            # Without a keeper, callers would wait for ever. This comes first: the loop may end at the next await.
            if self._lane.streams.closed is None:
                self._lane.streams.abandon(self._lane, reason)
            await self._leave()

    async def _make_all(self) -> None:
        steps = keep(self._lane)
        answer: Any = None
        error: Exception | None = None
        while self._lane.streams.closed is None:
            step = steps.send(answer) if error is None else steps.throw(error)
            answer, error = None, None
            try:
                answer = await self._make(step)
            except Exception as raised:
                error = raised

    async def _make(self, step: Step) -> Any:
        try:
            match step:
                case Work():
                    while self._lane.is_idle and self._lane.streams.closed is None:
                        self._news.clear()
                        await self._news.wait()
                case OpenLane(gateway):
                    self._connect(gateway)
                case Next(timeout):
                    return await self._next(timeout)
                case Close():
                    await self._leave()
                case Sleep(seconds):
                    await asyncio.sleep(seconds)
                case Now():
                    return asyncio.get_running_loop().time()
        except grpc.aio.AioRpcError as error:
            raise error_from(error) from None
        return None

    def _connect(self, gateway: int) -> None:
        self._channel = self._own_channel(gateway)
        call = self._channel.stream_stream(
            SUBMIT_RUNS.path,
            request_serializer=run_service_pb2.SubmitRunsRequest.SerializeToString,
            response_deserializer=SUBMIT_RUNS.answer.FromString,
        )
        self._open = call(metadata=METADATA)
        self._sending = asyncio.create_task(self._send(self._open))

    async def _send(self, stream: grpc.aio.StreamStreamCall[Any, Any]) -> None:
        """Sends what the lane has. Submissions of one turn of the loop share a message."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                self._news.clear()
                while (message := self._lane.take(loop.time())) is not None:
                    await stream.write(message)
                try:
                    async with asyncio.timeout(self._lane.rest(loop.time())):
                        await self._news.wait()
                except TimeoutError:
                    pass  # A submission that was refused for now is due.
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            pass  # The stream is over; the reader gets the reason.
        except Exception as error:
            # Without a sender the stream stays open and carries nothing, so the reader must lose it too.
            _log.warning("a stream of starts cannot send; connecting again", exc_info=error)
            stream.cancel()

    async def _next(self, timeout: float) -> Any:
        if self._open is None:
            return None
        try:
            async with asyncio.timeout(timeout):
                message = await self._open.read()
        except TimeoutError:
            return SILENT
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            raise PawlError(UNREACHABLE, "the client cancelled the stream") from None
        return None if message is grpc.aio.EOF else message

    async def _leave(self) -> None:
        channel, sending = self._channel, self._sending
        self._channel = self._open = self._sending = None
        if sending is not None:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        if channel is not None:
            await channel.close()
