"""The rules of a lane, on its pure core: each test plays streams to it, and says what the clock shows."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import grpc
import pytest

from pawl_sdk._entry import Entry, NoStream, closed
from pawl_sdk._gen.pawl.v1 import run_service_pb2
from pawl_sdk._lane import Lane
from pawl_sdk._steps import SILENT, Close, Next, Now, OpenLane, Sleep, Work
from pawl_sdk._submit import Streams, keep
from pawl_sdk.errors import UNREACHABLE, UNRECOGNISED, PawlError

CUT = PawlError(UNREACHABLE, "cut")
ACCEPTED = run_service_pb2.AcceptedSubmission(run_id="r")


def answer(**fields: Any) -> run_service_pb2.SubmitRunsResponse:
    return run_service_pb2.SubmitRunsResponse(
        answers=[run_service_pb2.SubmissionAnswer(request_id="a", **fields)]
    )


END = answer(end=run_service_pb2.RunEnd(run_id="r"))


class Player:
    """Plays streams to one lane with one submission. A stream is a list of messages and errors; a number moves the clock."""

    def __init__(self, *streams: list[Any]) -> None:
        self.streams = list(streams)
        self.now = 0.0
        self.gateways: list[int] = []
        self.sent: list[list[str]] = []
        self.lanes: list[Lane] = []
        self.all = Streams(4, 30.0, self.lanes.append)
        self.entry = self.submit("a")

    def submit(self, request_id: str) -> Entry:
        start = run_service_pb2.StartRunRequest(request_id=request_id)
        entry = Entry(start, True, self.now, Future(), Future())
        self.all.submit([entry])
        return entry

    def play(self) -> Any:
        """The final answer of the submission; raises its error."""
        (lane,) = self.lanes
        steps = keep(lane)
        reply: Any = None
        error: Exception | None = None
        current: list[Any] = []
        while True:
            step = steps.send(reply) if error is None else steps.throw(error)
            if self.entry.ended.done():
                return self.entry.ended.result()
            reply, error = None, None
            match step:
                case OpenLane(gateway):
                    self.gateways.append(gateway)
                    current = self.streams.pop(0)
                    message = lane.take(self.now)
                    self.sent.append([] if message is None else [each.start.request_id for each in message.submissions])
                case Next():
                    came = current.pop(0)
                    while isinstance(came, float):
                        self.now += came
                        came = current.pop(0)
                    reply, error = (None, came) if isinstance(came, Exception) else (came, None)
                case Now():
                    reply = self.now
                case Sleep(seconds):
                    self.now += seconds
                case Work() | Close():
                    pass
                case _:
                    raise AssertionError(step)


def test_a_stream_that_ends_under_a_message_is_a_cut_and_not_the_end_of_the_call() -> None:
    reset = PawlError(UNRECOGNISED, "Internal error from Core", code=grpc.StatusCode.INTERNAL)
    player = Player([reset], [END])
    assert player.play().run_id == "r"
    assert player.sent == [["a"], ["a"]]


def test_a_silent_gateway_is_left_for_the_next_one_and_the_submission_is_sent_again() -> None:
    player = Player([answer(accepted=ACCEPTED), SILENT], [None], [END])
    assert player.play().run_id == "r"
    assert (player.gateways, player.sent) == ([0, 1, 2], [["a"], ["a"], ["a"]])


def test_if_no_gateway_ever_answered_four_attempts_are_enough() -> None:
    player = Player([CUT], [CUT], [CUT], [CUT])
    with pytest.raises(PawlError, match="cut"):
        player.play()
    assert len(player.gateways) == 4 and player.all.closed is None


def test_after_an_answer_of_a_gateway_a_start_without_one_is_given_up_after_the_timeout() -> None:
    heartbeat = run_service_pb2.SubmitRunsResponse()
    player = Player([heartbeat, CUT], *([CUT] for _ in range(5)), [31.0, CUT])
    with pytest.raises(PawlError, match="cut"):
        player.play()
    assert len(player.gateways) == 7 and player.now > 30


def test_an_accepted_run_is_waited_for_five_minutes_while_no_gateway_can_be_reached() -> None:
    player = Player([answer(accepted=ACCEPTED), CUT], [200.0, CUT], [101.0, CUT])
    with pytest.raises(PawlError, match="cut"):
        player.play()
    assert len(player.gateways) == 3 and player.entry.accepted.result().run_id == "r"


def test_an_error_that_no_repeat_removes_ends_the_call_at_once() -> None:
    limit = PawlError("LIMIT_EXCEEDED", "too large", code=grpc.StatusCode.RESOURCE_EXHAUSTED, server_reason="LIMIT_EXCEEDED")
    with pytest.raises(PawlError, match="too large"):
        Player([limit]).play()


def test_a_gateway_without_the_stream_sends_every_call_another_way() -> None:
    player = Player([PawlError("UNKNOWN_METHOD", "no", code=grpc.StatusCode.UNIMPLEMENTED)])
    with pytest.raises(NoStream):
        player.play()
    assert isinstance(player.submit("b").ended.exception(), NoStream)


def test_a_minute_after_a_gateway_had_no_stream_the_client_tries_one_again() -> None:
    player = Player([PawlError("UNKNOWN_METHOD", "no", code=grpc.StatusCode.UNIMPLEMENTED)], [END])
    with pytest.raises(NoStream):
        player.play()
    player.now += 59
    early = player.submit("b").ended.exception()
    # A raised error keeps the frames of its caller, so each call has one of its own.
    assert isinstance(early, NoStream) and early is not player.entry.ended.exception()
    player.now += 2
    player.entry = player.submit("a")
    assert player.play().run_id == "r"
    assert player.gateways == [0, 1]


def test_a_mistake_while_a_stream_is_read_is_a_lost_stream(caplog: pytest.LogCaptureFixture) -> None:
    player = Player([ZeroDivisionError("by us")], [END])
    assert player.play().run_id == "r" and player.all.closed is None
    assert "a stream of starts failed" in caplog.text


def test_a_later_call_has_all_its_attempts_after_an_earlier_one_ran_out_of_them() -> None:
    player = Player(*([CUT] for _ in range(8)))
    for attempts in (4, 8):
        with pytest.raises(PawlError, match="cut"):
            player.play()
        assert len(player.gateways) == attempts
        player.entry = player.submit("a")


def test_a_call_that_meets_an_outage_of_others_has_all_its_attempts() -> None:
    player = Player(*([CUT] for _ in range(3)))
    with pytest.raises(IndexError):
        player.play()
    late = player.submit("b")
    player.streams = [[CUT] for _ in range(4)]
    with pytest.raises(PawlError, match="cut"):
        player.play()
    assert not late.ended.done()
    player.entry = late
    with pytest.raises(PawlError, match="cut"):
        player.play()
    assert len(player.gateways) == 3 + 1 + 1 + 3


def test_each_call_under_way_gets_an_error_of_its_own() -> None:
    limit = PawlError("LIMIT_EXCEEDED", "no", code=grpc.StatusCode.RESOURCE_EXHAUSTED, server_reason="LIMIT_EXCEEDED")
    player = Player([limit])
    other = player.submit("b")
    with pytest.raises(PawlError, match="no"):
        player.play()
    errors = [player.entry.ended.exception(), other.ended.exception()]
    assert errors[0] is not errors[1] and [str(each) for each in errors] == ["LIMIT_EXCEEDED: no"] * 2
    assert all(isinstance(each, PawlError) and each.server_reason == "LIMIT_EXCEEDED" for each in errors)
    more = [player.submit("c"), player.submit("d")]
    player.all.close(closed)
    first, second = (each.ended.exception() for each in (*more,))
    assert isinstance(first, PawlError) and isinstance(second, PawlError) and first is not second


def test_without_a_keeper_a_submission_is_an_error_and_the_next_one_opens_a_lane() -> None:
    lanes: list[Lane] = []

    def refuse(lane: Lane) -> None:
        lanes.append(lane)
        if len(lanes) == 1:
            raise RuntimeError("can't start new thread")

    streams = Streams(4, 30.0, refuse)
    first, second = (
        Entry(run_service_pb2.StartRunRequest(request_id=each), True, 0.0, Future(), Future()) for each in "ab"
    )
    streams.submit([first])
    assert first.ended.done()
    error = first.ended.exception()
    assert isinstance(error, PawlError) and "can't start new thread" in error.message
    streams.submit([second])
    assert not second.ended.done() and second.lane is lanes[1]
