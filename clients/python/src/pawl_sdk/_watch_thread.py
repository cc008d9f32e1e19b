"""One stream of all runs of a thread over many connections.

The races it survives: a connection breaks between two runs, a gateway drains or is killed, runs begin or are stopped while the client is
away. The stream keeps the cursor of the last event, and the gateway continues after it. So every event of every run comes once and in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeVar

from pawl_sdk._cursor import Cursor
from pawl_sdk._gen.pawl.v1 import event_service_pb2
from pawl_sdk._steps import SILENT, Close, Emissions, Emit, Next, Open, Sleep
from pawl_sdk._stream import item_of, modes_on_wire
from pawl_sdk._watch import WATCH_THREAD, Gap, GapCount, backoff, stream_error
from pawl_sdk.errors import UNREACHABLE, PawlError
from pawl_sdk.model import Event
from pawl_sdk.options import WatchThreadOptions
from pawl_sdk.streaming import StreamMode, ThreadEvent, ThreadItem

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# Connections in a row without news, until the last error is raised.
_ATTEMPTS_MAX = 30


class _Place(Protocol[T_co]):
    """What a stream shows of a message, and its place in the thread."""

    @property
    def cursor(self) -> str: ...

    def take(self, message: event_service_pb2.WatchThreadResponse) -> Iterator[T_co]: ...


def watch_thread(thread_id: str, options: WatchThreadOptions) -> Emissions[ThreadEvent]:
    """Watches the runs of a thread. Raises PawlError for an error that no reconnect removes."""
    form = _form_of(thread_id, (), options)
    is_filtered = len(form.types) + len(form.node_ids) + len(form.node_types) > 0
    return _follow(form, _EventPlace(options.get("cursor", ""), is_filtered=is_filtered), options)


def stream_thread(
    thread_id: str, modes: Sequence[StreamMode], options: WatchThreadOptions
) -> Emissions[ThreadItem]:
    """Streams the runs of a thread in modes. Each run ends with its control item `done`. Raises as `watch_thread` does."""
    place = _ItemPlace(options.get("cursor", ""))
    return _follow(_form_of(thread_id, modes, options), place, options)


def _form_of(
    thread_id: str, modes: Sequence[StreamMode], options: WatchThreadOptions
) -> event_service_pb2.WatchThreadRequest:
    return event_service_pb2.WatchThreadRequest(
        thread_id=thread_id,
        types=options.get("types", ()),
        modes=modes_on_wire(modes),
        node_ids=options.get("node_ids", ()),
        node_types=options.get("node_types", ()),
        until_idle=options.get("until_idle", False),
        skip_finished=options.get("skip_finished", False),
    )


def _cursor_at(message: event_service_pb2.WatchThreadResponse, event_id: int) -> str:
    """The cursor of an event of a message."""
    return f"{message.cursor.rpartition('.')[0]}.{event_id}"


class _EventPlace:
    """Takes every event once and in order."""

    def __init__(self, cursor: str, *, is_filtered: bool) -> None:
        self.cursor = cursor
        self._is_filtered = is_filtered
        self._run_id = ""
        self._log = Cursor(0, is_filtered=is_filtered)
        # The first event after a cursor of the caller may be any event of its run.
        self._is_start_known = cursor == ""

    def take(self, message: event_service_pb2.WatchThreadResponse) -> Iterator[ThreadEvent]:
        for event in message.events:
            if message.run_id != self._run_id:
                after = 0 if self._is_start_known else event.event_id - 1
                self._run_id, self._log = message.run_id, Cursor(after, is_filtered=self._is_filtered)
                self._is_start_known = True
            verdict = self._log.judge(event)
            if verdict == "gap":
                raise Gap(message.run_id, self._log.last_event_id, event)
            if verdict == "take":
                self.cursor = _cursor_at(message, event.event_id)
                yield ThreadEvent(self.cursor, Event.of(event))


class _ItemPlace:
    """Takes the items of each event once."""

    def __init__(self, cursor: str) -> None:
        self.cursor = cursor
        self._run_id = ""
        self._last_event_id = 0

    def take(self, message: event_service_pb2.WatchThreadResponse) -> Iterator[ThreadItem]:
        items = message.items
        if len(items) > 0 and message.run_id != self._run_id:
            self._run_id, self._last_event_id = message.run_id, 0
        before = self._last_event_id
        for index, wire in enumerate(items):
            if wire.event_id <= before:
                continue
            if index + 1 == len(items) or items[index + 1].event_id != wire.event_id:
                self.cursor, self._last_event_id = _cursor_at(message, wire.event_id), wire.event_id
            item = item_of(wire)
            yield ThreadItem(item.mode, item.event_id, item.run_id, item.event, item.data, self.cursor)


def _follow(
    form: event_service_pb2.WatchThreadRequest, place: _Place[T], options: WatchThreadOptions
) -> Emissions[T]:
    on_reconnect = options.get("on_reconnect")
    retry, gaps = 0, GapCount()
    while True:
        has_begun = False
        error = PawlError(UNREACHABLE, "the stream ended before the thread was idle")
        try:
            request = event_service_pb2.WatchThreadRequest(cursor=place.cursor)
            request.MergeFrom(form)
            yield Open(WATCH_THREAD, request)
            while True:
                message: Any = yield Next(options.get("silence", 45.0))
                if message is SILENT:
                    break
                if message is None:
                    if form.until_idle:
                        yield Close()
                        return
                    break
                has_begun, retry = True, 0
                for entry in place.take(message):
                    yield Emit(entry)
        except Gap as gap:
            error = gap.error
            if gaps.is_lasting(gap):
                raise error from None
        except PawlError as raised:
            error = stream_error(raised, has_begun)
            if not error.retryable:
                raise error from None
        yield Close()
        retry += 1
        if retry > _ATTEMPTS_MAX:
            raise error
        if on_reconnect is not None:
            on_reconnect(place.cursor, error)
        yield Sleep(max(backoff(retry), error.retry_after or 0))
