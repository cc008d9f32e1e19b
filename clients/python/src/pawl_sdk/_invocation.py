"""One invocation of a handler.

The races it survives: the function sends on its own thread while the host cancels it on the reader's thread. One lock orders them: after
a cancel only Ended leaves, whatever the function still sends.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, InvalidStateError
from typing import Any, Protocol

from pawl_sdk import _json
from pawl_sdk._acts import Acts
from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire
from pawl_sdk.outcome import Cancelled, CancelReason, EffectClass, EffectRefused, Failed, Usage

Waits = Generator["Future[Any]", Any, Any]
"""Code that waits for futures: a context drives it, with a thread or with asyncio."""

_LEVELS = {
    "debug": wire.LOG_LEVEL_DEBUG,
    "info": wire.LOG_LEVEL_INFO,
    "warn": wire.LOG_LEVEL_WARN,
    "error": wire.LOG_LEVEL_ERROR,
}
_DROPPED = " (further log lines are dropped)"


class Port(Protocol):
    """Where items go."""

    @property
    def limits(self) -> wire.Limits: ...
    def put(self, item: wire.ProcessItem) -> None: ...


def cut(text: str, most_bytes: int) -> str:
    """The longest beginning of a text that fits, without half a character."""
    raw = text.encode(errors="replace")
    return text if len(raw) <= most_bytes else raw[:most_bytes].decode(errors="ignore")


class Invocation:
    """The state of one delivery: waiting, running, cancelled, over."""

    def __init__(self, port: Port, invoke: wire.Invoke) -> None:
        self.invoke = invoke
        self.acts = Acts()
        self.deadline = time.time() + invoke.timeout_ms / 1000 if invoke.timeout_ms else None
        self.cancelled = threading.Event()
        self.reason: CancelReason | None = None
        self.on_cancel: Callable[[], None] | None = None
        """Called once, when the host aborts a function that runs; set it before `begin`."""
        self._port = port
        self._limits = port.limits
        self._lock = threading.RLock()
        self._has_begun = False
        self._is_over = False
        self._answers: dict[tuple[str, str], Future[Any]] = {}
        self._effects: set[str] = set()
        self._sizes: deque[int] = deque()
        self._count = 0  # pieces that the host has passed on
        self._passed = 0  # of them, those that are subtracted
        self._under_way = 0
        self._room: Future[None] | None = None
        self._lines = 0

    @property
    def id(self) -> str:
        return self.invoke.invocation_id

    @property
    def name(self) -> str:
        """The name of the task or thread that runs it: run-<run id>-<node id>-attempt-<n>."""
        invoke = self.invoke
        item = f"#{invoke.iteration}" if invoke.iteration else ""
        return f"run-{invoke.run_id}-{invoke.node_id}{item}-attempt-{invoke.attempt}"

    def begin(self) -> bool:
        """The function begins; False if it was cancelled before."""
        with self._lock:
            self._has_begun = not self._is_over
            return self._has_begun

    def cancel(self, reason: CancelReason) -> None:
        """Aborts the function at once. One that has not begun never runs."""
        with self._lock:
            if self._is_over or self.reason is not None:
                return
            self.reason = reason
            self.cancelled.set()
            waiting = [*self._answers.values(), *([self._room] if self._room else [])]
            self._answers.clear()
            if not self._has_begun:
                self._end()
        for future in waiting:
            _settle(future, error=Cancelled(reason))
        if self._has_begun and self.on_cancel is not None:
            self.on_cancel()

    def finish(self, item: wire.ProcessItem) -> None:
        """The function has returned. Its outcome counts unless the host has cancelled it."""
        with self._lock:
            if self.reason is None:
                self._port.put(item)
                self._is_over = True
            else:
                self._end()

    def _end(self) -> None:
        self._is_over = True
        self._port.put(wire.ProcessItem(ended=wire.Ended(invocation_id=self.id)))

    def check(self) -> None:
        """Raises Cancelled once the host has aborted the function."""
        if self.reason is not None:
            raise Cancelled(self.reason)

    def _send(self, item: wire.ProcessItem) -> None:
        """Sends for the function; call it with the lock."""
        self.check()
        if self._is_over:
            raise RuntimeError("the handler has returned already; its context is over")
        self._port.put(item)

    # --- logs

    def log(self, message: str, level: str) -> None:
        if level not in _LEVELS:
            raise ValueError(f"{level!r} is no level; use debug, info, warn or error")
        with self._lock:
            if self.reason is not None or self._is_over or self._lines >= self._limits.log_lines:
                return
            self._lines += 1
            text = cut(message, self._limits.log_bytes)
            if self._lines == self._limits.log_lines:
                text = cut(message, max(0, self._limits.log_bytes - len(_DROPPED))) + _DROPPED
            log = wire.Log(invocation_id=self.id, level=_LEVELS[level], message=text)
            self._send(wire.ProcessItem(log=log))

    # --- usage

    def spend(self, usage: Usage) -> None:
        """Reports what the function used since its last report."""
        with self._lock:
            if self.reason is not None or self._is_over:
                return
            spent = wire.Spent(invocation_id=self.id, usage=usage.wire())
            self._send(wire.ProcessItem(spent=spent))

    # --- partial output

    def emit_text(self, text: str) -> Waits:
        """Sends text in pieces, and waits while too much of it is under way."""
        for piece in _pieces(text, max(4, self._limits.partial_bytes)):
            partial = wire.Partial(invocation_id=self.id, text=piece)
            yield from self._emit(partial, len(piece.encode(errors="replace")))

    def emit_media(self, url: str, mime: str) -> Waits:
        size = len(url.encode()) + len(mime.encode())
        if size > self._limits.partial_bytes:
            raise ValueError(f"media of {size} bytes is more than {self._limits.partial_bytes}")
        partial = wire.Partial(invocation_id=self.id, media=wire.Media(url=url, mime=mime))
        yield from self._emit(partial, size)

    def _emit(self, partial: wire.Partial, size: int) -> Waits:
        while True:
            with self._lock:
                # With nothing under way one piece always fits.
                if self._under_way == 0 or self._under_way + size <= self._limits.window_bytes:
                    self._send(wire.ProcessItem(partial=partial))
                    self._sizes.append(size)
                    self._under_way += size
                    self._forget_passed()
                    return
                self.check()
                self._room = self._room or Future()
                room = self._room
            yield room

    def streamed(self, count: int) -> None:
        """The host has passed on so many pieces."""
        with self._lock:
            self._count = max(self._count, count)
            self._forget_passed()
            room, self._room = self._room, None
        if room is not None:
            _settle(room)

    def _forget_passed(self) -> None:
        while self._passed < self._count and self._sizes:
            self._passed += 1
            self._under_way -= self._sizes.popleft()

    # --- effects

    def begin_effect(self, name: str, kind: EffectClass) -> Waits:
        """Asks the ledger. Returns the recorded result as JSON text, or None when the function must make the effect."""
        with self._lock:
            if name in self._effects:
                raise ValueError(f"the effect {name!r} was made already; use each name once")
            begin = wire.EffectBegin(invocation_id=self.id, name=name, effect_class=kind.value)
            self._send(wire.ProcessItem(effect_begin=begin))
            self._effects.add(name)
            answer = self._await("begun", name)
        begun: wire.EffectBegun = yield answer
        self._judge(begun.state, name)
        if begun.state == wire.EFFECT_STATE_COMMITTED:
            return begun.result_json or "null"
        if begun.state == wire.EFFECT_STATE_BEGUN_BEFORE and kind is EffectClass.AT_MOST_ONCE:
            raise Failed(
                "effect_unknown",
                f"an earlier delivery began the effect {name!r}, and its result is unknown",
                permanent=True,
            )
        return None

    def commit_effect(self, name: str, value: object) -> Waits:
        """Records the result, and returns it as JSON text."""
        text = _json.dumps(value)
        size, most = len(text.encode()), self._limits.effect_bytes
        if size > most:
            message = f"the result of the effect {name!r} has {size} bytes, {most} are allowed"
            raise Failed("output_too_large", message, permanent=True)
        with self._lock:
            commit = wire.EffectCommit(invocation_id=self.id, name=name, result_json=text)
            self._send(wire.ProcessItem(effect_commit=commit))
            answer = self._await("committed", name)
        committed: wire.EffectCommitted = yield answer
        self._judge(committed.state, name)
        return text

    def _await(self, kind: str, name: str) -> Future[Any]:
        future: Future[Any] = Future()
        self._answers[kind, name] = future
        return future

    def _judge(self, state: wire.EffectState, name: str) -> None:
        if state == wire.EFFECT_STATE_REFUSED:
            raise EffectRefused(f"the host refused the effect {name!r}: its name, class or result is not valid")
        if state == wire.EFFECT_STATE_REVOKED:
            self.cancel("claim_lost")
            self.check()

    def answer(self, kind: str, name: str, message: object) -> None:
        """The host answers a question about an effect."""
        with self._lock:
            future = self._answers.pop((kind, name), None)
        if future is not None:
            _settle(future, message)


def _settle(future: Future[Any], value: object = None, error: BaseException | None = None) -> None:
    """Ends a wait. A coroutine that gave the wait up has cancelled its future."""
    try:
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)
    except InvalidStateError:
        return


def _pieces(text: str, most_bytes: int) -> Iterator[str]:
    while text:
        piece = cut(text, most_bytes)
        yield piece
        text = text[len(piece) :]
