"""How calls end early: the client is closed, or the time limit of the call passes. The run continues."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from scripted_gateway import gateway
from test_submit import Submits, echo, stalled
from test_watch import fact

from pawl_sdk import AsyncClient, Client, PawlError
from pawl_sdk._gen.pawl.v1 import event_service_pb2, run_pb2, run_service_pb2


def test_closing_the_client_rejects_its_calls_under_way_and_later_ones() -> None:
    taken = threading.Event()
    caught: list[PawlError] = []
    with gateway(SubmitRuns=Submits(stalled(taken))) as address:
        client = Client(address)

        def call() -> None:
            with pytest.raises(PawlError) as error:
                client.run("slow")
            caught.append(error.value)

        thread = threading.Thread(target=call)
        thread.start()
        assert taken.wait(30)
        client.close()
        thread.join(30)
        call()
    assert [each.reason for each in caught] == ["CALLER_CANCELLED"] * 2


def test_closing_an_asyncio_client_rejects_its_calls_under_way_and_later_ones() -> None:
    taken = threading.Event()

    async def main(address: str) -> None:
        client = AsyncClient(address)
        run = asyncio.create_task(client.run("slow"))
        assert await asyncio.to_thread(taken.wait, 30)
        await client.close()
        for call in (run, client.run("more")):
            with pytest.raises(PawlError) as error:
                await call
            assert error.value.reason == "CALLER_CANCELLED"

    with gateway(SubmitRuns=Submits(stalled(taken))) as address:
        asyncio.run(main(address))


def test_every_call_of_a_closed_client_raises_the_same_error() -> None:
    client = Client("127.0.0.1:1")
    client.close()
    calls: list[Callable[[], Any]] = [
        lambda: client.run("w"),
        lambda: client.start_many([]),
        lambda: client.get("r"),
        lambda: client.watch("r"),
        lambda: client.execute("w"),
        lambda: client.workflows.list(),
    ]
    for call in calls:
        with pytest.raises(PawlError, match="the client is closed") as caught:
            call()
        assert caught.value.reason == "CALLER_CANCELLED"


def test_every_call_of_a_closed_asyncio_client_raises_the_same_error() -> None:
    async def main() -> None:
        client = AsyncClient("127.0.0.1:1")
        await client.close()
        for call in (client.run("w"), client.start_many([]), client.get("r"), client.workflows.list()):
            with pytest.raises(PawlError, match="the client is closed") as caught:
                await call
            assert caught.value.reason == "CALLER_CANCELLED"
        for watch in (client.watch, client.execute):
            with pytest.raises(PawlError, match="the client is closed"):
                watch("r")

    asyncio.run(main())


class Stalling:
    """Takes calls and answers when they are over; `taken` counts them."""

    def __init__(self) -> None:
        self.taken = threading.Semaphore(0)

    def _stall(self, context: grpc.ServicerContext) -> None:
        over = threading.Event()
        context.add_callback(over.set)
        self.taken.release()
        over.wait(30)

    def get(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._stall(context)
        return run_service_pb2.GetRunResponse()

    def watch(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        yield event_service_pb2.WatchRunResponse(events=[fact(1)])
        self._stall(context)

    def serve(self) -> Any:
        return gateway(GetRun=self.get, WatchRun=self.watch)


def test_closing_an_asyncio_client_is_no_cancellation_of_its_callers() -> None:
    script = Stalling()

    async def read(client: AsyncClient) -> None:
        async for _ in client.watch("r"):
            pass

    async def main(address: str) -> None:
        client = AsyncClient(address)
        calls = [asyncio.create_task(client.get("r")), asyncio.create_task(read(client))]
        for _ in calls:
            assert await asyncio.to_thread(script.taken.acquire, timeout=30)
        await client.close()
        for outcome in await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 30):
            assert isinstance(outcome, PawlError) and outcome.message == "the client is closed"

    with script.serve() as address:
        asyncio.run(main(address))


def test_closing_a_client_ends_its_calls_under_way_with_the_same_error() -> None:
    script = Stalling()
    errors: list[BaseException] = []

    def note(call: Callable[[], Any]) -> None:
        with pytest.raises(PawlError) as caught:
            call()
        errors.append(caught.value)

    with script.serve() as address:
        client = Client(address)
        calls = (lambda: client.get("r"), lambda: list(client.watch("r")))
        threads = [threading.Thread(target=note, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        for _ in threads:
            assert script.taken.acquire(timeout=30)
        client.close()
        for thread in threads:
            thread.join(30)
    assert [str(each) for each in errors] == ["CALLER_CANCELLED: the client is closed"] * 2


def limits(run: run_pb2.Run) -> dict[str, Any]:
    """The scripts of a run that does not end."""

    def watch(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        yield event_service_pb2.WatchRunResponse(events=[fact(1)])
        over = threading.Event()
        context.add_callback(over.set)
        over.wait(30)

    def submit(messages: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        for message in messages:
            for each in message.submissions:
                accepted = run_service_pb2.AcceptedSubmission(run_id=run.run_id)
                answer = run_service_pb2.SubmissionAnswer(request_id=each.start.request_id, accepted=accepted)
                yield run_service_pb2.SubmitRunsResponse(answers=[answer])

    return {
        "WatchRun": watch,
        "SubmitRuns": submit,
        "WaitRun": lambda *_: run_service_pb2.WaitRunResponse(run=run),
        "GetRun": lambda *_: run_service_pb2.GetRunResponse(run=run),
    }


@pytest.mark.parametrize("call", ["run", "wait", "watch"])
def test_a_call_with_a_time_limit_is_left_and_the_run_continues(use: Any, call: str) -> None:
    run = run_pb2.Run(run_id="r", status=run_pb2.RUN_STATUS_RUNNING)
    with gateway(**limits(run)) as address:
        with pytest.raises(PawlError, match=r"left after 0\.2 s; a run that was accepted continues") as caught:
            use(address, call, "r", timeout=0.2)
        assert caught.value.reason == "DEADLINE_PASSED"
        assert use(address, "get", "r").status == "running"


def test_a_call_that_ends_within_its_time_limit_is_as_without_one(use: Any) -> None:
    with gateway(SubmitRuns=Submits(echo)) as address:
        assert use(address, "run", "echo", 5, timeout=60) == 5
