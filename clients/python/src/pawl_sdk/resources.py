"""What a `Client` has beside its runs: workflows, approvals, schedules, queues, dead letters and node types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Protocol, TypeVar, Unpack

from pawl_sdk._calls.approvals import ApprovalCalls
from pawl_sdk._calls.archive import ArchiveCalls
from pawl_sdk._calls.assistants import AssistantCalls
from pawl_sdk._calls.caller import Caller
from pawl_sdk._calls.catalogue import CatalogueCalls
from pawl_sdk._calls.commands import CommandCalls
from pawl_sdk._calls.queues import DeadLetterCalls, QueueCalls
from pawl_sdk._calls.repairs import RepairCalls
from pawl_sdk._calls.schedules import ScheduleCalls
from pawl_sdk._calls.threads import ThreadCalls
from pawl_sdk._calls.webhooks import WebhookCalls
from pawl_sdk._calls.workflows import WorkflowCalls
from pawl_sdk._steps import Emissions, Steps
from pawl_sdk.archive import ArchivedPage, ArchivedRun, RestoredRun
from pawl_sdk.assistants import Assistant, AssistantOptions, AssistantPage
from pawl_sdk.catalogue import Executor, NodeType, NodeTypePage
from pawl_sdk.commands import (
    CommandPage,
    EnqueueResumeOptions,
    EnqueueStartOptions,
    ListCommandsOptions,
    QueuedCommand,
    QueueStats,
    StatsOptions,
)
from pawl_sdk.model import (
    AppliedWorkflow,
    Approval,
    ApprovalPage,
    DailyBudgetPage,
    StartedRun,
    Workflow,
    WorkflowPage,
)
from pawl_sdk.operations import (
    DeadLetterPage,
    Pause,
    QueueDepths,
    Redrive,
    RedrivePreview,
    RedriveStep,
    Schedule,
    SchedulePage,
)
from pawl_sdk.options import (
    AnswerOptions,
    ControlOptions,
    Decision,
    DiscardOptions,
    ListApprovalsOptions,
    ListDeadLettersOptions,
    PreviewRedriveOptions,
    PreviewScheduleOptions,
    RedriveOptions,
    ScheduleOptions,
)
from pawl_sdk.repairs import RepairedRun, RepairOptions, RepairPlan, RetryOptions
from pawl_sdk.threads import Thread, ThreadPage, ThreadState
from pawl_sdk.webhooks import (
    DeliveryDetails,
    DeliveryPage,
    EndpointOptions,
    EndpointPage,
    EndpointSecret,
    WebhookDelivery,
    WebhookEndpoint,
)

T = TypeVar("T")


class Drives(Protocol):
    """Makes the steps of calls."""

    def run(self, steps: Steps[T]) -> T: ...
    def emit(self, steps: Emissions[T]) -> Iterator[T]: ...


class Workflows:
    """Saved workflows."""

    def __init__(self, drive: Drives, caller: Caller) -> None:
        self._run = drive.run
        self._calls = WorkflowCalls(caller)

    def apply(
        self, definition: str | dict[str, Any], *, workflow_id: str | None = None, strict: bool = False
    ) -> AppliedWorkflow:
        """Makes the saved workflow be this definition (a value, or text in JSON or YAML): creates or updates, and may be repeated."""
        return self._run(self._calls.apply(definition, workflow_id=workflow_id, strict=strict))

    def get(self, workflow_id: str, *, version: int = 0) -> Workflow:
        """One workflow with its definition; version 0 is the newest."""
        return self._run(self._calls.get(workflow_id, version=version))

    def list(self, *, page_size: int = 0, page_token: str = "") -> WorkflowPage:
        """A page of workflows."""
        return self._run(self._calls.list(page_size=page_size, page_token=page_token))

    def delete(self, workflow_id: str, *, force: bool = False, request_id: str | None = None) -> None:
        """Deletes a workflow; its runs stay. Raises PawlError HAS_LIVE_RUNS unless `force` is given; live runs then run to their end."""
        self._run(self._calls.delete(workflow_id, force=force, request_id=request_id))

    def pause(self, workflow_id: str, **options: Unpack[ControlOptions]) -> Pause:
        """Pauses all its runs, also those started while it is paused; running nodes finish."""
        return self._run(self._calls.pause(workflow_id, **options))

    def resume(self, workflow_id: str, **options: Unpack[ControlOptions]) -> bool:
        """Resumes its runs, except runs paused one by one. True while some runs still wait to be resumed."""
        return self._run(self._calls.resume(workflow_id, **options))

    def daily_budgets(
        self, *, workflow_id: str = "", page_size: int = 0, page_token: str = ""
    ) -> DailyBudgetPage:
        """A page of days: what runs of workflows with a daily budget reserved and used, the newest day first."""
        return self._run(
            self._calls.daily_budgets(workflow_id=workflow_id, page_size=page_size, page_token=page_token)
        )


class Approvals:
    """Questions that wait for people."""

    def __init__(self, drive: Drives, caller: Caller) -> None:
        self._run = drive.run
        self._calls = ApprovalCalls(caller)

    def list(self, **options: Unpack[ListApprovalsOptions]) -> ApprovalPage:
        """A page of approvals, newest first, without the schemas of their responses."""
        return self._run(self._calls.list(**options))

    def get(self, approval_id: str) -> Approval:
        """One approval, with the schema of its response."""
        return self._run(self._calls.get(approval_id))

    def decide(self, approval_id: str, decision: Decision, **options: Unpack[AnswerOptions]) -> Approval:
        """Answers an approval. Raises PawlError INPUT_INVALID, NODE_ALREADY_DECIDED or APPROVAL_CLOSED."""
        return self._run(self._calls.decide(approval_id, decision, **options))


class Schedules:
    """Schedules, which start runs by themselves."""

    def __init__(self, drive: Drives, caller: Caller) -> None:
        self._run = drive.run
        self._calls = ScheduleCalls(caller)

    def create(
        self, schedule_id: str, workflow_id: str, expression: str, **options: Unpack[ScheduleOptions]
    ) -> Schedule:
        """Creates a schedule; the expression is cron (five fields, six with seconds first, or a macro) or an RFC 5545 rule.

        Raises PawlError SCHEDULE_EXISTS, INPUT_INVALID or WORKFLOW_NOT_FOUND.
        """
        return self._run(self._calls.create(schedule_id, workflow_id, expression, **options))

    def update(
        self,
        schedule_id: str,
        workflow_id: str,
        expression: str,
        *,
        expected_version: int = 0,
        **options: Unpack[ScheduleOptions],
    ) -> Schedule:
        """Replaces the whole specification. Raises PawlError VERSION_MISMATCH when `expected_version` is not the newest."""
        return self._run(
            self._calls.update(schedule_id, workflow_id, expression, expected_version, **options)
        )

    def get(self, schedule_id: str) -> Schedule:
        """One schedule with its next times."""
        return self._run(self._calls.get(schedule_id))

    def list(self, *, workflow_id: str = "", page_size: int = 0, page_token: str = "") -> SchedulePage:
        """A page of schedules."""
        return self._run(
            self._calls.list(workflow_id=workflow_id, page_size=page_size, page_token=page_token)
        )

    def pause(self, schedule_id: str, **options: Unpack[ControlOptions]) -> Schedule:
        """Stops it from starting runs."""
        return self._run(self._calls.pause(schedule_id, **options))

    def resume(self, schedule_id: str, *, request_id: str | None = None) -> Schedule:
        """Lets it start runs again."""
        return self._run(self._calls.resume(schedule_id, request_id))

    def delete(self, schedule_id: str, *, request_id: str | None = None) -> None:
        """Deletes it; its runs stay."""
        self._run(self._calls.delete(schedule_id, request_id))

    def preview(self, **options: Unpack[PreviewScheduleOptions]) -> tuple[datetime, ...]:
        """The next times of an `expression`, or of a saved schedule by `schedule_id`: 5 by default, at most 50, after now or `after`."""
        return self._run(self._calls.preview(**options))

    def trigger(self, schedule_id: str, *, request_id: str | None = None) -> StartedRun:
        """Starts a run now, beside the occurrences."""
        return self._run(self._calls.trigger(schedule_id, request_id))


class Webhooks:
    """Receivers of webhooks, and what was delivered to them."""

    def __init__(self, drive: Drives, caller: Caller) -> None:
        self._run = drive.run
        self._calls = WebhookCalls(caller)

    def create(
        self,
        endpoint_id: str,
        url: str,
        *,
        secret: str = "",
        request_id: str | None = None,
        **options: Unpack[EndpointOptions],
    ) -> EndpointSecret:
        """Saves a receiver and gives its secret. Raises PawlError WEBHOOK_ENDPOINT_EXISTS or INPUT_INVALID."""
        return self._run(self._calls.create(endpoint_id, url, secret, request_id, **options))

    def get(self, endpoint_id: str) -> WebhookEndpoint:
        """One receiver. Raises PawlError WEBHOOK_ENDPOINT_NOT_FOUND."""
        return self._run(self._calls.get(endpoint_id))

    def list(self, *, page_size: int = 0, page_token: str = "") -> EndpointPage:
        """A page of receivers."""
        return self._run(self._calls.list(page_size, page_token))

    def update(
        self,
        endpoint_id: str,
        url: str | None = None,
        *,
        disabled: bool = False,
        expected_version: int = 0,
        request_id: str | None = None,
        **options: Unpack[EndpointOptions],
    ) -> WebhookEndpoint:
        """Replaces the specification, if a URL is given, and switches the receiver on or off. Raises PawlError VERSION_MISMATCH."""
        return self._run(
            self._calls.update(endpoint_id, url, disabled, expected_version, request_id, **options)
        )

    def delete(self, endpoint_id: str, *, request_id: str | None = None) -> None:
        """Deletes it; its pending deliveries end as dead."""
        self._run(self._calls.delete(endpoint_id, request_id))

    def rotate_secret(
        self,
        endpoint_id: str,
        *,
        secret: str = "",
        overlap: float | None = None,
        request_id: str | None = None,
    ) -> EndpointSecret:
        """Gives another secret. The present one signs too for `overlap` seconds, by default for a day."""
        return self._run(self._calls.rotate_secret(endpoint_id, secret, overlap, request_id))

    def deliveries(
        self,
        *,
        run_id: str = "",
        endpoint_id: str = "",
        states: Iterable[str] = (),
        page_size: int = 0,
        page_token: str = "",
    ) -> DeliveryPage:
        """A page of deliveries, newest first."""
        return self._run(self._calls.deliveries(run_id, endpoint_id, states, page_size, page_token))

    def delivery(self, delivery_id: str) -> DeliveryDetails:
        """A delivery with its body and its calls. Raises PawlError WEBHOOK_DELIVERY_NOT_FOUND."""
        return self._run(self._calls.delivery(delivery_id))

    def redeliver(self, delivery_id: str, *, request_id: str | None = None) -> WebhookDelivery:
        """Sends a delivery again under the same id."""
        return self._run(self._calls.redeliver(delivery_id, request_id))


class Queues:
    """The queues of node executions, one for each node type."""

    def __init__(self, drive: Drives, caller: Caller) -> None:
        self._run = drive.run
        self._calls = QueueCalls(caller)

    def depth(self) -> QueueDepths:
        """How many node executions wait, are claimed, wait for a person or were given up, by node type and in all."""
        return self._run(self._calls.depth())

    def stats(self, **options: Unpack[StatsOptions]) -> QueueStats:
        """What schedulers counted at regular times: the newest sample, and points of the past."""
        return self._run(self._calls.stats(**options))

    def pause(self, node_type: str, **options: Unpack[ControlOptions]) -> Pause:
        """Stops executors from claiming nodes of this type; running nodes finish. Raises PawlError NODE_TYPE_NOT_FOUND."""
        return self._run(self._calls.pause(node_type, **options))

    def resume(self, node_type: str, **options: Unpack[ControlOptions]) -> None:
        """Lets executors claim nodes of this type again. Raises PawlError NODE_TYPE_NOT_FOUND."""
        self._run(self._calls.resume(node_type, **options))

    def pauses(self) -> tuple[Pause, ...]:
        """The workflows and queues that are paused, queues first."""
        return self._run(self._calls.pauses())


class Commands:
    """Commands of the workflow queue. A scheduler carries each out later, once."""

    def __init__(self, drive: Drives, caller: Caller) -> None:
        self._run = drive.run
        self._calls = CommandCalls(caller)

    def start(self, workflow_id: str, input: object = None, **options: Unpack[EnqueueStartOptions]) -> QueuedCommand:
        """Enqueues the start of a run. Raises PawlError REQUEST_ID_REUSED."""
        return self._run(self._calls.start(workflow_id, input, **options))

    def resume(
        self, workflow_id: str, run: str, node_id: str, decision: Decision, **options: Unpack[EnqueueResumeOptions]
    ) -> QueuedCommand:
        """Enqueues the answer to a node that waits for a person. `run` is the id of the run, or the name of its start."""
        return self._run(self._calls.resume(workflow_id, run, node_id, decision, **options))

    def get(self, command_id: str) -> QueuedCommand:
        """A command with its state and its run. Raises PawlError QUEUE_JOB_NOT_FOUND."""
        return self._run(self._calls.get(command_id))

    def list(self, **options: Unpack[ListCommandsOptions]) -> CommandPage:
        """A page of commands, newest first."""
        return self._run(self._calls.list(**options))

    def cancel(self, command_id: str, *, request_id: str | None = None) -> QueuedCommand:
        """Ends a command that waits. Raises PawlError QUEUE_JOB_NOT_CANCELLABLE."""
        return self._run(self._calls.cancel(command_id, request_id))

    def redrive(self, command_id: str, *, request_id: str | None = None) -> QueuedCommand:
        """Lets a command that was given up wait again. Raises PawlError QUEUE_JOB_NOT_DEAD."""
        return self._run(self._calls.redrive(command_id, request_id))

    def discard(self, command_id: str, *, request_id: str | None = None) -> QueuedCommand:
        """Closes a command that was given up. Raises PawlError QUEUE_JOB_NOT_DEAD."""
        return self._run(self._calls.discard(command_id, request_id))


class DeadLetters:
    """Executions that were given up."""

    def __init__(self, drive: Drives, caller: Caller) -> None:
        self._run = drive.run
        self._emit = drive.emit
        self._calls = DeadLetterCalls(caller)

    def list(self, **options: Unpack[ListDeadLettersOptions]) -> DeadLetterPage:
        """A page of dead letters, newest first."""
        return self._run(self._calls.list(**options))

    def preview(self, **options: Unpack[PreviewRedriveOptions]) -> RedrivePreview:
        """Shows what a redrive would do; changes nothing."""
        return self._run(self._calls.preview(**options))

    def redrive(self, **options: Unpack[RedriveOptions]) -> Redrive:
        """Starts the runs of open dead letters again, for ten seconds at most; `remaining` counts the rest. Raises PawlError INPUT_INVALID."""
        return self._run(self._calls.redrive(**options))

    def redrive_all(self, **options: Unpack[RedriveOptions]) -> Iterator[RedriveStep]:
        """Redrives until none that match are left, or `limit` are redriven. A repeat under the same request id doubles nothing."""
        return self._emit(self._calls.redrive_all(**options))

    def discard(self, **options: Unpack[DiscardOptions]) -> tuple[str, ...]:
        """Closes open dead letters without starting anything; gives their ids. Raises PawlError INPUT_INVALID without a filter."""
        return self._run(self._calls.discard(**options))


class NodeTypes:
    """The catalogue of node types, and the executors that serve them."""

    def __init__(self, drive: Drives, caller: Caller) -> None:
        self._run = drive.run
        self._calls = CatalogueCalls(caller)

    def list(self, *, page_size: int = 0, page_token: str = "") -> NodeTypePage:
        """A page of the built-in types and all types that an executor ever registered, by name; without schemas."""
        return self._run(self._calls.list(page_size=page_size, page_token=page_token))

    def get(self, type: str) -> NodeType:
        """One type with its schemas. Raises PawlError NODE_TYPE_NOT_FOUND."""
        return self._run(self._calls.get(type))

    def executors(self) -> tuple[Executor, ...]:
        """The executors and handler processes that are connected to any scheduler."""
        return self._run(self._calls.executors())


class Repairs:
    """Repairs of finished runs."""

    def __init__(self, drive: Drives, caller: Caller) -> None:
        self._run = drive.run
        self._calls = RepairCalls(caller)

    def plan(self, run_id: str, **options: Unpack[RepairOptions]) -> RepairPlan:
        """What a repair would reuse and run. Raises PawlError RUN_NOT_FINISHED, NODE_NOT_FOUND or NOTHING_TO_REPAIR."""
        return self._run(self._calls.plan(run_id, **options))

    def repair(self, run_id: str, **options: Unpack[RepairOptions]) -> RepairedRun:
        """Starts a run that repairs a finished one. Raises PawlError also REPAIR_PLAN_STALE."""
        return self._run(self._calls.repair(run_id, **options))

    def retry(self, run_id: str, **options: Unpack[RetryOptions]) -> RepairedRun:
        """Repairs a finished run from the nodes that did not complete. Raises PawlError RUN_NOT_FINISHED or NOTHING_TO_REPAIR."""
        return self._run(self._calls.retry(run_id, **options))


class Assistants:
    """Assistants: workflows with fixed values. A start names one in place of a workflow: `client.start("", ..., assistant_id="tutor")`."""

    def __init__(self, drive: Drives, caller: Caller) -> None:
        self._run = drive.run
        self._calls = AssistantCalls(caller)

    def create(self, assistant_id: str, workflow_id: str, **options: Unpack[AssistantOptions]) -> Assistant:
        """Creates an assistant; with an empty id the scheduler makes one. Raises PawlError ASSISTANT_EXISTS or WORKFLOW_NOT_FOUND."""
        return self._run(self._calls.create(assistant_id, workflow_id, options))

    def get(self, assistant_id: str) -> Assistant:
        """One assistant. Raises PawlError ASSISTANT_NOT_FOUND."""
        return self._run(self._calls.get(assistant_id))

    def list(
        self,
        *,
        metadata: Mapping[str, Any] | None = None,
        workflow_id: str = "",
        page_size: int = 0,
        page_token: str = "",
    ) -> AssistantPage:
        """A page of assistants in order of id; with `metadata` only those whose metadata contains this object."""
        return self._run(self._calls.list(metadata, workflow_id, page_size, page_token))

    def update(
        self,
        assistant_id: str,
        workflow_id: str,
        *,
        expected_version: int = 0,
        **options: Unpack[AssistantOptions],
    ) -> Assistant:
        """Replaces everything about an assistant. No run that has begun changes. Raises PawlError ASSISTANT_NOT_FOUND or VERSION_MISMATCH."""
        return self._run(self._calls.update(assistant_id, workflow_id, expected_version, options))

    def delete(self, assistant_id: str, *, force: bool = False, request_id: str | None = None) -> None:
        """Deletes an assistant with its runs; `force` cancels runs that have not ended. Raises PawlError ASSISTANT_NOT_FOUND or ASSISTANT_BUSY."""
        self._run(self._calls.delete(assistant_id, force, request_id))


class Threads:
    """Threads: lines of runs that share a memory. A start names the thread of its run: `client.start(..., thread_id="chat-7")`."""

    def __init__(self, drive: Drives, caller: Caller) -> None:
        self._run = drive.run
        self._calls = ThreadCalls(caller)

    def create(
        self,
        thread_id: str = "",
        *,
        metadata: Mapping[str, Any] | None = None,
        assistant_id: str = "",
        request_id: str | None = None,
    ) -> Thread:
        """Creates a thread; without an id the scheduler makes one. Starts on it need no workflow if it has an assistant. Raises THREAD_EXISTS."""
        return self._run(self._calls.create(thread_id, metadata, assistant_id, request_id))

    def get(self, thread_id: str) -> Thread:
        """One thread. Raises PawlError THREAD_NOT_FOUND."""
        return self._run(self._calls.get(thread_id))

    def list(
        self,
        *,
        metadata: Mapping[str, Any] | None = None,
        statuses: Iterable[str] = (),
        page_size: int = 0,
        page_token: str = "",
    ) -> ThreadPage:
        """A page of threads in order of id; with `metadata` only threads whose metadata contains this object."""
        return self._run(self._calls.list(metadata, statuses, page_size, page_token))

    def update(
        self,
        thread_id: str,
        metadata: Mapping[str, Any] | None = None,
        *,
        assistant_id: str | None = None,
        request_id: str | None = None,
    ) -> Thread:
        """Replaces the metadata, the assistant or both; an empty assistant removes it. Raises PawlError THREAD_NOT_FOUND."""
        return self._run(self._calls.update(thread_id, metadata, assistant_id, request_id))

    def delete(self, thread_id: str, *, force: bool = False, request_id: str | None = None) -> None:
        """Deletes a thread with its runs; `force` cancels runs that have not ended. Raises PawlError THREAD_NOT_FOUND or THREAD_BUSY."""
        self._run(self._calls.delete(thread_id, force, request_id))

    def state(self, thread_id: str, *, run_id: str = "", at_event_id: int = 0) -> ThreadState:
        """What the next run begins with, or what the thread held after a run or an event of it. Raises PawlError THREAD_NOT_FOUND."""
        return self._run(self._calls.state(thread_id, run_id, at_event_id))

    def fork(
        self,
        thread_id: str,
        *,
        new_thread_id: str = "",
        run_id: str = "",
        at_event_id: int = 0,
        metadata: Mapping[str, Any] | None = None,
        request_id: str | None = None,
    ) -> Thread:
        """Creates a thread with the state of another one, now or after a run or an event of it. Raises PawlError THREAD_EXISTS."""
        return self._run(self._calls.fork(thread_id, new_thread_id, run_id, at_event_id, metadata, request_id))


class Archive:
    """Runs that retention wrote to files, and runs as files."""

    def __init__(self, drive: Drives, caller: Caller) -> None:
        self._run = drive.run
        self._emit = drive.emit
        self._calls = ArchiveCalls(caller)

    def list(
        self, *, month: str = "", filter: str = "", page_size: int = 0, page_token: str = ""
    ) -> ArchivedPage:
        """A page of archived runs, oldest first. With a filter it may be empty, and still not be the last. Raises PawlError FILTER_INVALID."""
        return self._run(self._calls.list(month, filter, page_size, page_token))

    def get(self, run_id: str) -> ArchivedRun:
        """Reads and checks the whole file of a run. Raises PawlError ARCHIVED_RUN_NOT_FOUND or ARCHIVE_INVALID."""
        return self._run(self._calls.get(run_id))

    def read(self, run_id: str) -> Iterator[bytes]:
        """The file of an archived run, in pieces: lines of JSON. Raises PawlError ARCHIVED_RUN_NOT_FOUND or ARCHIVE_INVALID."""
        return self._emit(self._calls.read(run_id))

    def export_run(self, run_id: str) -> Iterator[bytes]:
        """A run of the database in the same form, also one that has not ended. Raises PawlError RUN_NOT_FOUND."""
        return self._emit(self._calls.export_run(run_id))

    def restore(self, run_id: str, *, request_id: str | None = None) -> RestoredRun:
        """Puts a run and its child runs back; a repeat is harmless. Raises PawlError ARCHIVE_INVALID or ARCHIVE_CONFLICT."""
        return self._run(self._calls.restore(run_id, request_id))
