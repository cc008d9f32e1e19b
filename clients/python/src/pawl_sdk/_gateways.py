"""The gateways that a client calls: one until it cannot be reached, then the next one. The caller repeats the failed call.

The race it survives: many calls fail at once. All of them left the same gateway, so they move on by one place, however many they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pawl_sdk._address import DEFAULT_GATEWAY, split

C = TypeVar("C")

# The readable values beside the exact JSON are for people; this package reads the bytes.
METADATA = (("pawl-json", "bytes"),)


class Gateways(Generic[C]):
    """One channel to each gateway. Without an address it takes PAWL_ADDRESS, or the gateway of this machine."""

    def __init__(
        self, address: str | Sequence[str] | None, open_channel: Callable[[str, bool], C]
    ) -> None:
        named = address or os.environ.get("PAWL_ADDRESS") or DEFAULT_GATEWAY
        if address is not None and len(address) == 0:
            raise ValueError("name at least one address of a gateway")
        self._targets = [split(each) for each in ([named] if isinstance(named, str) else named)]
        self._open_channel = open_channel
        self.channels = [open_channel(*target) for target in self._targets]
        self._at = 0

    @property
    def current(self) -> C:
        """The channel of the next call."""
        return self.channels[self._at]

    def leave(self, used: C) -> None:
        """The gateway of this channel cannot be reached."""
        place = self.channels.index(used)
        if place == self._at:
            self._at = (place + 1) % len(self.channels)

    def own_channel(self, place: int) -> C:
        """A channel with a connection of its own, to one of the gateways."""
        return self._open_channel(*self._targets[place % len(self._targets)])
