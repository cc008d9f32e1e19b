"""The workflow state of a run: what calls return and what handlers read as `ctx.state`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from pawl_sdk import _json
from pawl_sdk._gen.pawl.v1 import run_pb2
from pawl_sdk._plain import plain

_TIMES = frozenset({"started_at", "waiting_since", "waiting_timeout_at", "created_at", "updated_at"})


@dataclass(frozen=True, slots=True)
class WorkflowState:
    """The state of a run after an event. `current_node` and `retry_count` are about the node that started last."""

    workflow_id: str = ""
    run_id: str = ""
    goal: str = ""
    constraints: tuple[str, ...] = ()
    status: str = "pending"
    current_node: str = ""
    current_nodes: tuple[str, ...] = ()
    iteration_count: int = 0
    max_iterations: int = 50
    started_at: datetime | None = None
    max_execution_time_ms: int = 3_600_000
    retry_count: int = 0
    retries: Mapping[str, int] = field(default_factory=dict)
    max_retries: int = 0
    last_error: str = ""
    compensation_stack: tuple[Any, ...] = ()
    waiting_for: str | None = None
    """human_approval, moderation, signal, child_run, budget, slot, retry, delay or paused; None if the run does not wait."""
    waiting_since: datetime | None = None
    waiting_timeout_at: datetime | None = None
    total_tokens_used: int = 0
    max_token_budget: int | None = None
    total_cost_usd: float = 0.0
    budget_usd: float | None = None
    memory: Mapping[str, Any] = field(default_factory=dict)
    visited_nodes: tuple[str, ...] = ()
    visited_nodes_left_out: int = 0
    supervisor_history: tuple[Any, ...] = ()
    created_at: datetime | None = None
    updated_at: datetime | None = None
    event_id: int = 0

    @staticmethod
    def of(state: run_pb2.WorkflowState) -> WorkflowState:
        values = plain(state)
        # A gateway may send the memory also as a value of protobuf, whose numbers are floats.
        memory = _json.loads(state.memory_json) if state.memory_json else {}
        return _made({**values, "memory": memory, "max_iterations": state.max_iterations})

    @staticmethod
    def of_json(text: str) -> WorkflowState:
        """The state of an invocation."""
        values = _json.loads(text.encode())
        times = {name: datetime.fromisoformat(values[name]) for name in _TIMES & values.keys()}
        return _made({**values, **times})


_NAMES = frozenset(each.name for each in fields(WorkflowState))


def _made(values: Mapping[str, Any]) -> WorkflowState:
    """Fields of a newer server are left out."""
    known: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return WorkflowState(**{name: value for name, value in known.items() if name in _NAMES})
