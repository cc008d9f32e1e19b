"""What the calls about one run return beside the run: why a node waits, what a handler got and did, and pages of the log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pawl_sdk import _json
from pawl_sdk._gen.pawl.v1 import effect_pb2, event_pb2, explain_pb2, run_pb2, run_service_pb2
from pawl_sdk._plain import failure_class_name, short_name, time_of
from pawl_sdk.model import Event


@dataclass(frozen=True, slots=True)
class Evidence:
    """An event that proves an explanation. `node_id` is empty for events of the run."""

    event_id: int
    type: str
    node_id: str


@dataclass(frozen=True, slots=True)
class SlotHolder:
    """An execution, or a run if `node_id` is empty, that holds a slot."""

    run_id: str
    node_id: str
    iteration: int


@dataclass(frozen=True, slots=True)
class SlotWait:
    """A place in the line of a concurrency key, or of a rate."""

    key: str
    is_rate: bool
    limit: int
    taken_count: int
    holders: tuple[SlotHolder, ...]
    ahead_count: int

    @staticmethod
    def of(wait: explain_pb2.SlotWait) -> SlotWait:
        holders = tuple(SlotHolder(each.run_id, each.node_id, each.iteration) for each in wait.holders)
        return SlotWait(wait.key, wait.is_rate, wait.limit, wait.taken_count, holders, wait.ahead_count)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a node has its status. `reason` has a short name, such as `waiting_parents`."""

    reason: str
    status: str
    summary: str
    """One sentence for people."""
    next: str
    """What to do, for people."""
    evidence: tuple[Evidence, ...]
    since: datetime | None
    until: datetime | None
    """The end of a backoff, a delay or a lease, or the earliest start under a rate."""
    slot_wait: SlotWait | None
    cause: str = ""
    """Why the node failed, for programs; empty if it did not."""
    failure_class: str = ""
    """What Pawl promises after that failure."""

    @staticmethod
    def of(explanation: explain_pb2.Explanation) -> Explanation:
        return Explanation(
            reason=short_name(explain_pb2.ExplainReason.DESCRIPTOR, explanation.reason),
            status=short_name(run_pb2.NodeStatus.DESCRIPTOR, explanation.status),
            summary=explanation.summary,
            next=explanation.next,
            evidence=tuple(Evidence(each.event_id, each.type, each.node_id) for each in explanation.evidence),
            since=time_of(explanation.since_time),
            until=time_of(explanation.until_time),
            cause=explanation.cause,
            failure_class=failure_class_name(explanation.failure_class),
            slot_wait=SlotWait.of(explanation.slot_wait) if explanation.HasField("slot_wait") else None,
        )


@dataclass(frozen=True, slots=True)
class TaintSource:
    """A labelled value that an execution read. `origin` is input, node, variable, memory, item or previous."""

    origin: str
    name: str
    event_id: int
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaintStep:
    """One event on the way of a label. `run_id` names the other run in which the labels began."""

    event_id: int
    type: str
    node_id: str
    iteration: int
    labels: tuple[str, ...]
    added: tuple[str, ...]
    dropped: tuple[str, ...]
    reason: str
    sources: tuple[TaintSource, ...]
    run_id: str

    @staticmethod
    def of(step: explain_pb2.TaintStep) -> TaintStep:
        return TaintStep(
            event_id=step.event_id,
            type=step.type,
            node_id=step.node_id,
            iteration=step.iteration,
            labels=tuple(step.labels),
            added=tuple(step.added),
            dropped=tuple(step.dropped),
            reason=step.reason,
            sources=tuple(
                TaintSource(getattr(each, "from"), each.name, each.event_id, tuple(each.labels))
                for each in step.sources
            ),
            run_id=step.run_id,
        )


@dataclass(frozen=True, slots=True)
class TaintTrace:
    """Why a value is labelled: the events from the origins of its labels to the value, in order of the log."""

    labels: tuple[tuple[str, str], ...]
    """Each label with the node whose output had it first; that node is empty for the input of the run."""
    steps: tuple[TaintStep, ...]
    is_truncated: bool

    @staticmethod
    def of(trace: explain_pb2.TaintTrace) -> TaintTrace:
        labels = tuple((each.label, each.node_id) for each in trace.labels)
        return TaintTrace(labels, tuple(map(TaintStep.of, trace.steps)), trace.truncated)


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect of a node on the outside world, from the effect ledger. `state` is begun or committed."""

    key: str
    node_id: str
    iteration: int
    name: str
    effect_class: str
    state: str
    attempt: int
    began_at: datetime | None
    committed_at: datetime | None

    @staticmethod
    def of(effect: effect_pb2.Effect) -> Effect:
        return Effect(
            key=effect.key,
            node_id=effect.node_id,
            iteration=effect.iteration,
            name=effect.name,
            effect_class=effect.effect_class,
            state=short_name(effect_pb2.EffectState.DESCRIPTOR, effect.state),
            attempt=effect.attempt,
            began_at=time_of(effect.begin_time),
            committed_at=time_of(effect.commit_time),
        )


@dataclass(frozen=True, slots=True)
class EffectPage:
    """One page of effects. The token of the next page is empty on the last page."""

    effects: tuple[Effect, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class InvocationEffect:
    """An effect of an invocation. `result` is None until it is committed."""

    name: str
    effect_class: str
    is_committed: bool
    result: Any


@dataclass(frozen=True, slots=True)
class Invocation:
    """The last start of a handler: what it got, and what came of it."""

    type: str
    workflow_id: str
    input: Any
    config: Any
    attempt: int
    effect_key: str
    timeout: float
    """How many seconds the handler may take."""
    status: str
    """The status of the node now."""
    output: Any
    handle: str
    cause: str
    """Why the attempt failed; empty if it did not."""
    message: str
    effects: tuple[InvocationEffect, ...]
    memory: Any
    """The keys of the run's memory that the node read; None for none."""
    state: Any
    """The state of the run at the start, for a handler that asks for it."""
    taint: tuple[str, ...]
    """The labels of the data that the handler got."""
    traceparent: str
    memory_writes: Any
    """What the actions of the handler wrote to the memory; None for nothing."""
    goto_node: str
    """The node that the handler asked to run next; empty for none."""
    queue_delay: float
    """How many seconds the nodes that follow waited, by the wish of the handler."""
    output_taint: tuple[str, ...]

    @staticmethod
    def of(invocation: run_service_pb2.Invocation) -> Invocation:
        return Invocation(
            type=invocation.type,
            workflow_id=invocation.workflow_id,
            input=_json.loads(invocation.input_json),
            config=_json.loads(invocation.config_json),
            attempt=invocation.attempt,
            effect_key=invocation.effect_key,
            timeout=invocation.timeout_ms / 1000,
            status=short_name(run_pb2.NodeStatus.DESCRIPTOR, invocation.status),
            output=_json.loads(invocation.output_json),
            handle=invocation.handle,
            cause=invocation.cause,
            message=invocation.message,
            effects=tuple(
                InvocationEffect(each.name, each.effect_class, each.committed, _json.loads(each.result_json))
                for each in invocation.effects
            ),
            memory=_json.loads(invocation.memory_json),
            state=_json.loads(invocation.state_json),
            taint=tuple(invocation.taint),
            traceparent=invocation.traceparent,
            memory_writes=_json.loads(invocation.memory_writes_json),
            goto_node=invocation.goto_node,
            queue_delay=invocation.queue_delay_ms / 1000,
            output_taint=tuple(invocation.output_taint),
        )


@dataclass(frozen=True, slots=True)
class Tag:
    """A status transition of a run, or of a node. `node_id` is empty for transitions of the run."""

    event_id: int
    node_id: str
    iteration: int
    tag: str
    metadata: Any
    timestamp: datetime | None

    @staticmethod
    def of(tag: event_pb2.ExecutionTag) -> Tag:
        return Tag(tag.event_id, tag.node_id, tag.iteration, tag.tag, _json.loads(tag.metadata_json), time_of(tag.time))


@dataclass(frozen=True, slots=True)
class EventPage:
    """One page of the log of a run, in order. `has_more` if the log has more events already."""

    events: tuple[Event, ...]
    has_more: bool


@dataclass(frozen=True, slots=True)
class TagPage:
    """One page of the tags of a run, in order. `has_more` if the log has more tags already."""

    tags: tuple[Tag, ...]
    has_more: bool
