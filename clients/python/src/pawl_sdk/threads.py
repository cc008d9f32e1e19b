"""Threads: lines of runs that share a memory, as plain values. Statuses have short names, such as `busy`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pawl_sdk import _json
from pawl_sdk._gen.pawl.v1 import thread_pb2
from pawl_sdk._plain import short_name, time_of


@dataclass(frozen=True, slots=True)
class Thread:
    """A line of runs that share a memory. `status` is idle, busy, interrupted or error."""

    thread_id: str
    status: str
    metadata: Any
    run_id: str
    """The run that holds it; empty unless it is busy."""
    state_run_id: str
    """The run whose end left its memory; empty before the first."""
    run_count: int
    created_at: datetime | None
    updated_at: datetime | None
    forked_from: str
    assistant_id: str = ""
    """The assistant of starts that name no workflow; empty for none."""

    @staticmethod
    def of(thread: thread_pb2.Thread) -> Thread:
        return Thread(
            thread_id=thread.thread_id,
            status=short_name(thread_pb2.ThreadStatus.DESCRIPTOR, thread.status),
            metadata=_json.loads(thread.metadata_json),
            run_id=thread.run_id,
            state_run_id=thread.state_run_id,
            run_count=thread.run_count,
            created_at=time_of(thread.create_time),
            updated_at=time_of(thread.update_time),
            forked_from=thread.forked_from,
            assistant_id=thread.assistant_id,
        )


@dataclass(frozen=True, slots=True)
class ThreadState:
    """What the next run of a thread begins with."""

    memory: Any
    output: Any
    """The output of the newest run that completed."""
    run_id: str
    """The run whose end left this state; empty before the first."""

    @staticmethod
    def of(state: thread_pb2.ThreadState) -> ThreadState:
        return ThreadState(_json.loads(state.memory_json), _json.loads(state.output_json), state.run_id)


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """One page of threads in order of id. The token of the next page is empty on the last page."""

    threads: tuple[Thread, ...]
    next_page_token: str
