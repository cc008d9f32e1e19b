"""Threads: what both clients send and give, and which strategies a start names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from scripted_gateway import gateway, info, refuse

from pawl_sdk import PawlError, Run
from pawl_sdk._gen.pawl.v1 import run_pb2, run_service_pb2, thread_pb2
from pawl_sdk._gen.pawl.v1 import thread_service_pb2 as service


def test_threads_are_made_found_edited_read_forked_and_refused_while_busy(use: Any) -> None:
    seen: dict[str, Any] = {}

    def answers(name: str, answer: Any) -> Any:
        def script(request: Any, context: Any) -> Any:
            seen[name] = request
            return answer

        return script

    thread = thread_pb2.Thread(
        thread_id="a", status=thread_pb2.THREAD_STATUS_BUSY, metadata_json=b'{"user": "ada"}', run_id="r", run_count=3
    )
    state = thread_pb2.ThreadState(memory_json=b'{"said": ["one"]}', run_id="q")
    scripts = {
        "CreateThread": service.CreateThreadResponse(thread=thread),
        "GetThread": service.GetThreadResponse(thread=thread),
        "ListThreads": service.ListThreadsResponse(threads=[thread], next_page_token="next"),
        "UpdateThread": service.UpdateThreadResponse(thread=thread),
        "GetThreadState": service.GetThreadStateResponse(state=state),
        "ForkThread": service.ForkThreadResponse(thread=thread_pb2.Thread(thread_id="b", forked_from="a")),
    }

    def delete(request: Any, context: Any) -> Any:
        refuse(context, grpc.StatusCode.ABORTED, "the thread is busy", info("THREAD_BUSY", run_id="r"))

    with gateway(**{name: answers(name, each) for name, each in scripts.items()}, DeleteThread=delete) as address:
        assert use(address, "threads.create", "a", metadata={"user": "ada"}).metadata == {"user": "ada"}
        got = use(address, "threads.get", "a")
        assert (got.status, got.run_id, got.run_count) == ("busy", "r", 3)
        page = use(address, "threads.list", metadata={"user": "ada"}, statuses=["busy"], page_token="t")
        assert [each.thread_id for each in page.threads] == ["a"]
        assert use(address, "threads.update", "a", {}).thread_id == "a"
        assert use(address, "threads.state", "a", run_id="q", at_event_id=7).memory == {"said": ["one"]}
        assert use(address, "threads.fork", "a", new_thread_id="b", run_id="q").forked_from == "a"
        with pytest.raises(PawlError) as refused:
            use(address, "threads.delete", "a")
    assert (refused.value.reason, refused.value.code) == ("THREAD_BUSY", grpc.StatusCode.ABORTED)
    assert refused.value.metadata["run_id"] == "r"
    assert seen["CreateThread"].request_id
    assert list(seen["ListThreads"].statuses) == [thread_pb2.THREAD_STATUS_BUSY]
    assert (seen["ListThreads"].metadata_json, seen["ListThreads"].page_token) == (b'{"user":"ada"}', "t")
    assert seen["UpdateThread"].metadata_json == b"{}"
    assert seen["GetThreadState"].at_event_id == 7
    assert seen["ForkThread"].metadata_json == b""


def test_a_start_names_its_thread_and_what_happens_when_it_is_busy_and_a_stop_names_its_mode(use: Any) -> None:
    seen: list[Any] = []

    def start(request: Any, context: Any) -> Any:
        seen.append(request)
        return run_service_pb2.StartRunResponse(run=run_pb2.Run(run_id="r"))

    def cancel(request: Any, context: Any) -> Any:
        return run_service_pb2.CancelRunResponse(run=run_pb2.Run(run_id="r", thread_id="a", stop=request.mode))

    def listed(request: Any, context: Any) -> Any:
        seen.append(request)
        return run_service_pb2.ListRunsResponse()

    strategies = ("reject", "enqueue", "interrupt", "rollback")
    with gateway(StartRun=start, CancelRun=cancel, ListRuns=listed) as address:
        for multitask in strategies:
            use(address, "start", "w", {}, thread_id="a", create_thread=True, multitask=multitask)
        stopped = use(address, "cancel", "r", mode="interrupt")
        use(address, "list", thread_id="a", stops=["rollback"])
        with pytest.raises(ValueError, match="is not one of reject"):
            use(address, "start", "w", {}, thread_id="a", multitask="queue")
    names = [run_service_pb2.MultitaskStrategy.Name(each.multitask_strategy) for each in seen[:4]]
    assert names == [f"MULTITASK_STRATEGY_{each.upper()}" for each in strategies]
    assert all(each.thread_id == "a" and each.create_thread for each in seen[:4])
    assert (stopped.thread_id, stopped.stop) == ("a", "interrupt")
    assert (seen[4].thread_id, list(seen[4].stops)) == ("a", [run_pb2.STOP_MODE_ROLLBACK])


def test_a_start_says_when_the_run_starts_and_that_it_is_temporary(use: Any) -> None:
    seen: list[Any] = []

    def start(request: Any, context: Any) -> Any:
        seen.append(request)
        run = run_pb2.Run(run_id="r", kind=run_pb2.RUN_KIND_TEMPORARY, start_at=request.start_at)
        return run_service_pb2.StartRunResponse(run=run)

    at = datetime(2026, 12, 1, 6, tzinfo=UTC)
    with gateway(StartRun=start) as address:
        use(address, "start", "w", {}, after_seconds=1.5, temporary=True)
        use(address, "start", "w", {}, start_at=at, deadline=3600)
        with pytest.raises(ValueError, match="has no time zone"):
            use(address, "start", "w", {}, start_at=datetime(2026, 12, 1, 6))
    later, fixed = seen
    assert (later.after_seconds, later.temporary, later.HasField("start_at")) == (1.5, True, False)
    assert (fixed.HasField("after_seconds"), fixed.temporary, fixed.deadline.seconds) == (False, False, 3600)
    assert fixed.start_at.ToDatetime(tzinfo=UTC) == at
    shown = Run.of(run_pb2.Run(kind=run_pb2.RUN_KIND_TEMPORARY, start_at=fixed.start_at))
    assert (shown.kind, shown.start_at) == ("temporary", at)
