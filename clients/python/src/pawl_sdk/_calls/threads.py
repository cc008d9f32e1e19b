"""Threads: create, read, list, update, delete, state and fork."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pawl_sdk._calls.caller import Caller, fresh_id, json_bytes
from pawl_sdk._gen.pawl.v1 import thread_pb2
from pawl_sdk._gen.pawl.v1 import thread_service_pb2 as service
from pawl_sdk._plain import values_of
from pawl_sdk._steps import Method, Steps
from pawl_sdk.threads import Thread, ThreadPage, ThreadState

_CREATE = Method("/pawl.v1.ThreadService/CreateThread", service.CreateThreadResponse)
_GET = Method("/pawl.v1.ThreadService/GetThread", service.GetThreadResponse)
_LIST = Method("/pawl.v1.ThreadService/ListThreads", service.ListThreadsResponse)
_UPDATE = Method("/pawl.v1.ThreadService/UpdateThread", service.UpdateThreadResponse)
_DELETE = Method("/pawl.v1.ThreadService/DeleteThread", service.DeleteThreadResponse)
_STATE = Method("/pawl.v1.ThreadService/GetThreadState", service.GetThreadStateResponse)
_FORK = Method("/pawl.v1.ThreadService/ForkThread", service.ForkThreadResponse)


@dataclass(frozen=True, slots=True)
class ThreadCalls:
    """The calls of threads."""

    caller: Caller

    def create(
        self, thread_id: str, metadata: Mapping[str, Any] | None, assistant_id: str, request_id: str | None
    ) -> Steps[Thread]:
        request = service.CreateThreadRequest(
            thread_id=thread_id,
            metadata_json=json_bytes(metadata, None),
            assistant_id=assistant_id,
            request_id=request_id or fresh_id(),
        )
        return Thread.of((yield from self.caller.call(_CREATE, request)).thread)

    def get(self, thread_id: str) -> Steps[Thread]:
        answer = yield from self.caller.call(_GET, service.GetThreadRequest(thread_id=thread_id))
        return Thread.of(answer.thread)

    def list(
        self, metadata: Mapping[str, Any] | None, statuses: Iterable[str], page_size: int, page_token: str
    ) -> Steps[ThreadPage]:
        request = service.ListThreadsRequest(
            metadata_json=json_bytes(metadata, None),
            statuses=values_of(thread_pb2.ThreadStatus.DESCRIPTOR, statuses),
            page_size=page_size,
            page_token=page_token,
        )
        answer = yield from self.caller.call(_LIST, request)
        return ThreadPage(tuple(map(Thread.of, answer.threads)), answer.next_page_token)

    def update(
        self, thread_id: str, metadata: Mapping[str, Any] | None, assistant_id: str | None, request_id: str | None
    ) -> Steps[Thread]:
        request = service.UpdateThreadRequest(
            thread_id=thread_id,
            metadata_json=json_bytes(metadata, None),
            assistant_id=assistant_id,
            request_id=request_id or fresh_id(),
        )
        return Thread.of((yield from self.caller.call(_UPDATE, request)).thread)

    def delete(self, thread_id: str, force: bool, request_id: str | None) -> Steps[None]:
        request = service.DeleteThreadRequest(
            thread_id=thread_id, force=force, request_id=request_id or fresh_id()
        )
        yield from self.caller.call(_DELETE, request)

    def state(self, thread_id: str, run_id: str, at_event_id: int) -> Steps[ThreadState]:
        request = service.GetThreadStateRequest(thread_id=thread_id, run_id=run_id, at_event_id=at_event_id)
        return ThreadState.of((yield from self.caller.call(_STATE, request)).state)

    def fork(
        self,
        thread_id: str,
        new_thread_id: str,
        run_id: str,
        at_event_id: int,
        metadata: Mapping[str, Any] | None,
        request_id: str | None,
    ) -> Steps[Thread]:
        request = service.ForkThreadRequest(
            thread_id=thread_id,
            new_thread_id=new_thread_id,
            run_id=run_id,
            at_event_id=at_event_id,
            metadata_json=json_bytes(metadata, None),
            request_id=request_id or fresh_id(),
        )
        return Thread.of((yield from self.caller.call(_FORK, request)).thread)
