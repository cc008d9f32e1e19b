"""The handlers of the fault test: each makes one effect, and stops at the gates of the receiver on its way."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from http.client import HTTPConnection
from typing import Literal, TypedDict
from urllib.parse import urlsplit

import pawl_sdk as pawl

RECEIVER = urlsplit(os.environ["FAULT_RECEIVER"]).netloc
LANE = os.environ["FAULT_LANE"]
PROCESS = os.environ["FAULT_PROCESS"]
STALL = float(os.environ["FAULT_STALL_SECONDS"])


class Trial(TypedDict):
    trial: str
    effect: Literal["idempotent", "at_most_once"]


def visit(point: str, trial: Trial, key: str = "") -> str:
    """Visits a point of the receiver, and returns when the receiver answers."""
    connection = HTTPConnection(RECEIVER, timeout=120)
    try:
        headers = {"x-trial": trial["trial"], "x-process": PROCESS, "idempotency-key": key}
        connection.request("POST", f"/{point}", headers=headers)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def make(trial: Trial, key: str) -> str:
    """The effect, with a gate before and after its delivery."""
    visit("begun", trial)
    receipt = visit("effect", trial, key)
    visit("made", trial)
    return receipt


@pawl.handler(f"fault.plain.{LANE}", stall=STALL)
def plain(input: Trial, ctx: pawl.Context) -> str:
    """Makes its effect in a thread."""
    try:
        visit("before", input)
        kind = pawl.EffectClass[input["effect"].upper()]
        receipt = ctx.once("deliver", kind, lambda: make(input, ctx.effect_key), str)
        visit("after", input)
        return receipt
    finally:
        visit("ended", input)


@pawl.handler(f"fault.async.{LANE}", stall=STALL)
async def coroutine(input: Trial, ctx: pawl.AsyncContext) -> str:
    """Makes its effect on the event loop."""

    async def made() -> str:
        return await asyncio.to_thread(make, input, ctx.effect_key)

    try:
        await asyncio.to_thread(visit, "before", input)
        kind = pawl.EffectClass[input["effect"].upper()]
        receipt = await ctx.once("deliver", kind, made, str)
        await asyncio.to_thread(visit, "after", input)
        return receipt
    finally:
        visit("ended", input)


def end_with_parent() -> None:
    """The test holds the other end of stdin: it closes when the test dies."""
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    pawl.serve(plain, coroutine, slots=4)
