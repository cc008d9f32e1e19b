"""Many starts by one Python client, for the test that kills a gateway under them: `many.py <way> <count> <address>…`.

It prints `ready` when a first run is accepted, and starts the others when it reads a line. The last line is the number of runs.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from pawl_sdk import AcceptedRun, AsyncClient, Client, StartItem

SLOW = {
    "nodes": [
        {"id": "start", "type": "start"},
        {"id": "wait", "type": "delay", "config": {"delay_ms": 1500}},
        {"id": "end", "type": "end"},
    ],
    "edges": [{"source": "start", "target": "wait"}, {"source": "wait", "target": "end"}],
}


def ready() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


def threads(addresses: Sequence[str], count: int) -> set[str]:
    """Each thread runs one workflow to its end."""
    accepted: list[AcceptedRun] = []
    with Client(addresses) as client, ThreadPoolExecutor(count) as pool:
        accepted.append(client.start("slow"))
        ready()
        list(pool.map(lambda at: client.run("slow", {"at": at}, on_start=accepted.append), range(1, count)))
    return {each.run_id for each in accepted}


def tasks(addresses: Sequence[str], count: int) -> set[str]:
    """Each task runs one workflow to its end."""
    accepted: list[AcceptedRun] = []

    async def main() -> None:
        async with AsyncClient(addresses) as client:
            accepted.append(await client.start("slow"))
            ready()
            await asyncio.gather(
                *(client.run("slow", {"at": at}, on_start=accepted.append) for at in range(1, count))
            )

    asyncio.run(main())
    return {each.run_id for each in accepted}


def starts(addresses: Sequence[str], count: int) -> set[str]:
    """One call starts all, and each is waited for."""
    with Client(addresses) as client:
        first = client.start("slow")
        ready()
        outcomes = [first, *client.start_many([StartItem("slow", {"at": at}) for at in range(1, count)])]
        refused = [each for each in outcomes if not isinstance(each, AcceptedRun)]
        assert refused == [], refused
        run_ids = {each.run_id for each in outcomes if isinstance(each, AcceptedRun)}
        assert all(client.wait(run_id).status == "completed" for run_id in run_ids)
        return run_ids


WAYS = {"threads": threads, "tasks": tasks, "starts": starts}

if __name__ == "__main__":
    way, number, *named = sys.argv[1:]
    with Client(named) as saver:
        saver.workflows.apply(SLOW, workflow_id="slow")
    print(len(WAYS[way](named, int(number))), flush=True)
