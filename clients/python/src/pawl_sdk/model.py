"""What calls return: runs, events, workflows and approvals as plain values. Statuses have short names, such as `completed`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pawl_sdk import _json
from pawl_sdk._gen.pawl.v1 import approval_pb2, event_pb2, run_pb2, workflow_pb2
from pawl_sdk._plain import failure_class_name, plain, short_name, time_of
from pawl_sdk.errors import Violation
from pawl_sdk.options import Budget

TERMINAL_TYPES = ("run.completed", "run.failed", "run.cancelled", "run.timed_out")
"""The types of the last event of a run."""
_FINAL = frozenset({"completed", "failed", "cancelled", "timeout"})


@dataclass(frozen=True, slots=True)
class NodeRun:
    """One execution of a node."""

    node_id: str
    iteration: int
    status: str
    attempt: int
    output: Any
    error: str
    cause: str = ""
    """Why it failed, for programs; empty if it did not."""
    failure_class: str = ""
    """What Pawl promises after that failure."""

    @staticmethod
    def of(node: run_pb2.NodeRun) -> NodeRun:
        return NodeRun(
            node_id=node.node_id,
            iteration=node.iteration,
            status=short_name(run_pb2.NodeStatus.DESCRIPTOR, node.status),
            attempt=node.attempt,
            output=_json.loads(node.output_json),
            error=node.error_message,
            cause=node.cause,
            failure_class=failure_class_name(node.failure_class),
        )


@dataclass(frozen=True, slots=True)
class RunUsage:
    """What a run has used."""

    input_tokens: int
    output_tokens: int
    cost_micros: int
    """Micro-dollars."""
    node_executions: int

    @staticmethod
    def of(usage: run_pb2.RunUsage) -> RunUsage:
        return RunUsage(
            usage.input_tokens, usage.output_tokens, usage.cost_micros, usage.node_executions
        )


@dataclass(frozen=True, slots=True)
class Run:
    """One run. Lists leave out input, output and nodes."""

    run_id: str
    workflow_id: str
    workflow_version: int
    status: str
    has_failures: bool
    last_event_id: int
    input: Any
    output: Any
    error: str
    created_at: datetime | None
    ended_at: datetime | None
    nodes: tuple[NodeRun, ...]
    usage: RunUsage
    """What it has used so far."""
    metadata: Any = None
    """What users say about it, to find it again."""
    repair_of: str = ""
    """The finished run that this one repairs."""
    repaired_by: tuple[str, ...] = ()
    thread_id: str = ""
    """The thread that it belongs to; empty when it belongs to none."""
    assistant_id: str = ""
    """The assistant that it was started by; empty for none."""
    stop: str = ""
    """How it was stopped: interrupt or rollback; empty for a plain end."""
    cause: str = ""
    """Why it did not complete, for programs; empty if it did, and in lists."""
    failure_class: str = ""
    """What Pawl promises after that failure, such as `user_timeout`; empty if it completed, and in lists."""
    start_at: datetime | None = None
    """Before this time the run does not begin; None if it could begin at once."""
    kind: str = "saved"
    """saved, test, or temporary: the last is deleted soon after its end."""

    @property
    def has_ended(self) -> bool:
        """Whether the run is over."""
        return self.status in _FINAL

    @staticmethod
    def of(run: run_pb2.Run) -> Run:
        return Run(
            run_id=run.run_id,
            workflow_id=run.workflow_id,
            workflow_version=run.workflow_version,
            status=short_name(run_pb2.RunStatus.DESCRIPTOR, run.status),
            has_failures=run.has_failures,
            last_event_id=run.last_event_id,
            input=_json.loads(run.input_json),
            output=_json.loads(run.output_json),
            error=run.error_message,
            created_at=time_of(run.create_time),
            ended_at=time_of(run.end_time),
            metadata=_json.loads(run.metadata_json),
            nodes=tuple(NodeRun.of(node) for node in run.nodes),
            repair_of=run.repair_of,
            repaired_by=tuple(run.repaired_by),
            thread_id=run.thread_id,
            assistant_id=run.assistant_id,
            stop=short_name(run_pb2.StopMode.DESCRIPTOR, run.stop) if run.stop else "",
            start_at=time_of(run.start_at),
            kind=short_name(run_pb2.RunKind.DESCRIPTOR, run.kind),
            usage=RunUsage.of(run.usage),
            cause=run.cause,
            failure_class=failure_class_name(run.failure_class),
        )


@dataclass(frozen=True, slots=True)
class StartItem:
    """One of many starts. `input_json` is JSON text that is sent to the letter; it takes precedence over `input`."""

    workflow_id: str
    input: Any = None
    input_json: str | None = None
    version: int = 0
    priority: int = 0
    deadline: float | None = None
    """How many seconds the run may take from its start; default the definition's own."""
    after_seconds: float | None = None
    """How many seconds after its acceptance the run starts; default at once."""
    start_at: datetime | None = None
    """When the run starts, by the clock of the database. A time in the past means at once."""
    temporary: bool = False
    """The run is deleted with everything that belongs to it, soon after its end."""
    dedupe_input: float | None = None
    """For so many seconds, a second start with the same workflow and input returns the first run."""
    goal: str = ""
    constraints: Sequence[str] = ()
    max_iterations: int = 0
    max_retries: int | None = None
    budget: Budget | None = None
    """How much the run may use; default the definition's own."""
    request_id: str | None = None
    assistant_id: str = ""
    """The assistant in place of a workflow: the workflow id is empty then."""


@dataclass(frozen=True, slots=True)
class AcceptedRun:
    """A run that was accepted. `is_duplicate` if an earlier call with the same request id had started it."""

    run_id: str
    is_duplicate: bool


@dataclass(frozen=True, slots=True)
class StartedRun:
    """An accepted run. `is_duplicate` if an earlier call with the same request id had started it."""

    run: Run
    is_duplicate: bool


@dataclass(frozen=True, slots=True)
class TestedRun(StartedRun):
    """An accepted run of a graph that is not saved. Warnings are about places that are allowed and most likely a mistake."""

    __test__ = False  # The name begins as pytest's own do.
    warnings: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class SignalledRun(StartedRun):
    """A run that got a signal. `is_kept` if the run keeps the signal, because no node waits for it yet."""

    is_kept: bool


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a run's log. `payload` has the fields of its type, with user data decoded."""

    event_id: int
    type: str
    run_id: str
    workflow_id: str
    node_id: str
    iteration: int
    attempt: int
    epoch: int
    timestamp: datetime | None
    payload: dict[str, Any]

    @property
    def is_terminal(self) -> bool:
        """Whether it is the last event of its run."""
        return self.type in TERMINAL_TYPES

    @staticmethod
    def of(event: event_pb2.RunEvent) -> Event:
        fact = event.WhichOneof("fact")
        return Event(
            event_id=event.event_id,
            type=event.type,
            run_id=event.run_id,
            workflow_id=event.workflow_id,
            node_id=event.node_id,
            iteration=event.iteration,
            attempt=event.attempt,
            epoch=event.epoch,
            timestamp=time_of(event.time),
            payload={} if fact is None else plain(getattr(event, fact)),
        )


@dataclass(frozen=True, slots=True)
class Workflow:
    """A saved workflow. Lists leave out the definition."""

    workflow_id: str
    version: int
    title: str
    definition: Any
    updated_at: datetime | None

    @staticmethod
    def of(workflow: workflow_pb2.Workflow) -> Workflow:
        return Workflow(
            workflow_id=workflow.workflow_id,
            version=workflow.version,
            title=workflow.title,
            definition=_json.loads(workflow.definition_json),
            updated_at=time_of(workflow.update_time),
        )


def violation_of(violation: workflow_pb2.Violation) -> Violation:
    """A broken rule as a plain value."""
    return Violation(path=violation.path, reason=violation.reason, message=violation.message)


@dataclass(frozen=True, slots=True)
class AppliedWorkflow:
    """A saved definition. `outcome` is created, updated or unchanged; warnings are allowed and most likely a mistake."""

    workflow: Workflow
    outcome: str
    warnings: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class Approval:
    """A question that waits for a person, and its answer."""

    approval_id: str
    run_id: str
    workflow_id: str
    node_id: str
    iteration: int
    state: str
    message: str
    details: Any
    assignees: tuple[str, ...]
    response: Any
    response_schema: Any
    comment: str
    decided_by: str
    deadline: datetime | None

    @staticmethod
    def of(approval: approval_pb2.Approval) -> Approval:
        return Approval(
            approval_id=approval.approval_id,
            run_id=approval.run_id,
            workflow_id=approval.workflow_id,
            node_id=approval.node_id,
            iteration=approval.iteration,
            state=short_name(approval_pb2.ApprovalState.DESCRIPTOR, approval.state),
            message=approval.message,
            details=_json.loads(approval.details_json),
            assignees=tuple(approval.assignees),
            response=_json.loads(approval.response_json),
            response_schema=_json.loads(approval.response_schema_json),
            comment=approval.comment,
            decided_by=approval.decided_by,
            deadline=time_of(approval.deadline_time),
        )


@dataclass(frozen=True, slots=True)
class RunPage:
    """One page of runs, newest first. The token of the next page is empty on the last page."""

    runs: tuple[Run, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class KeptFilter:
    """A filter of runs that is kept under a name."""

    name: str
    filter: str


@dataclass(frozen=True, slots=True)
class KeptFilterPage:
    """One page of kept filters, by name. The token of the next page is empty on the last page."""

    filters: tuple[KeptFilter, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class WorkflowPage:
    """One page of workflows."""

    workflows: tuple[Workflow, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class DayAmounts:
    """An amount of each thing that a daily budget limits. In a limit, 0 does not limit."""

    tokens: int
    cost_micros: int
    node_executions: int

    @staticmethod
    def of(amounts: run_pb2.Amounts) -> DayAmounts:
        return DayAmounts(amounts.tokens, amounts.cost_micros, amounts.node_executions)


@dataclass(frozen=True, slots=True)
class DailyBudget:
    """What all runs of a workflow may use, have reserved and have used on one day in UTC, such as `2026-01-31`."""

    workflow_id: str
    day: str
    limit: DayAmounts | None
    """The limits of the newest version; None if it has no daily budget."""
    reserved: DayAmounts
    used: DayAmounts
    resets_at: datetime | None

    @staticmethod
    def of(budget: workflow_pb2.DailyBudget) -> DailyBudget:
        return DailyBudget(
            workflow_id=budget.workflow_id,
            day=budget.day,
            limit=DayAmounts.of(budget.limit) if budget.HasField("limit") else None,
            reserved=DayAmounts.of(budget.reserved),
            used=DayAmounts.of(budget.used),
            resets_at=time_of(budget.reset_time),
        )


@dataclass(frozen=True, slots=True)
class DailyBudgetPage:
    """One page of days, the newest first. The token of the next page is empty on the last page."""

    budgets: tuple[DailyBudget, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class ApprovalPage:
    """One page of approvals, newest first, without the schemas of their responses."""

    approvals: tuple[Approval, ...]
    next_page_token: str
