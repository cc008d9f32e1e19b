"""Starts runs and gets their ends over standing streams of SubmitRuns. A lane is one stream at a time, and the submissions on it.

A lane opens a stream with its first submission and keeps it. The races it survives: a stream may break between any two messages. Every
submission without a final answer is then sent again on the next stream, to the next gateway. Its request id makes it the same run, so a
repeat starts nothing and gives the same end. Answers may come twice; the first counts. A caller may leave: its submission is forgotten,
and its run continues. Answers name a submission by its request id only, so a lane never has two submissions with one id.

Nothing here waits or locks: a driver does. It calls a lane from one thread at a time.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import grpc

from pawl_sdk._entry import Entry, NoStream
from pawl_sdk._gen.pawl.v1 import run_service_pb2
from pawl_sdk._steps import SILENT, Close, Method, Next, Now, OpenLane, Pause, Steps, Work
from pawl_sdk._watch import backoff_step, stream_error
from pawl_sdk.errors import UNREACHABLE, PawlError, refusal_error

SUBMIT_RUNS = Method("/pawl.v1.RunService/SubmitRuns", run_service_pb2.SubmitRunsResponse)

# The limit of the gateway.
_SUBMISSIONS_MAX = 1000
_LANES_MAX = 16
_MESSAGE_BYTES = 256 * 1024
# A submission of this size fits no message; the gateway's own limit of an input is far below.
_START_BYTES_MAX = 3 * 1024 * 1024
# Three heartbeats of the gateway.
_SILENCE = 45.0
# Submissions that are due at the same time leave in the order in which they were refused.
_ORDER = itertools.count()
# How long the end of an accepted run is waited for while no gateway can be reached.
_GIVE_UP = 300.0


def _ignore() -> None:
    """What a lane calls before its driver listens."""


@dataclass(eq=False)
class Lane:
    """The submissions of one stream at a time."""

    streams: Streams
    gateway: int
    """The place of the gateway of the next stream."""
    wake: Callable[[], None] = _ignore
    """Called when there is something to send."""
    _entries: dict[str, Entry] = field(default_factory=dict)
    _outgoing: deque[Entry] = field(default_factory=deque)
    _later: list[tuple[float, int, Entry]] = field(default_factory=list)
    _failures: int = 0
    """Streams in a row that brought nothing."""

    @property
    def is_idle(self) -> bool:
        return not self._entries

    def has_room(self, entry: Entry) -> bool:
        return len(self._entries) < _SUBMISSIONS_MAX and entry.start.request_id not in self._entries

    def add(self, entry: Entry) -> None:
        entry.lane = self
        self._entries[entry.start.request_id] = entry
        self._outgoing.append(entry)
        self.wake()

    def drop(self, entry: Entry) -> None:
        """Forgets a submission."""
        if self._entries.get(entry.start.request_id) is entry:
            del self._entries[entry.start.request_id]
            self.streams.advance()

    def rewind(self) -> None:
        """A new stream begins: it carries every submission that has no final answer, those that were refused for now when they are due."""
        later = {id(entry) for _, _, entry in self._later}
        self._outgoing = deque(each for each in self._entries.values() if id(each) not in later)

    def take(self, now: float) -> run_service_pb2.SubmitRunsRequest | None:
        """The submissions that fit into the next message; None if there are none now."""
        while self._later and self._later[0][0] <= now:
            self._outgoing.append(heapq.heappop(self._later)[2])
        message, size = run_service_pb2.SubmitRunsRequest(), 0
        while self._outgoing:
            entry = self._outgoing[0]
            if not entry.ended.done():
                own = len(entry.start.input_json)
                if message.submissions and size + own > _MESSAGE_BYTES:
                    break
                message.submissions.add(start=entry.start, wait=entry.wait)
                size += own
            self._outgoing.popleft()
        return message if message.submissions else None

    def rest(self, now: float) -> float | None:
        """How many seconds there is nothing to send; None until the next submission."""
        return max(0.0, self._later[0][0] - now) if self._later else None

    def receive(self, message: run_service_pb2.SubmitRunsResponse, now: float) -> None:
        """Handles a message of the gateway."""
        self._failures = 0
        self.streams.has_connected = True
        for answer in message.answers:
            entry = self._entries.get(answer.request_id)
            if entry is None:
                continue
            entry.since = now
            if answer.HasField("accepted"):
                entry.accept(answer.accepted)
            if answer.HasField("refused"):
                self._refused(entry, refusal_error(answer.refused), now)
            elif answer.HasField("end") or not entry.wait:
                entry.resolve(answer.end if answer.HasField("end") else None)
                self.drop(entry)

    def _refused(self, entry: Entry, error: PawlError, now: float) -> None:
        """Sends a submission again later if that may help, and rejects it otherwise."""
        entry.tries += 1
        if not error.retryable or entry.tries >= self.streams.attempts:
            entry.reject(error)
            self.drop(entry)
            return
        due = now + max(_full_jitter(entry.tries), error.retry_after or 0)
        heapq.heappush(self._later, (due, next(_ORDER), entry))
        self.wake()

    def lost(self, error: PawlError, now: float) -> float | None:
        """The stream is gone. Gives the seconds before the next one; None when no submission waits for it."""
        self._failures += 1
        self.gateway += 1
        if error.code == grpc.StatusCode.UNIMPLEMENTED:
            self.streams.close(NoStream())
        for entry in list(self._entries.values()):
            if self._is_hopeless(entry, error, now):
                entry.reject(error)
                self.drop(entry)
        return _full_jitter(self._failures) if self._entries else None

    def _is_hopeless(self, entry: Entry, error: PawlError, now: float) -> bool:
        if not error.retryable:
            return True
        silent = now - entry.since
        if entry.accepted.done():
            return silent > _GIVE_UP
        # Where no gateway ever answered, the address is most likely wrong.
        return silent > self.streams.timeout if self.streams.has_connected else self._failures >= self.streams.attempts

    def reject_all(self, error: Exception) -> None:
        entries = list(self._entries.values())
        self._entries.clear()
        for entry in entries:
            entry.reject(error)
        self.wake()


class Streams:
    """The lanes, and the line of submissions for which no lane has room."""

    def __init__(self, attempts: int, timeout: float, keep: Callable[[Lane], None]) -> None:
        self.attempts = attempts
        self.timeout = timeout
        self._keep = keep
        self._lanes: list[Lane] = []
        self._line: deque[Entry] = deque()
        self.closed: Exception | None = None
        """Why no further submission is possible."""
        self.has_connected = False
        """Whether a gateway ever answered on any lane: a lane that opens while the gateway restarts has the right address."""

    def submit(self, entry: Entry) -> None:
        """Raises PawlError for a submission that no stream can carry, and NoStream."""
        if self.closed is not None:
            raise self.closed
        size = len(entry.start.input_json)
        if size > _START_BYTES_MAX:
            message = f"the input takes {size} bytes; send less, or a link to it"
            raise PawlError("LIMIT_EXCEEDED", message, code=grpc.StatusCode.RESOURCE_EXHAUSTED)
        self._line.append(entry)
        self.advance()

    def withdraw(self, entry: Entry) -> None:
        """The caller left, with or without its answer. The run continues."""
        entry.resolve(None)
        if entry.lane is not None:
            entry.lane.drop(entry)

    def advance(self) -> None:
        """Moves submissions from the line to lanes."""
        while self._line:
            entry = self._line[0]
            if not entry.ended.done():
                lane = self._lane_for(entry)
                if lane is None:
                    return
                lane.add(entry)
            self._line.popleft()

    def close(self, reason: Exception) -> None:
        """Rejects every submission, now and later."""
        if self.closed is None or isinstance(self.closed, NoStream):
            self.closed = reason
        line, self._line = self._line, deque()
        for entry in line:
            entry.reject(reason)
        for lane in self._lanes:
            lane.reject_all(reason)

    def _lane_for(self, entry: Entry) -> Lane | None:
        for lane in self._lanes:
            if lane.has_room(entry):
                return lane
        if len(self._lanes) >= _LANES_MAX:
            return None
        # Further lanes begin at further gateways.
        lane = Lane(self, len(self._lanes))
        self._lanes.append(lane)
        self._keep(lane)
        return lane


def keep(lane: Lane) -> Steps[None]:
    """Keeps a lane connected while it has submissions: idle, connecting, open, (lost, pausing, connecting)*."""
    while True:
        yield Work()
        lane.rewind()
        error = yield from _read(lane)
        yield Close()
        now: float = yield Now()
        delay = lane.lost(error, now)
        if delay is not None:
            yield Pause(delay)


def _read(lane: Lane) -> Steps[PawlError]:
    """One stream, from its opening to its end. Gives the reason of the end: a stream of this kind has no end of its own."""
    has_begun = False
    try:
        yield OpenLane(lane.gateway)
        while True:
            message = yield Next(_SILENCE)
            if message is SILENT:
                return PawlError(UNREACHABLE, f"the gateway sent nothing for {_SILENCE} s")
            if message is None:
                return PawlError(UNREACHABLE, "the gateway ended the stream")
            has_begun = True
            now: float = yield Now()
            lane.receive(message, now)
    except PawlError as error:
        # A gateway names its reason. gRPC has INTERNAL without one for a stream that was reset, and for a message that it could not send
        # because the stream ended meanwhile; the next stream brings the real reason.
        is_cut = error.code == grpc.StatusCode.INTERNAL and error.server_reason is None
        return stream_error(error, has_begun or is_cut)


def _full_jitter(retry: int) -> float:
    """Seconds before the given retry, counted from 1: anything from nothing to the exponential step, so that callers spread best."""
    return backoff_step(retry) * random.random()
