"""The two clients are written by hand, side by side: every public name, signature and docstring of one half is in the other."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import pawl_sdk
from pawl_sdk import async_client, async_resources, client, options, resources

PAIRS = [(client.Client, async_client.AsyncClient)] + [
    (half, getattr(async_resources, name))
    for name, half in vars(resources).items()
    if inspect.isclass(half) and half.__module__ == resources.__name__ and name != "Drives"
]


def public(half: type[Any]) -> dict[str, Any]:
    return {name: value for name, value in vars(half).items() if not name.startswith("_") or name == "__init__"}


def blocking_words(text: str | None) -> str:
    """The words of the asyncio half as the blocking half has them."""
    words = (text or "").replace("AsyncGenerator[", "Iterator[").replace(", None]", "]")
    return words.replace("`async with`", "`with`").replace("tasks and connections", "threads and connections")


def test_every_resource_has_two_halves() -> None:
    assert {half.__name__ for half, _ in PAIRS} == {
        "Approvals", "Archive", "Assistants", "Client",
        "Commands", "DeadLetters", "NodeTypes", "Queues", "Repairs", "Schedules", "Threads", "Webhooks", "Workflows",
    }  # fmt: skip


@pytest.mark.parametrize(("blocking", "on_a_loop"), PAIRS)
def test_both_halves_have_the_same_names_signatures_and_docstrings(blocking: type[Any], on_a_loop: type[Any]) -> None:
    own, other = public(blocking), public(on_a_loop)
    assert list(own) == list(other)
    assert blocking_words(inspect.getdoc(on_a_loop)) == inspect.getdoc(blocking)
    for name, method in own.items():
        assert blocking_words(str(inspect.signature(other[name]))) == str(inspect.signature(method)), name
        assert inspect.getdoc(other[name]) == inspect.getdoc(method), name
        assert name == "__init__" or inspect.getdoc(method), name


@pytest.mark.parametrize(("blocking", "on_a_loop"), PAIRS)
def test_a_method_of_the_asyncio_half_is_a_coroutine_or_gives_an_asynchronous_iterator(
    blocking: type[Any], on_a_loop: type[Any]
) -> None:
    for name, method in public(on_a_loop).items():
        gives = inspect.signature(method).return_annotation
        assert name == "__init__" or inspect.iscoroutinefunction(method) != gives.startswith("AsyncGenerator["), name


def test_everything_that_a_call_takes_or_gives_can_be_imported_from_the_package() -> None:
    for module in (options, pawl_sdk.model, pawl_sdk.operations, pawl_sdk.details, pawl_sdk.catalogue):
        own = {name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__}
        classes = {name for name in own if inspect.isclass(getattr(module, name))}
        assert classes <= set(pawl_sdk.__all__)
