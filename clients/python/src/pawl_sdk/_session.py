"""A session with a host: the two queues and the invocations under way. It outlives its streams.

The races it survives: functions put items on their threads, the writer of a stream takes them, and the reader brings items of the host.
One condition guards the queues. Invocations have locks of their own, and the session never calls one while it holds the condition.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Iterator

from pawl_sdk._address import ForkGuard
from pawl_sdk._dispatch import Dispatch
from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire
from pawl_sdk._invocation import Invocation
from pawl_sdk._queues import Inbox, Outbox
from pawl_sdk.outcome import CancelReason

LOG = logging.getLogger("pawl_sdk")
# The host must have heard_seq within 100 ms.
_ACK_SECONDS = 0.05
_REASONS: dict[int, CancelReason] = {
    wire.CANCEL_REASON_CANCELLED: "cancelled",
    wire.CANCEL_REASON_TIMEOUT: "timeout",
    wire.CANCEL_REASON_CLAIM_LOST: "claim_lost",
    wire.CANCEL_REASON_BLOCKED: "blocked",
    wire.CANCEL_REASON_DRAINED: "drained",
}
_LAST = frozenset({"result", "failure", "ended"})


class Session:
    """One session. `hello` is sent once; a later stream resumes."""

    def __init__(self, hello: wire.Hello, dispatch: Dispatch) -> None:
        self._hello = wire.Hello()
        self._hello.CopyFrom(hello)
        self._hello.session_id = str(uuid.uuid4())
        self._dispatch = dispatch
        self._guard = ForkGuard("context")
        self._changed = threading.Condition()
        self._outbox = Outbox()
        self._inbox = Inbox()
        self._invocations: dict[str, Invocation] = {}
        self._ack_due: float | None = None
        self._is_lost = False
        self.welcome: wire.Welcome | None = None
        """The newest Welcome; None before the first one."""

    @property
    def limits(self) -> wire.Limits:
        return self.welcome.limits if self.welcome is not None else wire.Limits()

    @property
    def is_settled(self) -> bool:
        """Whether nothing runs here and the host has everything."""
        with self._changed:
            return not self._invocations and self._outbox.is_empty

    def put(self, item: wire.ProcessItem) -> None:
        """Queues an item for the host."""
        self._guard.check()
        kind = item.WhichOneof("item") or ""
        with self._changed:
            if kind in _LAST:
                self._invocations.pop(getattr(item, kind).invocation_id, None)
            if not self._is_lost:
                self._outbox.add(item)
                self._changed.notify_all()

    def lose(self) -> None:
        """The host does not have this session any more: cancels everything and drops what is queued."""
        with self._changed:
            self._is_lost = True
            invocations = list(self._invocations.values())
        for invocation in invocations:
            invocation.cancel("claim_lost")

    def open(self, message: wire.ServeResponse) -> None:
        """A stream has its Welcome."""
        with self._changed:
            self.welcome = message.welcome
            self._outbox.heard(message.heard_seq)
            self._outbox.rewind()
        self.receive(message)

    def receive(self, message: wire.ServeResponse) -> None:
        """Handles a message of the host. Raises Gap."""
        with self._changed:
            self._outbox.heard(message.heard_seq)
            fresh = self._inbox.accept(message)
            if fresh:
                self._ack_due = self._ack_due or time.monotonic() + _ACK_SECONDS
                self._changed.notify_all()
        for item in fresh:
            self._handle(item)

    def _handle(self, item: wire.HostItem) -> None:
        match item.WhichOneof("item"):
            case "invoke":
                invocation = Invocation(self, item.invoke)
                with self._changed:
                    self._invocations[invocation.id] = invocation
                self._dispatch.invoke(invocation, self.limits)
            case "cancel":
                if (found := self._find(item.cancel.invocation_id)) is not None:
                    found.cancel(_REASONS.get(item.cancel.reason, "cancelled"))
            case "effect_begun":
                if (found := self._find(item.effect_begun.invocation_id)) is not None:
                    found.answer("begun", item.effect_begun.name, item.effect_begun)
            case "effect_committed":
                if (found := self._find(item.effect_committed.invocation_id)) is not None:
                    found.answer("committed", item.effect_committed.name, item.effect_committed)
            case "streamed":
                if (found := self._find(item.streamed.invocation_id)) is not None:
                    found.streamed(item.streamed.count)
            case "refused":
                refused = item.refused
                LOG.error("%s is not served: %s (%s)", refused.type, refused.message, refused.reason)
            case "ping":
                self.put(wire.ProcessItem(pong=wire.Pong()))
            case "drain":
                LOG.info("the host stops; work under way is finished")

    def _find(self, invocation_id: str) -> Invocation | None:
        with self._changed:
            return self._invocations.get(invocation_id)

    def write(self, stream: Writer) -> Iterator[wire.ServeRequest]:
        """The messages of one stream: the opening, and after the Welcome everything that the host does not have."""
        with self._changed:
            opening = wire.ServeRequest(heard_seq=self._inbox.heard_seq)
            if self.welcome is None:
                opening.hello.CopyFrom(self._hello)
            else:
                opening.resume.session_id = self._hello.session_id
        yield opening
        while (message := self._next(stream)) is not None:
            yield message

    def _next(self, stream: Writer) -> wire.ServeRequest | None:
        """Waits for something to send; None at the end of the stream."""
        with self._changed:
            while True:
                now = time.monotonic()
                is_due = self._ack_due is not None and self._ack_due <= now
                if stream.is_closed:
                    return None
                if stream.is_open and (is_due or self._outbox.has_unsent):
                    break
                wait = None if self._ack_due is None or not stream.is_open else self._ack_due - now
                self._changed.wait(wait)
            first_seq, items = self._outbox.take(self.limits.message_bytes)
            self._ack_due = None
            return wire.ServeRequest(
                first_seq=first_seq, heard_seq=self._inbox.heard_seq, items=items
            )

    def admit(self, stream: Writer) -> None:
        """The Welcome is here: the writer may send."""
        with self._changed:
            stream.is_open = True
            self._changed.notify_all()

    def release(self, stream: Writer) -> None:
        """The stream is over: its writer ends."""
        with self._changed:
            stream.is_closed = True
            self._changed.notify_all()


class Writer:
    """What the writer of one stream may do."""

    def __init__(self) -> None:
        self.is_open = False
        self.is_closed = False
