"""What the calls of the workflow queue and of its samples return, as plain values, and the options of the calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypedDict

from pawl_sdk import _json
from pawl_sdk._gen.pawl.v1 import queue_service_pb2, queued_command_pb2, run_service_pb2
from pawl_sdk._plain import short_name, time_of


class EnqueueOptions(TypedDict, total=False):
    """How a command waits. A lower `priority` is sooner."""

    priority: int
    max_attempts: int
    """How many deliveries may fail before the command is given up; default 3."""
    delay: float
    """How many seconds the command waits at least."""
    request_id: str | None


class EnqueueStartOptions(EnqueueOptions, total=False):
    """`input_json` is JSON text that is sent to the letter; it takes precedence over the input."""

    input_json: str | None
    run_name: str
    """A UUID by which a later `resume` names the run; default the id of the command."""


class EnqueueResumeOptions(EnqueueOptions, total=False):
    """The answer of a person. `response_json` is sent to the letter; it takes precedence over the response."""

    iteration: int
    comment: str
    decided_by: str
    response: Any
    response_json: str | None


class ListCommandsOptions(TypedDict, total=False):
    """Only commands in these states, such as `waiting` or `dead_letter`; default all."""

    states: tuple[str, ...]
    page_size: int
    page_token: str


class StatsOptions(TypedDict, total=False):
    """Which points. Times are in seconds."""

    node_type: str
    """Default all together."""
    range: float
    """How far back the points go; default one hour, at most 31 days."""
    step: float
    """The time between two points; default a sixtieth of the range."""


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """The answer of a `resume`. `decision` is approve or reject."""

    node_id: str
    iteration: int
    decision: str
    comment: str
    decided_by: str
    response: Any

    @staticmethod
    def of(answer: queued_command_pb2.CommandAnswer) -> CommandAnswer:
        return CommandAnswer(
            node_id=answer.node_id,
            iteration=answer.iteration,
            decision=short_name(run_service_pb2.Decision.DESCRIPTOR, answer.decision),
            comment=answer.comment,
            decided_by=answer.decided_by,
            response=_json.loads(answer.response_json) if answer.response_json else None,
        )


@dataclass(frozen=True, slots=True)
class QueuedCommand:
    """A command of the workflow queue. `state` is waiting, active, paused, completed, dead_letter, cancelled or discarded."""

    command_id: str
    state: str
    type: str
    """start, resume, or unspecified for a plain job whose data is no command."""
    workflow_id: str
    run_name: str
    run_id: str
    """The run that the command started or resumes; empty if there is none yet."""
    input: Any
    """None in lists."""
    answer: CommandAnswer | None
    priority: int
    attempts: int
    max_attempts: int
    error: str
    created_at: datetime | None
    due_at: datetime | None

    @staticmethod
    def of(command: queued_command_pb2.QueuedCommand) -> QueuedCommand:
        return QueuedCommand(
            command_id=command.command_id,
            state=short_name(queued_command_pb2.CommandState.DESCRIPTOR, command.state),
            type=short_name(queued_command_pb2.CommandType.DESCRIPTOR, command.type),
            workflow_id=command.workflow_id,
            run_name=command.run_id,
            run_id=command.started_run_id,
            input=_json.loads(command.input_json) if command.input_json else None,
            answer=CommandAnswer.of(command.answer) if command.HasField("answer") else None,
            priority=command.priority,
            attempts=command.attempts,
            max_attempts=command.max_attempts,
            error=command.error_message,
            created_at=time_of(command.create_time),
            due_at=time_of(command.due_time),
        )


@dataclass(frozen=True, slots=True)
class CommandPage:
    """One page of commands, newest first. The token of the next page is empty on the last page."""

    commands: tuple[QueuedCommand, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class LoadSample:
    """A sample of a node type, or of all together if `node_type` is empty. Ages are in seconds, and None if nothing waits."""

    at: datetime | None
    node_type: str
    slots: int
    active: int
    available: int
    waiting: int
    oldest: float | None
    median: float | None
    runs_pending: int
    runs_running: int
    oldest_pending: float | None
    median_pending: float | None
    connections: int
    connections_in_use: int

    @staticmethod
    def of(stats: queue_service_pb2.QueueStats) -> LoadSample:
        return LoadSample(
            at=time_of(stats.time),
            node_type=stats.node_type,
            slots=stats.slots,
            active=stats.active,
            available=stats.available,
            waiting=stats.waiting,
            oldest=stats.oldest_ms / 1000 if stats.HasField("oldest_ms") else None,
            median=stats.median_ms / 1000 if stats.HasField("median_ms") else None,
            runs_pending=stats.runs_pending,
            runs_running=stats.runs_running,
            oldest_pending=stats.pending_oldest_ms / 1000 if stats.HasField("pending_oldest_ms") else None,
            median_pending=stats.pending_median_ms / 1000 if stats.HasField("pending_median_ms") else None,
            connections=stats.connections,
            connections_in_use=stats.connections_in_use,
        )


@dataclass(frozen=True, slots=True)
class PoolUsage:
    """What one process holds open. `kind` is connections or streams."""

    process_id: str
    service: str
    kind: str
    pool: str
    size: int
    in_use: int
    idle: int

    @staticmethod
    def of(pool: queue_service_pb2.PoolStats) -> PoolUsage:
        return PoolUsage(
            process_id=pool.process_id,
            service=pool.service,
            kind=pool.kind,
            pool=pool.pool,
            size=pool.size,
            in_use=pool.in_use,
            idle=pool.idle,
        )


@dataclass(frozen=True, slots=True)
class QueueStats:
    """The newest sample, and points of the past: the largest numbers of each step, oldest first."""

    total: LoadSample | None
    queues: tuple[LoadSample, ...]
    pools: tuple[PoolUsage, ...]
    points: tuple[LoadSample, ...]
    step: timedelta

    @staticmethod
    def of(answer: queue_service_pb2.GetQueueStatsResponse) -> QueueStats:
        return QueueStats(
            total=LoadSample.of(answer.total) if answer.HasField("total") else None,
            queues=tuple(map(LoadSample.of, answer.queues)),
            pools=tuple(map(PoolUsage.of, answer.pools)),
            points=tuple(map(LoadSample.of, answer.points)),
            step=answer.step.ToTimedelta(),
        )
