"""Streams of threads: the cursor of every event, reconnects, and the end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import grpc
import pytest
from scripted_gateway import gateway, info, refuse

from pawl_sdk import AsyncClient, Client, PawlError
from pawl_sdk._gen.pawl.v1 import event_pb2, event_service_pb2

DEBUG = event_service_pb2.STREAM_MODE_DEBUG
UPDATES = event_service_pb2.STREAM_MODE_UPDATES
CONTROL = event_service_pb2.STREAM_MODE_CONTROL


def news(run_id: str, first: int, *types: str) -> event_service_pb2.WatchThreadResponse:
    """Events of a run, from an id on. The cursor of a run is its name."""
    events = [event_pb2.RunEvent(run_id=run_id, event_id=first + at, type=type) for at, type in enumerate(types)]
    return event_service_pb2.WatchThreadResponse(
        run_id=run_id, events=events, cursor=f"{run_id}.{first + len(types) - 1}"
    )


def items(run_id: str, *pairs: tuple[int, Any]) -> event_service_pb2.WatchThreadResponse:
    wire = [
        event_service_pb2.StreamItem(run_id=run_id, event_id=event_id, mode=mode, data_json=b'{"signal":"done"}')
        for event_id, mode in pairs
    ]
    return event_service_pb2.WatchThreadResponse(run_id=run_id, items=wire, cursor=f"{run_id}.{pairs[-1][0]}")


class Script:
    """Plays the connections in order and notes their requests. A connection ends with an error if its last step is a reason."""

    def __init__(self, *connections: Sequence[Any]) -> None:
        self._connections = connections
        self.asked: list[event_service_pb2.WatchThreadRequest] = []

    def watch(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.asked.append(request)
        for step in self._connections[len(self.asked) - 1]:
            if isinstance(step, str):
                code = grpc.StatusCode.NOT_FOUND if step == "THREAD_NOT_FOUND" else grpc.StatusCode.UNAVAILABLE
                refuse(context, code, "ends", info(step))
            yield step


def cut_twice() -> Script:
    return Script(
        [news("a", 1, "run.started", "run.completed"), news("b", 1, "run.started"), "DRAINING"],
        [news("b", 1, "run.started"), news("b", 3, "node.completed")],
        [event_service_pb2.WatchThreadResponse(cursor="b.1"), news("b", 2, "node.started", "run.completed")],
    )


WHOLE = ["a.1", "a.2", "b.1", "b.2", "b.3"]


def test_a_stream_of_a_thread_continues_after_its_last_event_when_it_is_cut_drops_repeats_and_reopens_on_a_gap() -> (
    None
):
    script = cut_twice()
    reconnects: list[str] = []
    with gateway(WatchThread=script.watch) as url, Client(url) as client:
        events = client.watch_thread("chat", until_idle=True, on_reconnect=lambda at, _: reconnects.append(at))
        seen = [(entry.cursor, f"{entry.event.run_id}.{entry.event.event_id}") for entry in events]
    assert seen == [(each, each) for each in WHOLE]
    assert [request.cursor for request in script.asked] == ["", "b.1", "b.1"]
    assert reconnects == ["b.1", "b.1"]


def test_an_asyncio_stream_of_a_thread_is_the_same() -> None:
    script = cut_twice()

    async def read(url: str) -> list[str]:
        async with AsyncClient(url) as client:
            return [entry.cursor async for entry in client.watch_thread("chat", until_idle=True)]

    with gateway(WatchThread=script.watch) as url:
        assert asyncio.run(read(url)) == WHOLE
    assert [request.cursor for request in script.asked] == ["", "b.1", "b.1"]


def test_without_an_end_at_idle_a_stream_of_a_thread_that_the_server_ends_is_opened_again() -> None:
    script = Script([news("a", 5, "node.completed")], [news("a", 6, "run.completed"), news("b", 1, "run.started")])
    seen: list[str] = []
    with gateway(WatchThread=script.watch) as url, Client(url) as client:
        for entry in client.watch_thread("chat", cursor="a.4"):
            seen.append(entry.cursor)
            if entry.cursor == "b.1":
                break
    assert seen == ["a.5", "a.6", "b.1"]
    assert [request.cursor for request in script.asked] == ["a.4", "a.5"]


def test_a_stream_of_a_thread_in_modes_has_a_cursor_between_events_and_never_inside_one() -> None:
    script = Script(
        [items("a", (1, DEBUG), (1, UPDATES), (2, DEBUG)), "DRAINING"],
        [items("a", (2, DEBUG), (3, DEBUG), (3, CONTROL)), items("b", (1, DEBUG))],
    )
    with gateway(WatchThread=script.watch) as url, Client(url) as client:
        stream = client.stream_thread("chat", ["debug", "updates"], until_idle=True)
        seen = [f"{item.run_id}.{item.event_id} {item.mode} {item.cursor}" for item in stream]
    assert seen == [
        "a.1 debug ",
        "a.1 updates a.1",
        "a.2 debug a.2",
        "a.3 debug a.2",
        "a.3 control a.3",
        "b.1 debug b.1",
    ]
    assert [request.cursor for request in script.asked] == ["", "a.2"]
    assert list(script.asked[1].modes) == [DEBUG, UPDATES]


def test_a_deleted_thread_ends_its_stream_with_thread_not_found_and_no_reconnect_follows() -> None:
    script = Script([news("a", 1, "run.completed"), "THREAD_NOT_FOUND"])
    with gateway(WatchThread=script.watch) as url, Client(url) as client, pytest.raises(PawlError) as raised:
        list(client.watch_thread("chat"))
    assert raised.value.reason == "THREAD_NOT_FOUND"
    assert len(script.asked) == 1


def test_a_gap_that_stays_ends_a_stream_of_a_thread() -> None:
    late = [news("a", 2, "node.completed")]
    script = Script(late, late, late, late, late)
    with gateway(WatchThread=script.watch) as url, Client(url) as client, pytest.raises(PawlError) as caught:
        list(client.watch_thread("chat"))
    assert caught.value.reason == "EVENT_LOG_CORRUPTION"
    assert len(script.asked) == 4
