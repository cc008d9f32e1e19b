"""The rules of a watch, on its pure core: each test plays connections to it and reads what it emits. PARITY.md names the same behaviours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pawl_sdk._gen.pawl.v1 import event_pb2, event_service_pb2, run_pb2, run_service_pb2
from pawl_sdk._steps import SILENT, Call, Close, Emit, LetEnd, Next, Now, Open, Sleep
from pawl_sdk._watch import WatchOptions, watch
from pawl_sdk.errors import UNREACHABLE, PawlError
from pawl_sdk.model import Event

CUT = PawlError(UNREACHABLE, "cut")


def fact(event_id: int, type: str = "node.started", **more: Any) -> event_pb2.RunEvent:
    return event_pb2.RunEvent(event_id=event_id, run_id="r", type=type, **more)


def delta(
    event_id: int, index: int, *, epoch: int = 1, node: str = "a", iteration: int = 0
) -> event_pb2.RunEvent:
    return fact(
        event_id,
        "node.stream.delta",
        node_id=node,
        iteration=iteration,
        epoch=epoch,
        node_stream_delta=event_pb2.NodeStreamDelta(delta_index=index, text=str(index)),
    )


def done(event_id: int) -> event_pb2.RunEvent:
    return fact(event_id, "run.completed", run_completed=event_pb2.RunCompleted(output_json=b"7"))


HEARTBEAT = "heartbeat"


DEFAULTS = WatchOptions()


class Player:
    """Plays connections to a watch. A connection is a list of events, HEARTBEAT, SILENT or an error; it ends after the last."""

    def __init__(self, *connections: Iterable[Any], run: run_pb2.Run | None = None) -> None:
        self.connections = [list(each) for each in connections]
        self.run = run or run_pb2.Run(run_id="r", status=run_pb2.RUN_STATUS_RUNNING)
        self.opened: list[int] = []
        self.pauses: list[float] = []
        self.causes: list[str] = []
        self.now = 0.0

    def play(self, options: WatchOptions = DEFAULTS) -> list[Event]:
        options = WatchOptions(
            options.after_event_id,
            options.types,
            options.silence,
            options.give_up,
            on_reconnect=lambda reconnect: self.causes.append(reconnect.cause),
        )
        steps = watch("r", options)
        events: list[Event] = []
        answer: Any = None
        error: Exception | None = None
        current: list[Any] = []
        while True:
            try:
                step = steps.send(answer) if error is None else steps.throw(error)
            except StopIteration:
                return events
            answer, error = None, None
            match step:
                case Emit(value):
                    events.append(value)
                case Open(_, request):
                    assert isinstance(request, event_service_pb2.WatchRunRequest)
                    self.opened.append(request.after_event_id)
                    current = self.connections.pop(0)
                case Next():
                    came = current.pop(0) if current else None
                    if isinstance(came, PawlError):
                        error = came
                    elif came is None or came is SILENT:
                        answer = came
                    else:
                        batch = [] if came == HEARTBEAT else [came]
                        answer = event_service_pb2.WatchRunResponse(events=batch)
                case Sleep(seconds):
                    self.pauses.append(seconds)
                    self.now += seconds
                case Now():
                    answer = self.now
                case Call():
                    answer = run_service_pb2.GetRunResponse(run=self.run)
                case Close() | LetEnd():
                    current = []


def ids(events: list[Event]) -> list[int]:
    return [event.event_id for event in events]


def test_a_connection_that_is_cut_is_resumed_after_the_last_event() -> None:
    player = Player([fact(1), fact(2), CUT], [done(3)])
    assert ids(player.play()) == [1, 2, 3]
    assert player.opened == [0, 2]


def test_a_reader_cut_off_with_stream_limit_comes_back_with_its_cursor_not_sooner_than_asked() -> None:
    limit = PawlError("STREAM_LIMIT", "too slow", retry_after=4.0, server_reason="STREAM_LIMIT")
    player = Player([fact(1), limit], [done(2)])
    assert ids(player.play()) == [1, 2]
    assert player.opened == [0, 1] and player.pauses[0] >= 4.0


def test_pauses_grow_while_nothing_new_comes_and_start_over_after_progress() -> None:
    player = Player([CUT], [CUT], [CUT], [CUT], [fact(1), CUT], [done(2)])
    player.play()
    assert player.pauses[3] > player.pauses[0] and player.pauses[3] >= 0.8
    assert player.pauses[4] <= 0.2


def test_repeats_after_a_resume_are_dropped() -> None:
    player = Player([fact(1), fact(2), CUT], [fact(1), fact(2), fact(3), done(4)])
    assert ids(player.play()) == [1, 2, 3, 4]


def test_a_gap_tears_the_connection_down_and_reopens_it_with_the_cursor() -> None:
    player = Player([fact(1), fact(3)], [fact(2), fact(3), done(4)])
    assert ids(player.play()) == [1, 2, 3, 4]
    assert player.opened == [0, 1] and player.causes == ["gap"]


def test_a_gap_that_every_reopening_shows_again_is_event_log_corruption_never_silence() -> None:
    player = Player([fact(1), fact(3)], [fact(3)], [fact(3)], [fact(3)])
    with pytest.raises(PawlError) as caught:
        player.play()
    assert caught.value.reason == "EVENT_LOG_CORRUPTION"
    assert caught.value.metadata == {"runId": "r", "lastEventId": "1"}


def test_a_peer_that_says_nothing_is_left_and_heartbeats_count_as_saying_something() -> None:
    player = Player([fact(1), HEARTBEAT, SILENT], [done(2)])
    assert ids(player.play()) == [1, 2]
    assert player.causes == ["silence"]


def test_a_delta_at_or_below_the_high_water_mark_of_its_node_is_dropped() -> None:
    player = Player([delta(1, 0), delta(2, 1), delta(3, 1), delta(4, 0), delta(5, 2), done(6)])
    assert ids(player.play()) == [1, 2, 5, 6]


def test_every_node_and_every_iteration_has_its_own_mark() -> None:
    events = [delta(1, 0), delta(2, 0, node="b"), delta(3, 0, iteration=1), delta(4, 1), done(5)]
    assert ids(Player(events).play()) == [1, 2, 3, 4, 5]


def test_the_index_grows_over_the_claims_of_a_node_a_delta_of_an_older_claim_is_dropped() -> None:
    events = [delta(1, 0, epoch=1), delta(2, 1, epoch=2), delta(3, 2, epoch=1), done(4)]
    assert ids(Player(events).play()) == [1, 2, 4]


def test_in_a_log_of_an_older_release_a_new_claim_counts_from_0_again() -> None:
    events = [delta(1, 0, epoch=1), delta(2, 1, epoch=1), delta(3, 0, epoch=2), done(4)]
    assert ids(Player(events).play()) == [1, 2, 3, 4]


def test_a_missing_delta_is_a_gap_once_there_again_after_the_reopening_it_is_the_logs_own() -> None:
    player = Player([delta(1, 0), delta(2, 2)], [delta(2, 2), done(3)])
    assert ids(player.play()) == [1, 2, 3]
    assert player.causes == ["gap"]


def test_a_watch_that_has_the_terminal_event_already_ends_at_once() -> None:
    ended = run_pb2.Run(run_id="r", status=run_pb2.RUN_STATUS_COMPLETED, last_event_id=9)
    player = Player([], run=ended)
    assert player.play(WatchOptions(after_event_id=9)) == []
    assert player.opened == [9] and player.pauses == []


def test_a_stream_that_ends_without_the_terminal_event_is_reopened_while_the_run_lives() -> None:
    player = Player([fact(1)], [done(2)])
    assert ids(player.play()) == [1, 2]
    assert player.causes == ["closed"]


def test_an_error_no_reconnect_can_mend_is_thrown_with_its_reason() -> None:
    missing = PawlError("RUN_NOT_FOUND", "no run", server_reason="RUN_NOT_FOUND")
    with pytest.raises(PawlError) as caught:
        Player([missing]).play()
    assert caught.value.reason == "RUN_NOT_FOUND"


def test_an_error_of_the_connection_after_the_first_message_is_a_cut() -> None:
    reset = PawlError("CALLER_CANCELLED", "reset")
    player = Player([fact(1), reset], [done(2)])
    assert ids(player.play()) == [1, 2]


def test_a_watch_without_progress_for_long_enough_throws_what_it_last_met() -> None:
    player = Player(*[[CUT] for _ in range(100)])
    with pytest.raises(PawlError) as caught:
        player.play(WatchOptions(give_up=60.0))
    assert caught.value.reason == UNREACHABLE
    assert 60 < player.now < 75


def test_an_event_as_plain_json_has_the_envelope_of_the_log_and_decoded_user_data() -> None:
    (event,) = Player([done(1)]).play()
    assert (event.event_id, event.type, event.run_id) == (1, "run.completed", "r")
    assert event.payload == {"output": 7} and event.is_terminal
