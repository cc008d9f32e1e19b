"""Addresses and channels. `http://host:port` and `host:port` are plain; `https://host:port` is TLS with the roots of the system."""

from __future__ import annotations

import os
from collections.abc import Sequence

DEFAULT_GATEWAY = "http://127.0.0.1:7400"
DEFAULT_HANDLER_HOST = "127.0.0.1:7404"
# Above every limit of a server, and still a bound.
_MOST_BYTES = 64 * 1024 * 1024

OPTIONS: Sequence[tuple[str, str | int]] = (
    ("grpc.max_receive_message_length", _MOST_BYTES),
    ("grpc.max_send_message_length", _MOST_BYTES),
    # Repeats are decided here, where the request id is known.
    ("grpc.enable_retries", 0),
    # A channel does not share the reconnect pauses of another one.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
)


def split(address: str) -> tuple[str, bool]:
    """The target of an address, and whether it is TLS."""
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address, False
    if scheme not in ("http", "https"):
        raise ValueError(f"{address!r} is no address; write host:port, http://host:port or https://host:port")
    target = rest.rstrip("/")
    if ":" not in target.rpartition("]")[2]:
        target += ":443" if scheme == "https" else ":80"
    return target, scheme == "https"


class ForkGuard:
    """Refuses use in a forked child: gRPC's connections and threads do not survive a fork."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._pid = os.getpid()

    @property
    def is_child(self) -> bool:
        """Whether this is a child process. It has the locks of its parent as they were, and none of the threads that hold them."""
        return os.getpid() != self._pid

    def check(self) -> None:
        """Raises RuntimeError in a child process."""
        if self.is_child:
            raise RuntimeError(
                f"this {self._what} was made before fork(); make one in the child process, or use the start method `spawn`"
            )
