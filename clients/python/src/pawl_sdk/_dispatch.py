"""Which invocations run now. It outlives sessions: a function of a lost session keeps its slot until it has returned.

Races. Invocations come on the reader's thread and end on threads of their own. An invocation comes with the effect key of a running one.
The older one is cancelled, and the newer one waits until it has returned or five seconds passed.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire
from pawl_sdk._invocation import Invocation
from pawl_sdk._run import run_async, run_blocking, unknown_type
from pawl_sdk.handlers import Handler

_SUPERSEDE_SECONDS = 5.0
_IDLE = "pawl-handler"
"""The name of a thread that runs nothing."""


class Pool:
    """Threads that run one job after the other. They are daemons: a function that never returns does not keep the process."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0

    def run(self, job: Callable[[], None]) -> None:
        """Runs a job on an idle thread, or on a new one. The caller bounds how many run."""
        with self._lock:
            is_new = self._idle == 0
            self._idle -= 0 if is_new else 1
        if is_new:
            threading.Thread(target=self._work, args=(job,), name=_IDLE, daemon=True).start()
        else:
            self._jobs.put(job)

    def _work(self, job: Callable[[], None]) -> None:
        while True:
            job()
            with self._lock:
                self._idle += 1
            job = self._jobs.get()


class _Entry:
    """An invocation that waits for a slot."""

    def __init__(self, handler: Handler[Any, Any], invocation: Invocation, limits: wire.Limits) -> None:
        self.handler = handler
        self.invocation = invocation
        self.limits = limits
        self.not_before = time.monotonic() + _SUPERSEDE_SECONDS
        """From then on it runs though an older invocation of its key has not returned."""


class Dispatch:
    """Runs at most `slots` invocations, in the order in which they came."""

    def __init__(
        self,
        handlers: Mapping[str, Handler[Any, Any]],
        slots: int,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._handlers = handlers
        self._slots = slots
        self._loop = loop
        self._pool = Pool()
        self._lock = threading.Lock()
        self._waiting: list[_Entry] = []
        self._running: dict[Invocation, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs or waits."""
        with self._lock:
            return not self._running and not self._waiting

    def invoke(self, invocation: Invocation, limits: wire.Limits) -> None:
        """Runs an invocation as soon as there is a slot."""
        handler = self._handlers.get(invocation.invoke.type)
        if handler is None:
            invocation.finish(unknown_type(invocation))
            return
        key = invocation.invoke.effect_key
        with self._lock:
            older = [each for each, its_key in self._running.items() if key and its_key == key]
            stale = [each for each in self._waiting if key and each.invocation.invoke.effect_key == key]
            self._waiting = [each for each in self._waiting if each not in stale]
            self._waiting.append(_Entry(handler, invocation, limits))
        for each in [*older, *(entry.invocation for entry in stale)]:
            each.cancel("claim_lost")
        if older:
            timer = threading.Timer(_SUPERSEDE_SECONDS, self._pump)
            timer.daemon = True
            timer.start()
        self._pump()

    def _pump(self) -> None:
        """Starts what may run."""
        begun: list[_Entry] = []
        with self._lock:
            keys = {key for key in self._running.values() if key}
            now = time.monotonic()
            for entry in list(self._waiting):
                if len(self._running) >= self._slots:
                    break
                key = entry.invocation.invoke.effect_key
                if key in keys and now < entry.not_before:
                    continue
                self._waiting.remove(entry)
                self._running[entry.invocation] = key
                begun.append(entry)
        for entry in begun:
            if entry.handler.is_async:
                self._loop.call_soon_threadsafe(self._start_task, entry)
            else:
                self._pool.run(partial(self._block, entry))

    def _block(self, entry: _Entry) -> None:
        thread = threading.current_thread()
        thread.name = entry.invocation.name
        try:
            if entry.invocation.begin():
                run_blocking(entry.handler, entry.invocation, entry.limits)
        finally:
            thread.name = _IDLE
            self._returned(entry)

    def _start_task(self, entry: _Entry) -> None:
        """On the loop."""
        task = self._loop.create_task(self._follow(entry), name=entry.invocation.name)
        entry.invocation.on_cancel = lambda: self._cancel_task(task)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _cancel_task(self, task: asyncio.Task[None]) -> None:
        try:
            self._loop.call_soon_threadsafe(task.cancel)
        except RuntimeError:
            return  # the loop is closed: the process ends

    async def _follow(self, entry: _Entry) -> None:
        try:
            if entry.invocation.begin():
                await run_async(entry.handler, entry.invocation, entry.limits)
        finally:
            self._returned(entry)

    def _returned(self, entry: _Entry) -> None:
        with self._lock:
            del self._running[entry.invocation]
        self._pump()
