"""What the calls of schedules, pauses, queues and dead letters return, as plain values. States have short names, such as `open`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pawl_sdk import _json
from pawl_sdk._gen.pawl.v1 import pause_pb2, queue_service_pb2, schedule_pb2
from pawl_sdk._plain import short_name, time_of


@dataclass(frozen=True, slots=True)
class Schedule:
    """A saved schedule. `state` is active, paused or finished."""

    schedule_id: str
    workflow_id: str
    workflow_version: int
    """0 for the newest at each occurrence."""
    expression: str
    time_zone: str
    input: Any
    priority: int
    missed: str
    overlap: str
    state: str
    version: int
    paused_by: str
    pause_reason: str
    last_occurrence_at: datetime | None
    last_run_id: str
    last_error: str
    started_count: int
    skipped_count: int
    next_times: tuple[datetime, ...]

    @staticmethod
    def of(schedule: schedule_pb2.Schedule) -> Schedule:
        spec = schedule.spec
        return Schedule(
            schedule_id=schedule.schedule_id,
            workflow_id=spec.workflow_id,
            workflow_version=spec.workflow_version,
            expression=spec.expression,
            time_zone=spec.time_zone,
            input=_json.loads(spec.input_json),
            priority=spec.priority,
            missed=short_name(schedule_pb2.MissedPolicy.DESCRIPTOR, spec.missed),
            overlap=short_name(schedule_pb2.OverlapPolicy.DESCRIPTOR, spec.overlap),
            state=short_name(schedule_pb2.ScheduleState.DESCRIPTOR, schedule.state),
            version=schedule.version,
            paused_by=schedule.paused_by,
            pause_reason=schedule.pause_reason,
            last_occurrence_at=time_of(schedule.last_occurrence_time),
            last_run_id=schedule.last_run_id,
            last_error=schedule.last_error,
            started_count=schedule.started_count,
            skipped_count=schedule.skipped_count,
            next_times=tuple(time for each in schedule.next_times if (time := time_of(each))),
        )


@dataclass(frozen=True, slots=True)
class SchedulePage:
    """One page of schedules. The token of the next page is empty on the last page."""

    schedules: tuple[Schedule, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class Pause:
    """A workflow or a queue that is paused. `scope` is workflow or queue."""

    scope: str
    name: str
    """The id of the workflow, or the node type of the queue."""
    by: str
    reason: str
    since: datetime | None
    is_pausing: bool
    """Whether runs of the workflow are still to be paused."""
    is_resuming: bool
    """Whether runs of the workflow are still to be resumed."""

    @staticmethod
    def of(pause: pause_pb2.Pause) -> Pause:
        return Pause(
            scope=short_name(pause_pb2.PauseScope.DESCRIPTOR, pause.scope),
            name=pause.name,
            by=pause.by,
            reason=pause.reason,
            since=time_of(pause.since_time),
            is_pausing=pause.pausing,
            is_resuming=pause.resuming,
        )


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """How many node executions of a type wait, run, wait for a person or were given up."""

    node_type: str
    waiting: int
    active: int
    paused: int
    dead_letter: int
    is_held: bool
    """Whether the queue is paused."""

    @staticmethod
    def of(depth: queue_service_pb2.QueueDepth) -> QueueDepth:
        return QueueDepth(
            node_type=depth.node_type,
            waiting=depth.waiting,
            active=depth.active,
            paused=depth.paused,
            dead_letter=depth.dead_letter,
            is_held=depth.held,
        )


@dataclass(frozen=True, slots=True)
class CommandDepth:
    """How many commands of the workflow queue wait, are claimed, are set aside or were given up."""

    waiting: int
    active: int
    paused: int
    dead_letter: int


@dataclass(frozen=True, slots=True)
class QueueDepths:
    """The depth of every queue, of all together, and of the workflow queue."""

    total: QueueDepth
    queues: tuple[QueueDepth, ...]
    commands: CommandDepth


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An execution that was given up. `state` is open, redriven or discarded."""

    dead_letter_id: str
    run_id: str
    workflow_id: str
    node_id: str
    iteration: int
    attempt: int
    node_type: str
    deliveries: int
    executor_id: str
    reason: str
    error: str
    died_at: datetime | None
    state: str
    redrive_run_id: str
    closed_at: datetime | None

    @staticmethod
    def of(letter: queue_service_pb2.DeadLetter) -> DeadLetter:
        return DeadLetter(
            dead_letter_id=letter.dead_letter_id,
            run_id=letter.run_id,
            workflow_id=letter.workflow_id,
            node_id=letter.node_id,
            iteration=letter.iteration,
            attempt=letter.attempt,
            node_type=letter.node_type,
            deliveries=letter.deliveries,
            executor_id=letter.executor_id,
            reason=letter.reason,
            error=letter.error_message,
            died_at=time_of(letter.die_time),
            state=short_name(queue_service_pb2.DeadLetterState.DESCRIPTOR, letter.state),
            redrive_run_id=letter.redrive_run_id,
            closed_at=time_of(letter.close_time),
        )


@dataclass(frozen=True, slots=True)
class DeadLetterPage:
    """One page of dead letters, newest first. The token of the next page is empty on the last page."""

    dead_letters: tuple[DeadLetter, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class LeftDeadLetters:
    """Dead letters that stay as they are, and why."""

    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class RedrivePreview:
    """What a redrive would do."""

    redriven_count: int
    run_count: int
    left: tuple[LeftDeadLetters, ...]
    first_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RedrivenLetter:
    """A dead letter that was redriven, and the run that does its work now."""

    dead_letter_id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class Redrive:
    """The result of one redrive."""

    redriven: tuple[RedrivenLetter, ...]
    left: tuple[LeftDeadLetters, ...]
    remaining: int
    """How many more match and could be redriven, counted up to 1,000."""


@dataclass(frozen=True, slots=True)
class RedriveStep:
    """The progress of a redrive of many."""

    redriven: tuple[RedrivenLetter, ...]
    """Dead letters redriven since the step before."""
    redriven_count: int
    """How many in all."""
    remaining: int
    """How many more match and could be redriven, counted up to 1,000; 0 at the end."""
    left: tuple[LeftDeadLetters, ...]
