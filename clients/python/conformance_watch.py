"""The caller that the conformance kit tests: it watches runs as test/handler-kit/PROGRAM.md describes. `--async` takes the AsyncClient."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import pawl_sdk as pawl


def show(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def show_event(event: pawl.Event) -> None:
    line: dict[str, Any] = {
        "event_id": event.event_id,
        "type": event.type,
        "node_id": event.node_id,
        "iteration": event.iteration,
    }
    if event.type == "node.stream.delta":
        # The payload leaves out a field that is 0 or empty.
        line |= {
            "delta_index": event.payload.get("delta_index", 0),
            "text": event.payload.get("text", ""),
        }
    show(line)


def options_of(command: dict[str, Any]) -> dict[str, Any]:
    return {
        "after_event_id": command["after"],
        "silence": command["silence_ms"] / 1000,
        "give_up": command["give_up_ms"] / 1000,
    }


def watch(client: pawl.Client, command: dict[str, Any]) -> None:
    events = client.watch(command["watch"], **options_of(command))
    for count, event in enumerate(events, 1):
        show_event(event)
        if count == command["leave_after"]:
            break


async def watch_async(client: pawl.AsyncClient, command: dict[str, Any]) -> None:
    async with aclosing(client.watch(command["watch"], **options_of(command))) as events:
        count = 0
        async for event in events:
            show_event(event)
            count += 1
            if count == command["leave_after"]:
                break


def commands() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        yield json.loads(line)


async def commands_async() -> AsyncIterator[dict[str, Any]]:
    while line := await asyncio.to_thread(sys.stdin.readline):
        yield json.loads(line)


def main() -> None:
    with pawl.Client() as client:
        for command in commands():
            try:
                watch(client, command)
                show({"end": True})
            except pawl.PawlError as error:
                show({"error": {"reason": error.reason}})


async def main_async() -> None:
    async with pawl.AsyncClient() as client:
        async for command in commands_async():
            try:
                await watch_async(client, command)
                show({"end": True})
            except pawl.PawlError as error:
                show({"error": {"reason": error.reason}})


if __name__ == "__main__":
    if "--async" in sys.argv:
        asyncio.run(main_async())
    else:
        main()
