"""A run and its events by one call, over a real connection to a scripted gateway, with both clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from scripted_gateway import gateway, info, refuse
from test_watch import done, fact

from pawl_sdk import AcceptedRun, AsyncClient, Client, PawlError
from pawl_sdk._gen.pawl.v1 import event_pb2, event_service_pb2, run_pb2, run_service_pb2

LOG = [fact(1, "run.started"), fact(2, "node.queued"), fact(3, "node.completed"), done(4)]
ACCEPT = run_service_pb2.ExecuteRunResponse(run=run_pb2.Run(run_id="r"))
Play = Callable[[int, grpc.ServicerContext], Iterator[run_service_pb2.ExecuteRunResponse]]


def sent(*events: event_pb2.RunEvent) -> run_service_pb2.ExecuteRunResponse:
    return run_service_pb2.ExecuteRunResponse(events=events)


class Gateway:
    """The scripts of ExecuteRun and WatchRun. A watch sends the log after its cursor."""

    def __init__(self, play: Play) -> None:
        self.executed: list[run_service_pb2.ExecuteRunRequest] = []
        self.watched: list[int] = []
        self._play = play

    def execute(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        self.executed.append(request)
        return self._play(len(self.executed), context)

    def watch(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        self.watched.append(request.after_event_id)
        yield event_service_pb2.WatchRunResponse(events=LOG[request.after_event_id :])

    def serve(self) -> Any:
        return gateway(ExecuteRun=self.execute, WatchRun=self.watch)


def stall(context: grpc.ServicerContext) -> None:
    over = threading.Event()
    context.add_callback(over.set)
    over.wait(30)


def ids(events: list[Any]) -> list[int]:
    return [event.event_id for event in events]


def test_one_call_starts_a_run_and_gives_its_events_and_the_run_is_known_before_the_first_of_them(use: Any) -> None:
    known = threading.Event()
    started: list[AcceptedRun] = []

    def play(call: int, context: grpc.ServicerContext) -> Iterator[Any]:
        yield ACCEPT
        assert known.wait(30)
        yield sent(*LOG)

    def on_start(run: AcceptedRun) -> None:
        started.append(run)
        known.set()

    script = Gateway(play)
    with script.serve() as address:
        options = {"types": ["node.completed"], "priority": 3, "on_start": on_start}
        assert ids(use(address, "execute", "hello", {"name": "Ada"}, **options)) == [1, 2, 3, 4]
    assert [(each.run_id, each.is_duplicate) for each in started] == [("r", False)]
    (request,) = script.executed
    assert (request.start.workflow_id, request.start.priority) == ("hello", 3)
    assert (request.start.input_json, list(request.types)) == (b'{"name":"Ada"}', ["node.completed"])
    assert script.watched == []


def test_an_execution_lost_before_its_run_was_named_is_repeated_with_the_same_request_id(use: Any) -> None:
    def play(call: int, context: grpc.ServicerContext) -> Iterator[Any]:
        if call == 1:
            context.abort(grpc.StatusCode.UNAVAILABLE, "gone")
        if call == 2:
            return  # It ends before it began.
        yield ACCEPT
        yield sent(*LOG)

    script = Gateway(play)
    with script.serve() as address:
        assert ids(use(address, "execute", "hello")) == [1, 2, 3, 4]
    request_ids = [request.start.request_id for request in script.executed]
    assert len(request_ids) == 3 and len(set(request_ids)) == 1 and request_ids[0] != ""


@pytest.mark.parametrize("seen", [0, 2])
def test_an_execution_that_is_cut_continues_as_a_watch_after_the_last_event(use: Any, seen: int) -> None:
    def play(call: int, context: grpc.ServicerContext) -> Iterator[Any]:
        yield ACCEPT
        if seen > 0:
            yield sent(*LOG[:seen])
        context.abort(grpc.StatusCode.UNAVAILABLE, "cut")

    script = Gateway(play)
    causes: list[str] = []
    with script.serve() as address:
        events = use(address, "execute", "hello", on_reconnect=lambda each: causes.append(each.cause))
    assert ids(events) == [1, 2, 3, 4]
    assert (len(script.executed), script.watched, causes) == (1, [seen], ["error"])


def test_repeats_of_an_execution_are_dropped_and_a_watch_makes_up_for_a_gap_in_it(use: Any) -> None:
    def play(call: int, context: grpc.ServicerContext) -> Iterator[Any]:
        yield ACCEPT
        yield sent(*LOG[:2])
        yield sent(*LOG[:2], *LOG[3:])
        stall(context)

    script = Gateway(play)
    with script.serve() as address:
        assert ids(use(address, "execute", "hello")) == [1, 2, 3, 4]
    assert script.watched == [2]


def test_an_execution_the_server_refuses_is_not_repeated(use: Any) -> None:
    def play(call: int, context: grpc.ServicerContext) -> Iterator[Any]:
        refuse(context, grpc.StatusCode.NOT_FOUND, "there is none", info("WORKFLOW_NOT_FOUND"))
        yield ACCEPT

    script = Gateway(play)
    with script.serve() as address, pytest.raises(PawlError) as caught:
        use(address, "execute", "hello")
    assert caught.value.reason == "WORKFLOW_NOT_FOUND" and len(script.executed) == 1


def stalling(closed: threading.Event, unnamed: threading.Event) -> Play:
    """Names its run and sends two events in the first call, and nothing in others."""

    def play(call: int, context: grpc.ServicerContext) -> Iterator[Any]:
        context.add_callback(closed.set)
        if call == 1:
            yield ACCEPT
            yield sent(*LOG[:2])
        else:
            unnamed.set()
        stall(context)

    return play


def test_an_execution_is_left_quietly_once_its_run_is_known() -> None:
    closed = threading.Event()
    with Gateway(stalling(closed, threading.Event())).serve() as address, Client(address) as client:
        for event in client.execute("hello"):
            if event.event_id == 2:
                break
        assert closed.wait(30)


def test_an_asyncio_execution_is_left_quietly_once_its_run_is_known_and_with_an_error_before() -> None:
    closed, unnamed = threading.Event(), threading.Event()

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            events = client.execute("hello")
            assert [(await anext(events)).event_id, (await anext(events)).event_id] == [1, 2]
            await events.aclose()
            assert await asyncio.to_thread(closed.wait, 30)
            lost = asyncio.ensure_future(anext(client.execute("hello")))
            assert await asyncio.to_thread(unnamed.wait, 30)
            lost.cancel()
            with pytest.raises(asyncio.CancelledError):
                await lost

    with Gateway(stalling(closed, unnamed)).serve() as address:
        asyncio.run(main(address))


def test_an_execution_whose_run_is_not_named_in_time_fails_as_a_start_would() -> None:
    def play(call: int, context: grpc.ServicerContext) -> Iterator[Any]:
        stall(context)
        yield ACCEPT

    with Gateway(play).serve() as address, Client(address, timeout=0.05) as client, pytest.raises(PawlError) as caught:
        list(client.execute("hello"))
    assert (caught.value.reason, caught.value.code) == ("DEADLINE_PASSED", grpc.StatusCode.DEADLINE_EXCEEDED)


def test_a_cancelled_wait_is_an_error() -> None:
    arrived = threading.Event()

    def wait(request: Any, context: grpc.ServicerContext) -> Any:
        arrived.set()
        stall(context)
        return run_service_pb2.WaitRunResponse()

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            waiting = asyncio.create_task(client.wait("r"))
            assert await asyncio.to_thread(arrived.wait, 30)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    with gateway(WaitRun=wait) as address:
        asyncio.run(main(address))
