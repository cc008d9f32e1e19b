"""The standing streams of a `Client`: each lane has a thread that keeps its stream.

Threads that call, the threads of the lanes and the threads in which gRPC sends share the lanes. One lock guards all of them; none holds it
while it waits for the network. A keeper that ends by an error rejects the submissions of its lane, and the next submission opens another lane.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

import grpc

from pawl_sdk._entry import Entry, broken, closed
from pawl_sdk._gateways import METADATA
from pawl_sdk._gen.pawl.v1 import run_service_pb2
from pawl_sdk._lane import Lane
from pawl_sdk._pull import Pull
from pawl_sdk._steps import Close, Next, Now, OpenLane, Sleep, Step, Work
from pawl_sdk._submit import SUBMIT_RUNS, Streams, keep

_log = logging.getLogger("pawl_sdk")


class BlockingLanes:
    """Starts a thread with the first submission of a lane. The threads do not keep the process alive."""

    def __init__(self, attempts: int, timeout: float, own_channel: Callable[[int], grpc.Channel]) -> None:
        self._own_channel = own_channel
        self._lock = threading.RLock()
        self._streams = Streams(attempts, timeout, self._keep)
        self._keepers: list[_Keeper] = []
        self._closing = threading.Event()

    @property
    def is_closed(self) -> bool:
        return self._streams.closed is not None

    def submit(self, starts: Sequence[run_service_pb2.StartRunRequest], wait: bool) -> list[Entry]:
        """The entries end with PawlError or NoStream if no stream can carry them."""
        now = time.monotonic()
        entries = [Entry(start, wait, now, Future(), Future()) for start in starts]
        with self._lock:
            self._streams.submit(entries)
        return entries

    def withdraw(self, entry: Entry) -> None:
        """The call of this submission is over."""
        with self._lock:
            self._streams.withdraw(entry)

    def sleep(self, seconds: float) -> None:
        """Waits, at most until the client is closed."""
        self._closing.wait(seconds)

    def close(self) -> None:
        """Rejects the calls under way, and ends the threads."""
        with self._lock:
            self._streams.close(closed)
            keepers = list(self._keepers)
        self._closing.set()
        for keeper in keepers:
            keeper.leave()

    def _keep(self, lane: Lane) -> None:
        """Raises RuntimeError if no thread can start."""
        keeper = _Keeper(lane, self._lock, self._own_channel)
        threading.Thread(target=self._run, args=(keeper,), name="pawl-submit", daemon=True).start()
        self._keepers.append(keeper)

    def _run(self, keeper: _Keeper) -> None:
        try:
            keeper.run()
        finally:
            with self._lock:
                self._keepers.remove(keeper)


class _Keeper:
    """Keeps one lane."""

    def __init__(self, lane: Lane, lock: threading.RLock, own_channel: Callable[[int], grpc.Channel]) -> None:
        self._lane = lane
        self._own_channel = own_channel
        self._news = threading.Condition(lock)
        lane.wake = self._news.notify_all
        self._channel: grpc.Channel | None = None
        self._open: Pull[Any] | None = None

    def run(self) -> None:
        """Makes the steps of the lane until the client is closed."""
        try:
            self._make_all()
        except Exception as error:
            # Without a keeper, callers would wait for ever.
            with self._news:
                self._lane.streams.abandon(self._lane, partial(broken, error))
        finally:
            self.leave()

    def _make_all(self) -> None:
        steps = keep(self._lane)
        answer: Any = None
        error: Exception | None = None
        while True:
            with self._news:
                if self._is_closed:
                    return
                step = steps.send(answer) if error is None else steps.throw(error)
            answer, error = None, None
            try:
                answer = self._make(step)
            except Exception as raised:
                error = raised

    def leave(self) -> None:
        """Closes the stream."""
        with self._news:
            channel, opened = self._channel, self._open
            self._channel = self._open = None
            self._news.notify_all()
        if opened is not None:
            opened.close()
        if channel is not None:
            channel.close()

    def _make(self, step: Step) -> Any:
        match step:
            case Work():
                with self._news:
                    self._news.wait_for(lambda: not self._lane.is_idle or self._is_closed)
            case OpenLane(gateway):
                self._connect(gateway)
            case Next(timeout):
                opened = self._open
                return None if opened is None else opened.next(timeout)
            case Close():
                self.leave()
            case Sleep(seconds):
                with self._news:
                    self._news.wait_for(lambda: self._is_closed, seconds)
            case Now():
                return time.monotonic()
        return None

    @property
    def _is_closed(self) -> bool:
        return self._lane.streams.closed is not None

    def _connect(self, gateway: int) -> None:
        channel = self._own_channel(gateway)
        call = channel.stream_stream(
            SUBMIT_RUNS.path,
            request_serializer=run_service_pb2.SubmitRunsRequest.SerializeToString,
            response_deserializer=SUBMIT_RUNS.answer.FromString,
        )
        with self._news:
            if self._is_closed:
                channel.close()
                return
            self._channel = channel
        stream = call(self._messages(channel), metadata=METADATA)
        opened = Pull(stream, "pawl-answers")
        with self._news:
            if self._channel is channel:
                self._open = opened
                return
        opened.close()

    def _messages(self, channel: grpc.Channel) -> Iterator[run_service_pb2.SubmitRunsRequest]:
        """What gRPC sends on the stream of this channel."""
        try:
            while (message := self._take(channel)) is not None:
                yield message
        except Exception as error:
            # Without a sender the stream stays open and carries nothing, so the reader must lose it too.
            _log.warning("a stream of starts cannot send; connecting again", exc_info=error)
            self.leave()

    def _take(self, channel: grpc.Channel) -> run_service_pb2.SubmitRunsRequest | None:
        """Waits for the next message; None when the lane leaves the channel, so an old stream takes no submission."""
        with self._news:
            while self._channel is channel:
                message = self._lane.take(time.monotonic())
                if message is not None:
                    return message
                self._news.wait(self._lane.rest(time.monotonic()))
        return None
