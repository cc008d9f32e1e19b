"""What a handler may ask of Pawl while it runs. `Context` is for functions that block, `AsyncContext` for coroutines."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, TypeVar, overload

from pawl_sdk import _json
from pawl_sdk._acts import UNSET, RunEnding, Strategy
from pawl_sdk._invocation import Invocation, Waits
from pawl_sdk._shape import shape_of
from pawl_sdk.outcome import CancelReason, EffectClass, Usage
from pawl_sdk.state import WorkflowState

T = TypeVar("T")
Level = Literal["debug", "info", "warn", "error"]


class BaseContext:
    """What both kinds of context have."""

    def __init__(self, invocation: Invocation) -> None:
        invoke = invocation.invoke
        self._invocation = invocation
        self.type: str = invoke.type
        self.attempt: int = invoke.attempt
        """Which attempt, from 1."""
        self.effect_key: str = invoke.effect_key
        """The same for every attempt and delivery: send it to receivers as their idempotency key."""
        self.run_id: str = invoke.run_id
        self.node_id: str = invoke.node_id
        self.iteration: int = invoke.iteration
        self.workflow_id: str = invoke.workflow_id
        self.traceparent: str = invoke.traceparent
        """W3C traceparent of the attempt; empty without tracing."""
        self.deadline: float | None = invocation.deadline
        """When the host cancels the handler, as time.time() counts; None without a limit."""
        self.memory: dict[str, Any] = _json.loads(invoke.memory_json) or {}
        """The keys of the run's memory that the node reads."""
        self.taint: frozenset[str] = frozenset(invoke.taint)
        """The labels of the data that the handler gets, such as web; empty if it is trusted. Its output gets them too."""
        self.state: WorkflowState | None = WorkflowState.of_json(invoke.state_json) if invoke.state_json else None
        """The state of the run when it was given to this process; None unless the handler asks for it with `state=True`."""

    @property
    def cancelled(self) -> bool:
        """Whether the host has aborted this handler."""
        return self._invocation.cancelled.is_set()

    @property
    def cancel_reason(self) -> CancelReason | None:
        """Why the host aborted this handler; None while it runs."""
        return self._invocation.reason

    def remaining(self) -> float | None:
        """Seconds until the deadline; None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - time.time())

    def check(self) -> None:
        """Raises Cancelled once the host has aborted this handler. Call it in loops."""
        self._invocation.check()

    def log(self, message: str, level: Level = "info") -> None:
        """Logs a line into the run's log."""
        self._invocation.log(message, level)

    def add_usage(
        self,
        input_tokens: int = 0,
        output_tokens: int = 0,
        *,
        cost_micros: int | None = None,
        model: str = "",
    ) -> None:
        """Adds what the handler used since its last report. It counts however the attempt ends, also if it fails."""
        self._invocation.spend(Usage(input_tokens, output_tokens, cost_micros, model))

    def remember(self, key: str, value: object) -> None:
        """Writes a key of the run's memory when the handler completes. The last value of a key counts."""
        self._invocation.acts.remember(key, value)

    def set_status(self, status: RunEnding, message: str = "", *, output: object = UNSET) -> None:
        """Ends or pauses the run when the handler completes. With completed, `output` is the run's output."""
        self._invocation.acts.set_status(status, message, output)

    def goto(self, node: str, reason: str = "") -> None:
        """Runs another node next."""
        self._invocation.acts.goto(node, reason)

    def hand_off(
        self,
        *,
        node: str = "",
        workflow: str = "",
        version: int = 0,
        input: object = UNSET,
        reason: str = "",
    ) -> None:
        """Gives the work to a node, or to a workflow whose output becomes the output of this node."""
        self._invocation.acts.hand_off(node, workflow, version, input, reason)

    def ask_human(
        self,
        message: str,
        *,
        details: object = UNSET,
        assignees: Sequence[str] = (),
        deadline: float = 0.0,
    ) -> None:
        """Asks a person when the handler completes. The answer becomes the output of the node. `deadline` is in seconds."""
        self._invocation.acts.ask_human(message, details, assignees, deadline)

    def answer_human(
        self,
        decision: Literal["approve", "reject"],
        *,
        node: str = "",
        iteration: int = 0,
        approval_id: str = "",
        response: object = UNSET,
        comment: str = "",
    ) -> None:
        """Answers the question of another node of the same run."""
        self._invocation.acts.answer_human(
            decision, response, node, iteration, approval_id, comment
        )

    def merge_results(
        self, into: str, strategy: Strategy, *, keys: Sequence[str] = (), nodes: Sequence[str] = ()
    ) -> None:
        """Merges values of the memory, or outputs of nodes, into one key of the memory."""
        self._invocation.acts.merge_results(into, strategy, keys, nodes)


class Context(BaseContext):
    """The context of a function that blocks."""

    def emit(self, text: str) -> None:
        """Streams text to watchers. Waits while the reader is slow."""
        _block(self._invocation.emit_text(text))

    def emit_media(self, url: str, mime: str) -> None:
        """Streams a picture, sound or other file: its address or a data: URL."""
        _block(self._invocation.emit_media(url, mime))

    def wait_cancelled(self, timeout: float | None = None) -> bool:
        """Waits for the abort; False when the time is up."""
        return self._invocation.cancelled.wait(timeout)

    @overload
    def once(self, name: str, kind: EffectClass, make: Callable[[], Any]) -> Any: ...
    @overload
    def once(self, name: str, kind: EffectClass, make: Callable[[], T], type: type[T]) -> T: ...
    def once(
        self, name: str, kind: EffectClass, make: Callable[[], Any], type: type[Any] | None = None
    ) -> Any:
        """Makes an effect through the ledger. A later attempt gets the recorded result and makes nothing.

        The result is what JSON keeps of it, at the first time too. With `type` it is read as that type.
        """
        shape = shape_of(Any if type is None else type)
        text = _block(self._invocation.begin_effect(name, kind))
        if text is None:
            made = shape.dump(make(), "")
            text = _block(self._invocation.commit_effect(name, made))
        return shape.parse(_json.loads(text), "")


class AsyncContext(BaseContext):
    """The context of a coroutine. An abort cancels its task."""

    async def emit(self, text: str) -> None:
        """Streams text to watchers. Waits while the reader is slow."""
        await _follow(self._invocation.emit_text(text))

    async def emit_media(self, url: str, mime: str) -> None:
        """Streams a picture, sound or other file: its address or a data: URL."""
        await _follow(self._invocation.emit_media(url, mime))

    @overload
    async def once(
        self, name: str, kind: EffectClass, make: Callable[[], Awaitable[Any] | Any]
    ) -> Any: ...
    @overload
    async def once(
        self, name: str, kind: EffectClass, make: Callable[[], Awaitable[T] | T], type: type[T]
    ) -> T: ...
    async def once(
        self,
        name: str,
        kind: EffectClass,
        make: Callable[[], Awaitable[Any] | Any],
        type: type[Any] | None = None,
    ) -> Any:
        """Makes an effect through the ledger. A later attempt gets the recorded result and makes nothing.

        The result is what JSON keeps of it, at the first time too. With `type` it is read as that type.
        """
        shape = shape_of(Any if type is None else type)
        text = await _follow(self._invocation.begin_effect(name, kind))
        if text is None:
            made = make()
            value = await made if inspect.isawaitable(made) else made
            text = await _follow(self._invocation.commit_effect(name, shape.dump(value, "")))
        return shape.parse(_json.loads(text), "")


def _block(waits: Waits) -> Any:
    """Waits with the thread."""
    answer: Any = None
    while True:
        try:
            future = waits.send(answer)
        except StopIteration as end:
            return end.value
        answer = future.result()


async def _follow(waits: Waits) -> Any:
    """Waits with asyncio."""
    answer: Any = None
    while True:
        try:
            future = waits.send(answer)
        except StopIteration as end:
            return end.value
        answer = await asyncio.wrap_future(future)
