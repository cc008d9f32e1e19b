"""A stream of a run in modes: the log in the forms that a caller wants; and the callbacks of a watch.

The race it survives: a connection breaks between the items of two events. All items of one event are in one message, so the event id is a
cursor between events and never inside one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pawl_sdk._gen.pawl.v1 import event_service_pb2
from pawl_sdk._plain import short_name
from pawl_sdk._steps import Emissions
from pawl_sdk._watch import Taken, WatchOptions, follow, form_of
from pawl_sdk.model import Event
from pawl_sdk.streaming import Checkpoint, OnCheckpoint, OnTaskResult, StreamItem, StreamMode, TaskResult

_SETTLED = frozenset({"completed", "failed", "timed_out", "cancelled", "skipped"})


def stream(run_id: str, modes: Sequence[StreamMode], options: WatchOptions) -> Emissions[StreamItem]:
    """Streams one run in modes. It ends after the control item `done`, which comes in every mode. Raises as a watch does."""
    return follow(_form(run_id, modes, options), _ItemTaker(options.after_event_id), options)


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Functions that are called for the steps of a run."""

    on_checkpoint: OnCheckpoint | None = None
    on_task_result: OnTaskResult | None = None

    @property
    def modes(self) -> list[StreamMode]:
        """The modes that they need."""
        modes: list[StreamMode] = []
        if self.on_task_result is not None:
            modes.append("updates")
        if self.on_checkpoint is not None:
            modes.append("values")
        return modes

    def call(self, item: StreamItem) -> None:
        """Calls the function that wants the item."""
        data = item.data
        if item.mode == "values" and self.on_checkpoint is not None:
            self.on_checkpoint(Checkpoint(item.run_id, item.event_id, data["state"], data["context"]))
        if item.mode == "updates" and self.on_task_result is not None:
            if "nodeId" in data and data.get("status") in _SETTLED:
                self.on_task_result(_result_of(item))


def watch_with_callbacks(run_id: str, callbacks: Callbacks, options: WatchOptions) -> Emissions[Event]:
    """A watch that also calls the callbacks. Its filter on types holds for the events and not for the callbacks."""
    form = _form(run_id, ["debug", *callbacks.modes], options)
    form.ClearField("types")
    return follow(form, _CallbackTaker(options, callbacks), options)


def _form(run_id: str, modes: Sequence[StreamMode], options: WatchOptions) -> event_service_pb2.WatchRunRequest:
    form = form_of(run_id, options)
    form.modes.extend(modes_on_wire(modes))
    return form


def modes_on_wire(modes: Sequence[StreamMode]) -> Any:
    """Modes as a request names them."""
    return [event_service_pb2.StreamMode.Value(f"STREAM_MODE_{mode.upper()}") for mode in modes]


def _result_of(item: StreamItem) -> TaskResult:
    data = item.data
    return TaskResult(
        run_id=item.run_id,
        event_id=item.event_id,
        node_id=data["nodeId"],
        iteration=data["iteration"],
        attempt=data["attempt"],
        status=data["status"],
        output=data.get("output"),
        error=data.get("error"),
    )


class _ItemTaker:
    """Takes the items of each event once."""

    def __init__(self, after_event_id: int) -> None:
        self.last_event_id = after_event_id

    def take(self, message: event_service_pb2.WatchRunResponse) -> Iterator[Taken[StreamItem]]:
        if message.events:
            yield Taken()
        before = self.last_event_id
        for wire in message.items:
            if wire.event_id <= before:
                continue
            self.last_event_id = wire.event_id
            item = item_of(wire)
            yield Taken(item, is_over=item.mode == "control" and item.data["signal"] == "done")


def item_of(wire: event_service_pb2.StreamItem) -> StreamItem:
    """An item from the wire."""
    mode: Any = short_name(event_service_pb2.StreamMode.DESCRIPTOR, wire.mode)
    return StreamItem(
        mode=mode,
        event_id=wire.event_id,
        run_id=wire.run_id,
        event=Event.of(wire.event) if wire.HasField("event") else None,
        data=json.loads(wire.data_json) if wire.data_json else {},
    )


class _CallbackTaker:
    """Takes the events of a watch, and calls the callbacks in between."""

    def __init__(self, options: WatchOptions, callbacks: Callbacks) -> None:
        self._items = _ItemTaker(options.after_event_id)
        self._types = frozenset(options.types)
        self._callbacks = callbacks

    @property
    def last_event_id(self) -> int:
        return self._items.last_event_id

    def take(self, message: event_service_pb2.WatchRunResponse) -> Iterator[Taken[Event]]:
        for taken in self._items.take(message):
            if taken.entry is not None:
                self._callbacks.call(taken.entry)
            event = None if taken.entry is None else taken.entry.event
            is_wanted = event is not None and (not self._types or event.type in self._types or event.is_terminal)
            yield Taken(event if is_wanted else None, is_over=taken.is_over)
