"""Streams in modes and callbacks, against a gateway in this process. PARITY.md names the same behaviours."""

from __future__ import annotations

import json
from typing import Any

import grpc
import pytest
from scripted_gateway import gateway, info, refuse

from pawl_sdk import Checkpoint, Client, PawlError, StreamMode, TaskResult
from pawl_sdk._gen.pawl.v1 import event_pb2, event_service_pb2

_WIRE: dict[StreamMode, Any] = {
    "values": event_service_pb2.STREAM_MODE_VALUES,
    "updates": event_service_pb2.STREAM_MODE_UPDATES,
    "control": event_service_pb2.STREAM_MODE_CONTROL,
}


def item(event_id: int, mode: StreamMode, data: dict[str, Any]) -> event_service_pb2.StreamItem:
    return event_service_pb2.StreamItem(
        event_id=event_id, run_id="r", mode=_WIRE[mode], data_json=json.dumps(data).encode()
    )


def debug(event_id: int, type: str) -> event_service_pb2.StreamItem:
    event = event_pb2.RunEvent(event_id=event_id, run_id="r", type=type)
    return event_service_pb2.StreamItem(
        event_id=event_id, run_id="r", mode=event_service_pb2.STREAM_MODE_DEBUG, event=event
    )


def completed(node: str) -> dict[str, Any]:
    return {"nodeId": node, "iteration": 0, "attempt": 1, "status": "completed", "output": {"n": 1}}


ITEMS = [
    [debug(1, "run.started"), item(1, "updates", {"status": "running"}), item(1, "values", {"state": {}, "context": {}})],
    [debug(2, "node.started"), item(2, "updates", {"nodeId": "a", "iteration": 0, "attempt": 1, "status": "running"})],
    [
        debug(3, "node.completed"),
        item(3, "updates", completed("a")),
        item(3, "values", {"state": {"status": "running"}, "context": {"nodes": {"a": {"n": 1}}}}),
    ],
    [debug(4, "run.completed"), item(4, "control", {"signal": "done", "status": "completed"})],
]


class Script:
    """Two connections: the first is cut after two events, the second repeats the second event."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def watch(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.asked.append(request)
        is_first = len(self.asked) == 1
        for items in ITEMS[:2] if is_first else ITEMS[1:]:
            yield event_service_pb2.WatchRunResponse(items=items)
        if is_first:
            refuse(context, grpc.StatusCode.UNAVAILABLE, "stopping", info("DRAINING"))


def test_a_stream_in_modes_resumes_after_the_last_event_and_ends_after_done() -> None:
    script = Script()
    with gateway(WatchRun=script.watch) as url, Client(url) as client:
        seen = list(client.stream("r", ["debug", "updates", "values"], node_ids=["a"]))
    assert [(each.event_id, each.mode) for each in seen] == [
        (each.event_id, event_service_pb2.StreamMode.Name(each.mode).removeprefix("STREAM_MODE_").lower())
        for items in ITEMS
        for each in items
    ]
    assert [asked.after_event_id for asked in script.asked] == [0, 2]
    assert list(script.asked[1].node_ids) == ["a"]
    assert seen[-1].data == {"signal": "done", "status": "completed"}


def test_callbacks_get_each_step_and_each_result_once_across_a_cut() -> None:
    script = Script()
    checkpoints: list[Checkpoint] = []
    results: list[TaskResult] = []
    with gateway(WatchRun=script.watch) as url, Client(url) as client:
        events = list(
            client.watch("r", types=["node.started"], on_checkpoint=checkpoints.append, on_task_result=results.append)
        )
    assert [event.type for event in events] == ["node.started", "run.completed"]
    assert [each.event_id for each in checkpoints] == [1, 3]
    assert checkpoints[1].context == {"nodes": {"a": {"n": 1}}}
    assert [(each.node_id, each.status, each.output) for each in results] == [("a", "completed", {"n": 1})]
    assert list(script.asked[0].types) == []


def test_an_error_that_a_callback_raises_ends_the_watch() -> None:
    script = Script()

    def full(_: Checkpoint) -> None:
        raise OSError("the disk is full")

    with gateway(WatchRun=script.watch) as url, Client(url) as client, pytest.raises(OSError, match="the disk is full"):
        list(client.watch("r", on_checkpoint=full))
    assert len(script.asked) == 1


def test_many_runs_over_one_connection_continue_with_the_last_event_of_each_run() -> None:
    asked: list[Any] = []

    def watch(request: Any, context: grpc.ServicerContext) -> Any:
        asked.append({run.run_id: run.after_event_id for run in request.runs})
        if len(asked) == 1:
            yield news("a", "run.started", "run.completed", done=True)
            yield news("b", "run.started")
            refuse(context, grpc.StatusCode.UNAVAILABLE, "stopping", info("DRAINING"))
        yield event_service_pb2.WatchResponse(run_id="c", done=True, reason="RUN_NOT_FOUND")
        yield news("b", "run.started", "run.completed", done=True)

    lost: list[tuple[str, str]] = []
    with gateway(Watch=watch) as url, Client(url) as client:
        events = client.watch_many({"a": 0, "b": 0, "c": 3}, on_lost=lambda run, why: lost.append((run, why)))
        seen = [(event.run_id, event.event_id) for event in events]
    assert seen == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    assert asked == [{"a": 0, "b": 0, "c": 3}, {"b": 1, "c": 3}]
    assert lost == [("c", "RUN_NOT_FOUND")]


def test_a_gap_that_stays_ends_a_stream_of_many_runs_also_while_other_runs_have_news() -> None:
    opened: list[Any] = []

    def watch(request: Any, context: grpc.ServicerContext) -> Any:
        opened.append(request)
        other = event_pb2.RunEvent(run_id="b", event_id=len(opened), type="x")
        late = event_pb2.RunEvent(run_id="a", event_id=2, type="x")
        for event in (other, late):
            yield event_service_pb2.WatchResponse(run_id=event.run_id, events=[event])

    with gateway(Watch=watch) as url, Client(url) as client, pytest.raises(PawlError) as caught:
        list(client.watch_many({"a": 0, "b": 0}))
    assert caught.value.reason == "EVENT_LOG_CORRUPTION"
    assert len(opened) == 4


def news(run_id: str, *types: str, done: bool = False) -> event_service_pb2.WatchResponse:
    events = [event_pb2.RunEvent(run_id=run_id, event_id=at + 1, type=type) for at, type in enumerate(types)]
    return event_service_pb2.WatchResponse(run_id=run_id, events=events, done=done)
