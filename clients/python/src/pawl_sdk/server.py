"""Serves handlers to a host.

There are three kinds of threads. The link reads the stream and answers pings, whatever the handlers do. Functions that block run in a
pool of `slots` threads. Coroutines run on the loop that called `aserve`.
"""

from __future__ import annotations

import asyncio
import os
import platform
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from pawl_sdk._address import DEFAULT_HANDLER_HOST
from pawl_sdk._dispatch import Dispatch
from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire
from pawl_sdk._link import Link, Status
from pawl_sdk._session import LOG
from pawl_sdk._version import VERSION
from pawl_sdk.handlers import Handler

_MOST_SLOTS = 10_000
_MOST_HANDLERS = 64
_MOST_NAME = 200


class Leaver(Protocol):
    """Something that may be asked to leave."""

    def leave(self) -> None: ...


class Server:
    """Handlers and the host that they serve. `status` is connecting, open, cut, draining or stopped."""

    def __init__(
        self,
        *handlers: Handler[Any, Any],
        slots: int = 8,
        address: str | None = None,
        token: str | None = None,
        name: str | None = None,
        build: str | None = None,
    ) -> None:
        by_type = {each.type: each for each in handlers}
        if not 1 <= len(handlers) <= _MOST_HANDLERS:
            raise ValueError(f"serve takes 1 to {_MOST_HANDLERS} handlers, got {len(handlers)}")
        if len(by_type) != len(handlers):
            raise ValueError("two handlers have the same node type; give one of them another name or version")
        if not 1 <= slots <= _MOST_SLOTS:
            raise ValueError(f"slots is {slots}; use 1 to {_MOST_SLOTS}")
        env = os.environ
        self.status: Status = "connecting"
        self._handlers = by_type
        self._slots = slots
        self._address = address or env.get("PAWL_HANDLER_ADDRESS") or DEFAULT_HANDLER_HOST
        self._addresses = [each.strip() for each in self._address.split(",") if each.strip()]
        if not self._addresses:
            raise ValueError(f"{self._address!r} has no address of an executor, such as {DEFAULT_HANDLER_HOST}")
        self._token = token if token is not None else env.get("PAWL_HANDLER_TOKEN", "")
        own_name = name or env.get("PAWL_HANDLER_NAME") or Path(sys.argv[0]).name or "python"
        own_build = build if build is not None else env.get("PAWL_HANDLER_BUILD", "")
        self._hello = wire.Hello(
            protocol=1,
            name=own_name[:_MOST_NAME],
            build=own_build[:_MOST_NAME],
            sdk=f"pawl-sdk {VERSION}",
            language=f"python {platform.python_version()}",
            slots=slots,
            handlers=[each.describe() for each in handlers],
        )
        self._link: Link | None = None
        self._wants_to_leave = False

    def leave(self) -> None:
        """Takes no more work; `run` returns once the work under way is done. Any thread may call it, also before `run`."""
        self._wants_to_leave = True
        if self._link is not None:
            self._link.leave()

    async def run(self) -> None:
        """Serves until `leave`, or until the task is cancelled, which leaves too. Raises PawlError if the host refuses the process."""
        if self._link is not None:
            raise RuntimeError("this server has run already; make another one")
        loop = asyncio.get_running_loop()
        dispatch = Dispatch(self._handlers, self._slots, loop)
        self._link = Link(self._addresses, self._token, self._hello, dispatch, self._set_status)
        if self._wants_to_leave:
            self._link.leave()
        ended: asyncio.Future[None] = loop.create_future()
        thread = threading.Thread(
            target=_run_link, args=(self._link, loop, ended), name="pawl-link", daemon=True
        )
        thread.start()
        try:
            await asyncio.shield(ended)
        except asyncio.CancelledError:
            self.leave()
            await ended
            raise
        finally:
            self._set_status("stopped")

    def _set_status(self, status: Status) -> None:
        if status != self.status:
            self.status = status
            LOG.info("%s: %s", self._address, status)


def _run_link(link: Link, loop: asyncio.AbstractEventLoop, ended: asyncio.Future[None]) -> None:
    error: Exception | None = None
    try:
        link.run()
    except Exception as raised:
        error = raised

    def end() -> None:
        if ended.done():
            return
        if error is None:
            ended.set_result(None)
        else:
            ended.set_exception(error)

    loop.call_soon_threadsafe(end)


async def aserve(
    *handlers: Handler[Any, Any],
    slots: int = 8,
    address: str | None = None,
    token: str | None = None,
    name: str | None = None,
    build: str | None = None,
) -> None:
    """Serves handlers on this loop until the task is cancelled; work under way is finished first. It leaves signals alone."""
    server = Server(*handlers, slots=slots, address=address, token=token, name=name, build=build)
    await server.run()


def serve(
    *handlers: Handler[Any, Any],
    slots: int = 8,
    address: str | None = None,
    token: str | None = None,
    name: str | None = None,
    build: str | None = None,
) -> None:
    """Serves handlers until SIGTERM or SIGINT; work under way is finished first. A second signal ends the process at once.

    `address` is PAWL_HANDLER_ADDRESS or 127.0.0.1:7404, `token` is PAWL_HANDLER_TOKEN, `name` PAWL_HANDLER_NAME or the name of the
    program, `build` PAWL_HANDLER_BUILD. Raises PawlError if the host refuses the process.
    """
    server = Server(*handlers, slots=slots, address=address, token=token, name=name, build=build)
    restore = on_signals(server)
    try:
        asyncio.run(server.run())
    finally:
        restore()


def on_signals(server: Leaver) -> Callable[[], None]:
    """Leaves on the first signal, exits on the second. Gives a function that ends that.

    Python runs a handler of signals on the main thread, between two steps. That thread may be about to wait for the network without a limit,
    or inside a long call of C. So a thread of its own reads the numbers of signals, which Python writes into a socket at once.
    """
    if threading.current_thread() is not threading.main_thread():
        return lambda: None
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    numbers = (signal.SIGTERM, signal.SIGINT)
    old_fd = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}

    def read() -> None:
        is_leaving = False
        while number := reader.recv(1):
            if number[0] not in numbers:
                continue
            if is_leaving:
                os._exit(128 + number[0])
            is_leaving = True
            server.leave()
        reader.close()

    threading.Thread(target=read, name="pawl-signals", daemon=True).start()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(old_fd)
        writer.close()

    return restore
