"""Reads a blocking stream with a time limit for each message.

gRPC's blocking iterator has no limit of its own, so a thread reads it. The thread reads only what was asked for: at most one message waits
here, and the flow control of HTTP/2 holds the rest back. The race it survives: one thread closes the stream while another one asks.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

import grpc

from pawl_sdk._steps import SILENT, Silent
from pawl_sdk.errors import UNREACHABLE, PawlError, error_from

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Stream(Protocol[T_co]):
    """A call that streams messages."""

    def __next__(self) -> T_co: ...
    def __iter__(self) -> Iterator[T_co]: ...
    def cancel(self) -> bool: ...


class Pull(Generic[T]):
    """One reader of one stream."""

    def __init__(self, stream: Stream[T], name: str) -> None:
        self._stream = stream
        self._asked = threading.Semaphore(0)
        self._is_asked = False
        self._is_closed = False
        self._ending: threading.Timer | None = None
        self._came: queue.SimpleQueue[T | PawlError | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, name=name, daemon=True).start()

    def next(self, timeout: float) -> T | Silent | None:
        """The next message, None at the end, SILENT when nothing came in time; ask again or close. Raises PawlError."""
        if not self._is_asked:
            self._is_asked = True
            self._asked.release()
        try:
            came = self._came.get(timeout=timeout)
        except queue.Empty:
            return SILENT
        self._is_asked = False
        if isinstance(came, PawlError):
            raise came
        return came

    def close(self) -> None:
        """Ends the stream and its thread."""
        self._is_closed = True
        self._stream.cancel()
        self._asked.release()

    def let_end(self, timeout: float) -> None:
        """Reads to the end of the stream without the caller, and cancels it after a while."""
        self._ending = threading.Timer(timeout, self._stream.cancel)
        self._ending.daemon = True
        self._ending.start()
        self._asked.release()

    def _read(self) -> None:
        while True:
            self._asked.acquire()
            if self._is_closed:
                # Another thread closed it, and the reader may wait for a message already.
                self._came.put(None)
                return
            if self._ending is not None:
                self._read_to_end(self._ending)
                return
            try:
                self._came.put(next(self._stream))
            except StopIteration:
                self._came.put(None)
                return
            except grpc.RpcError as error:
                self._came.put(error_from(error))  # type: ignore[arg-type]  # a failed call is its own error
                return
            except Exception as error:
                # Without an answer the caller would wait for the whole silence.
                self._came.put(PawlError(UNREACHABLE, f"the stream failed: {error!r}"))
                return

    def _read_to_end(self, ending: threading.Timer) -> None:
        try:
            for _ in self._stream:
                pass
        except grpc.RpcError:
            pass  # The caller has every message.
        finally:
            ending.cancel()
