"""Runs a handler for an invocation, and turns what it returns or raises into an item."""

from __future__ import annotations

import traceback
from typing import Any

from pawl_sdk import _json
from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire
from pawl_sdk._invocation import Invocation, cut
from pawl_sdk._own_timeout import is_timeout
from pawl_sdk.handlers import Handler
from pawl_sdk.outcome import Failed, Result

_MOST_FRAMES = 10
_MOST_FRAME_CHARACTERS = 300


def run_blocking(handler: Handler[Any, Any], invocation: Invocation, limits: wire.Limits) -> None:
    """Runs a function to its end."""
    try:
        item = _result(handler, invocation, handler.call(invocation), limits)
    except BaseException as error:
        item = _failure(invocation, error, limits)
    invocation.finish(item)


async def run_async(
    handler: Handler[Any, Any], invocation: Invocation, limits: wire.Limits
) -> None:
    """Runs a coroutine to its end. Cancelling the task cancels the coroutine only."""
    try:
        item = _result(handler, invocation, await handler.call(invocation), limits)
    except BaseException as error:
        item = _failure(invocation, error, limits)
    invocation.finish(item)


def _result(
    handler: Handler[Any, Any], invocation: Invocation, value: Any, limits: wire.Limits
) -> wire.ProcessItem:
    result = value if isinstance(value, Result) else Result(value)
    text = handler.dump(result.output)
    size = len(text.encode(errors="surrogatepass"))
    if size > limits.output_bytes:
        message = f"the output has {size} bytes, {limits.output_bytes} are allowed"
        raise Failed("output_too_large", message, permanent=True)
    item = wire.Result(
        invocation_id=invocation.id,
        output_json=text,
        handle=result.handle,
        queue_delay_ms=round(result.delay * 1000),
        actions=invocation.acts.end(),
        taint=list(result.taint),
    )
    if result.usage is not None:
        item.usage.CopyFrom(result.usage.wire())
    return wire.ProcessItem(result=item)


def _failure(
    invocation: Invocation, error: BaseException, limits: wire.Limits
) -> wire.ProcessItem:
    failed = error if isinstance(error, Failed) else _thrown(error)
    details = _details_text(failed.details)
    if len(details.encode()) > limits.failure_bytes // 2:
        details = ""
    failure = wire.Failure(
        invocation_id=invocation.id,
        cause=failed.cause,
        message=cut(failed.message, limits.failure_bytes - len(details.encode())),
        permanent=failed.permanent,
        retry_after_ms=round(failed.retry_after * 1000),
        details_json=details,
    )
    return wire.ProcessItem(failure=failure)


def _thrown(error: BaseException) -> Failed:
    """An error of the function: its class, its message and its last frames; never the environment. A time limit of the function or of a
    library has a cause of its own.
    """
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    lines = [f"{each.name} ({each.filename}:{each.lineno})" for each in frames]
    return Failed(
        "user_timeout" if is_timeout(error) else "provider_error",
        f"{type(error).__name__}: {error}",
        details={"frames": [line[:_MOST_FRAME_CHARACTERS] for line in lines]},
    )


def _details_text(details: object) -> str:
    try:
        return "" if details is None else _json.dumps(details)
    except (TypeError, ValueError):
        return ""


def unknown_type(invocation: Invocation) -> wire.ProcessItem:
    """The answer to an Invoke of a type that this process does not have."""
    message = f"this process has no handler for the node type {invocation.invoke.type!r}"
    failure = wire.Failure(
        invocation_id=invocation.id, cause="unknown_node_type", message=message, permanent=True
    )
    return wire.ProcessItem(failure=failure)
