"""What the calls of repairs take and return, as plain values. Actions have short names, such as `run_items`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from pawl_sdk._gen.pawl.v1 import repair_pb2
from pawl_sdk._plain import short_name
from pawl_sdk.model import StartedRun


class RetryOptions(TypedDict, total=False):
    """How to retry a finished run."""

    latest: bool
    """Uses the newest saved version of the workflow."""
    keep_effects: bool
    """Does not repeat effects that happened: the new run gets the records of the effect ledger."""
    plan_digest: str
    """The digest of a plan. The call fails with REPAIR_PLAN_STALE if the plan is another one by now."""
    request_id: str | None


class RepairOptions(RetryOptions, total=False):
    """How to repair a finished run. `input_json` is JSON text that is sent to the letter; it takes precedence over `input`."""

    from_nodes: Iterable[str]
    """Nodes that run again, with everything that was decided on them."""
    from_event_id: int
    """The last event to reuse."""
    definition: str | dict[str, Any]
    input: object
    input_json: str | None
    outputs: Mapping[str, object]
    """Outputs that a person sets by hand, by node."""
    handles: Mapping[str, str]
    """The handles by which those nodes leave."""
    keep_nodes: Iterable[str]
    """Nodes whose results are reused although their definition changed."""
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class RepairEffects:
    """Effects of one class that may happen again. `begun` ones have an unknown result."""

    effect_class: str
    committed: int
    begun: int
    is_kept: bool


@dataclass(frozen=True, slots=True)
class RepairNode:
    """What a repair does about a node. `action` is reuse, run, run_items, set or remove; `change` is none, new, changed or removed."""

    node_id: str
    action: str
    reason: str
    event_id: int
    """The event of the finished run that proves the reused result; 0 for none."""
    change: str
    changed_fields: tuple[str, ...]
    items_reused: int
    items_again: int
    effects: tuple[RepairEffects, ...]

    @staticmethod
    def of(node: repair_pb2.RepairNode) -> RepairNode:
        return RepairNode(
            node_id=node.node_id,
            action=short_name(repair_pb2.RepairAction.DESCRIPTOR, node.action),
            reason=node.reason,
            event_id=node.event_id,
            change=node.change,
            changed_fields=tuple(node.changed_fields),
            items_reused=node.items_reused,
            items_again=node.items_again,
            effects=tuple(
                RepairEffects(each.effect_class, each.committed, each.begun, each.kept) for each in node.effects
            ),
        )


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """What a repair reuses of a finished run, and what it runs."""

    run_id: str
    digest: str
    nodes: tuple[RepairNode, ...]
    reused_facts: int
    input_tokens: int
    """What the finished run spent on everything that runs again."""
    output_tokens: int
    cost_micros: int
    """0 if no price is known."""
    warnings: tuple[str, ...]
    workflow_version: int
    """0 for a definition that is not saved."""
    reserved_tokens: int = 0
    """What one execution of each node reserves that the finished run never started."""
    reserved_cost_micros: int = 0

    @staticmethod
    def of(plan: repair_pb2.RepairPlan) -> RepairPlan:
        return RepairPlan(
            run_id=plan.run_id,
            digest=plan.digest,
            nodes=tuple(map(RepairNode.of, plan.nodes)),
            reused_facts=plan.reused_facts,
            input_tokens=plan.input_tokens,
            output_tokens=plan.output_tokens,
            cost_micros=plan.cost_micros,
            warnings=tuple(plan.warnings),
            workflow_version=plan.workflow_version,
            reserved_tokens=plan.reserved_tokens,
            reserved_cost_micros=plan.reserved_cost_micros,
        )


@dataclass(frozen=True, slots=True)
class RepairedRun(StartedRun):
    """A run that repairs a finished one. The plan is None if the gateway had accepted the request before."""

    plan: RepairPlan | None
