"""The submissions of one stream of SubmitRuns at a time: what to send, what an answer means, and what a lost stream means.

Nothing here waits or locks: a driver does. It calls a lane from one thread at a time.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import grpc

from pawl_sdk._entry import Entry, NoStream, copy_of
from pawl_sdk._gen.pawl.v1 import run_service_pb2
from pawl_sdk._watch import backoff_step
from pawl_sdk.errors import PawlError, refusal_error

if TYPE_CHECKING:
    from pawl_sdk._submit import Streams

# The limit of the gateway.
_SUBMISSIONS_MAX = 1000
_MESSAGE_BYTES = 256 * 1024
# Submissions that are due at the same time leave in the order in which they were refused.
_ORDER = itertools.count()
# How long the end of an accepted run is waited for while no gateway can be reached.
_GIVE_UP = 300.0
# How long the client makes calls after a gateway had no stream.
_CALLS_FOR = 60.0


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
        if self._entries.get(entry.start.request_id) is not entry:
            return
        del self._entries[entry.start.request_id]
        if not self._entries:
            # The pauses of an outage are over with the last call that met it.
            self._failures = 0
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
        delay = _full_jitter(self._failures)
        if error.code == grpc.StatusCode.UNIMPLEMENTED:
            self.streams.make_calls_until(now + _CALLS_FOR)
            self.reject_all(NoStream)
        for entry in list(self._entries.values()):
            entry.losses += 1
            if self._is_hopeless(entry, error, now):
                entry.reject(copy_of(error))
                self.drop(entry)
        return delay if self._entries else None

    def _is_hopeless(self, entry: Entry, error: PawlError, now: float) -> bool:
        if not error.retryable:
            return True
        silent = now - entry.since
        if entry.accepted.done():
            return silent > _GIVE_UP
        # Where no gateway ever answered, the address is most likely wrong.
        return silent > self.streams.timeout if self.streams.has_connected else entry.losses >= self.streams.attempts

    def reject_all(self, error: Callable[[], Exception]) -> None:
        """Each submission gets an error of its own: a raised error keeps the frames of its caller."""
        entries = list(self._entries.values())
        self._entries.clear()
        self._failures = 0
        for entry in entries:
            entry.reject(error())
        self.wake()


def _full_jitter(retry: int) -> float:
    """Seconds before the given retry, counted from 1: anything from nothing to the exponential step, so that callers spread best."""
    return backoff_step(retry) * random.random()
