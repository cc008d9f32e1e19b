"""Starts runs and gets their ends over standing streams of SubmitRuns. A lane is one stream at a time, and the submissions on it.

A lane opens a stream with its first submission and keeps it. The races it survives: a stream may break between any two messages. Every
submission without a final answer is then sent again on the next stream, to the next gateway. Its request id makes it the same run, so a
repeat starts nothing and gives the same end. Answers may come twice; the first counts. A caller may leave: its submission is forgotten,
and its run continues. Answers name a submission by its request id only, so a lane never has two submissions with one id.

Nothing here waits or locks: a driver does. It calls a lane from one thread at a time.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence

import grpc

from pawl_sdk._entry import Entry, NoStream, broken
from pawl_sdk._gen.pawl.v1 import run_service_pb2
from pawl_sdk._lane import Lane
from pawl_sdk._steps import SILENT, Close, Method, Next, Now, OpenLane, Sleep, Steps, Work
from pawl_sdk._watch import stream_error
from pawl_sdk.errors import UNREACHABLE, PawlError

SUBMIT_RUNS = Method("/pawl.v1.RunService/SubmitRuns", run_service_pb2.SubmitRunsResponse)

_LANES_MAX = 16
# A submission of this size fits no message; the gateway's own limit of an input is far below.
_START_BYTES_MAX = 3 * 1024 * 1024
# Three heartbeats of the gateway.
_SILENCE = 45.0

_log = logging.getLogger("pawl_sdk")


class Streams:
    """The lanes, and the line of submissions for which no lane has room."""

    def __init__(self, attempts: int, timeout: float, keep: Callable[[Lane], None]) -> None:
        self.attempts = attempts
        self.timeout = timeout
        self._keep = keep
        self._lanes: list[Lane] = []
        self._line: deque[Entry] = deque()
        self.closed: Callable[[], Exception] | None = None
        """Makes the error of every submission once the client is closed."""
        self._calls_until = float("-inf")
        """Until when submissions are calls of their own, because a gateway had no stream."""
        self.has_connected = False
        """Whether a gateway ever answered on any lane: a lane that opens while the gateway restarts has the right address."""

    def submit(self, entries: Sequence[Entry]) -> None:
        """Takes submissions; those of one call share messages. A submission that no stream can carry is rejected: PawlError, or NoStream."""
        for entry in entries:
            size = len(entry.start.input_json)
            if self.closed is not None:
                entry.reject(self.closed())
            elif size > _START_BYTES_MAX:
                message = f"the input takes {size} bytes; send less, or a link to it"
                entry.reject(PawlError("LIMIT_EXCEEDED", message, code=grpc.StatusCode.RESOURCE_EXHAUSTED))
            elif entry.since < self._calls_until:
                entry.reject(NoStream())
            else:
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
                try:
                    lane = self._lane_for(entry)
                except Exception as error:
                    if self._lanes:
                        return  # A lane that exists takes it once it has room.
                    entry.reject(broken(error))
                    continue
                if lane is None:
                    return
                lane.add(entry)
            self._line.popleft()

    def make_calls_until(self, until: float) -> None:
        """A gateway has no stream: submissions that wait, and those of the next minute, are calls of their own."""
        self._calls_until = until
        self._reject_line(NoStream)

    def abandon(self, lane: Lane, reason: Callable[[], Exception]) -> None:
        """The keeper of a lane is gone, so no answer can come. A later submission opens another lane."""
        if lane in self._lanes:
            self._lanes.remove(lane)
        lane.reject_all(reason)
        self.advance()

    def close(self, reason: Callable[[], Exception]) -> None:
        """Rejects every submission, now and later."""
        self.closed = reason
        self._reject_line(reason)
        for lane in self._lanes:
            lane.reject_all(reason)

    def _reject_line(self, reason: Callable[[], Exception]) -> None:
        line, self._line = self._line, deque()
        for entry in line:
            entry.reject(reason())

    def _lane_for(self, entry: Entry) -> Lane | None:
        for lane in self._lanes:
            if lane.has_room(entry):
                return lane
        if len(self._lanes) >= _LANES_MAX:
            return None
        # Further lanes begin at further gateways.
        lane = Lane(self, len(self._lanes))
        self._keep(lane)
        # Only now: a lane without a keeper would take submissions and never send them.
        self._lanes.append(lane)
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
            yield Sleep(delay)


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
        # A gateway names its reason. gRPC reports INTERNAL without a reason for a stream that was reset. It does the same for a message
        # that it could not send because the stream ended meanwhile. The next stream brings the real reason.
        is_cut = error.code == grpc.StatusCode.INTERNAL and error.server_reason is None
        return stream_error(error, has_begun or is_cut)
    except Exception as error:
        # A mistake of this package, or of gRPC, ends one stream. Its submissions are sent again on the next one.
        _log.warning("a stream of starts failed; connecting again", exc_info=error)
        return PawlError(UNREACHABLE, f"the stream failed: {error!r}")
