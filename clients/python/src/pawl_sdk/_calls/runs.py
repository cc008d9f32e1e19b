"""Runs: start, run to the end, execute, read, wait.

Starts share the standing streams of the client. A gateway without such streams answers UNIMPLEMENTED; then each start is a call of its own,
with the same request id, so that nothing starts twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, Unpack

import grpc

from pawl_sdk import _json
from pawl_sdk._calls.caller import Caller, amount_fields, duration_of, fresh_id, json_bytes, timestamp_of
from pawl_sdk._calls.webhooks import run_webhook
from pawl_sdk._entry import Entry, NoStream
from pawl_sdk._gen.pawl.v1 import run_pb2
from pawl_sdk._gen.pawl.v1 import run_service_pb2 as service
from pawl_sdk._plain import failure_class_name, short_name, values_of
from pawl_sdk._steps import SILENT, Await, Close, Emissions, Method, Next, Open, Sleep, Steps, Submit, Together
from pawl_sdk._watch import GET_RUN, WatchOptions, watch
from pawl_sdk.errors import UNREACHABLE, UNRECOGNISED, PawlError, RunFailed
from pawl_sdk.model import AcceptedRun, Event, Run, RunPage, StartItem
from pawl_sdk.options import Budget, ListRunsOptions, StartOptions, TestRunOptions
from pawl_sdk.state import WorkflowState
from pawl_sdk.webhooks import RunResult

_START = Method("/pawl.v1.RunService/StartRun", service.StartRunResponse)
_EXECUTE = Method("/pawl.v1.RunService/ExecuteRun", service.ExecuteRunResponse)
_WAIT = Method("/pawl.v1.RunService/WaitRun", service.WaitRunResponse)
_LIST = Method("/pawl.v1.RunService/ListRuns", service.ListRunsResponse)

# How many starts of start_many are under way at once as calls of their own.
_START_CALLS_MAX = 16

OnStart: TypeAlias = Callable[[AcceptedRun], None]


@dataclass(frozen=True, slots=True)
class RunCalls:
    """The calls of runs."""

    caller: Caller

    def start(self, workflow_id: str, input: object, **options: Unpack[StartOptions]) -> Steps[AcceptedRun]:
        request = start_request(workflow_id, input, options)
        try:
            entries: Sequence[Entry] = yield Submit([request], wait=False)
            return (yield from _accepted(entries[0]))
        except NoStream:
            return (yield from self._start_by_call(request))

    def start_many(self, items: Iterable[StartItem]) -> Steps[list[AcceptedRun | PawlError]]:
        # All are built first: a value that is no JSON raises before anything starts.
        requests = [_item_request(item) for item in items]
        entries: Sequence[Entry] = yield Submit(requests, wait=False)
        outcomes: dict[int, AcceptedRun | PawlError] = {}
        calls: dict[int, Steps[AcceptedRun]] = {}
        for at, entry in enumerate(entries):
            try:
                outcomes[at] = yield from _accepted(entry)
            except PawlError as refused:
                outcomes[at] = refused
            except NoStream:
                calls[at] = self._start_by_call(requests[at])
        if calls:
            called = yield Together(list(calls.values()), _START_CALLS_MAX)
            outcomes.update(zip(calls, called, strict=True))
        return [outcomes[at] for at in range(len(requests))]

    def run(
        self,
        workflow_id: str,
        input: object,
        on_start: OnStart | None,
        *,
        with_result: bool = False,
        **options: Unpack[StartOptions],
    ) -> Steps[Any]:
        """Starts a run, waits for its end and returns its output or its record. Without the record it raises RunFailed when the run did not
        complete.
        """
        request = start_request(workflow_id, input, options)
        has_started = False
        try:
            entries: Sequence[Entry] = yield Submit([request], wait=True)
            entry = entries[0]
            accepted: service.AcceptedSubmission | None = yield Await(entry.accepted)
            if accepted is not None and on_start is not None:
                has_started = True
                on_start(AcceptedRun(accepted.run_id, accepted.duplicate))
            end: service.RunEnd | None = yield Await(entry.ended)
        except NoStream:
            return (yield from self._run_by_calls(request, None if has_started else on_start, with_result=with_result))
        if end is None:
            raise PawlError(UNRECOGNISED, "the answer lacks its end")
        if with_result:
            return (yield from self.result(end.run_id))
        if end.status != run_pb2.RUN_STATUS_COMPLETED:
            status = short_name(run_pb2.RunStatus.DESCRIPTOR, end.status)
            raise RunFailed(
                end.run_id,
                status,
                end.error_message,
                end.failed_node_id,
                cause=end.cause,
                failure_class=failure_class_name(end.failure_class),
            )
        return _json.loads(end.output_json)

    def _start_by_call(self, request: service.StartRunRequest) -> Steps[AcceptedRun]:
        answer = yield from self.caller.call(_START, request)
        return AcceptedRun(answer.run.run_id, answer.duplicate)

    def _run_by_calls(
        self, request: service.StartRunRequest, on_start: OnStart | None, *, with_result: bool
    ) -> Steps[Any]:
        accepted = yield from self._start_by_call(request)
        if on_start is not None:
            on_start(accepted)
        answer = yield from self._wait(accepted.run_id, with_result=True)
        if with_result:
            return RunResult.of(answer.result)
        run = Run.of(answer.run)
        if run.status != "completed":
            raise RunFailed(
                run.run_id,
                run.status,
                run.error,
                answer.result.exception.node_id,
                cause=run.cause,
                failure_class=run.failure_class,
            )
        return run.output

    def execute(
        self,
        workflow_id: str,
        input: object,
        watching: WatchOptions,
        on_start: OnStart | None,
        options: StartOptions,
    ) -> Emissions[Event]:
        """Starts a run and emits its events. The first message names the run, and the rest is the first connection of a watch. A call that
        fails before that message is repeated: the request id makes it the same run.
        """
        start = start_request(workflow_id, input, options)
        request = service.ExecuteRunRequest(start=start, types=watching.types)
        first = yield from self._begin(request)
        if on_start is not None:
            on_start(AcceptedRun(first.run.run_id, first.duplicate))
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
                yield Sleep(self.caller.pause_after(error, attempt))
            attempt += 1

    def _unnamed(self, *, is_silent: bool) -> PawlError:
        if not is_silent:
            return PawlError(UNREACHABLE, "the stream ended before it began")
        message = f"no answer for {self.caller.timeout} s"
        return PawlError("DEADLINE_PASSED", message, code=grpc.StatusCode.DEADLINE_EXCEEDED)

    def get(self, run_id: str, *, at_event_id: int | None = None) -> Steps[Run]:
        answer = yield from self.caller.call(GET_RUN, _at(run_id, at_event_id))
        return Run.of(answer.run)

    def state(self, run_id: str, *, at_event_id: int | None = None) -> Steps[WorkflowState]:
        answer = yield from self.caller.call(GET_RUN, _at(run_id, at_event_id))
        return WorkflowState.of(answer.run.state)

    def wait(self, run_id: str) -> Steps[Run]:
        answer = yield from self._wait(run_id, with_result=False)
        return Run.of(answer.run)

    def result(self, run_id: str) -> Steps[RunResult]:
        answer = yield from self._wait(run_id, with_result=True)
        return RunResult.of(answer.result)

    def _wait(self, run_id: str, *, with_result: bool) -> Steps[service.WaitRunResponse]:
        """Waits for the end. The server answers after 20 s at the latest, and the call is repeated."""
        request = service.WaitRunRequest(run_id=run_id, with_result=with_result)
        while True:
            answer = yield from self.caller.call(_WAIT, request)
            if answer.has_ended:
                return answer

    def list(self, **options: Unpack[ListRunsOptions]) -> Steps[RunPage]:
        request = service.ListRunsRequest(
            workflow_id=options.get("workflow_id", ""),
            statuses=values_of(run_pb2.RunStatus.DESCRIPTOR, options.get("statuses", ())),
            schedule_id=options.get("schedule_id", ""),
            thread_id=options.get("thread_id", ""),
            assistant_id=options.get("assistant_id", ""),
            stops=values_of(run_pb2.StopMode.DESCRIPTOR, options.get("stops", ())),
            query=options.get("query", ""),
            filter=options.get("filter", ""),
            saved_filter=options.get("saved_filter", ""),
            page_size=options.get("page_size", 0),
            page_token=options.get("page_token", ""),
        )
        answer = yield from self.caller.call(_LIST, request)
        return RunPage(tuple(Run.of(run) for run in answer.runs), answer.next_page_token)


def _at(run_id: str, event_id: int | None) -> service.GetRunRequest:
    if event_id is not None and event_id < 1:
        raise PawlError("INPUT_INVALID", f"{event_id} is no event id; events count from 1")
    return service.GetRunRequest(run_id=run_id, at_event_id=event_id or 0)


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
        priority=options.get("priority", 0),
        webhook=run_webhook(options.get("webhook")),
        thread_id=options.get("thread_id", ""),
        create_thread=options.get("create_thread", False),
        assistant_id=options.get("assistant_id", ""),
        **run_fields(input, options),
    )
    if "multitask" in options:
        (request.multitask_strategy,) = values_of(service.MultitaskStrategy.DESCRIPTOR, [options["multitask"]])
    if "thread_release" in options:
        (request.thread_release,) = values_of(service.ThreadRelease.DESCRIPTOR, [options["thread_release"]])
    metadata = options.get("metadata")
    if metadata is not None:
        request.metadata_json = json_bytes(metadata, None)
    dedupe = options.get("dedupe_input")
    if dedupe is not None:
        request.idempotency.scope = service.IDEMPOTENCY_SCOPE_INPUT_HASH
        request.idempotency.ttl.FromMilliseconds(round(dedupe * 1000))
    return request


def run_fields(input: object, options: TestRunOptions | StartOptions) -> dict[str, Any]:
    """The fields that the starts of saved workflows and of other graphs share. None is an absent field."""
    return {
        "input_json": json_bytes(input, options.get("input_json")),
        "request_id": options.get("request_id") or fresh_id(),
        "untrusted_input": options.get("untrusted_input", False),
        "goal": options.get("goal", ""),
        "constraints": options.get("constraints", ()),
        "max_iterations": options.get("max_iterations", 0),
        "max_retries": options.get("max_retries"),
        "deadline": duration_of(options.get("deadline")),
        "after_seconds": options.get("after_seconds"),
        "start_at": timestamp_of(options.get("start_at")),
        "temporary": options.get("temporary", False),
        "budget": _budget_of(options.get("budget")),
    }


def _budget_of(budget: Budget | None) -> run_pb2.Budget | None:
    if not budget:
        return None
    message = run_pb2.Budget()
    set_budget(message, budget)
    return message


def set_budget(target: run_pb2.Budget, budget: Budget) -> None:
    """Fills in a budget as the server takes it."""
    for name, amount in amount_fields(budget).items():
        setattr(target, name, amount)
    if "on_exceeded" in budget:
        (target.on_exceeded,) = values_of(run_pb2.OnExceeded.DESCRIPTOR, [budget["on_exceeded"]])


def _item_request(item: StartItem) -> service.StartRunRequest:
    options = StartOptions(
        input_json=item.input_json,
        version=item.version,
        priority=item.priority,
        deadline=item.deadline,
        after_seconds=item.after_seconds,
        start_at=item.start_at,
        temporary=item.temporary,
        dedupe_input=item.dedupe_input,
        goal=item.goal,
        constraints=item.constraints,
        max_iterations=item.max_iterations,
        max_retries=item.max_retries,
        budget=item.budget,
        assistant_id=item.assistant_id,
        request_id=item.request_id,
    )
    return start_request(item.workflow_id, item.input, options)
