"""One stream of events over many connections: connecting, reading, (lost, pausing, connecting)*, over.

The races it survives: a connection is cut, a gateway drains or restarts, a slow reader is cut off, a peer is silent, events repeat or are
missing. It keeps only the last event id, so every event of the log comes once and in order, and the terminal event is the last.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import grpc

from pawl_sdk._cursor import Cursor
from pawl_sdk._gen.pawl.v1 import event_pb2, event_service_pb2, run_service_pb2
from pawl_sdk._steps import (
    SILENT,
    Call,
    Close,
    Emissions,
    Emit,
    LetEnd,
    Method,
    Next,
    Now,
    OnReconnect,
    Open,
    Reconnect,
    Sleep,
    Step,
)
from pawl_sdk.errors import UNREACHABLE, PawlError
from pawl_sdk.model import Event, Run

T = TypeVar("T")

WATCH = Method("/pawl.v1.EventService/Watch", event_service_pb2.WatchResponse)
WATCH_THREAD = Method("/pawl.v1.EventService/WatchThread", event_service_pb2.WatchThreadResponse)
WATCH_RUN = Method("/pawl.v1.EventService/WatchRun", event_service_pb2.WatchRunResponse)
GET_RUN = Method("/pawl.v1.RunService/GetRun", run_service_pb2.GetRunResponse)

_BASE = 0.2
_LONGEST = 10.0
# The time in which a server must end a stream after the terminal event.
_END = 1.0
# A gap that stays after this many reconnects is in the log, not in the transport.
_GAP_REOPENINGS = 3


def backoff_step(retry: int) -> float:
    """The longest pause before the given retry, counted from 1, in seconds."""
    return min(_LONGEST, _BASE * float(2 ** min(retry - 1, 16)))


def backoff(retry: int) -> float:
    """Seconds before the given retry, counted from 1; at least half of the exponential step."""
    return backoff_step(retry) * (0.5 + random.random() * 0.5)


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """How to watch."""

    after_event_id: int = 0
    types: Sequence[str] = ()
    silence: float = 45.0
    give_up: float = 300.0
    timeout: float = 30.0
    on_reconnect: OnReconnect | None = None
    node_ids: Sequence[str] = ()
    node_types: Sequence[str] = ()


class Events(Protocol):
    """A message of a stream of events."""

    @property
    def events(self) -> Sequence[event_pb2.RunEvent]: ...


@dataclass(frozen=True, slots=True)
class Taken(Generic[T]):
    """What a stream shows of a part of a message. `entry` is None if it shows nothing of it; `gap` is an event before which one is missing."""

    entry: T | None = None
    is_over: bool = False
    is_progress: bool = True
    gap: event_pb2.RunEvent | None = None


class Taker(Protocol[T]):
    """Takes the messages of a stream in order, and keeps its place in the log."""

    @property
    def last_event_id(self) -> int: ...

    def take(self, message: Any) -> Iterator[Taken[T]]: ...


class _EventTaker:
    """Takes every event once and in order."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    @property
    def last_event_id(self) -> int:
        return self._cursor.last_event_id

    def take(self, message: Events) -> Iterator[Taken[Event]]:
        for event in message.events:
            verdict = self._cursor.judge(event)
            if verdict == "gap":
                yield Taken(gap=event)
            elif verdict == "drop":
                yield Taken(is_progress=event.event_id == 0)
            else:
                taken = Event.of(event)
                yield Taken(taken, is_over=taken.is_terminal)


@dataclass(frozen=True, slots=True)
class _Lost:
    """How a connection was lost."""

    cause: str
    error: PawlError
    has_progress: bool
    gap: Gap | None = None


def watch(run_id: str, options: WatchOptions, first: Events | None = None) -> Emissions[Event]:
    """Watches one run to its end. Raises PawlError for an error that no reconnect removes, and after `give_up` without progress.

    With `first`, a stream of the run is open already, and this is its first message.
    """
    is_filtered = any((options.types, options.node_ids, options.node_types))
    taker = _EventTaker(Cursor(options.after_event_id, is_filtered=is_filtered))
    return follow(form_of(run_id, options), taker, options, first)


def form_of(run_id: str, options: WatchOptions) -> event_service_pb2.WatchRunRequest:
    """The filters of a stream as a request."""
    return event_service_pb2.WatchRunRequest(
        run_id=run_id, types=options.types, node_ids=options.node_ids, node_types=options.node_types
    )


class Gap(Exception):
    """An event is missing. The next connection begins after the last event in order."""

    def __init__(self, run_id: str, last_event_id: int, event: event_pb2.RunEvent) -> None:
        due = last_event_id + 1
        what = "a delta is missing before it" if event.event_id == due else f"{due} was due"
        message = f"run {run_id}: event {event.event_id} came, {what}"
        super().__init__(message)
        self.place = (run_id, due)
        self.error = PawlError(
            "EVENT_LOG_CORRUPTION",
            message,
            code=grpc.StatusCode.DATA_LOSS,
            metadata={"runId": run_id, "lastEventId": str(last_event_id)},
        )


class GapCount:
    """Counts how often the same event was missing in a row."""

    def __init__(self) -> None:
        self._place: tuple[str, int] | None = None
        self._count = 0

    def is_lasting(self, gap: Gap) -> bool:
        """Notes a gap. True if no reconnect removes it."""
        self._count = self._count + 1 if gap.place == self._place else 1
        self._place = gap.place
        return self._count > _GAP_REOPENINGS


def follow(
    form: event_service_pb2.WatchRunRequest,
    taker: Taker[T],
    options: WatchOptions,
    first: Events | None = None,
) -> Emissions[T]:
    """One stream over many connections. Raises as `watch` does."""
    retry, gaps = 0, GapCount()
    failing_since: float | None = None
    while True:
        lost = yield from _read_once(form, taker, options, first)
        first = None
        yield Close()
        if lost is None:
            return
        if lost.has_progress:
            retry = 0
            failing_since = None
        now: float = yield Now()
        failing_since = now if failing_since is None else failing_since
        is_final = lost.cause == "error" and not lost.error.retryable
        if lost.gap is not None:
            is_final = gaps.is_lasting(lost.gap)
        if is_final or now - failing_since > options.give_up:
            raise lost.error
        retry += 1
        delay = max(backoff(retry), lost.error.retry_after or 0)
        if options.on_reconnect is not None:
            options.on_reconnect(
                Reconnect(lost.cause, lost.error, retry, delay, taker.last_event_id)
            )
        yield Sleep(delay)


def _read_once(
    form: event_service_pb2.WatchRunRequest, taker: Taker[T], options: WatchOptions, first: Events | None
) -> Generator[Step | Emit[T], Any, _Lost | None]:
    """One connection, from the cursor to its end; None when the run is over."""
    has_begun = has_progress = False
    try:
        if first is None:
            request = event_service_pb2.WatchRunRequest(after_event_id=taker.last_event_id)
            request.MergeFrom(form)
            yield Open(WATCH_RUN, request)
        while True:
            message = first if first is not None else (yield Next(options.silence))
            first = None
            if message is SILENT:
                error = PawlError(UNREACHABLE, f"nothing came for {options.silence} s")
                return _Lost("silence", error, has_progress)
            if message is None:
                break
            has_begun = True
            has_progress = has_progress or len(message.events) + len(getattr(message, "items", ())) == 0  # a heartbeat
            for taken in taker.take(message):
                if taken.gap is not None:
                    gap = Gap(form.run_id, taker.last_event_id, taken.gap)
                    return _Lost("gap", gap.error, has_progress, gap)
                has_progress = has_progress or taken.is_progress
                # Before the emission: a caller that has the terminal event may leave the loop at once.
                if taken.is_over:
                    yield LetEnd(_END)
                if taken.entry is not None:
                    yield Emit(taken.entry)
                if taken.is_over:
                    return None
        # The server ended the stream. That is right when the caller already had the terminal event.
        answer = yield Call(
            GET_RUN, run_service_pb2.GetRunRequest(run_id=form.run_id), options.timeout
        )
    except PawlError as error:
        return _Lost("error", stream_error(error, has_begun), has_progress)
    run = Run.of(answer.run)
    if run.has_ended and run.last_event_id <= taker.last_event_id:
        return None
    closed = PawlError(UNREACHABLE, "the stream ended before the run did")
    return _Lost("closed", closed, has_progress)


def stream_error(error: PawlError, has_begun: bool) -> PawlError:
    """After its first message a request was valid: an error without a reason of the server comes from the connection."""
    if error.server_reason is not None:
        return error
    # The caller did not cancel it: an intermediary reset the stream.
    if not has_begun and error.reason != "CALLER_CANCELLED":
        return error
    return PawlError(UNREACHABLE, f"the stream was cut: {error.message}")
