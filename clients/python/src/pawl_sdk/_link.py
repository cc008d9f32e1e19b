"""Keeps a session connected, on a thread of its own: connect, read, and after any end connect again.

The races it survives: the stream is cut, refused or silent; the host forgets the session; the user stops while any of that happens. Only
a stop of the user or a refusal before the first Welcome ends the loop. With several addresses the process goes to the next one when a host
does not answer; with unfinished work only once that host has given the session up.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import grpc

from pawl_sdk._address import OPTIONS, split
from pawl_sdk._dispatch import Dispatch
from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire
from pawl_sdk._pull import Pull
from pawl_sdk._queues import Gap
from pawl_sdk._session import LOG, Session, Writer
from pawl_sdk._steps import Silent
from pawl_sdk.errors import UNREACHABLE, PawlError

Status = Literal["connecting", "open", "cut", "draining", "stopped"]

_SERVE = "/pawl.handler.v1.HandlerService/Serve"
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
_CONNECT_SECONDS = 10.0
# A host that has everything closes the stream of a process that leaves; a process does not wait longer.
_LEAVE_SECONDS = 5.0
_FINAL = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.FAILED_PRECONDITION,
    }
)


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a stream ended. `is_lost`: the host does not know the session."""

    error: PawlError | None
    is_lost: bool = False


def pause_of(retry: int, chance: float) -> float:
    """The pause before another try, in seconds, with full jitter: `chance` is from 0 to 1."""
    return chance * min(_LONGEST_PAUSE, _FIRST_PAUSE * float(2 ** min(retry, 10)))


class Link:
    """The connection of one process to its host, which is one of several addresses."""

    def __init__(
        self,
        addresses: Sequence[str],
        token: str,
        hello: wire.Hello,
        dispatch: Dispatch,
        on_status: Callable[[Status], None],
    ) -> None:
        self._hosts = [split(address) for address in addresses]
        self._host = 0
        self._token = token
        self._hello = hello
        self._dispatch = dispatch
        self._on_status = on_status
        self._lock = threading.Lock()
        self._session = Session(hello, dispatch)
        self._was_welcome = False
        self._leaving = threading.Event()
        self._settled_at: float | None = None

    def leave(self) -> None:
        """Takes no more invocations, and ends once those under way are done."""
        with self._lock:
            if self._leaving.is_set():
                return
            self._leaving.set()
            self._session.put(wire.ProcessItem(leaving=wire.Leaving()))
        self._on_status("draining")

    def run(self) -> None:
        """Serves until the user stops it. Raises PawlError for a refusal before the first Welcome."""
        self._on_status("connecting")
        retry = 0
        cut_at: float | None = None
        while True:
            session = self._session
            had_welcome = session.welcome
            ended = self._stream_once(session)
            now = time.monotonic()
            if session.welcome is not had_welcome:
                retry, cut_at = 0, None
            cut_at = now if cut_at is None else cut_at
            if ended.error is not None and not self._was_welcome and ended.error.code in _FINAL:
                raise ended.error
            if self._leaving.is_set() and self._has_left(session, ended, now - cut_at):
                session.lose()
                return
            if ended.is_lost or session.welcome is None:
                self._begin_again(session)
            if ended.is_lost:
                LOG.warning("the host gave the session up; every invocation is cancelled")
                continue
            if not self._leaving.is_set():
                self._on_status("cut" if self._was_welcome else "connecting")
            seconds = pause_of(retry, random.random())
            retry += 1
            reason = "it ended the stream" if ended.error is None else str(ended.error)
            # The first cut is news; after the tenth try a person may want to look.
            level = logging.WARNING if retry in (1, 10) else logging.DEBUG
            LOG.log(level, "no host at %s: %s; connecting again", self._hosts[self._host][0], reason)
            self._move_on(session, now - cut_at)
            self._pause(seconds)

    def _move_on(self, session: Session, cut_seconds: float) -> None:
        """Chooses the next host, unless the present one may still have a session with unfinished work."""
        resume = session.welcome.resume_ms / 1000 if session.welcome is not None else 0.0
        if session.is_settled or cut_seconds >= resume:
            self._host = (self._host + 1) % len(self._hosts)

    def _pause(self, seconds: float) -> None:
        """Waits before another try; a stop of the user ends the wait."""
        if self._leaving.is_set():
            time.sleep(min(seconds, _FIRST_PAUSE))
        else:
            self._leaving.wait(seconds)

    def _begin_again(self, session: Session) -> None:
        """A new session; an id is never used twice in Hello."""
        session.lose()
        with self._lock:
            self._session = Session(self._hello, self._dispatch)
            if self._leaving.is_set():
                self._session.put(wire.ProcessItem(leaving=wire.Leaving()))

    def _has_left(self, session: Session, ended: _Ended, cut_seconds: float) -> bool:
        """Whether a process that leaves is done with its host."""
        if ended.is_lost or session.welcome is None or session.is_settled:
            return True
        return cut_seconds > session.welcome.resume_ms / 1000

    def _stream_once(self, session: Session) -> _Ended:
        """One stream, from its opening to its end."""
        target, is_tls = self._hosts[self._host]
        channel = (
            grpc.secure_channel(target, grpc.ssl_channel_credentials(), options=OPTIONS)
            if is_tls
            else grpc.insecure_channel(target, options=OPTIONS)
        )
        serve = channel.stream_stream(
            _SERVE,
            request_serializer=wire.ServeRequest.SerializeToString,
            response_deserializer=wire.ServeResponse.FromString,
        )
        metadata = (("authorization", f"Bearer {self._token}"),) if self._token else ()
        writer = Writer()
        pull: Pull[wire.ServeResponse] = Pull(
            serve(session.write(writer), metadata=metadata), "pawl-reader"
        )
        try:
            return self._read(session, writer, pull)
        except PawlError as error:
            return _Ended(error)
        except Gap as gap:
            return _Ended(PawlError(UNREACHABLE, str(gap)))
        finally:
            session.release(writer)
            pull.close()
            channel.close()

    def _read(self, session: Session, writer: Writer, pull: Pull[wire.ServeResponse]) -> _Ended:
        first = pull.next(_CONNECT_SECONDS)
        if first is None or isinstance(first, Silent):
            return _Ended(PawlError(UNREACHABLE, "the host did not answer the opening"))
        if first.WhichOneof("opening") == "lost":
            return _Ended(None, is_lost=True)
        if first.WhichOneof("opening") != "welcome":
            return _Ended(PawlError(UNREACHABLE, "the first message of the host is no Welcome"))
        self._was_welcome = True
        session.open(first)
        session.admit(writer)
        if not self._leaving.is_set():
            self._on_status("open")
        silence = max(0.1, first.welcome.silence_ms / 1000)
        last_at = time.monotonic()
        while True:
            # A process that leaves looks often whether it is done.
            came = pull.next(min(silence, 0.5) if self._leaving.is_set() else silence)
            now = time.monotonic()
            if came is None:
                return _Ended(None)
            if isinstance(came, Silent):
                if now - last_at >= silence:
                    return _Ended(PawlError(UNREACHABLE, f"the host was silent for {silence} s"))
            else:
                last_at = now
                session.receive(came)
            if self._has_waited(session, now):
                return _Ended(None)

    def _has_waited(self, session: Session, now: float) -> bool:
        """Whether the host has everything of a leaving process for long enough."""
        if not self._leaving.is_set() or not session.is_settled:
            self._settled_at = None
            return False
        self._settled_at = self._settled_at or now
        return now - self._settled_at > _LEAVE_SECONDS
