"""The client for code that blocks. Threads may share it: starts share its standing streams, and each watch has a stream of its own."""

from __future__ import annotations

import builtins
import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self, TypeVar, Unpack, overload

import grpc

from pawl_sdk._address import OPTIONS, ForkGuard
from pawl_sdk._calls.caller import Caller
from pawl_sdk._calls.filters import FilterCalls
from pawl_sdk._calls.run_control import RunControlCalls
from pawl_sdk._calls.run_details import RunDetailCalls
from pawl_sdk._calls.runs import OnStart, RunCalls
from pawl_sdk._drive_blocking import BlockingDriver
from pawl_sdk._entry import closed
from pawl_sdk._gateways import Gateways
from pawl_sdk._lanes_blocking import BlockingLanes
from pawl_sdk._steps import Emissions, OnReconnect, Steps
from pawl_sdk._stream import Callbacks, stream, watch_with_callbacks
from pawl_sdk._watch import WatchOptions, watch
from pawl_sdk._watch_many import OnLost, watch_many
from pawl_sdk._watch_thread import stream_thread, watch_thread
from pawl_sdk.details import EffectPage, EventPage, Explanation, Invocation, TagPage, TaintTrace
from pawl_sdk.errors import PawlError, RunFailed
from pawl_sdk.model import AcceptedRun, Event, KeptFilter, KeptFilterPage, Run, RunPage, SignalledRun, StartItem, TestedRun
from pawl_sdk.options import (
    ControlRunOptions,
    Decision,
    ListRunsOptions,
    StartOptions,
    StopMode,
    TestRunOptions,
    TopUpOptions,
    WatchThreadOptions,
)
from pawl_sdk.resources import (
    Approvals,
    Archive,
    Assistants,
    Commands,
    DeadLetters,
    NodeTypes,
    Queues,
    Repairs,
    Schedules,
    Threads,
    Webhooks,
    Workflows,
)
from pawl_sdk.state import WorkflowState
from pawl_sdk.streaming import OnCheckpoint, OnTaskResult, StreamItem, StreamMode, ThreadEvent, ThreadItem
from pawl_sdk.webhooks import RunResult

T = TypeVar("T")


class _Drive:
    """Makes the steps of every call of a client, in its process only, until the client is closed.

    The threads of the lanes do not hold it. So a client that the program dropped is collected, and its threads and connections end then.
    """

    def __init__(self, gateways: Gateways[grpc.Channel], lanes: BlockingLanes) -> None:
        self._guard = ForkGuard("Client")
        self._gateways = gateways
        self._lanes = lanes
        self._dropped = weakref.finalize(self, _drop, gateways, lanes, self._guard)
        self._dropped.atexit = False

    def run(self, steps: Steps[T], timeout: float | None = None) -> T:
        return self._driver(timeout).run(steps)

    def emit(self, steps: Emissions[T], timeout: float | None = None) -> Iterator[T]:
        return self._driver(timeout).emit(steps)

    def close(self) -> None:
        self._dropped.detach()
        # In a child a lock may stay taken for ever, and the connections belong to the parent.
        if not self._guard.is_child:
            _close(self._gateways, self._lanes)

    def _driver(self, timeout: float | None) -> BlockingDriver:
        self._guard.check()
        if self._lanes.is_closed:
            raise closed()
        return BlockingDriver(self._gateways, self._lanes, self, timeout)


def _close(gateways: Gateways[grpc.Channel], lanes: BlockingLanes) -> None:
    lanes.close()
    for channel in gateways.channels:
        channel.close()


def _drop(gateways: Gateways[grpc.Channel], lanes: BlockingLanes, guard: ForkGuard) -> None:
    """The program dropped a client without closing it."""
    if guard.is_child:
        return
    warnings.warn("a Client was dropped without close()", ResourceWarning, stacklevel=2)
    # In a thread of its own: the collector runs anywhere, also where a lock of gRPC is taken.
    threading.Thread(target=_close, args=(gateways, lanes), name="pawl-close", daemon=True).start()


def _open(target: str, is_tls: bool) -> grpc.Channel:
    if is_tls:
        return grpc.secure_channel(target, grpc.ssl_channel_credentials(), options=OPTIONS)
    return grpc.insecure_channel(target, options=OPTIONS)


class Client:
    """Calls gateways: one until it cannot be reached, then the next. Without an address it takes PAWL_ADDRESS, or the gateway of this machine.

    Close it when you are done, or use it in `with`: it has threads and connections of its own. `attempts` bounds the attempts of a call,
    and `timeout` the seconds of each attempt.
    """

    def __init__(
        self, address: str | Sequence[str] | None = None, *, attempts: int = 4, timeout: float = 30.0
    ) -> None:
        gateways = Gateways(address, _open)
        self._drive = _Drive(gateways, BlockingLanes(attempts, timeout, gateways.own_channel))
        self._caller = Caller(attempts, timeout)
        self._calls = RunCalls(self._caller)
        self._details = RunDetailCalls(self._caller)
        self._control = RunControlCalls(self._caller)
        self._filters = FilterCalls(self._caller)
        self.workflows = Workflows(self._drive, self._caller)
        self.approvals = Approvals(self._drive, self._caller)
        self.schedules = Schedules(self._drive, self._caller)
        self.archive = Archive(self._drive, self._caller)
        self.assistants = Assistants(self._drive, self._caller)
        self.threads = Threads(self._drive, self._caller)
        self.webhooks = Webhooks(self._drive, self._caller)
        self.repairs = Repairs(self._drive, self._caller)
        self.queues = Queues(self._drive, self._caller)
        self.commands = Commands(self._drive, self._caller)
        self.dead_letters = DeadLetters(self._drive, self._caller)
        self.node_types = NodeTypes(self._drive, self._caller)

    @overload
    def run(
        self,
        workflow_id: str,
        input: object = None,
        *,
        with_result: Literal[True],
        on_start: OnStart | None = None,
        timeout: float | None = None,
        **options: Unpack[StartOptions],
    ) -> RunResult: ...

    @overload
    def run(
        self,
        workflow_id: str,
        input: object = None,
        *,
        with_result: bool = False,
        on_start: OnStart | None = None,
        timeout: float | None = None,
        **options: Unpack[StartOptions],
    ) -> Any: ...

    def run(
        self,
        workflow_id: str,
        input: object = None,
        *,
        with_result: bool = False,
        on_start: OnStart | None = None,
        timeout: float | None = None,
        **options: Unpack[StartOptions],
    ) -> Any:
        """Starts a run, waits for its end, across reconnects, and returns its output. Raises RunFailed when the run did not complete.

        `on_start` is called once, when the run is accepted. After `timeout` seconds the call raises PawlError DEADLINE_PASSED, and the run
        continues. With `with_result` it returns the record of the run, as `result` does, however the run ended.
        """
        steps = self._calls.run(workflow_id, input, on_start, with_result=with_result, **options)
        try:
            return self._drive.run(steps, timeout)
        except RunFailed as failed:
            failed._fetch = self.result
            raise

    def start(self, workflow_id: str, input: object = None, **options: Unpack[StartOptions]) -> AcceptedRun:
        """Starts a run of a saved workflow and returns as soon as it is accepted."""
        return self._drive.run(self._calls.start(workflow_id, input, **options))

    def start_many(self, items: Iterable[StartItem]) -> builtins.list[AcceptedRun | PawlError]:
        """Starts many runs, in batches. Every start has its own outcome, in the order of the list; one that is refused does not affect others."""
        return self._drive.run(self._calls.start_many(items))

    def execute(
        self,
        workflow_id: str,
        input: object = None,
        *,
        on_start: OnStart | None = None,
        types: Iterable[str] = (),
        silence: float = 45.0,
        give_up: float = 300.0,
        on_reconnect: OnReconnect | None = None,
        timeout: float | None = None,
        **options: Unpack[StartOptions],
    ) -> Iterator[Event]:
        """Starts a run and gives its events from the first one on, once and in order, across reconnects. Leave the loop to leave the run.

        After `timeout` seconds it raises PawlError DEADLINE_PASSED, and the run continues.
        """
        watching = self._watching(0, types, silence, give_up, on_reconnect)
        return self._drive.emit(self._calls.execute(workflow_id, input, watching, on_start, options), timeout)

    def watch(
        self,
        run_id: str,
        *,
        after_event_id: int = 0,
        types: Iterable[str] = (),
        node_ids: Iterable[str] = (),
        node_types: Iterable[str] = (),
        silence: float = 45.0,
        give_up: float = 300.0,
        on_reconnect: OnReconnect | None = None,
        on_checkpoint: OnCheckpoint | None = None,
        on_task_result: OnTaskResult | None = None,
        timeout: float | None = None,
    ) -> Iterator[Event]:
        """The events of a run, once and in order, across reconnects; ends after the terminal one. Leave the loop to end it early.

        `on_checkpoint` is called after each step, and `on_task_result` when a node execution has ended; `types` does not filter them. An error
        that they raise ends the watch. After `timeout` seconds it raises PawlError DEADLINE_PASSED, and the run continues.
        """
        watching = self._watching(after_event_id, types, silence, give_up, on_reconnect, node_ids, node_types)
        callbacks = Callbacks(on_checkpoint, on_task_result)
        if callbacks.modes:
            return self._drive.emit(watch_with_callbacks(run_id, callbacks, watching), timeout)
        return self._drive.emit(watch(run_id, watching), timeout)

    def stream(
        self,
        run_id: str,
        modes: Sequence[StreamMode],
        *,
        after_event_id: int = 0,
        types: Iterable[str] = (),
        node_ids: Iterable[str] = (),
        node_types: Iterable[str] = (),
        silence: float = 45.0,
        give_up: float = 300.0,
        on_reconnect: OnReconnect | None = None,
        timeout: float | None = None,
    ) -> Iterator[StreamItem]:
        """A run in modes: the log in other forms, with the cursor of a watch; ends after the control item `done`, which comes in every mode.

        After `timeout` seconds it raises PawlError DEADLINE_PASSED, and the run continues.
        """
        watching = self._watching(after_event_id, types, silence, give_up, on_reconnect, node_ids, node_types)
        return self._drive.emit(stream(run_id, modes, watching), timeout)

    def watch_many(
        self,
        runs: Mapping[str, int],
        *,
        types: Iterable[str] = (),
        silence: float = 45.0,
        on_lost: OnLost | None = None,
        timeout: float | None = None,
    ) -> Iterator[Event]:
        """The events of at most 100 runs over one connection, each once and in the order of its run; ends when all runs have ended.

        `runs` has the last event id that the caller has of each run, 0 for none. `on_lost` is called for a run that cannot be read. To add or
        remove runs, leave the loop and call it again. After `timeout` seconds it raises PawlError DEADLINE_PASSED, and the runs continue.
        """
        return self._drive.emit(watch_many(runs, tuple(types), silence, on_lost), timeout)

    def watch_thread(
        self, thread_id: str, *, timeout: float | None = None, **options: Unpack[WatchThreadOptions]
    ) -> Iterator[ThreadEvent]:
        """The events of all runs of a thread, each run whole, in the order in which they took the thread, across reconnects.

        It stays open between runs; with `until_idle` it ends when no run holds the thread. Raises PawlError THREAD_NOT_FOUND, also when the
        thread is deleted, and CURSOR_OUT_OF_RANGE. After `timeout` seconds it raises PawlError DEADLINE_PASSED, and the runs continue.
        """
        return self._drive.emit(watch_thread(thread_id, options), timeout)

    def stream_thread(
        self,
        thread_id: str,
        modes: Sequence[StreamMode],
        *,
        timeout: float | None = None,
        **options: Unpack[WatchThreadOptions],
    ) -> Iterator[ThreadItem]:
        """The runs of a thread in modes, as `watch_thread` gives their events. Each run ends with its control item `done`."""
        return self._drive.emit(stream_thread(thread_id, modes, options), timeout)

    def wait(self, run_id: str, *, timeout: float | None = None) -> Run:
        """Waits for the end and returns the run, however it ended. Raises PawlError DEADLINE_PASSED after `timeout` seconds; the run continues."""
        return self._drive.run(self._calls.wait(run_id), timeout)

    def result(self, run_id: str, *, timeout: float | None = None) -> RunResult:
        """Waits for the end and returns the record of the run: output, state, cause of a failure, times and webhooks."""
        return self._drive.run(self._calls.result(run_id), timeout)

    def get(self, run_id: str, *, at_event_id: int | None = None) -> Run:
        """One run with its nodes, now or after an event of its log. Raises PawlError CURSOR_OUT_OF_RANGE."""
        return self._drive.run(self._calls.get(run_id, at_event_id=at_event_id))

    def state(self, run_id: str, *, at_event_id: int | None = None) -> WorkflowState:
        """The workflow state of a run, now or after an event of its log."""
        return self._drive.run(self._calls.state(run_id, at_event_id=at_event_id))

    def list(self, **options: Unpack[ListRunsOptions]) -> RunPage:
        """A page of runs, newest first."""
        return self._drive.run(self._calls.list(**options))

    def explain(self, run_id: str, node_id: str, *, iteration: int = 0) -> Explanation:
        """Why a node is in its state, with the events that prove it. Raises PawlError NODE_NOT_FOUND."""
        return self._drive.run(self._details.explain(run_id, node_id, iteration))

    def explain_taint(self, run_id: str, node_id: str = "", *, iteration: int = 0, memory_key: str = "") -> TaintTrace:
        """Why a node, or a key of the memory, is labelled. Raises PawlError NODE_NOT_FOUND or MEMORY_KEY_NOT_FOUND."""
        return self._drive.run(self._details.explain_taint(run_id, node_id, iteration, memory_key))

    def invocation(self, run_id: str, node_id: str, *, iteration: int = 0) -> Invocation:
        """What the handler of a node got at its last start, and what came of it. Raises PawlError NODE_NOT_FOUND or NODE_NOT_INVOKED."""
        return self._drive.run(self._details.invocation(run_id, node_id, iteration))

    def value_text(self, run_id: str, sha256: str) -> str:
        """The JSON text of a value that is too large for the log, by the digest in its reference. Raises VALUE_NOT_FOUND or VALUE_CORRUPT."""
        return self._drive.run(self._details.value_text(run_id, sha256))

    def effects(
        self, run_id: str, *, node_id: str = "", page_size: int = 0, page_token: str = ""
    ) -> EffectPage:
        """A page of the effects of a run on the outside world, from the effect ledger; with `node_id` only those of this node."""
        return self._drive.run(
            self._details.effects(run_id, node_id=node_id, page_size=page_size, page_token=page_token)
        )

    def events(self, run_id: str, *, after_event_id: int = 0, page_size: int = 0) -> EventPage:
        """A page of the log of a run, in order."""
        return self._drive.run(
            self._details.events(run_id, after_event_id=after_event_id, page_size=page_size)
        )

    def tags(
        self, run_id: str, *, node_id: str = "", after_event_id: int = 0, page_size: int = 0
    ) -> TagPage:
        """A page of the status transitions of a run, in order; with `node_id` only those of this node."""
        return self._drive.run(
            self._details.tags(run_id, node_id=node_id, after_event_id=after_event_id, page_size=page_size)
        )

    def test(
        self, definition: str | dict[str, Any], input: object = None, **options: Unpack[TestRunOptions]
    ) -> TestedRun:
        """Runs a graph that is not saved (a value, or text in JSON or YAML). Raises PawlError DEFINITION_INVALID."""
        return self._drive.run(self._control.test(definition, input, **options))

    def cancel(
        self,
        run_id: str,
        *,
        reason: str = "",
        compensate: bool | None = None,
        mode: StopMode | None = None,
        request_id: str | None = None,
    ) -> Run:
        """Aborts running nodes and ends the run. Completed nodes that have a compensation are undone first: `compensate` says whether, and
        the workflow's compensate_on if it is None. Another cancel stops that. `mode` interrupt keeps the results, so `resume` continues the run;
        rollback undoes what can be undone, and its thread forgets the run. Raises PawlError RUN_ALREADY_FINISHED."""
        return self._drive.run(
            self._control.cancel(
                run_id, reason=reason, compensate=compensate, mode=mode, request_id=request_id
            )
        )

    def pause(self, run_id: str, **options: Unpack[ControlRunOptions]) -> Run:
        """Stops planning and claiming; running nodes finish. Harmless when the run is paused already. Raises PawlError RUN_ALREADY_FINISHED."""
        return self._drive.run(self._control.pause(run_id, **options))

    def resume(self, run_id: str, **options: Unpack[ControlRunOptions]) -> Run:
        """Resumes a paused run, or continues an interrupted one as a new run. Raises PawlError WORKFLOW_PAUSED or RUN_ALREADY_FINISHED."""
        return self._drive.run(self._control.resume(run_id, **options))

    def signal(
        self, run_id: str, name: str, payload: object = None, *, payload_json: str | None = None, request_id: str | None = None
    ) -> SignalledRun:
        """Sends a signal: the oldest wait for it ends, or the run keeps it. Raises PawlError SIGNAL_NOT_AWAITED or TOO_MANY_SIGNALS."""
        sent = self._control.signal(run_id, name, payload, payload_json=payload_json, request_id=request_id)
        return self._drive.run(sent)

    def update_metadata(self, run_id: str, metadata: Mapping[str, Any]) -> Run:
        """Merges a change into the metadata of a live run; None deletes a key. Raises PawlError RUN_ALREADY_FINISHED."""
        return self._drive.run(self._filters.update_metadata(run_id, metadata))

    def save_filter(self, name: str, filter: str) -> KeptFilter:
        """Keeps a filter of runs under a name. Raises PawlError FILTER_INVALID."""
        return self._drive.run(self._filters.save(name, filter))

    def filters(self, *, page_size: int = 0, page_token: str = "") -> KeptFilterPage:
        """One page of the kept filters, by name."""
        return self._drive.run(self._filters.list(page_size=page_size, page_token=page_token))

    def delete_filter(self, name: str) -> None:
        """Deletes a kept filter. Raises PawlError RUN_FILTER_NOT_FOUND."""
        return self._drive.run(self._filters.delete(name))

    def top_up(self, run_id: str, **options: Unpack[TopUpOptions]) -> Run:
        """Raises the budget of a run. A run that paused because its budget was short continues. Raises PawlError BUDGET_NOT_LIMITED."""
        return self._drive.run(self._control.top_up(run_id, **options))

    def decide(
        self,
        run_id: str,
        node_id: str,
        decision: Decision,
        *,
        iteration: int = 0,
        comment: str = "",
        request_id: str | None = None,
    ) -> Run:
        """Approves or rejects a node that waits for a person. Raises PawlError NODE_NOT_HELD or NODE_ALREADY_DECIDED."""
        return self._drive.run(
            self._control.decide(
                run_id, node_id, decision, iteration=iteration, comment=comment, request_id=request_id
            )
        )

    def recheck(self, run_id: str, *, request_id: str | None = None) -> Run:
        """Checks the whole log again, and lifts the quarantine when the log is intact. Raises PawlError EVENT_LOG_CORRUPTION."""
        return self._drive.run(self._control.recheck(run_id, request_id))

    def delete(self, run_id: str, *, request_id: str | None = None) -> None:
        """Deletes a test run with its history; a live one is cancelled first. Raises PawlError RUN_NOT_DELETABLE."""
        self._drive.run(self._control.delete(run_id, request_id))

    def close(self) -> None:
        """Closes the connections. Calls under way and later calls raise PawlError CALLER_CANCELLED; runs continue.

        In a forked child it does nothing.
        """
        self._drive.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _watching(
        self,
        after: int,
        types: Iterable[str],
        silence: float,
        give_up: float,
        on_reconnect: OnReconnect | None,
        node_ids: Iterable[str] = (),
        node_types: Iterable[str] = (),
    ) -> WatchOptions:
        nodes = tuple(node_ids), tuple(node_types)
        return WatchOptions(after, tuple(types), silence, give_up, self._caller.timeout, on_reconnect, *nodes)
