"""Runs: start, run to the end, execute, read, wait, pause, cancel.

Starts share the standing streams of the client. A gateway without such streams answers UNIMPLEMENTED; then each start is a call of its own,
with the same request id, so that nothing starts twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypedDict, Unpack

import grpc

from pawl_sdk import _json
from pawl_sdk._calls.caller import Caller, PauseOptions, fresh_id, json_bytes, paused
from pawl_sdk._gen.pawl.v1 import run_pb2
from pawl_sdk._gen.pawl.v1 import run_service_pb2 as service
from pawl_sdk._plain import short_name, values_of
from pawl_sdk._steps import SILENT, Await, Close, Emissions, Method, Next, Open, Pause, Steps, Submit
from pawl_sdk._entry import Entry, NoStream
from pawl_sdk._watch import GET_RUN, WatchOptions, watch
from pawl_sdk.errors import UNREACHABLE, UNRECOGNISED, PawlError, RunFailed
from pawl_sdk.model import AcceptedRun, Event, Run, RunPage, StartedRun, StartItem

_START = Method("/pawl.v1.RunService/StartRun", service.StartRunResponse)
_EXECUTE = Method("/pawl.v1.RunService/ExecuteRun", service.ExecuteRunResponse)
_WAIT = Method("/pawl.v1.RunService/WaitRun", service.WaitRunResponse)
_LIST = Method("/pawl.v1.RunService/ListRuns", service.ListRunsResponse)
_CANCEL = Method("/pawl.v1.RunService/CancelRun", service.CancelRunResponse)
_PAUSE = Method("/pawl.v1.RunService/PauseRun", service.PauseRunResponse)
_RESUME = Method("/pawl.v1.RunService/ResumeRun", service.ResumeRunResponse)

OnStart: TypeAlias = Callable[[AcceptedRun], None]


class StartOptions(TypedDict, total=False):
    """How to start a run. `input_json` is JSON text that is sent to the letter; it takes precedence over the input."""

    input_json: str | None
    version: int
    priority: int
    deadline: float | None
    """How many seconds the run may take; default the definition's own."""
    dedupe_input: float | None
    """For so many seconds, a second start with the same workflow and input returns the first run."""
    request_id: str | None


class PauseRunOptions(PauseOptions, total=False):
    """How to pause a run; `children` means also the runs below it."""

    children: bool


class ListRuns(TypedDict, total=False):
    """Which runs."""

    workflow_id: str
    statuses: Iterable[str]
    schedule_id: str
    query: str
    page_size: int
    page_token: str


@dataclass(frozen=True, slots=True)
class RunCalls:
    """The calls of runs."""

    caller: Caller

    def start(self, workflow_id: str, input: object, **options: Unpack[StartOptions]) -> Steps[AcceptedRun]:
        request = start_request(workflow_id, input, options)
        try:
            entry: Entry = yield Submit(request, wait=False)
            return (yield from _accepted(entry))
        except NoStream:
            return (yield from self._start_by_call(request))

    def start_many(self, items: Iterable[StartItem]) -> Steps[list[AcceptedRun | PawlError]]:
        # All are built first: a value that is no JSON raises before anything starts.
        requests = [_item_request(item) for item in items]
        submitted: list[Entry | Exception] = []
        for request in requests:
            try:
                submitted.append((yield Submit(request, wait=False)))
            except (PawlError, NoStream) as refused:
                submitted.append(refused)
        outcomes: list[AcceptedRun | PawlError] = []
        for request, entry in zip(requests, submitted, strict=True):
            try:
                outcomes.append((yield from self._outcome(request, entry)))
            except PawlError as refused:
                outcomes.append(refused)
        return outcomes

    def _outcome(self, request: service.StartRunRequest, entry: Entry | Exception) -> Steps[AcceptedRun]:
        try:
            if isinstance(entry, Exception):
                raise entry
            return (yield from _accepted(entry))
        except NoStream:
            return (yield from self._start_by_call(request))

    def run(
        self, workflow_id: str, input: object, on_start: OnStart | None, **options: Unpack[StartOptions]
    ) -> Steps[Any]:
        """Starts a run, waits for its end and returns its output. Raises RunFailed when it did not complete."""
        request = start_request(workflow_id, input, options)
        has_started = False
        try:
            entry: Entry = yield Submit(request, wait=True)
            accepted: service.AcceptedSubmission | None = yield Await(entry.accepted)
            if accepted is not None and on_start is not None:
                has_started = True
                on_start(AcceptedRun(accepted.run_id, accepted.duplicate))
            end: service.RunEnd | None = yield Await(entry.ended)
        except NoStream:
            return (yield from self._run_by_calls(request, None if has_started else on_start))
        if end is None:
            raise PawlError(UNRECOGNISED, "the answer lacks its end")
        if end.status != run_pb2.RUN_STATUS_COMPLETED:
            status = short_name(run_pb2.RunStatus.DESCRIPTOR, end.status)
            raise RunFailed(end.run_id, status, end.error_message, end.failed_node_id)
        return _json.loads(end.output_json)

    def _start_by_call(self, request: service.StartRunRequest) -> Steps[AcceptedRun]:
        answer = yield from self.caller.call(_START, request)
        return AcceptedRun(answer.run.run_id, answer.duplicate)

    def _run_by_calls(self, request: service.StartRunRequest, on_start: OnStart | None) -> Steps[Any]:
        accepted = yield from self._start_by_call(request)
        if on_start is not None:
            on_start(accepted)
        run = yield from self.wait(accepted.run_id)
        if run.status != "completed":
            raise RunFailed(run.run_id, run.status, run.error)
        return run.output

    def execute(
        self,
        workflow_id: str,
        input: object,
        watching: WatchOptions,
        on_start: Callable[[StartedRun], None] | None,
        options: StartOptions,
    ) -> Emissions[Event]:
        """Starts a run and emits its events. The first message names the run, and the rest is the first connection of a watch. A call that
        fails before that message is repeated: the request id makes it the same run.
        """
        start = start_request(workflow_id, input, options)
        request = service.ExecuteRunRequest(start=start, types=watching.types)
        first = yield from self._begin(request)
        if on_start is not None:
            on_start(StartedRun(Run.of(first.run), first.duplicate))
        yield from watch(first.run.run_id, watching, first)

    def _begin(self, request: service.ExecuteRunRequest) -> Steps[service.ExecuteRunResponse]:
        attempt = 1
        while True:
            try:
                yield Open(_EXECUTE, request)
                first: Any = yield Next(self.caller.timeout)
                if isinstance(first, service.ExecuteRunResponse):
                    return first
                raise self._unnamed(is_silent=first is SILENT)
            except PawlError as error:
                yield Close()
                yield Pause(self.caller.pause_after(error, attempt))
            attempt += 1

    def _unnamed(self, *, is_silent: bool) -> PawlError:
        if not is_silent:
            return PawlError(UNREACHABLE, "the stream ended before it began")
        message = f"no answer for {self.caller.timeout} s"
        return PawlError("DEADLINE_PASSED", message, code=grpc.StatusCode.DEADLINE_EXCEEDED)

    def get(self, run_id: str) -> Steps[Run]:
        answer = yield from self.caller.call(GET_RUN, service.GetRunRequest(run_id=run_id))
        return Run.of(answer.run)

    def wait(self, run_id: str) -> Steps[Run]:
        """Waits for the end. The server answers after 20 s at the latest, and the call is repeated."""
        while True:
            answer = yield from self.caller.call(_WAIT, service.WaitRunRequest(run_id=run_id))
            if answer.has_ended:
                return Run.of(answer.run)

    def cancel(self, run_id: str, *, reason: str, request_id: str | None) -> Steps[Run]:
        request = service.CancelRunRequest(
            run_id=run_id, reason=reason, request_id=request_id or fresh_id()
        )
        return Run.of((yield from self.caller.call(_CANCEL, request)).run)

    def pause(self, run_id: str, **options: Unpack[PauseRunOptions]) -> Steps[Run]:
        request = service.PauseRunRequest(
            run_id=run_id, children=options.get("children", False), **paused(options)
        )
        return Run.of((yield from self.caller.call(_PAUSE, request)).run)

    def resume(self, run_id: str, **options: Unpack[PauseRunOptions]) -> Steps[Run]:
        request = service.ResumeRunRequest(
            run_id=run_id, children=options.get("children", False), **paused(options)
        )
        return Run.of((yield from self.caller.call(_RESUME, request)).run)

    def list(self, **options: Unpack[ListRuns]) -> Steps[RunPage]:
        request = service.ListRunsRequest(
            workflow_id=options.get("workflow_id", ""),
            statuses=values_of(run_pb2.RunStatus.DESCRIPTOR, options.get("statuses", ())),
            schedule_id=options.get("schedule_id", ""),
            query=options.get("query", ""),
            page_size=options.get("page_size", 0),
            page_token=options.get("page_token", ""),
        )
        answer = yield from self.caller.call(_LIST, request)
        return RunPage(tuple(Run.of(run) for run in answer.runs), answer.next_page_token)


def _accepted(entry: Entry) -> Steps[AcceptedRun]:
    yield Await(entry.ended)
    accepted: service.AcceptedSubmission | None = entry.accepted.result()
    if accepted is None:
        raise PawlError(UNRECOGNISED, "the answer lacks its run")
    return AcceptedRun(accepted.run_id, accepted.duplicate)


def start_request(workflow_id: str, input: object, options: StartOptions) -> service.StartRunRequest:
    """A start as the server takes it."""
    request = service.StartRunRequest(
        workflow_id=workflow_id,
        version=options.get("version", 0),
        input_json=json_bytes(input, options.get("input_json")),
        request_id=options.get("request_id") or fresh_id(),
        priority=options.get("priority", 0),
    )
    deadline, dedupe = options.get("deadline"), options.get("dedupe_input")
    if deadline is not None:
        request.deadline.FromMilliseconds(round(deadline * 1000))
    if dedupe is not None:
        request.idempotency.scope = service.IDEMPOTENCY_SCOPE_INPUT_HASH
        request.idempotency.ttl.FromMilliseconds(round(dedupe * 1000))
    return request


def _item_request(item: StartItem) -> service.StartRunRequest:
    options = StartOptions(
        input_json=item.input_json,
        version=item.version,
        priority=item.priority,
        deadline=item.deadline,
        dedupe_input=item.dedupe_input,
        request_id=item.request_id,
    )
    return start_request(item.workflow_id, item.input, options)
