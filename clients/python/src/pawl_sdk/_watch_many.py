"""One stream of many runs over many connections.

The race it survives: a connection breaks between the messages of two runs. The stream keeps the last event id of each run, and continues
with all of them. A run that has ended is left out of the next connection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from pawl_sdk._cursor import Cursor
from pawl_sdk._gen.pawl.v1 import event_service_pb2
from pawl_sdk._steps import SILENT, Close, Emissions, Emit, Next, Open, Sleep
from pawl_sdk._watch import WATCH, Gap, GapCount, backoff, stream_error
from pawl_sdk.errors import UNREACHABLE, PawlError
from pawl_sdk.model import Event

OnLost: TypeAlias = Callable[[str, str], None]

# Connections in a row without news, until the last error is raised.
_ATTEMPTS_MAX = 30


def watch_many(
    runs: Mapping[str, int], types: Sequence[str], silence: float, on_lost: OnLost | None
) -> Emissions[Event]:
    """Watches at most 100 runs to their ends. Raises PawlError for an error that no reconnect removes."""
    open_runs = {run_id: Cursor(after, is_filtered=len(types) > 0) for run_id, after in runs.items()}
    retry, gaps = 0, GapCount()
    while open_runs:
        has_begun = False
        error = PawlError(UNREACHABLE, "the stream ended before the runs did")
        try:
            yield Open(WATCH, _request_of(open_runs, types))
            while True:
                message: Any = yield Next(silence)
                if message is SILENT or message is None:
                    break
                has_begun, retry = True, 0
                cursor = open_runs.get(message.run_id)
                if cursor is None:
                    continue
                for event in message.events:
                    verdict = cursor.judge(event)
                    if verdict == "gap":
                        raise Gap(message.run_id, cursor.last_event_id, event)
                    if verdict == "take":
                        taken = Event.of(event)
                        if taken.is_terminal:
                            open_runs.pop(message.run_id, None)
                        yield Emit(taken)
                if message.done:
                    open_runs.pop(message.run_id, None)
                    if message.reason and on_lost is not None:
                        on_lost(message.run_id, message.reason)
        except Gap as gap:
            error = gap.error
            if gaps.is_lasting(gap):
                raise error from None
        except PawlError as raised:
            error = stream_error(raised, has_begun)
            if not error.retryable:
                raise error from None
        yield Close()
        if not open_runs:
            return
        retry += 1
        if retry > _ATTEMPTS_MAX:
            raise error
        yield Sleep(max(backoff(retry), error.retry_after or 0))


def _request_of(open_runs: Mapping[str, Cursor], types: Sequence[str]) -> event_service_pb2.WatchRequest:
    runs = [
        event_service_pb2.WatchedRun(run_id=run_id, after_event_id=cursor.last_event_id)
        for run_id, cursor in open_runs.items()
    ]
    return event_service_pb2.WatchRequest(runs=runs, types=types)
