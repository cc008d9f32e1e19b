"""One run in detail: why a node waits, what its handler got and did, and pages of the log. All of them read only."""

from __future__ import annotations

from dataclasses import dataclass

from pawl_sdk._calls.caller import Caller
from pawl_sdk._gen.pawl.v1 import event_service_pb2 as event_service
from pawl_sdk._gen.pawl.v1 import run_service_pb2 as service
from pawl_sdk._steps import Method, Steps
from pawl_sdk.details import (
    Effect,
    EffectPage,
    EventPage,
    Explanation,
    Invocation,
    Tag,
    TagPage,
    TaintTrace,
)
from pawl_sdk.model import Event

_EXPLAIN = Method("/pawl.v1.RunService/ExplainNode", service.ExplainNodeResponse)
_TAINT = Method("/pawl.v1.RunService/ExplainTaint", service.ExplainTaintResponse)
_INVOCATION = Method("/pawl.v1.RunService/GetInvocation", service.GetInvocationResponse)
_VALUE = Method("/pawl.v1.RunService/GetValue", service.GetValueResponse)
_EFFECTS = Method("/pawl.v1.RunService/ListEffects", service.ListEffectsResponse)
_EVENTS = Method("/pawl.v1.EventService/ListEvents", event_service.ListEventsResponse)
_TAGS = Method("/pawl.v1.EventService/ListTags", event_service.ListTagsResponse)


@dataclass(frozen=True, slots=True)
class RunDetailCalls:
    """The calls that read details of a run."""

    caller: Caller

    def explain(self, run_id: str, node_id: str, iteration: int) -> Steps[Explanation]:
        request = service.ExplainNodeRequest(run_id=run_id, node_id=node_id, iteration=iteration)
        return Explanation.of((yield from self.caller.call(_EXPLAIN, request)).explanation)

    def explain_taint(
        self, run_id: str, node_id: str, iteration: int, memory_key: str
    ) -> Steps[TaintTrace]:
        request = service.ExplainTaintRequest(
            run_id=run_id, node_id=node_id, iteration=iteration, memory_key=memory_key
        )
        return TaintTrace.of((yield from self.caller.call(_TAINT, request)).trace)

    def invocation(self, run_id: str, node_id: str, iteration: int) -> Steps[Invocation]:
        request = service.GetInvocationRequest(run_id=run_id, node_id=node_id, iteration=iteration)
        return Invocation.of((yield from self.caller.call(_INVOCATION, request)).invocation)

    def value_text(self, run_id: str, sha256: str) -> Steps[str]:
        data = bytearray()
        part = 0
        while True:
            request = service.GetValueRequest(run_id=run_id, sha256=sha256, part=part)
            answer = yield from self.caller.call(_VALUE, request)
            data += answer.data
            if len(data) >= answer.total_bytes:
                return data.decode()
            part += 1

    def effects(self, run_id: str, *, node_id: str, page_size: int, page_token: str) -> Steps[EffectPage]:
        request = service.ListEffectsRequest(
            run_id=run_id, node_id=node_id, page_size=page_size, page_token=page_token
        )
        answer = yield from self.caller.call(_EFFECTS, request)
        return EffectPage(tuple(map(Effect.of, answer.effects)), answer.next_page_token)

    def events(self, run_id: str, *, after_event_id: int, page_size: int) -> Steps[EventPage]:
        request = event_service.ListEventsRequest(
            run_id=run_id, after_event_id=after_event_id, page_size=page_size
        )
        answer = yield from self.caller.call(_EVENTS, request)
        return EventPage(tuple(map(Event.of, answer.events)), answer.has_more)

    def tags(self, run_id: str, *, node_id: str, after_event_id: int, page_size: int) -> Steps[TagPage]:
        request = event_service.ListTagsRequest(
            run_id=run_id, node_id=node_id, after_event_id=after_event_id, page_size=page_size
        )
        answer = yield from self.caller.call(_TAGS, request)
        return TagPage(tuple(map(Tag.of, answer.tags)), answer.has_more)
