"""Starts over standing streams, over a real connection to a scripted gateway, with both clients."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from conftest import job
from google.protobuf.duration_pb2 import Duration
from scripted_gateway import gateway, info, refuse

from pawl_sdk import AcceptedRun, AsyncClient, PawlError, RunFailed, StartItem
from pawl_sdk._gen.pawl.v1 import run_pb2, run_service_pb2, workflow_pb2
from pawl_sdk._gen.pawl.v1.run_service_pb2 import AcceptedSubmission, RunEnd, SubmissionAnswer, SubmitRunsResponse

Messages = Iterator[run_service_pb2.SubmitRunsRequest]
Play = Callable[[Messages, int, grpc.ServicerContext], Iterator[SubmitRunsResponse]]


class Submits:
    """The script of SubmitRuns. It keeps the messages of every stream, and gives the script the number of the stream."""

    def __init__(self, play: Play) -> None:
        self.streams: list[list[list[str]]] = []
        self.requests: list[run_service_pb2.StartRunRequest] = []
        self._play = play
        self._lock = threading.Lock()

    def __call__(self, messages: Messages, context: grpc.ServicerContext) -> Iterator[SubmitRunsResponse]:
        with self._lock:
            number = len(self.streams)
            self.streams.append([])
        return self._play(self._kept(messages, number), number, context)

    def _kept(self, messages: Messages, number: int) -> Messages:
        for message in messages:
            self.streams[number].append([each.start.request_id for each in message.submissions])
            self.requests.extend(each.start for each in message.submissions)
            yield message

    def ids(self, stream: int) -> list[str]:
        return [each for message in self.streams[stream] for each in message]


def accepted(request_id: str) -> SubmissionAnswer:
    return SubmissionAnswer(request_id=request_id, accepted=AcceptedSubmission(run_id=f"run-{request_id}"))


def completed(request_id: str, output: bytes) -> SubmissionAnswer:
    end = RunEnd(run_id=f"run-{request_id}", status=run_pb2.RUN_STATUS_COMPLETED, output_json=output)
    run = AcceptedSubmission(run_id=f"run-{request_id}")
    return SubmissionAnswer(request_id=request_id, accepted=run, end=end)


def echo(messages: Messages, number: int, context: grpc.ServicerContext) -> Iterator[SubmitRunsResponse]:
    """Answers every submission with its own input."""
    for message in messages:
        yield SubmitRunsResponse(
            answers=[
                completed(each.start.request_id, each.start.input_json)
                if each.wait
                else accepted(each.start.request_id)
                for each in message.submissions
            ]
        )


def test_runs_that_are_started_at_once_share_a_stream_and_its_messages_and_each_caller_gets_its_own_output(
    gather: Any,
) -> None:
    submits = Submits(echo)
    with gateway(SubmitRuns=submits) as address:
        items = [StartItem("echo", at) for at in range(500)]
        (started, *outputs) = gather(
            address, [job("start_many", items), *(job("run", "echo", {"at": at}) for at in range(100))]
        )
    assert outputs == [{"at": at} for at in range(100)]
    assert len(started) == 500 and len(submits.streams) == 1
    assert len(submits.ids(0)) == len(set(submits.ids(0))) == 600
    # Starts of one call share a message; each other start is on its own at worst.
    assert max(map(len, submits.streams[0])) >= 500 and len(submits.streams[0]) <= 101


def test_starts_of_one_turn_of_the_loop_share_a_message() -> None:
    submits = Submits(echo)

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            await client.run("warm")
            await asyncio.gather(*(client.run("echo", at) for at in range(100)))

    with gateway(SubmitRuns=submits) as address:
        asyncio.run(main(address))
    assert len(submits.streams) == 1 and len(submits.streams[0]) < 10


def test_a_run_that_did_not_end_well_raises_its_id_its_status_its_error_and_its_node(use: Any) -> None:
    def play(messages: Messages, number: int, context: grpc.ServicerContext) -> Iterator[SubmitRunsResponse]:
        for message in messages:
            for each in message.submissions:
                end = RunEnd(
                    run_id="r1",
                    status=run_pb2.RUN_STATUS_FAILED,
                    error_message="no stock",
                    failed_node_id="pay",
                    cause="acme.sold_out",
                    failure_class=run_pb2.FAILURE_CLASS_PERMANENT,
                )
                yield SubmitRunsResponse(answers=[SubmissionAnswer(request_id=each.start.request_id, end=end)])

    with gateway(SubmitRuns=Submits(play)) as address, pytest.raises(RunFailed) as caught:
        use(address, "run", "order")
    failed = caught.value
    assert (failed.run_id, failed.status, failed.error) == ("r1", "failed", "no stock")
    assert (failed.cause, failed.failure_class) == ("acme.sold_out", "permanent")
    assert failed.failed_node_id == "pay" and "r1 ended as failed: no stock" in str(failed)


@pytest.mark.parametrize("phase", ["before the answer", "before the end"])
def test_submissions_without_a_final_answer_are_sent_again_after_a_cut_with_the_same_request_ids(
    gather: Any, phase: str
) -> None:
    def play(messages: Messages, number: int, context: grpc.ServicerContext) -> Iterator[SubmitRunsResponse]:
        if number > 0:
            yield from echo(messages, number, context)
        count = 0
        for message in messages:
            ids = [each.start.request_id for each in message.submissions]
            count += len(ids)
            if phase == "before the end":
                yield SubmitRunsResponse(answers=map(accepted, ids))
            if count == 3:
                context.abort(grpc.StatusCode.UNAVAILABLE, "cut")

    submits = Submits(play)
    starts: list[AcceptedRun] = []
    with gateway(SubmitRuns=submits) as address:
        outputs = gather(address, [job("run", "echo", n, on_start=starts.append) for n in (1, 2, 3)])
    assert outputs == [1, 2, 3]
    assert len(set(submits.ids(0))) == 3 and sorted(submits.ids(0)) == sorted(submits.ids(1))
    # The run is reported once, however often its submission was sent.
    assert sorted(each.run_id for each in starts) == sorted(f"run-{each}" for each in submits.ids(0))


def test_a_submission_that_was_answered_is_not_sent_again_and_a_drain_moves_the_others_to_another_stream(
    gather: Any,
) -> None:
    def play(messages: Messages, number: int, context: grpc.ServicerContext) -> Iterator[SubmitRunsResponse]:
        if number > 0:
            yield from echo(messages, number, context)
        seen: set[str] = set()
        for message in messages:
            seen |= {each.start.request_id for each in message.submissions}
            if seen == {"a", "b"}:
                yield SubmitRunsResponse(answers=[completed("a", b'"first"')])
                refuse(context, grpc.StatusCode.UNAVAILABLE, "This gateway is stopping.", info("DRAINING"))

    submits = Submits(play)
    with gateway(SubmitRuns=submits) as address:
        outputs = gather(address, [job("run", "echo", each, request_id=each) for each in "ab"])
    assert outputs == ["first", "b"]
    assert submits.ids(1) == ["b"]


def test_a_refusal_rejects_its_submission_only_and_one_that_may_succeed_later_is_sent_again(gather: Any) -> None:
    bad = run_service_pb2.Refusal(
        code=3,
        reason="INPUT_INVALID",
        message="start.input_json: is no JSON",
        violations=[workflow_pb2.Violation(path="start.input_json", reason="BAD_JSON", message="no JSON")],
        metadata={"next": "Correct the request."},
    )
    later = run_service_pb2.Refusal(code=8, reason="STREAM_LIMIT", retry_delay=Duration())
    refusals: list[str] = []

    def answer(request_id: str) -> SubmissionAnswer:
        if request_id == "bad":
            return SubmissionAnswer(request_id=request_id, refused=bad)
        if request_id == "later" and len(refusals) < 2:
            refusals.append(request_id)
            return SubmissionAnswer(request_id=request_id, refused=later)
        return completed(request_id, json.dumps(request_id).encode())

    def play(messages: Messages, number: int, context: grpc.ServicerContext) -> Iterator[SubmitRunsResponse]:
        for message in messages:
            yield SubmitRunsResponse(answers=[answer(each.start.request_id) for each in message.submissions])

    submits = Submits(play)
    with gateway(SubmitRuns=submits) as address:
        ids = ["bad", "later", "good"]
        error, *others = gather(address, [job("run", "echo", each, request_id=each) for each in ids])
    assert isinstance(error, PawlError) and error.code == grpc.StatusCode.INVALID_ARGUMENT
    assert (error.reason, error.next) == ("INPUT_INVALID", "Correct the request.")
    assert error.violations[0].path == "start.input_json"
    assert others == ["later", "good"]
    assert len(submits.streams) == 1 and submits.ids(0).count("later") == 3


def test_a_cancelled_call_leaves_the_run_and_the_stream() -> None:
    taken = threading.Event()

    def play(messages: Messages, number: int, context: grpc.ServicerContext) -> Iterator[SubmitRunsResponse]:
        for message in messages:
            for each in message.submissions:
                if each.start.request_id == "left":
                    taken.set()
                else:
                    yield SubmitRunsResponse(answers=[completed(each.start.request_id, b'"next"')])

    submits = Submits(play)

    async def main(address: str) -> None:
        async with AsyncClient(address) as client:
            left = asyncio.create_task(client.run("slow", request_id="left"))
            assert await asyncio.to_thread(taken.wait, 30)
            left.cancel()
            with pytest.raises(asyncio.CancelledError):
                await left
            assert await client.run("quick") == "next"
            # The id is free again: the same call may be made once more on the same stream.
            again = asyncio.create_task(client.run("slow", request_id="left"))
            assert await client.run("quick") == "next"
            again.cancel()

    with gateway(SubmitRuns=submits) as address:
        asyncio.run(main(address))
    assert len(submits.streams) == 1


def test_two_calls_with_one_request_id_under_way_both_get_the_end(gather: Any) -> None:
    submits = Submits(echo)
    with gateway(SubmitRuns=submits) as address:
        jobs = [job("run", "echo", 7, request_id="same") for _ in range(3)]
        assert gather(address, jobs) == [7, 7, 7]


def test_many_starts_have_one_outcome_each_in_the_order_of_the_list(use: Any) -> None:
    both_are_open = threading.Barrier(2)

    def play(messages: Messages, number: int, context: grpc.ServicerContext) -> Iterator[SubmitRunsResponse]:
        both_are_open.wait(30)
        for message in messages:
            answers = []
            for each in reversed(message.submissions):
                assert not each.wait
                refused = run_service_pb2.Refusal(code=5, reason="WORKFLOW_NOT_FOUND", message="no")
                request_id = each.start.request_id
                is_none = each.start.workflow_id == "none"
                answers.append(
                    SubmissionAnswer(request_id=request_id, refused=refused) if is_none else accepted(request_id)
                )
            yield SubmitRunsResponse(answers=answers)

    submits = Submits(play)
    items = [StartItem("none" if at == 7 else "known", at, request_id=f"s{at}") for at in range(1500)]
    with gateway(SubmitRuns=submits) as address:
        outcomes = use(address, "start_many", items)
    assert len(outcomes) == 1500
    assert isinstance(outcomes[7], PawlError) and outcomes[7].reason == "WORKFLOW_NOT_FOUND"
    assert outcomes[8] == AcceptedRun("run-s8", False)
    assert [each.run_id for each in outcomes[8:]] == [f"run-s{at}" for at in range(8, 1500)]
    # A stream takes a thousand at once, so the others have a stream of their own.
    assert len(submits.streams) == 2


def test_a_value_that_is_no_json_is_refused_before_any_start(use: Any) -> None:
    submits = Submits(echo)
    with gateway(SubmitRuns=submits) as address, pytest.raises(ValueError):
        use(address, "start_many", [StartItem("w", 1), StartItem("w", float("nan"))])
    assert submits.streams == []


def test_an_input_that_fits_no_message_is_refused_at_once(use: Any) -> None:
    with gateway(SubmitRuns=Submits(echo)) as address, pytest.raises(PawlError) as caught:
        use(address, "run", "w", "x" * (3 * 1024 * 1024))
    assert caught.value.reason == "LIMIT_EXCEEDED"


def test_a_client_with_several_addresses_continues_at_the_next_gateway_when_one_is_gone(use: Any) -> None:
    def cut(messages: Messages, number: int, context: grpc.ServicerContext) -> Iterator[SubmitRunsResponse]:
        for _ in messages:
            context.abort(grpc.StatusCode.UNAVAILABLE, "cut")
        yield SubmitRunsResponse()

    first, second = Submits(cut), Submits(echo)
    page = run_service_pb2.ListRunsResponse(runs=[run_pb2.Run(run_id="r2")])
    with gateway(SubmitRuns=second, ListRuns=lambda *_: page) as living:
        with gateway(SubmitRuns=first) as dying:
            assert use([dying, living], "run", "echo", "x") == "x"
        assert (len(first.streams), len(second.streams)) == (1, 1)
        assert first.ids(0) == second.ids(0)
        # Now the first gateway is gone.
        assert [run.run_id for run in use([dying, living], "list").runs] == ["r2"]
    with pytest.raises(ValueError, match="at least one address"):
        use([], "list")


def test_a_gateway_without_the_stream_gets_calls_of_their_own_with_the_same_request_ids(use: Any) -> None:
    asked: list[str] = []

    def start(request: Any, context: grpc.ServicerContext) -> Any:
        asked.append(request.request_id)
        return run_service_pb2.StartRunResponse(run=run_pb2.Run(run_id="r1"), duplicate=True)

    ended = run_pb2.Run(run_id="r1", status=run_pb2.RUN_STATUS_COMPLETED, output_json=b"[1]")
    starts: list[AcceptedRun] = []
    with gateway(
        StartRun=start, WaitRun=lambda *_: run_service_pb2.WaitRunResponse(run=ended, has_ended=True)
    ) as address:
        assert use(address, "run", "w", request_id="a", on_start=starts.append) == [1]
        assert use(address, "start", "w", request_id="b") == AcceptedRun("r1", True)
        many = use(address, "start_many", [StartItem("w", request_id="c"), StartItem("w", request_id="d")])
    assert many == [AcceptedRun("r1", True)] * 2 and starts == [AcceptedRun("r1", True)]
    assert asked[:2] == ["a", "b"] and sorted(asked[2:]) == ["c", "d"]


def test_many_starts_on_a_gateway_without_the_stream_are_calls_at_once_sixteen_at_most(use: Any) -> None:
    lock = threading.Lock()
    under, most = 0, 0
    eight = threading.Barrier(8)

    def start(request: Any, context: grpc.ServicerContext) -> Any:
        nonlocal under, most
        with lock:
            under += 1
            most = max(most, under)
        eight.wait(30)  # Calls one after the other would never be eight.
        with lock:
            under -= 1
        if request.request_id == "s7":
            refuse(context, grpc.StatusCode.NOT_FOUND, "no", info("WORKFLOW_NOT_FOUND"))
        return run_service_pb2.StartRunResponse(run=run_pb2.Run(run_id=f"run-{request.request_id}"))

    with gateway(workers=64, StartRun=start) as address:
        outcomes = use(address, "start_many", [StartItem("w", request_id=f"s{at}") for at in range(64)])
    assert isinstance(outcomes[7], PawlError) and outcomes[7].reason == "WORKFLOW_NOT_FOUND"
    assert [each.run_id for each in outcomes[8:]] == [f"run-s{at}" for at in range(8, 64)]
    assert 8 <= most <= 16


def test_a_gateway_that_is_not_there_is_an_error_of_the_call_not_a_silence(use: Any) -> None:
    with gateway() as address:
        pass
    with pytest.raises(PawlError) as caught:
        use(address, "run", "w")
    assert caught.value.reason == "UNREACHABLE"


def stalled(taken: threading.Event) -> Play:
    """Takes submissions and never answers."""

    def play(messages: Messages, number: int, context: grpc.ServicerContext) -> Iterator[SubmitRunsResponse]:
        for _ in messages:
            taken.set()
        yield SubmitRunsResponse()

    return play
