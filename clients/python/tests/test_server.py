"""A served process against a scripted host. The conformance kit has the whole protocol; these are its main promises."""

from __future__ import annotations

import asyncio
import hashlib
import os
import queue
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from scripted_host import EVERYTHING, PATIENCE, Host, HostStream, invoke, scripted_host

import pawl_sdk as pawl
from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire
from pawl_sdk._link import pause_of
from pawl_sdk.server import on_signals

reasons: queue.SimpleQueue[str | None] = queue.SimpleQueue()
release = threading.Event()


@pawl.handler("acme.echo@1")
async def echo(input: Any) -> Any:
    return input


@pawl.handler("acme.hold@1")
async def hold(input: Any, ctx: pawl.AsyncContext) -> None:
    """Blocks its loop, as no handler may and some do."""
    await ctx.emit("held")
    release.wait(PATIENCE)


@pawl.handler("acme.wait@1")
def wait(input: Any, ctx: pawl.Context) -> None:
    ctx.emit("waits")
    ctx.wait_cancelled(PATIENCE)
    reasons.put(ctx.cancel_reason)


@pawl.handler("acme.task@1")
async def task_name(input: Any) -> str:
    task = asyncio.current_task()
    return "" if task is None else task.get_name()


@pawl.handler("acme.thread@1")
def thread_name(input: Any) -> str:
    return threading.current_thread().name


@contextmanager
def served() -> Iterator[tuple[Host, pawl.Server]]:
    """A server on a loop of its own; it leaves at the end, and must end."""
    with scripted_host() as host:
        server = pawl.Server(echo, hold, wait, task_name, thread_name, address=host.address, token="t", name="test")
        thread = threading.Thread(target=lambda: asyncio.run(server.run()))
        thread.start()
        try:
            yield host, server
        finally:
            server.leave()
            host.newest.read_item("leaving")
            host.newest.send(0, heard_seq=EVERYTHING)
            host.newest.end()
            thread.join(PATIENCE)
            assert not thread.is_alive() and server.status == "stopped"


def read_results(stream: HostStream, count: int) -> None:
    """Reads until so many results have come, in any number of messages."""
    while count > 0:
        count -= sum(item.HasField("result") for item in stream.read().items)


def opened(host: Host) -> tuple[HostStream, str]:
    stream = host.accept()
    session_id = stream.read().hello.session_id
    stream.welcome()
    return stream, session_id


def test_of_several_hosts_a_process_leaves_one_that_does_not_answer_but_waits_while_work_is_unfinished() -> None:
    with scripted_host() as one, scripted_host() as other:
        server = pawl.Server(wait, address=f" {one.address}, {other.address}")
        thread = threading.Thread(target=lambda: asyncio.run(server.run()))
        thread.start()
        stream, session_id = opened(one)
        stream.send(1, invoke("i1", "acme.wait@1"))
        stream.read_item("partial")
        stream.end()
        again = one.accept()
        assert again.read().resume.session_id == session_id
        again.welcome()
        again.send(2, wire.HostItem(cancel=wire.Cancel(invocation_id="i1")))
        again.read_item("ended")
        again.send(0, heard_seq=EVERYTHING)
        again.send(3, wire.HostItem(ping=wire.Ping()))
        again.read_item("pong")
        again.send(0, heard_seq=EVERYTHING)
        again.end()
        elsewhere = other.accept()
        assert elsewhere.read().resume.session_id == session_id
        elsewhere.lost()
        assert opened(other)[1] not in ("", session_id)
        server.leave()
        other.newest.read_item("leaving")
        other.newest.send(0, heard_seq=EVERYTHING)
        other.newest.end()
        thread.join(PATIENCE)
        assert not thread.is_alive()
    reasons.get(timeout=PATIENCE)


def test_a_list_without_an_address_is_refused() -> None:
    with pytest.raises(ValueError, match="no address of an executor"):
        pawl.Server(echo, address=" , ")


def test_a_result_that_was_under_way_at_a_cut_arrives_again_with_its_number() -> None:
    with served() as (host, _):
        first, session_id = opened(host)
        first.send(1, invoke("i1", "acme.echo@1", '{"a":1}'))
        assert first.read_item("result").result.output_json == '{"a":1}'
        first.end()  # the host never confirmed it
        second = host.accept()
        opening = second.read()
        assert (opening.resume.session_id, opening.heard_seq) == (session_id, 1)
        second.welcome()
        again = second.read()
        assert again.first_seq == 1 and again.items[0].result.invocation_id == "i1"


def test_a_task_or_a_thread_has_the_name_of_its_attempt() -> None:
    with served() as (host, _):
        stream, _ = opened(host)
        for at, kind in enumerate(("acme.task@1", "acme.thread@1"), 1):
            item = invoke(f"i{at}", kind)
            item.invoke.run_id, item.invoke.node_id, item.invoke.attempt = "r", "n", 2
            stream.send(at, item)
            assert stream.read_item("result").result.output_json == '"run-r-n-attempt-2"'


def test_pings_are_answered_while_a_handler_blocks_the_loop() -> None:
    release.clear()
    with served() as (host, server):
        stream, _ = opened(host)
        stream.send(1, invoke("i1", "acme.hold@1"))
        stream.read_item("partial")
        stream.send(2, wire.HostItem(ping=wire.Ping()))
        stream.read_item("pong")
        assert server.status == "open"
        release.set()
        stream.read_item("result")


def test_lost_cancels_every_function_and_begins_a_new_session() -> None:
    with served() as (host, _):
        stream, session_id = opened(host)
        stream.send(1, invoke("i1", "acme.wait@1"))
        stream.read_item("partial")
        stream.end()
        second = host.accept()
        assert second.read().resume.session_id == session_id
        second.lost()
        second.end()
        third, new_id = opened(host)
        assert new_id not in ("", session_id)
        third.send(1, invoke("i2", "acme.echo@1"))
        assert third.read_item("result").result.invocation_id == "i2"
        # The function runs in a thread of its own, and nothing orders it before the other answer.
        assert reasons.get(timeout=PATIENCE) == "claim_lost"


def test_a_cancelled_function_sends_ended_and_nothing_else() -> None:
    with served() as (host, _):
        stream, _ = opened(host)
        stream.send(1, invoke("i1", "acme.wait@1"))
        stream.read_item("partial")
        cancel = wire.Cancel(invocation_id="i1", reason=wire.CANCEL_REASON_BLOCKED)
        stream.send(2, wire.HostItem(cancel=cancel))
        (item,) = stream.read().items
        assert item.ended.invocation_id == "i1" and reasons.get(timeout=PATIENCE) == "blocked"


def shows(server: pawl.Server, status: str) -> None:
    """Waits until the server shows this status."""
    deadline = time.monotonic() + PATIENCE
    while server.status != status:
        assert time.monotonic() < deadline, f"{server.status} and not {status}"
        time.sleep(0.005)


def test_a_process_shows_connecting_open_cut_open_draining_stopped() -> None:
    with scripted_host() as gone:
        port = int(gone.address.rpartition(":")[2])
    server = pawl.Server(echo, address=f"127.0.0.1:{port}")
    thread = threading.Thread(target=lambda: asyncio.run(server.run()))
    thread.start()
    shows(server, "connecting")
    with scripted_host(port) as host:
        first = host.accept()
        assert first.read().HasField("hello")
        shows(server, "connecting")
        first.welcome()
        shows(server, "open")
        first.end()
        second = host.accept()
        assert second.read().HasField("resume")
        shows(server, "cut")
        second.welcome()
        shows(server, "open")
        server.leave()
        shows(server, "draining")
        second.read_item("leaving")
        second.send(0, heard_seq=EVERYTHING)
        second.end()
        thread.join(PATIENCE)
    assert not thread.is_alive() and server.status == "stopped"


def test_coroutines_run_on_the_loop_that_called_aserve_and_functions_in_a_pool_of_slots_threads() -> None:
    threads: set[int] = set()
    loops: list[asyncio.AbstractEventLoop] = []
    meet = threading.Barrier(2, timeout=PATIENCE)

    @pawl.handler("acme.where@1")
    async def where(input: Any) -> None:
        loops.append(asyncio.get_running_loop())

    @pawl.handler("acme.block@1")
    def block(input: Any) -> None:
        threads.add(threading.get_ident())
        meet.wait()

    async def main(host: Host) -> asyncio.AbstractEventLoop:
        task = asyncio.create_task(pawl.aserve(where, block, slots=2, address=host.address))
        stream, _ = await asyncio.to_thread(opened, host)
        stream.send(1, invoke("w", "acme.where@1"))
        await asyncio.to_thread(stream.read_item, "result")
        # Each pair meets at the barrier, so two threads run at once; six calls never make a third.
        for pair in (2, 4, 6):
            for seq in (pair, pair + 1):
                stream.send(seq, invoke(f"b{seq}", "acme.block@1"))
            await asyncio.to_thread(read_results, stream, 2)
        task.cancel()
        await asyncio.to_thread(stream.read_item, "leaving")
        stream.send(0, heard_seq=EVERYTHING)
        stream.end()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.get_running_loop()

    with scripted_host() as host:
        loop = asyncio.run(main(host))
    assert loops == [loop]
    assert len(threads) == 2 and threading.get_ident() not in threads


@pytest.mark.parametrize(("retry", "longest"), [(0, 0.1), (1, 0.2), (5, 3.2), (6, 5.0), (10_000, 5.0)])
def test_the_pause_before_another_try_grows_to_five_seconds_with_full_jitter(
    retry: int, longest: float
) -> None:
    assert pause_of(retry, 1.0) == pytest.approx(longest)
    assert pause_of(retry, 0.0) == 0.0


def test_a_refusal_before_the_first_welcome_ends_serve_with_an_error() -> None:
    with scripted_host() as host:
        host.refusal = grpc.StatusCode.UNAUTHENTICATED
        with pytest.raises(pawl.PawlError, match="the token is wrong"):
            pawl.serve(echo, address=host.address, token="wrong")


def test_a_server_that_was_stopped_before_it_ran_ends_without_a_host() -> None:
    with scripted_host() as host:
        host.refusal = grpc.StatusCode.UNAVAILABLE
        server = pawl.Server(echo, address=host.address)
        server.leave()
        asyncio.run(asyncio.wait_for(server.run(), PATIENCE))
        assert server.status == "stopped"


def test_a_cancelled_aserve_finishes_the_work_under_way() -> None:
    release.clear()

    async def main(host: Host) -> wire.ProcessItem:
        task = asyncio.create_task(pawl.aserve(slow, address=host.address))
        stream, _ = await asyncio.to_thread(opened, host)
        stream.send(1, invoke("i1", "acme.slow@1"))
        await asyncio.to_thread(stream.read_item, "partial")
        task.cancel()
        await asyncio.to_thread(stream.read_item, "leaving")
        release.set()
        result = await asyncio.to_thread(stream.read_item, "result")
        stream.send(0, heard_seq=3)
        stream.end()
        with pytest.raises(asyncio.CancelledError):
            await task
        return result

    with scripted_host() as host:
        assert asyncio.run(main(host)).result.output_json == '"done"'


@pawl.handler("acme.slow@1")
def slow(input: Any, ctx: pawl.Context) -> str:
    ctx.emit("slow")
    release.wait(PATIENCE)
    return "done"


def test_a_signal_is_heard_while_c_code_holds_the_main_thread() -> None:
    heard: list[bool] = []
    in_c = threading.Event()

    class Leaver:
        def leave(self) -> None:
            heard.append(in_c.is_set())
            left.set()

    left = threading.Event()
    restore = on_signals(Leaver())
    in_c.set()
    threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 2_000_000)
    in_c.clear()
    assert left.wait(PATIENCE)
    restore()
    assert heard == [True]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
