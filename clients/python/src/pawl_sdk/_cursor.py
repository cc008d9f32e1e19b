"""The place of a watch in one run's log: the last event seen, and the last delta seen of each node execution.

The index of a delta grows over all claims of an execution; in logs of older releases each claim counts from 0. The race it survives: the
stream repeats, skips or resumes.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from pawl_sdk._gen.pawl.v1 import event_pb2

Verdict = Literal["take", "drop", "gap"]
"""take: new and in order. drop: seen before, or not in the log. gap: something is missing before it; the cursor stays."""


class _Mark(NamedTuple):
    epoch: int
    delta_index: int


class Cursor:
    """Judges the events of a watch in the order in which they come."""

    def __init__(self, after_event_id: int, *, is_filtered: bool) -> None:
        self.last_event_id = after_event_id
        """The newest event seen; a resumed stream begins after it."""
        self._start_event_id = after_event_id
        # A filter on types makes holes in the ids, so a hole does not mean a lost event.
        self._is_filtered = is_filtered
        self._marks: dict[tuple[str, int], _Mark] = {}
        # The event before which deltas are missing. If they are missing again after a reconnect, the log itself has the gap.
        self._questioned_event_id = 0

    def judge(self, event: event_pb2.RunEvent) -> Verdict:
        """Judges one event, and moves past it unless there is a gap."""
        if event.event_id == 0 or event.event_id <= self.last_event_id:
            return "drop"
        if not self._is_filtered and event.event_id != self.last_event_id + 1:
            return "gap"
        is_delta = event.WhichOneof("fact") == "node_stream_delta"
        verdict = self._judge_delta(event) if is_delta else "take"
        if verdict != "gap":
            self.last_event_id = event.event_id
        return verdict

    def _judge_delta(self, event: event_pb2.RunEvent) -> Verdict:
        index = event.node_stream_delta.delta_index
        key = (event.node_id, event.iteration)
        mark = self._marks.get(key)
        if mark is not None and event.epoch < mark.epoch:
            return "drop"
        if mark is not None and event.epoch == mark.epoch and index <= mark.delta_index:
            return "drop"
        if index > self._expected(mark) and self._questioned_event_id != event.event_id:
            self._questioned_event_id = event.event_id
            return "gap"
        self._marks[key] = _Mark(event.epoch, index)
        return "take"

    def _expected(self, mark: _Mark | None) -> float:
        """The next index: after the mark, or 0 if the watch began with the log; unknown if it joined in the middle."""
        if mark is not None:
            return mark.delta_index + 1
        return 0 if self._start_event_id == 0 else math.inf
