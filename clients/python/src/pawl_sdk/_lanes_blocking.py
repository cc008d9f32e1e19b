"""The standing streams of a `Client`: each lane has a thread that keeps its stream.

Threads that call, the threads of the lanes and the threads in which gRPC sends share the lanes. One lock guards all of them; none holds it
while it waits for the network.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import grpc

from pawl_sdk._entry import Entry, broken, closed
from pawl_sdk._gateways import METADATA
from pawl_sdk._gen.pawl.v1 import run_service_pb2
from pawl_sdk._pull import Pull
from pawl_sdk._steps import Close, Next, Now, OpenLane, Pause, Step, Work
from pawl_sdk._submit import SUBMIT_RUNS, Lane, Streams, keep


class BlockingLanes:
    """Starts a thread with the first submission of a lane. The threads do not keep the process alive."""

    def __init__(self, attempts: int, timeout: float, own_channel: Callable[[int], grpc.Channel]) -> None:
        self._own_channel = own_channel
        self._lock = threading.RLock()
        self._streams = Streams(attempts, timeout, self._keep)
        self._keepers: list[_Keeper] = []

    def submit(self, start: run_service_pb2.StartRunRequest, wait: bool) -> Entry:
        """Raises PawlError and NoStream."""
        entry = Entry(start, wait, time.monotonic(), Future(), Future())
        with self._lock:
            self._streams.submit(entry)
        return entry

    def withdraw(self, entry: Entry) -> None:
        """The call of this submission is over."""
        with self._lock:
            self._streams.withdraw(entry)

    def close(self) -> None:
        """Rejects the calls under way, and ends the threads."""
        with self._lock:
            self._streams.close(closed())
        for keeper in self._keepers:
            keeper.leave()

    def _keep(self, lane: Lane) -> None:
        keeper = _Keeper(lane, self._lock, self._own_channel)
        self._keepers.append(keeper)
        threading.Thread(target=keeper.run, name="pawl-submit", daemon=True).start()


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
        steps = keep(self._lane)
        answer: Any = None
        error: Exception | None = None
        try:
            while True:
                with self._news:
                    if self._lane.streams.closed is not None:
                        return
                    step = steps.send(answer) if error is None else steps.throw(error)
                answer, error = None, None
                try:
                    answer = self._make(step)
                except Exception as raised:
                    error = raised
        except Exception as error_of_ours:
            # Without a keeper, callers would wait for ever.
            with self._news:
                self._lane.streams.close(broken(error_of_ours))
        finally:
            self.leave()

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
            case Pause(seconds):
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
        """What gRPC sends on the stream of this channel. It ends when the lane leaves the channel, so an old stream takes no submission."""
        while True:
            with self._news:
                while True:
                    if self._channel is not channel:
                        return
                    message = self._lane.take(time.monotonic())
                    if message is not None:
                        break
                    self._news.wait(self._lane.rest(time.monotonic()))
            yield message
