"""Both clients over a real connection to a scripted gateway."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2
from scripted_gateway import gateway, info, refuse
from test_watch import done, fact

from pawl_sdk import AsyncClient, Client, PawlError, RunFailed, _watch
from pawl_sdk._gen.pawl.v1 import event_service_pb2, run_pb2, run_service_pb2, webhook_pb2, workflow_pb2
from pawl_sdk._gen.pawl.v1 import workflow_service_pb2 as workflows


def running(run_id: str = "r1") -> run_pb2.Run:
    return run_pb2.Run(run_id=run_id, status=run_pb2.RUN_STATUS_RUNNING)


def test_a_start_whose_answer_was_lost_is_repeated_with_the_same_request_id(use: Any) -> None:
    seen: list[str] = []

    def start(request: Any, context: grpc.ServicerContext) -> Any:
        seen.append(request.request_id)
        if len(seen) == 1:
            context.abort(grpc.StatusCode.UNAVAILABLE, "the answer is lost")
        return run_service_pb2.StartRunResponse(run=running(), duplicate=True)

    with gateway(StartRun=start) as address:
        started = use(address, "start", "w", {"a": 1})
    assert started.run_id == "r1" and started.is_duplicate
    assert len(seen) == 2 and seen[0] == seen[1] != ""


def test_a_call_the_server_refuses_is_not_repeated(use: Any) -> None:
    calls: list[str] = []

    def get(request: Any, context: grpc.ServicerContext) -> Any:
        calls.append(request.run_id)
        refuse(context, grpc.StatusCode.NOT_FOUND, "no run", info("RUN_NOT_FOUND"))

    with gateway(GetRun=get) as address, pytest.raises(PawlError) as caught:
        use(address, "get", "nope")
    assert caught.value.reason == "RUN_NOT_FOUND" and calls == ["nope"]


def test_json_text_given_as_input_goes_to_the_server_to_the_letter(use: Any) -> None:
    seen: list[bytes] = []

    def start(request: Any, context: grpc.ServicerContext) -> Any:
        seen.append(request.input_json)
        return run_service_pb2.StartRunResponse(run=running())

    with gateway(StartRun=start) as address:
        use(address, "start", "w", input_json='{"b": 1.0,  "a": 10000000000000000001}')
    assert seen == [b'{"b": 1.0,  "a": 10000000000000000001}']


def test_run_returns_the_output_or_raises_how_the_run_ended(use: Any) -> None:
    ends = [
        run_pb2.Run(run_id="r1", status=run_pb2.RUN_STATUS_COMPLETED, output_json=b'{"ok":true}'),
        run_pb2.Run(run_id="r1", status=run_pb2.RUN_STATUS_FAILED, error_message="node a: no"),
    ]
    waits: list[str] = []

    def wait(request: Any, context: grpc.ServicerContext) -> Any:
        waits.append(request.run_id)
        if len(waits) % 2 == 1:
            return run_service_pb2.WaitRunResponse(run=running(), has_ended=False)
        record = webhook_pb2.RunResult()
        record.exception.node_id = "a"
        result = record if request.with_result and len(ends) == 1 else None
        return run_service_pb2.WaitRunResponse(run=ends.pop(0), has_ended=True, result=result)

    def start(request: Any, context: grpc.ServicerContext) -> Any:
        return run_service_pb2.StartRunResponse(run=running())

    with gateway(StartRun=start, WaitRun=wait) as address:
        assert use(address, "run", "w", {"n": 1}) == {"ok": True}
        with pytest.raises(RunFailed) as caught:
            use(address, "run", "w")
    failed = caught.value
    assert (failed.run_id, failed.status, failed.error) == ("r1", "failed", "node a: no")
    assert failed.failed_node_id == "a"


def test_the_reason_the_violations_and_the_code_come_from_the_error_details(use: Any) -> None:
    broken = error_details_pb2.BadRequest.FieldViolation(
        field="nodes[0].type", reason="UNKNOWN_TYPE", description="no such type"
    )

    def validate(request: Any, context: grpc.ServicerContext) -> Any:
        refuse(
            context,
            grpc.StatusCode.INVALID_ARGUMENT,
            "the definition breaks a rule",
            info("DEFINITION_INVALID", next="fix it"),
            error_details_pb2.BadRequest(field_violations=[broken]),
        )

    with gateway(ValidateWorkflow=validate) as address, pytest.raises(PawlError) as caught:
        use(address, "workflows.apply", {"nodes": []})
    error = caught.value
    assert (error.reason, error.code) == ("DEFINITION_INVALID", grpc.StatusCode.INVALID_ARGUMENT)
    assert error.violations[0].path == "nodes[0].type" and error.next == "fix it"


def test_the_time_to_wait_and_the_request_id_come_from_the_error_details() -> None:
    def get(request: Any, context: grpc.ServicerContext) -> Any:
        refuse(
            context,
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "busy",
            info("OVERLOADED_BY_A_NEWER_SERVER"),
            error_details_pb2.RetryInfo(retry_delay=Duration(nanos=250_000_000)),
            error_details_pb2.RequestInfo(request_id="q7"),
        )

    with gateway(GetRun=get) as address, Client(address, attempts=1) as client, pytest.raises(PawlError) as caught:
        client.get("r")
    error = caught.value
    assert (error.retry_after, error.request_id, error.retryable) == (0.25, "q7", True)
    # A reason this client does not know is passed on as the server spelled it.
    assert (error.reason, error.server_reason) == ("UNRECOGNISED", "OVERLOADED_BY_A_NEWER_SERVER")


def test_an_unreachable_gateway_is_unreachable(use: Any) -> None:
    with gateway() as address:
        pass
    with pytest.raises(PawlError) as caught:
        use(address, "get", "r")
    assert caught.value.reason == "UNREACHABLE" and caught.value.server_reason is None


def test_apply_creates_a_missing_workflow_updates_an_existing_one_and_says_when_nothing_changed(
    use: Any,
) -> None:
    saved: dict[str, tuple[int, str]] = {}

    def validate(request: Any, context: grpc.ServicerContext) -> Any:
        return workflows.ValidateWorkflowResponse(definition_json=b'{"id":"w"}')

    def get(request: Any, context: grpc.ServicerContext) -> Any:
        if request.workflow_id not in saved:
            refuse(context, grpc.StatusCode.NOT_FOUND, "none", info("WORKFLOW_NOT_FOUND"))
        return workflows.GetWorkflowResponse(workflow=current(request.workflow_id))

    def current(name: str) -> workflow_pb2.Workflow:
        return workflow_pb2.Workflow(workflow_id=name, version=saved[name][0])

    def create(request: Any, context: grpc.ServicerContext) -> Any:
        saved[request.workflow_id] = (1, request.definition.text)
        return workflows.CreateWorkflowResponse(workflow=current("w"))

    def update(request: Any, context: grpc.ServicerContext) -> Any:
        version, text = saved["w"]
        if text != request.definition.text:
            saved["w"] = (version + 1, request.definition.text)
        return workflows.UpdateWorkflowResponse(workflow=current("w"))

    with gateway(
        ValidateWorkflow=validate, GetWorkflow=get, CreateWorkflow=create, UpdateWorkflow=update
    ) as address:
        texts = ["id: w", "id: w", "id: w\ntitle: new"]
        outcomes = [use(address, "workflows.apply", text).outcome for text in texts]
    assert outcomes == ["created", "unchanged", "updated"] and saved["w"][0] == 2


def watched(requests: list[int]) -> Callable[[Any, grpc.ServicerContext], Iterator[Any]]:
    """Cuts the first connection after two events; the second has the rest."""

    def watch(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        requests.append(request.after_event_id)
        if request.after_event_id == 0:
            yield event_service_pb2.WatchRunResponse(events=[fact(1), fact(2)])
            context.abort(grpc.StatusCode.UNAVAILABLE, "cut")
        yield event_service_pb2.WatchRunResponse(events=[fact(3), done(4)])

    return watch


def test_a_watch_over_a_real_connection_resumes_after_a_cut() -> None:
    requests: list[int] = []
    with gateway(WatchRun=watched(requests)) as address, Client(address) as client:
        assert [event.event_id for event in client.watch("r")] == [1, 2, 3, 4]
    assert requests == [0, 2]


def test_an_asyncio_watch_over_a_real_connection_resumes_after_a_cut() -> None:
    requests: list[int] = []

    async def main(address: str) -> list[int]:
        async with AsyncClient(address) as client:
            return [event.event_id async for event in client.watch("r")]

    with gateway(WatchRun=watched(requests)) as address:
        assert asyncio.run(main(address)) == [1, 2, 3, 4]
    assert requests == [0, 2]


def ending(outcomes: queue.SimpleQueue[bool], asked: threading.Event) -> Callable[[Any, grpc.ServicerContext], Iterator[Any]]:
    """Ends its stream only when asked, and notes whether the client had reset it by then."""

    def watch(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        gone = threading.Event()
        context.add_callback(gone.set)
        yield event_service_pb2.WatchRunResponse(events=[done(1)])
        asked.wait(30)
        # A reset that the client sent with the terminal event arrives well within the time that it gives the server.
        outcomes.put(gone.wait(0.2))

    return watch


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may take longer than the time in which a server must end its stream."""
    monkeypatch.setattr(_watch, "_END", 30.0)


def test_after_the_terminal_event_the_server_ends_the_stream_and_the_client_does_not_reset_it(patient: None) -> None:
    outcomes: queue.SimpleQueue[bool] = queue.SimpleQueue()
    asked = threading.Event()
    with gateway(WatchRun=ending(outcomes, asked)) as address, Client(address) as client:
        for event in client.watch("r"):
            assert event.is_terminal
            break
        asked.set()
        assert outcomes.get(timeout=30) is False


def test_after_the_terminal_event_an_asyncio_watch_does_not_reset_the_stream(patient: None) -> None:
    outcomes: queue.SimpleQueue[bool] = queue.SimpleQueue()
    asked = threading.Event()

    async def main(address: str) -> bool:
        async with AsyncClient(address) as client:
            assert [event.event_id async for event in client.watch("r")] == [1]
            asked.set()
            return await asyncio.to_thread(outcomes.get, timeout=30)

    with gateway(WatchRun=ending(outcomes, asked)) as address:
        assert asyncio.run(main(address)) is False


def test_leaving_the_loop_ends_the_watch_quietly_and_closes_the_stream() -> None:
    closed = threading.Event()

    def watch(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        context.add_callback(closed.set)
        yield event_service_pb2.WatchRunResponse(events=[fact(1)])
        while context.is_active():
            yield event_service_pb2.WatchRunResponse()

    with gateway(WatchRun=watch) as address, Client(address) as client:
        for event in client.watch("r"):
            assert event.event_id == 1
            break
        assert closed.wait(30)


def test_a_silent_peer_is_left_and_the_watch_resumes() -> None:
    opened: list[int] = []
    causes: list[str] = []

    def watch(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        opened.append(request.after_event_id)
        # On a busy machine a connection may be silent even before its first event.
        if request.after_event_id == 0:
            yield event_service_pb2.WatchRunResponse(events=[fact(1)])
            over = threading.Event()
            context.add_callback(over.set)
            over.wait(30)
            return
        yield event_service_pb2.WatchRunResponse(events=[done(2)])

    with gateway(WatchRun=watch) as address, Client(address) as client:
        events = client.watch("r", silence=0.2, on_reconnect=lambda each: causes.append(each.cause))
        assert [event.event_id for event in events] == [1, 2]
    assert (opened[0], opened[-1]) == (0, 1) and set(causes) == {"silence"}


def test_a_status_that_does_not_exist_is_refused_before_the_call(use: Any) -> None:
    with pytest.raises(ValueError, match="'done' is not one of pending, .*completed"):
        use("127.0.0.1:1", "list", statuses=["done"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_client_refuses_to_work_in_a_forked_child(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client("127.0.0.1:1")
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(RuntimeError, match="make one in the child process"):
        client.get("r")


def test_the_state_of_a_run_is_read_now_or_after_an_event_and_event_0_is_refused_before_any_call() -> None:
    asked: list[int] = []

    def get(request: Any, context: grpc.ServicerContext) -> Any:
        asked.append(request.at_event_id)
        state = run_pb2.WorkflowState(
            goal="sell",
            status=run_pb2.RUN_STATUS_RETRYING,
            waiting_for=run_pb2.WAITING_REASON_RETRY,
            max_iterations=7,
            memory_json=b'{"k": 1}',
            retries={"a": 2},
        )
        return run_service_pb2.GetRunResponse(run=run_pb2.Run(run_id="r", state=state))

    with gateway(GetRun=get) as address, Client(address) as client:
        state = client.state("r", at_event_id=3)
        client.state("r")
        with pytest.raises(PawlError) as caught:
            client.state("r", at_event_id=0)
    assert (state.goal, state.status, state.waiting_for, state.max_iterations) == ("sell", "retrying", "retry", 7)
    assert (state.memory, state.retries, state.started_at, state.budget_usd) == ({"k": 1}, {"a": 2}, None, None)
    assert asked == [3, 0] and caught.value.reason == "INPUT_INVALID"
