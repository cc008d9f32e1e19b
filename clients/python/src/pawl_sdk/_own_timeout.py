"""Whether an error means that a time limit passed: of asyncio, of a socket, of an RPC, or of a library.

Some libraries have a class of their own for it (httpx, requests), so the name of a class counts too. An error that was raised from such an
error counts as well.
"""

from __future__ import annotations

import grpc

_NAMES = frozenset({"TimeoutError", "TimeoutException", "Timeout"})
_CHAIN_MAX = 5
"""Longer chains of causes, and circles, end here."""


def is_timeout(error: BaseException | None) -> bool:
    """Whether a limit of the function or of a library passed."""
    for _ in range(_CHAIN_MAX):
        if error is None:
            return False
        if _is_own(error):
            return True
        error = error.__cause__
    return False


def _is_own(error: BaseException) -> bool:
    if any(kind.__name__ in _NAMES for kind in type(error).__mro__):
        return True
    try:
        # urllib keeps the error of the socket as a reason.
        if isinstance(getattr(error, "reason", None), TimeoutError):
            return True
        code = getattr(error, "code", None)
        if isinstance(error, grpc.RpcError) and callable(code):
            code = code()
    except Exception:  # a property of a foreign class may raise anything
        return False
    return code is grpc.StatusCode.DEADLINE_EXCEEDED
