"""Handlers without a network: types, effects, streams, cancels and failures."""

from __future__ import annotations

import asyncio
import urllib.error
from dataclasses import dataclass
from typing import Any

import grpc
import pytest

import pawl_sdk as pawl


@dataclass
class Charge:
    customer: str
    cents: int


@dataclass
class Receipt:
    receipt: str


@pawl.handler("acme.charge@1")
async def charge(input: Charge, ctx: pawl.AsyncContext) -> Receipt:
    async def make() -> Receipt:
        return Receipt(f"{input.customer}-{ctx.effect_key}")

    made = await ctx.once("charge", pawl.AT_MOST_ONCE, make, Receipt)
    await ctx.emit(f"paid at attempt {ctx.attempt}")
    ctx.log("paid", "warn")
    return made


@pawl.handler("acme.tiles@1", stall=600)
def tiles(input: Any, ctx: pawl.Context) -> None:
    """Works until it is aborted."""
    while not ctx.wait_cancelled(0.01):
        ctx.check()
    ctx.check()


def test_a_typed_handler_gets_its_type_and_returns_json_of_it() -> None:
    ran = pawl.run_handler(charge, Charge("c1", 5))
    assert ran.output == {"receipt": "c1-test-effect-key"}
    assert ran.effects == {"charge": ran.output}
    assert (ran.emitted, ran.logs) == (["paid at attempt 1"], ["paid"])


@dataclass
class Rates:
    vat: float


@pawl.handler("acme.price@1")
def price(input: Charge, config: Rates) -> float:
    return input.cents * (1 + config.vat)


def test_the_config_is_typed_and_checked_before_the_function_runs() -> None:
    assert pawl.run_handler(price, Charge("c1", 100), config={"vat": 0.5}).output == 150
    ran = pawl.run_handler(price, Charge("c1", 100), config={"vat": "much"})
    assert ran.failure is not None and "config" in ran.failure.message


def test_a_second_attempt_uses_the_recorded_result_and_makes_no_effect() -> None:
    ran = pawl.run_handler(
        charge, {"customer": "c1", "cents": 5}, attempt=2, ledger={"charge": {"receipt": "r1"}}
    )
    assert ran.output == {"receipt": "r1"}


def test_an_effect_at_most_once_whose_result_is_unknown_is_never_made_again() -> None:
    ran = pawl.run_handler(charge, {"customer": "c1", "cents": 5}, begun={"charge"})
    assert ran.failure is not None and ran.failure.cause == "effect_unknown"
    assert ran.effects == {}


def test_input_that_does_not_fit_never_reaches_the_function() -> None:
    ran = pawl.run_handler(charge, {"customer": "c1", "cents": "5"})
    assert ran.failure is not None and ran.failure.permanent
    assert ran.failure.cause == "input_invalid" and "cents: expected integer" in ran.failure.message


@pytest.mark.parametrize("cancel_after", [0.02])
def test_a_cancel_reaches_a_function_that_blocks(cancel_after: float) -> None:
    ran = pawl.run_handler(tiles, None, cancel_after=cancel_after)
    assert ran.cancelled and ran.failure is None


def test_a_cancel_reaches_a_coroutine_with_its_reason() -> None:
    seen: list[str | None] = []

    @pawl.handler("acme.wait@1")
    async def wait(input: Any, ctx: pawl.AsyncContext) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            seen.append(ctx.cancel_reason)

    ran = pawl.run_handler(wait, None, cancel_after=0.02, reason="timeout")
    assert ran.cancelled and seen == ["timeout"]


class Timeout(Exception):
    """As in requests."""


class Slow(grpc.RpcError):
    """As a channel of grpc raises it."""

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.DEADLINE_EXCEEDED


def _wrapped() -> Exception:
    error = RuntimeError("no answer")
    error.__cause__ = TimeoutError()
    return error


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (TimeoutError("slow"), "user_timeout"),
        (Timeout("slow"), "user_timeout"),
        (Slow(), "user_timeout"),
        (urllib.error.URLError(TimeoutError()), "user_timeout"),
        (_wrapped(), "user_timeout"),
        (ConnectionResetError("gone"), "provider_error"),
    ],
)
def test_a_time_limit_of_the_handler_itself_is_a_user_timeout(error: Exception, cause: str) -> None:
    @pawl.handler("acme.slow@1")
    def slow(input: int) -> None:
        raise error

    ran = pawl.run_handler(slow, 1)
    assert ran.failure is not None
    assert (ran.failure.cause, ran.failure.permanent) == (cause, False)


def test_an_error_becomes_a_failure_with_its_class_and_at_most_ten_frames() -> None:
    @pawl.handler("acme.deep@1")
    def deep(input: int) -> None:
        if input == 0:
            raise KeyError("gone")
        deep(input - 1)

    ran = pawl.run_handler(deep, 30)
    assert ran.failure is not None
    assert (ran.failure.cause, ran.failure.message) == ("provider_error", "KeyError: 'gone'")
    assert len(ran.failure.details["frames"]) == 10


def test_a_failure_of_the_handlers_own_keeps_its_cause_and_wishes() -> None:
    @pawl.handler("acme.busy@1")
    def busy() -> None:
        raise pawl.Failed("acme.busy", "later", retry_after=1.5, details={"a": 1})

    ran = pawl.run_handler(busy)
    assert ran.failure is not None
    assert (ran.failure.cause, ran.failure.retry_after) == ("acme.busy", 1.5)
    assert (ran.failure.details, ran.failure.permanent) == ({"a": 1}, False)


@pytest.mark.parametrize(
    ("value", "cause"),
    [(object(), "output_invalid"), (float("nan"), "output_invalid"), ("x" * 300_000, "output_too_large")],
)
def test_an_output_that_cannot_travel_is_a_permanent_failure(value: Any, cause: str) -> None:
    @pawl.handler("acme.any@1")
    def any_output() -> Any:
        return value

    ran = pawl.run_handler(any_output)
    assert ran.failure is not None and (ran.failure.cause, ran.failure.permanent) == (cause, True)


def test_an_output_that_does_not_fit_its_type_is_contract_violated() -> None:
    @pawl.handler("acme.wrong@1")
    def wrong() -> int:
        return "five"  # type: ignore[return-value]

    ran = pawl.run_handler(wrong)
    assert ran.failure is not None and ran.failure.cause == "contract_violated"


def test_a_result_carries_its_handle() -> None:
    @pawl.handler("acme.route@1")
    def route(input: int) -> pawl.Result[int]:
        return pawl.Result(input, handle="big" if input > 9 else "small")

    assert pawl.run_handler(route, 10).handle == "big"


def test_a_handler_still_is_its_function() -> None:
    @pawl.handler("acme.twice@1")
    def twice(input: int) -> int:
        return input * 2

    assert twice(4) == 8


def test_mistakes_in_a_handler_are_found_where_it_is_written() -> None:
    with pytest.raises(ValueError, match="no node type"):
        pawl.handler("not a type")(lambda: None)
    with pytest.raises(TypeError, match="annotate its context as pawl_sdk.AsyncContext"):

        @pawl.handler("acme.x@1")
        async def x(input: Any, ctx: pawl.Context) -> None: ...

    with pytest.raises(TypeError, match="parameter 'more' is unknown"):

        @pawl.handler("acme.y@1")
        def y(input: Any, more: Any) -> None: ...


def test_handlers_and_slots_are_checked_before_a_connection() -> None:
    with pytest.raises(ValueError, match="the same node type"):
        pawl.Server(tiles, tiles)
    with pytest.raises(ValueError, match="slots is 0"):
        pawl.Server(tiles, slots=0)


@pawl.handler("acme.act@1")
def act(input: str, ctx: pawl.Context) -> None:
    ctx.remember(input, ctx.memory.get("seen"))
    ctx.remember("count", 1)
    ctx.set_status("failed", "no stock")


def test_a_handler_reads_its_memory_and_asks_for_actions() -> None:
    ran = pawl.run_handler(act, "city", memory={"seen": ["Oslo"]})
    assert ran.actions == [
        {"type": "update_memory", "values": {"city": ["Oslo"], "count": 1}},
        {"type": "set_status", "status": "failed", "message": "no stock"},
    ]


@pawl.handler("acme.all@1")
async def every_action(input: Any, ctx: pawl.AsyncContext) -> None:
    ctx.goto("next", "again")
    ctx.hand_off(workflow="billing", version=2, input=None)
    ctx.ask_human("Ship it?", assignees=["ada"], deadline=1.5)
    ctx.answer_human("approve", node="review", response={"ok": True})
    ctx.merge_results("all", "array", nodes=["a", "b"])


def test_every_action_has_its_fields() -> None:
    assert pawl.run_handler(every_action).actions == [
        {"type": "goto_node", "node": "next", "reason": "again"},
        {"type": "handoff", "workflow": "billing", "version": 2, "input": None},
        {"type": "request_human_input", "message": "Ship it?", "assignees": ["ada"], "deadline_ms": "1500"},
        {"type": "resume_from_human", "node": "review", "decision": "approve", "response": {"ok": True}},
        {"type": "merge_parallel_results", "nodes": ["a", "b"], "into": "all", "strategy": "array"},
    ]


@pytest.mark.parametrize("value", [float("nan"), object(), {1, 2}])
def test_a_value_that_is_no_json_is_action_invalid(value: object) -> None:
    @pawl.handler("acme.bad@1")
    def bad(input: Any, ctx: pawl.Context) -> None:
        ctx.remember("bad", value)

    ran = pawl.run_handler(bad)
    assert ran.failure is not None
    assert (ran.failure.cause, ran.failure.permanent, ran.actions) == ("action_invalid", True, [])


@pawl.handler("acme.plan@1", state=True)
def plan(input: str, ctx: pawl.Context) -> str:
    assert ctx.state is not None
    return f"{input} {ctx.state.goal} {ctx.state.current_nodes} {ctx.state.memory['k']} {ctx.state.max_iterations}"


def test_a_handler_that_asks_for_the_state_reads_it_and_others_have_none() -> None:
    state = {"goal": "sell", "current_nodes": ["a"], "memory": {"k": 1}, "created_at": "2026-01-02T03:04:05Z", "newer": 1}
    assert pawl.run_handler(plan, "to", state=state).output == "to sell ('a',) 1 50"
    assert plan.describe().state
    assert not charge.describe().state


def test_usage_counts_although_the_handler_fails() -> None:
    @pawl.handler("acme.model@1")
    def model(input: Any, ctx: pawl.Context) -> None:
        ctx.add_usage(3, 4, model="m")
        ctx.add_usage(output_tokens=-1, cost_micros=7)
        raise pawl.Failed("acme.bad_answer", "no")

    ran = pawl.run_handler(model)
    assert ran.failure is not None
    assert ran.used == [pawl.Usage(3, 4, None, "m"), pawl.Usage(0, 0, 7)]


def test_a_test_says_where_a_handler_believes_to_run() -> None:
    @pawl.handler("acme.where@1")
    def where(_: object, ctx: pawl.Context) -> list[str]:
        return [ctx.run_id, ctx.node_id, ctx.workflow_id]

    @pawl.handler("acme.where_async@1")
    async def where_async(_: object, ctx: pawl.AsyncContext) -> list[str]:
        return [ctx.run_id, ctx.node_id, ctx.workflow_id]

    for each in (where, where_async):
        ran = pawl.run_handler(each, None, run_id="r", node_id="pay", workflow_id="order")
        on_a_loop = asyncio.run(pawl.arun_handler(each, None, run_id="r", node_id="pay", workflow_id="order"))
        assert ran.output == on_a_loop.output == ["r", "pay", "order"]
