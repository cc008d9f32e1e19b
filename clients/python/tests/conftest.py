"""Both clients by one interface: a test that takes `use` runs with each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pawl_sdk import AsyncClient, Client


def blocking(address: str | Sequence[str], call: str, *args: Any, **options: Any) -> Any:
    with Client(address) as client:
        came = _find(client, call)(*args, **options)
        return list(came) if hasattr(came, "__next__") else came


def on_a_loop(address: str | Sequence[str], call: str, *args: Any, **options: Any) -> Any:
    async def main() -> Any:
        async with AsyncClient(address) as client:
            came = _find(client, call)(*args, **options)
            return [each async for each in came] if hasattr(came, "__anext__") else await came

    return asyncio.run(main())


def _find(client: Any, call: str) -> Any:
    for name in call.split("."):
        client = getattr(client, name)
    return client


@pytest.fixture(params=[blocking, on_a_loop])
def use(request: pytest.FixtureRequest) -> Any:
    """Makes one call of a client: `use(address, "workflows.get", "w")`. Events come as a list."""
    return request.param


Job = tuple[str, tuple[Any, ...], dict[str, Any]]


def job(call: str, *args: Any, **options: Any) -> Job:
    """A call for `gather`."""
    return call, args, options


def in_threads(address: str | Sequence[str], jobs: Sequence[Job]) -> list[Any]:
    with Client(address) as client, ThreadPoolExecutor(len(jobs)) as pool:

        def make(each: Job) -> Any:
            call, args, options = each
            try:
                return _find(client, call)(*args, **options)
            except Exception as error:
                return error

        return list(pool.map(make, jobs))


def in_tasks(address: str | Sequence[str], jobs: Sequence[Job]) -> list[Any]:
    async def main() -> list[Any]:
        async with AsyncClient(address) as client:
            calls = (_find(client, call)(*args, **options) for call, args, options in jobs)
            return list(await asyncio.gather(*calls, return_exceptions=True))

    return asyncio.run(main())


@pytest.fixture(params=[in_threads, in_tasks])
def gather(request: pytest.FixtureRequest) -> Any:
    """Makes many calls of one client at once, and gives their results and errors in order."""
    return request.param
