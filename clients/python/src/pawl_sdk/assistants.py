"""Assistants: workflows with fixed values under ids of their own, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict

from pawl_sdk import _json
from pawl_sdk._gen.pawl.v1 import assistant_pb2, run_service_pb2
from pawl_sdk._plain import short_name, time_of
from pawl_sdk.options import Budget, Multitask, ThreadRelease


class AssistantOptions(TypedDict, total=False):
    """What an assistant has beside its workflow."""

    workflow_version: int
    """The version that its runs begin with; default the newest at each start."""
    config: Mapping[str, Any]
    """What every run gets beside its input. Templates and handlers read it as `ctx.config`."""
    config_json: str
    """The config as JSON text, kept to the letter. It takes precedence."""
    metadata: Mapping[str, Any]
    """What to find it by."""
    goal: str
    """What a run is for, if its start does not say it."""
    constraints: Iterable[str]
    """The rules that the nodes respect, if the start has none."""
    budget: Budget
    """How much a run may use. A start can lower it, and not raise it."""
    multitask: Multitask
    """What happens if the thread of the run has runs that have not ended, if the start does not say it."""
    thread_release: ThreadRelease
    """Whether the run gives its thread up while it only waits for people or signals."""
    request_id: str
    """Names the request in traces."""


@dataclass(frozen=True, slots=True)
class Assistant:
    """A workflow with fixed values. A run keeps what it began with, whatever becomes of the assistant."""

    assistant_id: str
    version: int
    """Counts the edits, from 1."""
    workflow_id: str
    workflow_version: int
    """0 means the newest at each start."""
    config: Any
    config_json: str
    metadata: Any
    goal: str
    constraints: tuple[str, ...]
    multitask: str
    """reject, enqueue, interrupt or rollback; empty if the assistant does not say it."""
    created_at: datetime | None
    updated_at: datetime | None

    @staticmethod
    def of(assistant: assistant_pb2.Assistant) -> Assistant:
        spec = assistant.spec
        strategy = spec.defaults.multitask_strategy
        named = short_name(run_service_pb2.MultitaskStrategy.DESCRIPTOR, strategy) if strategy else ""
        return Assistant(
            assistant_id=assistant.assistant_id,
            version=assistant.version,
            workflow_id=spec.workflow_id,
            workflow_version=spec.workflow_version,
            config=_json.loads(spec.config_json),
            config_json=spec.config_json.decode(),
            metadata=_json.loads(spec.metadata_json),
            goal=spec.defaults.goal,
            constraints=tuple(spec.defaults.constraints),
            multitask=named,
            created_at=time_of(assistant.create_time),
            updated_at=time_of(assistant.update_time),
        )


@dataclass(frozen=True, slots=True)
class AssistantPage:
    """One page of assistants in order of id. The token of the next page is empty on the last page."""

    assistants: tuple[Assistant, ...]
    next_page_token: str
