"""The program that the conformance kit tests: the twelve handlers of test/handler-kit/PROGRAM.md, served by this SDK."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import time
from typing import Annotated, Any, NotRequired, TypedDict

import pawl_sdk as pawl


class Typed(TypedDict):
    text: str
    count: Annotated[int, pawl.Check(minimum=1)]


class Prefix(TypedDict):
    prefix: NotRequired[str]


class Text(TypedDict):
    text: str


class Pieces(TypedDict):
    pieces: list[str]


class Count(TypedDict):
    count: int


class Line(TypedDict):
    level: str
    message: str


class Lines(TypedDict):
    lines: list[Line]
    context: NotRequired[bool]


class Fault(TypedDict):
    mode: str
    message: str
    cause: NotRequired[str]
    retry_after_ms: NotRequired[int]


Effect = TypedDict("Effect", {"name": str, "class": str})


class Made(TypedDict):
    result: Any


class Name(TypedDict):
    name: str


class Aborted(TypedDict):
    cancelled: bool


class Nap(TypedDict):
    name: str
    ms: int


class Slept(TypedDict):
    ms: int


class Size(TypedDict):
    bytes: int


def note(text: str) -> None:
    print(f"kit: {text}", flush=True)


@pawl.handler("kit.echo@1")
async def echo(input: Any) -> Any:
    """Returns its input."""
    return input


@pawl.handler("kit.typed@1")
def typed(input: Typed, config: Prefix) -> Text:
    """Repeats a text."""
    return {"text": config.get("prefix", "") + input["text"] * input["count"]}


@pawl.handler("kit.stream@1")
async def stream(input: Pieces, ctx: pawl.AsyncContext) -> Count:
    """Streams pieces of text."""
    for piece in input["pieces"]:
        await ctx.emit(piece)
    return {"count": len(input["pieces"])}


@pawl.handler("kit.log@1")
def log(input: Lines, ctx: pawl.Context) -> Count:
    """Logs lines."""
    for line in input["lines"]:
        ctx.log(line["message"], line["level"])  # type: ignore[arg-type]  # the kit sends levels only
    if input.get("context", False):
        place = f"run={ctx.run_id} node={ctx.node_id} iteration={ctx.iteration} trace={ctx.traceparent}"
        ctx.log(f"attempt={ctx.attempt} effect_key={ctx.effect_key} {place}")
    return {"count": len(input["lines"])}


def deep(calls: int, message: str) -> None:
    if calls == 0:
        raise ValueError(message)
    deep(calls - 1, message)


@pawl.handler("kit.fail@1")
def fail(input: Fault) -> Any:
    """Fails as it is asked to."""
    message = input["message"]
    match input["mode"]:
        case "throw":
            deep(30, message)
        case "timeout":
            concurrent.futures.Future[None]().result(timeout=0.001)
        case "permanent":
            raise pawl.Failed("kit.permanent", message, permanent=True)
        case "retry_after":
            raise pawl.Failed("kit.busy", message, retry_after=input.get("retry_after_ms", 0) / 1000)
        case "cause":
            raise pawl.Failed(input.get("cause", ""), message, details={"mode": "cause"})
    return deep


@pawl.handler("kit.effect@1")
async def effect(input: Effect, ctx: pawl.AsyncContext) -> Made:
    """Makes one effect."""

    async def make() -> dict[str, str]:
        note(f"made {input['name']}")
        return {"made": input["name"]}

    kind = pawl.EffectClass[input["class"].upper()]
    return {"result": await ctx.once(input["name"], kind, make)}


@pawl.handler("kit.wait@1")
async def wait(input: Name, ctx: pawl.AsyncContext) -> Aborted:
    """Waits for its abort."""
    await ctx.emit("started")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        note(f"cancelled {input['name']} {ctx.cancel_reason}")
    note(f"returned {input['name']}")
    return {"cancelled": True}


@pawl.handler("kit.stubborn@1", stall=600)
def stubborn(input: Nap, ctx: pawl.Context) -> Slept:
    """Ignores its abort."""
    ctx.emit("started")
    time.sleep(input["ms"] / 1000)
    note(f"returned {input['name']}")
    return {"ms": input["ms"]}


@pawl.handler("kit.big@1")
def big(input: Size) -> str:
    """Returns a long text."""
    return "x" * input["bytes"]


class Asks(TypedDict):
    asks: list[str]


class Memory(TypedDict):
    memory: Any
    state: NotRequired[Any]


@pawl.handler("kit.act@1", state=True)
def act(input: Asks, ctx: pawl.Context) -> Memory:
    """Asks the engine for actions."""
    for ask in input["asks"]:
        match ask:
            case "remember":
                ctx.remember("city", "Oslo")
                ctx.remember("count", 2)
            case "set_status":
                ctx.set_status("completed", "done", output={"ok": True})
            case "goto":
                ctx.goto("next", "again")
            case "hand_off_node":
                ctx.hand_off(node="next", reason="busy")
            case "hand_off_workflow":
                ctx.hand_off(workflow="billing", version=2, input={"n": 1})
            case "ask_human":
                ctx.ask_human("Ship it?", details={"n": 1}, assignees=["ada"], deadline=60)
            case "answer_human":
                ctx.answer_human("approve", node="review", response={"ok": True}, comment="fine")
            case "merge_results":
                ctx.merge_results("all", "array", keys=["a", "b"])
            case "spend":
                ctx.add_usage(3, 4, model="kit-model")
                ctx.add_usage(1, 0, cost_micros=7, model="kit-model")
            case "not_json":
                ctx.remember("bad", float("nan"))
    if "state" not in input["asks"]:
        return {"memory": ctx.memory}
    at = ctx.state
    state = at and {
        "goal": at.goal,
        "nodes": list(at.current_nodes),
        "retries": at.retry_count,
        "memory": dict(at.memory),
    }
    return {"memory": ctx.memory, "state": state}


class Labels(TypedDict):
    labels: list[str]


@pawl.handler("kit.taint@1", external=True)
def taint(ctx: pawl.Context) -> pawl.Result[Labels]:
    """Adds a label to its output."""
    return pawl.Result({"labels": sorted(ctx.taint)}, taint=["kit"])


@pawl.handler("kit.crash@1")
def crash() -> None:
    """Ends the process."""
    os._exit(3)


if __name__ == "__main__":
    handlers = (echo, typed, stream, log, fail, effect, wait, stubborn, big, act, taint, crash)
    pawl.serve(*handlers, slots=8, name="kit", build="kit-build")
