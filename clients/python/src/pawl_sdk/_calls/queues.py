"""Queues and dead letters: how many nodes wait, which queues are paused, and what to do about executions that were given up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Unpack

from pawl_sdk._calls.caller import Caller, control_fields, duration_of, fresh_id, timestamp_of
from pawl_sdk._gen.pawl.v1 import queue_service_pb2 as service
from pawl_sdk._plain import values_of
from pawl_sdk._steps import Emissions, Emit, Method, Steps
from pawl_sdk.commands import QueueStats, StatsOptions
from pawl_sdk.operations import (
    CommandDepth,
    DeadLetter,
    DeadLetterPage,
    LeftDeadLetters,
    Pause,
    QueueDepth,
    QueueDepths,
    Redrive,
    RedrivenLetter,
    RedrivePreview,
    RedriveStep,
)
from pawl_sdk.options import (
    ControlOptions,
    DeadLetterFilter,
    DiscardOptions,
    ListDeadLettersOptions,
    PreviewRedriveOptions,
    RedriveOptions,
)

_DEPTH = Method("/pawl.v1.QueueService/GetQueueDepth", service.GetQueueDepthResponse)
_STATS = Method("/pawl.v1.QueueService/GetQueueStats", service.GetQueueStatsResponse)
_PAUSE = Method("/pawl.v1.QueueService/PauseQueue", service.PauseQueueResponse)
_RESUME = Method("/pawl.v1.QueueService/ResumeQueue", service.ResumeQueueResponse)
_PAUSES = Method("/pawl.v1.QueueService/ListPauses", service.ListPausesResponse)
_LIST = Method("/pawl.v1.QueueService/ListDeadLetters", service.ListDeadLettersResponse)
_PREVIEW = Method("/pawl.v1.QueueService/PreviewRedrive", service.PreviewRedriveResponse)
_REDRIVE = Method("/pawl.v1.QueueService/RedriveDeadLetters", service.RedriveDeadLettersResponse)
_DISCARD = Method("/pawl.v1.QueueService/DiscardDeadLetters", service.DiscardDeadLettersResponse)

# The most dead letters of one request.
_LIMIT_MAX = 1000


@dataclass(frozen=True, slots=True)
class QueueCalls:
    """The calls of queues."""

    caller: Caller

    def depth(self) -> Steps[QueueDepths]:
        answer = yield from self.caller.call(_DEPTH, service.GetQueueDepthRequest())
        depth = answer.commands
        commands = CommandDepth(depth.waiting, depth.active, depth.paused, depth.dead_letter)
        return QueueDepths(QueueDepth.of(answer.total), tuple(map(QueueDepth.of, answer.queues)), commands)

    def stats(self, **options: Unpack[StatsOptions]) -> Steps[QueueStats]:
        request = service.GetQueueStatsRequest(
            node_type=options.get("node_type", ""),
            range=duration_of(options.get("range")),
            step=duration_of(options.get("step")),
        )
        answer = yield from self.caller.call(_STATS, request)
        return QueueStats.of(answer)

    def pause(self, node_type: str, **options: Unpack[ControlOptions]) -> Steps[Pause]:
        request = service.PauseQueueRequest(node_type=node_type, **control_fields(options))
        answer = yield from self.caller.call(_PAUSE, request)
        return Pause.of(answer.pause)

    def resume(self, node_type: str, **options: Unpack[ControlOptions]) -> Steps[None]:
        request = service.ResumeQueueRequest(node_type=node_type, **control_fields(options))
        yield from self.caller.call(_RESUME, request)

    def pauses(self) -> Steps[tuple[Pause, ...]]:
        answer = yield from self.caller.call(_PAUSES, service.ListPausesRequest())
        return tuple(map(Pause.of, answer.pauses))


@dataclass(frozen=True, slots=True)
class DeadLetterCalls:
    """The calls of dead letters."""

    caller: Caller

    def list(self, **options: Unpack[ListDeadLettersOptions]) -> Steps[DeadLetterPage]:
        request = service.ListDeadLettersRequest(
            filter=_filter(options),
            states=values_of(service.DeadLetterState.DESCRIPTOR, options.get("states", ())),
            page_size=options.get("page_size", 0),
            page_token=options.get("page_token", ""),
        )
        answer = yield from self.caller.call(_LIST, request)
        return DeadLetterPage(tuple(map(DeadLetter.of, answer.dead_letters)), answer.next_page_token)

    def preview(self, **options: Unpack[PreviewRedriveOptions]) -> Steps[RedrivePreview]:
        request = service.PreviewRedriveRequest(
            filter=_filter(options), limit=options.get("limit", 0)
        )
        answer = yield from self.caller.call(_PREVIEW, request)
        return RedrivePreview(
            answer.redriven, answer.runs, _left(answer.left), tuple(answer.first_ids)
        )

    def redrive(self, **options: Unpack[RedriveOptions]) -> Steps[Redrive]:
        request = service.RedriveDeadLettersRequest(
            filter=_filter(options),
            limit=options.get("limit", 0),
            max_per_second=options.get("max_per_second", 0),
            request_id=options.get("request_id") or fresh_id(),
        )
        answer = yield from self.caller.call(_REDRIVE, request)
        redriven = tuple(RedrivenLetter(each.dead_letter_id, each.run_id) for each in answer.redriven)
        return Redrive(redriven, _left(answer.left), answer.remaining)

    def redrive_all(self, **options: Unpack[RedriveOptions]) -> Emissions[RedriveStep]:
        """Redrives any number of dead letters, a step for each call. The server limits each call in time and number, and the next call
        continues. Each request id is made of the first, so a repeat of the whole under that id doubles nothing. It ends when a call
        redrives nothing.
        """
        ids = tuple(options.get("ids", ()))
        options["ids"] = ids
        wanted = options.get("limit", 0) or len(ids) or None
        first_id = options.get("request_id") or fresh_id()
        count, request = 0, 1
        while wanted is None or count < wanted:
            limit = _LIMIT_MAX if wanted is None else min(_LIMIT_MAX, wanted - count)
            options["limit"] = limit
            options["request_id"] = first_id if request == 1 else f"{first_id}.{request}"
            seen = 0
            while seen < limit:
                # The answer to a repeat has everything that was redriven under its request id.
                answer = yield from self.redrive(**options)
                fresh = answer.redriven[seen:]
                seen = len(answer.redriven)
                yield Emit(RedriveStep(fresh, count + seen, answer.remaining, answer.left))
                if answer.remaining == 0 or not fresh:
                    return
            count += seen
            request += 1

    def discard(self, **options: Unpack[DiscardOptions]) -> Steps[tuple[str, ...]]:
        request = service.DiscardDeadLettersRequest(
            filter=_filter(options),
            limit=options.get("limit", 0),
            request_id=options.get("request_id") or fresh_id(),
        )
        answer = yield from self.caller.call(_DISCARD, request)
        return tuple(answer.dead_letter_ids)


def _filter(selection: DeadLetterFilter) -> service.DeadLetterFilter:
    return service.DeadLetterFilter(
        dead_letter_ids=selection.get("ids", ()),
        workflow_id=selection.get("workflow_id", ""),
        node_type=selection.get("node_type", ""),
        before_time=timestamp_of(selection.get("before")),
    )


def _left(left: Iterable[service.LeftDeadLetters]) -> tuple[LeftDeadLetters, ...]:
    return tuple(LeftDeadLetters(each.reason, each.count) for each in left)
