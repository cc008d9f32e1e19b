"""Runs a handler in a test: no network, a ledger in memory. The input and the output pass through JSON as they do in production."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pawl_sdk import _json
from pawl_sdk._acts import plain
from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire
from pawl_sdk._invocation import Invocation
from pawl_sdk._run import run_async, run_blocking
from pawl_sdk._shape import shape_of
from pawl_sdk.handlers import Handler
from pawl_sdk.outcome import CancelReason, Usage

_KIB = 1024


@dataclass(slots=True)
class Ran:
    """How a handler ended in a test."""

    output: Any = None
    """The output as JSON."""
    handle: str = ""
    actions: list[dict[str, Any]] = field(default_factory=list)
    """What it asks of the engine beside its output: each action with its type and its fields."""
    taint: list[str] = field(default_factory=list)
    """The labels that it adds."""
    failure: Failure | None = None
    cancelled: bool = False
    effects: dict[str, Any] = field(default_factory=dict)
    """The ledger afterwards: committed effects with their results."""
    used: list[Usage] = field(default_factory=list)
    """What it reported by `ctx.add_usage`, in order."""
    emitted: list[str] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a handler failed."""

    cause: str
    message: str
    permanent: bool
    retry_after: float
    details: Any


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a handler believes to run."""

    run_id: str
    node_id: str
    workflow_id: str


class _Bench:
    """Plays the host for one invocation."""

    def __init__(self, invoke: wire.Invoke, ledger: Mapping[str, object], begun: frozenset[str]) -> None:
        self.limits = wire.Limits(
            output_bytes=256 * _KIB,
            effect_bytes=256 * _KIB,
            partial_bytes=16 * _KIB,
            window_bytes=_KIB * _KIB,
            log_bytes=4 * _KIB,
            log_lines=1000,
            message_bytes=4 * _KIB * _KIB,
            failure_bytes=16 * _KIB,
        )
        self.ran = Ran(effects={name: _json.dumps(value) for name, value in ledger.items()})
        self._begun = begun
        self._streamed = 0
        self.invocation = Invocation(self, invoke)

    def put(self, item: wire.ProcessItem) -> None:
        """The handler sends; the answers come from a thread of their own, as those of a host do."""
        match item.WhichOneof("item"):
            case "partial":
                self.ran.emitted.append(item.partial.text or item.partial.media.url)
                self._streamed += 1
                _later(self.invocation.streamed, self._streamed)
            case "log":
                self.ran.logs.append(item.log.message)
            case "spent":
                usage = item.spent.usage
                cost = usage.cost_micros if usage.HasField("cost_micros") else None
                self.ran.used.append(Usage(usage.input_tokens, usage.output_tokens, cost, usage.model))
            case "effect_begin":
                answer = self._begin(item.effect_begin.name)
                _later(self.invocation.answer, "begun", answer.name, answer)
            case "effect_commit":
                commit = item.effect_commit
                self.ran.effects[commit.name] = commit.result_json
                done = wire.EffectCommitted(name=commit.name, state=wire.EFFECT_STATE_COMMITTED)
                _later(self.invocation.answer, "committed", done.name, done)
            case "result":
                self.ran.output = _json.loads(item.result.output_json)
                self.ran.handle = item.result.handle
                self.ran.taint = list(item.result.taint)
                self.ran.actions = [plain(action) for action in item.result.actions]
            case "failure":
                self.ran.failure = Failure(
                    item.failure.cause,
                    item.failure.message,
                    item.failure.permanent,
                    item.failure.retry_after_ms / 1000,
                    _json.loads(item.failure.details_json),
                )
            case "ended":
                self.ran.cancelled = True

    def _begin(self, name: str) -> wire.EffectBegun:
        if name in self.ran.effects:
            text = self.ran.effects[name]
            return wire.EffectBegun(name=name, state=wire.EFFECT_STATE_COMMITTED, result_json=text)
        is_old = name in self._begun
        state = wire.EFFECT_STATE_BEGUN_BEFORE if is_old else wire.EFFECT_STATE_NEW
        return wire.EffectBegun(name=name, state=state)

    def end(self) -> Ran:
        self.ran.effects = {name: _json.loads(text) for name, text in self.ran.effects.items()}
        return self.ran


def _later(job: Callable[..., None], *args: object) -> None:
    threading.Thread(target=job, args=args, daemon=True).start()


def run_handler(
    handler: Handler[Any, Any],
    input: object = None,
    *,
    config: object = None,
    attempt: int = 1,
    ledger: Mapping[str, object] | None = None,
    begun: frozenset[str] | set[str] = frozenset(),
    cancel_after: float | None = None,
    reason: CancelReason = "cancelled",
    timeout: float = 0.0,
    memory: Mapping[str, object] | None = None,
    taint: Sequence[str] = (),
    state: Mapping[str, object] | None = None,
    run_id: str = "test-run",
    node_id: str = "test-node",
    workflow_id: str = "",
) -> Ran:
    """Runs a handler and returns how it ended. Do not call it on a running loop; use `arun_handler` there.

    `ledger` has the results of effects that an earlier attempt committed; `begun` names effects that it began. The handler is aborted
    after `cancel_after` seconds, for `reason`. `memory` is the part of the run's memory that it reads. `taint` has the labels of its data.
    `state` has fields of the state of the run, for a handler that asks for it. `run_id`, `node_id` and `workflow_id` say where it believes to
    run.
    """
    place = _Place(run_id, node_id, workflow_id)
    bench = _bench(handler, input, config, attempt, ledger, begun, timeout, place, memory=memory, taint=taint, state=state)
    if handler.is_async:
        return asyncio.run(_run_on_loop(handler, bench, cancel_after, reason))
    timer = threading.Timer(cancel_after or 0, bench.invocation.cancel, (reason,))
    timer.daemon = True
    if cancel_after is not None:
        timer.start()
    bench.invocation.begin()
    run_blocking(handler, bench.invocation, bench.limits)
    timer.cancel()
    return bench.end()


async def arun_handler(
    handler: Handler[Any, Any],
    input: object = None,
    *,
    config: object = None,
    attempt: int = 1,
    ledger: Mapping[str, object] | None = None,
    begun: frozenset[str] | set[str] = frozenset(),
    cancel_after: float | None = None,
    reason: CancelReason = "cancelled",
    timeout: float = 0.0,
    memory: Mapping[str, object] | None = None,
    taint: Sequence[str] = (),
    state: Mapping[str, object] | None = None,
    run_id: str = "test-run",
    node_id: str = "test-node",
    workflow_id: str = "",
) -> Ran:
    """As `run_handler`, on a running loop. A function that blocks runs in a thread."""
    if not handler.is_async:
        return await asyncio.to_thread(
            run_handler,
            handler,
            input,
            config=config,
            attempt=attempt,
            ledger=ledger,
            begun=begun,
            cancel_after=cancel_after,
            reason=reason,
            timeout=timeout,
            memory=memory,
            taint=taint,
            state=state,
            run_id=run_id,
            node_id=node_id,
            workflow_id=workflow_id,
        )
    place = _Place(run_id, node_id, workflow_id)
    bench = _bench(handler, input, config, attempt, ledger, begun, timeout, place, memory=memory, taint=taint, state=state)
    return await _run_on_loop(handler, bench, cancel_after, reason)


def _bench(
    handler: Handler[Any, Any],
    input: object,
    config: object,
    attempt: int,
    ledger: Mapping[str, object] | None,
    begun: frozenset[str] | set[str],
    timeout: float,
    place: _Place,
    *,
    memory: Mapping[str, object] | None,
    taint: Sequence[str],
    state: Mapping[str, object] | None,
) -> _Bench:
    invoke = wire.Invoke(
        invocation_id="test",
        type=handler.type,
        input_json=_json.dumps(_plain(input)),
        config_json=_json.dumps({} if config is None else _plain(config)),
        attempt=attempt,
        effect_key="test-effect-key",
        run_id=place.run_id,
        node_id=place.node_id,
        workflow_id=place.workflow_id,
        timeout_ms=round(timeout * 1000),
        memory_json=_json.dumps(dict(memory)) if memory else "",
        taint=list(taint),
        state_json=_json.dumps(dict(state)) if state else "",
    )
    return _Bench(invoke, ledger or {}, frozenset(begun))


def _plain(value: object) -> Any:
    """JSON of a value; models and dataclasses are written as their types say."""
    try:
        return shape_of(type(value)).dump(value, "")
    except TypeError:
        return value


async def _run_on_loop(
    handler: Handler[Any, Any], bench: _Bench, cancel_after: float | None, reason: CancelReason
) -> Ran:
    loop = asyncio.get_running_loop()
    bench.invocation.begin()
    task = asyncio.ensure_future(run_async(handler, bench.invocation, bench.limits))

    def on_cancel() -> None:
        loop.call_soon_threadsafe(task.cancel)

    bench.invocation.on_cancel = on_cancel
    if cancel_after is not None:
        loop.call_later(cancel_after, bench.invocation.cancel, reason)
    await task
    return bench.end()
