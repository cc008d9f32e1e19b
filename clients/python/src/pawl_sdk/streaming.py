"""Streams in modes, as callers see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pawl_sdk.model import Event

StreamMode: TypeAlias = Literal["values", "updates", "debug", "metadata", "control", "messages"]
"""A form in which a stream shows the log of a run."""


@dataclass(frozen=True, slots=True)
class StreamItem:
    """One event of the log in one mode."""

    mode: StreamMode
    event_id: int
    """The event of the log: the cursor of every mode."""
    run_id: str
    event: Event | None
    """The event, in the mode debug."""
    data: dict[str, Any]
    """The item in every other mode."""


@dataclass(frozen=True, slots=True)
class ThreadEvent:
    """An event of a run of a thread."""

    cursor: str
    """Continues after this event. Keep it as it is."""
    event: Event


@dataclass(frozen=True, slots=True)
class ThreadItem(StreamItem):
    """An event of a run of a thread in one mode."""

    cursor: str
    """Continues after this item. If more items of its event follow, the event comes again with all its items."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The whole state and context of a run after a step."""

    run_id: str
    event_id: int
    state: dict[str, Any]
    context: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TaskResult:
    """How one node execution ended. `output` is None unless it completed, and `error` is None if it did."""

    run_id: str
    event_id: int
    node_id: str
    iteration: int
    attempt: int
    status: str
    output: Any
    error: str | None


OnCheckpoint: TypeAlias = Callable[[Checkpoint], None]
OnTaskResult: TypeAlias = Callable[[TaskResult], None]
