"""What a client survives in its own process: a task that is cancelled, a thread that does not start, a fork, a close, a loop that ended."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import select
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import grpc.aio
import pytest
from scripted_gateway import gateway
from test_submit import Submits, echo, stalled
from test_watch import fact

from pawl_sdk import AsyncClient, Client, PawlError, RunFailed, Violation
from pawl_sdk._gen.pawl.v1 import event_service_pb2, run_service_pb2
from pawl_sdk._lanes_async import AsyncLanes
from pawl_sdk._lanes_blocking import BlockingLanes
from pawl_sdk._pull import Pull

START = run_service_pb2.StartRunRequest(workflow_id="echo", request_id="a", input_json=b"1")


def keepers() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "pawl-submit"]


def test_when_a_program_cancels_all_tasks_calls_end_and_the_next_call_opens_another_stream() -> None:
    taken = threading.Event()
    submits = Submits(lambda *rest: (echo if rest[1] > 0 else stalled(taken))(*rest))

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            before = asyncio.all_tasks()
            shielded = asyncio.create_task(client.run("slow"))
            assert await asyncio.to_thread(taken.wait, 30)
            for task in asyncio.all_tasks() - before - {shielded}:
                task.cancel()
            with pytest.raises(PawlError, match="was cancelled") as caught:
                await asyncio.wait_for(shielded, 30)
            assert caught.value.reason == "CALLER_CANCELLED"
            assert await asyncio.wait_for(client.run("echo", 7), 30) == 7

    with gateway(SubmitRuns=submits) as address:
        asyncio.run(main(address))


def test_an_asyncio_client_refuses_another_loop_and_no_loop() -> None:
    kept: list[AsyncClient] = []

    async def first(address: str) -> Any:
        kept.append(AsyncClient(address))
        return await kept[0].run("echo", 1)

    async def second() -> None:
        client = kept[0]
        for call in (client.run("echo"), client.get("r"), client.close()):
            with pytest.raises(RuntimeError, match="made on another event loop"):
                await asyncio.wait_for(call, 30)
        with pytest.raises(RuntimeError, match="made on another event loop"):
            client.watch("r")

    with gateway(SubmitRuns=Submits(echo)) as address:
        assert asyncio.run(first(address)) == 1
        asyncio.run(second())
        with pytest.raises(RuntimeError, match="make it in a coroutine"):
            AsyncClient(address)


def test_a_start_for_which_no_thread_can_start_is_an_error_and_a_later_one_works() -> None:
    with gateway(SubmitRuns=Submits(echo)) as address, Client(address) as client:
        # No machine has an address space of this size, so the system refuses the thread.
        usual = threading.stack_size(1 << 47)
        try:
            with pytest.raises(PawlError, match="can't start new thread"):
                client.run("echo", 1)
        finally:
            threading.stack_size(usual)
        assert client.run("echo", 2) == 2


class Once:
    """Opens channels to a gateway; the first one fails."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.count = 0
        self._make = make

    def __call__(self, place: int) -> Any:
        self.count += 1
        if self.count == 1:
            raise ZeroDivisionError("by us")
        return self._make()


def test_an_unexpected_error_costs_one_stream_and_not_the_client() -> None:
    with gateway(SubmitRuns=Submits(echo)) as address:
        target = address.removeprefix("http://")
        opens = Once(lambda: grpc.insecure_channel(target))
        lanes = BlockingLanes(4, 30.0, opens)
        (entry,) = lanes.submit([START], wait=True)
        assert entry.ended.result().output_json == b"1"
        assert opens.count == 2 and not lanes.is_closed
        lanes.close()


def test_an_unexpected_error_costs_one_asyncio_stream_and_not_the_client() -> None:
    async def main(target: str) -> None:
        opens = Once(lambda: grpc.aio.insecure_channel(target))
        lanes = AsyncLanes(4, 30.0, opens)
        (entry,) = lanes.submit([START], wait=True)
        assert (await asyncio.wait_for(entry.ended, 30)).output_json == b"1"  # type: ignore[arg-type]  # a future of the loop
        assert opens.count == 2 and not lanes.is_closed
        await lanes.close()

    with gateway(SubmitRuns=Submits(echo)) as address:
        asyncio.run(main(address.removeprefix("http://")))


class Mute:
    """A channel whose streams fail to send once."""

    has_failed = False

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel

    def stream_stream(self, *args: Any, **options: Any) -> Any:
        make = self._channel.stream_stream(*args, **options)

        def call(**details: Any) -> Any:
            stream = make(**details)
            write = stream.write

            async def failing(message: Any) -> None:
                if not Mute.has_failed:
                    Mute.has_failed = True
                    raise ZeroDivisionError("by us")
                await write(message)

            stream.write = failing  # type: ignore[method-assign, assignment]
            return stream

        return call

    async def close(self) -> None:
        await self._channel.close()


def test_an_asyncio_stream_that_cannot_send_is_left_for_another_one() -> None:
    submits = Submits(echo)
    Mute.has_failed = False

    async def main(target: str) -> None:
        channels: Callable[[int], Any] = lambda place: Mute(grpc.aio.insecure_channel(target))  # noqa: E731
        lanes = AsyncLanes(4, 30.0, channels)
        (entry,) = lanes.submit([START], wait=True)
        assert (await asyncio.wait_for(entry.ended, 30)).output_json == b"1"  # type: ignore[arg-type]  # a future of the loop
        await lanes.close()

    with gateway(SubmitRuns=submits) as address:
        asyncio.run(main(address.removeprefix("http://")))
    assert Mute.has_failed and submits.ids(-1) == ["a"]


class Endless:
    """A stream without messages, until it is cancelled."""

    def __init__(self) -> None:
        self._cancelled = threading.Event()

    def __iter__(self) -> Endless:
        return self

    def __next__(self) -> str:
        self._cancelled.wait(60)
        raise StopIteration

    def cancel(self) -> bool:
        self._cancelled.set()
        return True


def test_a_reader_that_asks_while_another_thread_closes_the_stream_gets_its_end() -> None:
    pull = Pull(Endless(), "pull")
    pull.close()
    assert pull.next(30) is None


def test_a_client_that_the_program_drops_ends_its_threads_with_a_warning() -> None:
    with gateway(SubmitRuns=Submits(echo)) as address:
        others = keepers()
        client = Client(address)
        assert client.run("echo", 1) == 1
        (thread,) = set(keepers()) - set(others)
        with pytest.warns(ResourceWarning, match="a Client was dropped without close"):
            del client
            gc.collect()
        thread.join(30)
        assert not thread.is_alive()


def test_a_watch_of_a_client_without_a_name_keeps_the_client() -> None:
    def watch(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        yield event_service_pb2.WatchRunResponse(events=[fact(1)])
        yield event_service_pb2.WatchRunResponse(events=[fact(2, "run.completed")])

    with gateway(WatchRun=watch) as address:
        events = Client(address).watch("r")
        gc.collect()
        with pytest.warns(ResourceWarning):
            assert [each.event_id for each in events] == [1, 2]
            del events
            gc.collect()


def test_an_asyncio_client_that_the_program_drops_ends_its_tasks_with_a_warning() -> None:
    async def main(address: str) -> None:
        before = asyncio.all_tasks()
        client = AsyncClient(address)
        assert await client.run("echo", 1) == 1
        tasks = asyncio.all_tasks() - before
        assert tasks
        with pytest.warns(ResourceWarning, match="an AsyncClient was dropped without close"):
            del client
            gc.collect()
        await asyncio.wait_for(asyncio.wait(tasks), 30)

    with gateway(SubmitRuns=Submits(echo)) as address:
        asyncio.run(main(address))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_close_in_a_forked_child_returns_although_a_thread_of_the_parent_holds_the_lock() -> None:
    held, release = threading.Event(), threading.Event()
    with gateway(SubmitRuns=Submits(echo)) as address, Client(address) as client:
        lock = client._drive._lanes._lock

        def hold() -> None:
            with lock:
                held.set()
                release.wait(60)

        thread = threading.Thread(target=hold)
        thread.start()
        assert held.wait(30)
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            client.close()
            os.write(writes, b"closed")
            os._exit(0)
        try:
            ready, _, _ = select.select([reads], [], [], 30)
            assert ready, "close() in the child did not return"
            assert os.read(reads, 16) == b"closed"
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            release.set()
            thread.join(30)
            os.close(reads)
            os.close(writes)
        assert client.run("echo", 3) == 3


def test_errors_survive_pickle_and_copy() -> None:
    error = PawlError(
        "DEFINITION_INVALID",
        "a rule",
        code=grpc.StatusCode.INVALID_ARGUMENT,
        metadata={"next": "fix it"},
        violations=[Violation("a", "B", "c")],
        retry_after=0.5,
        request_id="q",
        server_reason="DEFINITION_INVALID",
    )
    failed = RunFailed("r", "failed", "no stock", "pay", cause="x", failure_class="permanent")
    for each in (error, failed):
        for again in (pickle.loads(pickle.dumps(each)), copy.copy(each), copy.deepcopy(each)):
            assert type(again) is type(each) and again is not each
            assert (str(again), again.args, vars(again)) == (str(each), each.args, vars(each))
