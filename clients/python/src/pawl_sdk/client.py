"""The client for code that blocks. Threads may share it: starts share its standing streams, and each watch has a stream of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import grpc

from pawl_sdk._address import OPTIONS, ForkGuard
from pawl_sdk._calls.caller import Caller
from pawl_sdk._calls.runs import ListRuns, OnStart, PauseRunOptions, RunCalls, StartOptions
from pawl_sdk._drive_blocking import BlockingDriver
from pawl_sdk._gateways import Gateways
from pawl_sdk._lanes_blocking import BlockingLanes
from pawl_sdk._steps import Emissions, OnReconnect, Steps
from pawl_sdk._watch import WatchOptions, watch
from pawl_sdk.errors import PawlError
from pawl_sdk.model import AcceptedRun, Event, Run, RunPage, StartedRun, StartItem
from pawl_sdk.resources import Approvals, DeadLetters, Queues, Schedules, Workflows

T = TypeVar("T")


class _Drive:
    """Makes the steps of every call of a client, in its process only."""

    def __init__(self, gateways: Gateways[grpc.Channel], lanes: BlockingLanes) -> None:
        self.guard = ForkGuard("Client")
        self._gateways = gateways
        self._lanes = lanes

    def run(self, steps: Steps[T]) -> T:
        self.guard.check()
        return BlockingDriver(self._gateways, self._lanes).run(steps)

    def emit(self, steps: Emissions[T]) -> Iterator[T]:
        self.guard.check()
        return BlockingDriver(self._gateways, self._lanes).emit(steps)


def _open(target: str, is_tls: bool) -> grpc.Channel:
    if is_tls:
        return grpc.secure_channel(target, grpc.ssl_channel_credentials(), options=OPTIONS)
    return grpc.insecure_channel(target, options=OPTIONS)


class Client:
    """Calls gateways: one until it cannot be reached, then the next. Without an address it takes PAWL_ADDRESS, or the gateway of this machine."""

    def __init__(
        self, address: str | Sequence[str] | None = None, *, attempts: int = 4, timeout: float = 30.0
    ) -> None:
        self._gateways = Gateways(address, _open)
        self._lanes = BlockingLanes(attempts, timeout, self._gateways.own_channel)
        self._drive = _Drive(self._gateways, self._lanes)
        self._caller = Caller(attempts, timeout)
        self._calls = RunCalls(self._caller)
        self.workflows = Workflows(self._drive, self._caller)
        self.approvals = Approvals(self._drive, self._caller)
        self.schedules = Schedules(self._drive, self._caller)
        self.queues = Queues(self._drive, self._caller)
        self.dead_letters = DeadLetters(self._drive, self._caller)

    def run(
        self,
        workflow_id: str,
        input: object = None,
        *,
        on_start: OnStart | None = None,
        **options: Unpack[StartOptions],
    ) -> Any:
        """Starts a run, waits for its end, across reconnects, and returns its output. Raises RunFailed when the run did not complete.

        `on_start` is called once, when the run is accepted.
        """
        return self._drive.run(self._calls.run(workflow_id, input, on_start, **options))

    def start(self, workflow_id: str, input: object = None, **options: Unpack[StartOptions]) -> AcceptedRun:
        """Starts a run of a saved workflow and returns as soon as it is accepted."""
        return self._drive.run(self._calls.start(workflow_id, input, **options))

    def start_many(self, items: Iterable[StartItem]) -> list[AcceptedRun | PawlError]:
        """Starts many runs, in batches. Every start has its own outcome, in the order of the list; one that is refused does not affect others."""
        return self._drive.run(self._calls.start_many(items))

    def execute(
        self,
        workflow_id: str,
        input: object = None,
        *,
        on_start: Callable[[StartedRun], None] | None = None,
        types: Iterable[str] = (),
        silence: float = 45.0,
        give_up: float = 300.0,
        on_reconnect: OnReconnect | None = None,
        **options: Unpack[StartOptions],
    ) -> Iterator[Event]:
        """Starts a run and gives its events from the first one on, once and in order, across reconnects. Leave the loop to leave the run."""
        watching = self._watching(0, types, silence, give_up, on_reconnect)
        return self._drive.emit(self._calls.execute(workflow_id, input, watching, on_start, options))

    def watch(
        self,
        run_id: str,
        *,
        after_event_id: int = 0,
        types: Iterable[str] = (),
        silence: float = 45.0,
        give_up: float = 300.0,
        on_reconnect: OnReconnect | None = None,
    ) -> Iterator[Event]:
        """The events of a run, once and in order, across reconnects; ends after the terminal one. Leave the loop to end it early."""
        watching = self._watching(after_event_id, types, silence, give_up, on_reconnect)
        return self._drive.emit(watch(run_id, watching))

    def wait(self, run_id: str) -> Run:
        """Waits for the end and returns the run, however it ended."""
        return self._drive.run(self._calls.wait(run_id))

    def get(self, run_id: str) -> Run:
        """One run with its nodes."""
        return self._drive.run(self._calls.get(run_id))

    def list(self, **options: Unpack[ListRuns]) -> RunPage:
        """A page of runs, newest first."""
        return self._drive.run(self._calls.list(**options))

    def cancel(self, run_id: str, *, reason: str = "", request_id: str | None = None) -> Run:
        """Aborts running nodes and ends the run. Raises PawlError RUN_ALREADY_FINISHED."""
        return self._drive.run(self._calls.cancel(run_id, reason=reason, request_id=request_id))

    def pause(self, run_id: str, **options: Unpack[PauseRunOptions]) -> Run:
        """Stops planning and claiming; running nodes finish. Harmless when the run is paused already. Raises PawlError RUN_ALREADY_FINISHED."""
        return self._drive.run(self._calls.pause(run_id, **options))

    def resume(self, run_id: str, **options: Unpack[PauseRunOptions]) -> Run:
        """Resumes a paused run. Raises PawlError WORKFLOW_PAUSED or RUN_ALREADY_FINISHED."""
        return self._drive.run(self._calls.resume(run_id, **options))

    def close(self) -> None:
        """Closes the connections; calls under way fail."""
        self._lanes.close()
        for channel in self._gateways.channels:
            channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _watching(
        self, after: int, types: Iterable[str], silence: float, give_up: float, on_reconnect: OnReconnect | None
    ) -> WatchOptions:
        return WatchOptions(after, tuple(types), silence, give_up, self._caller.timeout, on_reconnect)
