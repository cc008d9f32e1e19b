"""The two numbered queues of a session, as they are on the side of the process.

Each side numbers its items from 1, without gaps, and keeps an item until the other side has it. Nothing here waits or locks: the session
does.
"""

from __future__ import annotations

from collections import deque

from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire

# Room for the fields of a message around its items.
_FRAME_BYTES = 1024


class Outbox:
    """Items for the host. An item stays until the host has it, so a cut never loses it."""

    def __init__(self) -> None:
        self._kept: deque[tuple[wire.ProcessItem, int]] = deque()
        self._first = 1  # the number of the first kept item
        self._sent = 0  # the highest number that this stream has carried

    def add(self, item: wire.ProcessItem) -> None:
        """Queues an item."""
        self._kept.append((item, item.ByteSize()))

    def heard(self, seq: int) -> None:
        """Forgets what the host has."""
        while self._kept and self._first <= seq:
            self._kept.popleft()
            self._first += 1
        self._sent = max(self._sent, self._first - 1)

    def rewind(self) -> None:
        """A new stream begins: everything that the host does not have is sent again."""
        self._sent = self._first - 1

    def take(self, most_bytes: int) -> tuple[int, list[wire.ProcessItem]]:
        """The next items that fit into one message, and the number of the first; at least one item if there is any."""
        first = self._sent + 1
        items: list[wire.ProcessItem] = []
        size = _FRAME_BYTES
        for index in range(first - self._first, len(self._kept)):
            item, item_size = self._kept[index]
            size += item_size + 8
            if items and size > most_bytes:
                break
            items.append(item)
        self._sent += len(items)
        return (first if items else 0), items

    @property
    def has_unsent(self) -> bool:
        """Whether something waits for the stream."""
        return self._first + len(self._kept) - 1 > self._sent

    @property
    def is_empty(self) -> bool:
        """Whether the host has everything."""
        return not self._kept


class Gap(Exception):
    """A message of the host skips a number: close the stream and resume."""


class Inbox:
    """Numbers of the host's items."""

    def __init__(self) -> None:
        self.heard_seq = 0
        """The highest number that the process has."""

    def accept(self, message: wire.ServeResponse) -> list[wire.HostItem]:
        """The new items of a message; repeats are dropped. Raises Gap."""
        if not message.items:
            return []
        if message.first_seq > self.heard_seq + 1 or message.first_seq == 0:
            raise Gap(f"item {message.first_seq} came, {self.heard_seq + 1} was due")
        fresh = list(message.items)[self.heard_seq + 1 - message.first_seq :]
        self.heard_seq += len(fresh)
        return fresh
