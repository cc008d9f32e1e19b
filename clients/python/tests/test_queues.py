"""The two numbered queues of a session."""

from __future__ import annotations

import pytest

from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire
from pawl_sdk._queues import Gap, Inbox, Outbox

ROOMY = 1 << 20


def log(text: str) -> wire.ProcessItem:
    return wire.ProcessItem(log=wire.Log(message=text))


def texts(taken: tuple[int, list[wire.ProcessItem]]) -> tuple[int, list[str]]:
    first, items = taken
    return first, [item.log.message for item in items]


def test_items_are_numbered_from_1_and_sent_once_on_a_stream() -> None:
    outbox = Outbox()
    outbox.add(log("a"))
    outbox.add(log("b"))
    assert texts(outbox.take(ROOMY)) == (1, ["a", "b"])
    assert texts(outbox.take(ROOMY)) == (0, [])
    outbox.add(log("c"))
    assert texts(outbox.take(ROOMY)) == (3, ["c"])


def test_a_new_stream_carries_again_what_the_host_does_not_have() -> None:
    outbox = Outbox()
    for text in "abc":
        outbox.add(log(text))
    outbox.take(ROOMY)
    outbox.heard(1)
    outbox.rewind()
    assert outbox.has_unsent and texts(outbox.take(ROOMY)) == (2, ["b", "c"])
    outbox.heard(3)
    assert outbox.is_empty and not outbox.has_unsent


def test_a_message_stays_below_its_limit_and_carries_at_least_one_item() -> None:
    outbox = Outbox()
    for _ in range(3):
        outbox.add(log("x" * 1000))
    assert [len(outbox.take(3500)[1]) for _ in range(3)] == [2, 1, 0]
    outbox.add(log("y" * 5000))
    assert texts(outbox.take(3500)) == (4, ["y" * 5000])


def ping(first_seq: int, count: int = 1) -> wire.ServeResponse:
    return wire.ServeResponse(
        first_seq=first_seq, items=[wire.HostItem(ping=wire.Ping()) for _ in range(count)]
    )


def test_repeats_are_dropped_and_new_items_beside_them_are_taken() -> None:
    inbox = Inbox()
    assert len(inbox.accept(ping(1, 2))) == 2
    assert inbox.accept(ping(1, 2)) == []
    assert len(inbox.accept(ping(2, 3))) == 2
    assert inbox.heard_seq == 4
    assert inbox.accept(wire.ServeResponse(heard_seq=9)) == []


@pytest.mark.parametrize("first_seq", [0, 3])
def test_a_number_that_leaves_a_gap_is_refused(first_seq: int) -> None:
    inbox = Inbox()
    inbox.accept(ping(1))
    with pytest.raises(Gap):
        inbox.accept(ping(first_seq))
    assert inbox.heard_seq == 1
