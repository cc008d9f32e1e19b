"""Handlers in Python, for the flow test: one that streams and makes an effect, one that waits for its abort."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pawl_sdk as pawl


@dataclass
class Charge:
    customer: str
    cents: int


@dataclass
class Receipt:
    receipt: str


@pawl.handler("py.charge")
async def charge(input: Charge, ctx: pawl.AsyncContext) -> Receipt:
    """Charges a customer."""
    receipt = await ctx.once("charge", pawl.IDEMPOTENT, lambda: f"{input.customer}-{input.cents}")
    await ctx.emit(f"paid {receipt}")
    ctx.log("charged")
    return Receipt(receipt)


@pawl.handler("py.wait")
async def wait(input: Any, ctx: pawl.AsyncContext) -> None:
    """Waits for its abort."""
    await ctx.emit("waits")
    try:
        await asyncio.Event().wait()
    finally:
        print(f"aborted {ctx.cancel_reason}", flush=True)


@pawl.handler("py.decline")
def decline(input: Any) -> None:
    """Fails for good."""
    raise pawl.Failed("acme.declined", "no funds", permanent=True)


if __name__ == "__main__":
    pawl.serve(charge, wait, decline, slots=4)
