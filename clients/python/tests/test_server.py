"""A served process against a scripted host. The conformance kit has the whole protocol; these are its main promises."""

from __future__ import annotations

import asyncio
import hashlib
import os
import queue
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from scripted_host import EVERYTHING, PATIENCE, Host, HostStream, invoke, scripted_host

import pawl_sdk as pawl
from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire
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


@contextmanager
def served() -> Iterator[tuple[Host, pawl.Server]]:
    """A server on a loop of its own; it leaves at the end, and must end."""
    with scripted_host() as host:
        server = pawl.Server(echo, hold, wait, address=host.address, token="t", name="test")
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


def opened(host: Host) -> tuple[HostStream, str]:
    stream = host.accept()
    session_id = stream.read().hello.session_id
    stream.welcome()
    return stream, session_id


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
