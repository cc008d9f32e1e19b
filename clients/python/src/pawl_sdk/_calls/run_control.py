"""Runs under an operator's hand: test, cancel, pause, resume, signal, decide, recheck, delete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from pawl_sdk._calls.caller import Caller, amount_fields, control_fields, fresh_id, json_bytes, source_of
from pawl_sdk._calls.runs import run_fields
from pawl_sdk._gen.pawl.v1 import run_pb2
from pawl_sdk._gen.pawl.v1 import run_service_pb2 as service
from pawl_sdk._plain import values_of
from pawl_sdk._steps import Method, Steps
from pawl_sdk.model import Run, SignalledRun, TestedRun, violation_of
from pawl_sdk.options import ControlRunOptions, Decision, StopMode, TestRunOptions, TopUpOptions

_TEST = Method("/pawl.v1.RunService/TestRun", service.TestRunResponse)
_CANCEL = Method("/pawl.v1.RunService/CancelRun", service.CancelRunResponse)
_PAUSE = Method("/pawl.v1.RunService/PauseRun", service.PauseRunResponse)
_RESUME = Method("/pawl.v1.RunService/ResumeRun", service.ResumeRunResponse)
_SIGNAL = Method("/pawl.v1.RunService/SignalRun", service.SignalRunResponse)
_TOP_UP = Method("/pawl.v1.RunService/TopUpRun", service.TopUpRunResponse)
_DECIDE = Method("/pawl.v1.RunService/DecideNode", service.DecideNodeResponse)
_RECHECK = Method("/pawl.v1.RunService/RecheckRun", service.RecheckRunResponse)
_DELETE = Method("/pawl.v1.RunService/DeleteRun", service.DeleteRunResponse)


@dataclass(frozen=True, slots=True)
class RunControlCalls:
    """The calls that change a run, and the start of a test run."""

    caller: Caller

    def test(
        self, definition: str | dict[str, Any], input: object, **options: Unpack[TestRunOptions]
    ) -> Steps[TestedRun]:
        request = service.TestRunRequest(definition=source_of(definition), **run_fields(input, options))
        answer = yield from self.caller.call(_TEST, request)
        return TestedRun(Run.of(answer.run), answer.duplicate, tuple(map(violation_of, answer.warnings)))

    def cancel(
        self, run_id: str, *, reason: str, compensate: bool | None, mode: StopMode | None, request_id: str | None
    ) -> Steps[Run]:
        request = service.CancelRunRequest(
            run_id=run_id, reason=reason, request_id=request_id or fresh_id()
        )
        # The field has presence: the workflow decides if it is absent.
        if compensate is not None:
            request.compensate = compensate
        if mode is not None:
            (request.mode,) = values_of(run_pb2.StopMode.DESCRIPTOR, [mode])
        return Run.of((yield from self.caller.call(_CANCEL, request)).run)

    def pause(self, run_id: str, **options: Unpack[ControlRunOptions]) -> Steps[Run]:
        request = service.PauseRunRequest(
            run_id=run_id, children=options.get("children", False), **control_fields(options)
        )
        return Run.of((yield from self.caller.call(_PAUSE, request)).run)

    def resume(self, run_id: str, **options: Unpack[ControlRunOptions]) -> Steps[Run]:
        request = service.ResumeRunRequest(
            run_id=run_id, children=options.get("children", False), **control_fields(options)
        )
        return Run.of((yield from self.caller.call(_RESUME, request)).run)

    def signal(
        self, run_id: str, name: str, payload: object, *, payload_json: str | None, request_id: str | None
    ) -> Steps[SignalledRun]:
        request = service.SignalRunRequest(
            run_id=run_id,
            name=name,
            payload_json=json_bytes(payload, payload_json),
            request_id=request_id or fresh_id(),
        )
        answer = yield from self.caller.call(_SIGNAL, request)
        return SignalledRun(Run.of(answer.run), answer.duplicate, answer.kept)

    def top_up(self, run_id: str, **options: Unpack[TopUpOptions]) -> Steps[Run]:
        request = service.TopUpRunRequest(
            run_id=run_id,
            amounts=run_pb2.Amounts(**amount_fields(options)),
            by=options.get("by", ""),
            reason=options.get("reason", ""),
            request_id=options.get("request_id") or fresh_id(),
        )
        return Run.of((yield from self.caller.call(_TOP_UP, request)).run)

    def decide(
        self, run_id: str, node_id: str, decision: Decision, *, iteration: int, comment: str, request_id: str | None
    ) -> Steps[Run]:
        (value,) = values_of(service.Decision.DESCRIPTOR, [decision])
        request = service.DecideNodeRequest(
            run_id=run_id,
            node_id=node_id,
            iteration=iteration,
            decision=value,
            comment=comment,
            request_id=request_id or fresh_id(),
        )
        return Run.of((yield from self.caller.call(_DECIDE, request)).run)

    def recheck(self, run_id: str, request_id: str | None) -> Steps[Run]:
        request = service.RecheckRunRequest(run_id=run_id, request_id=request_id or fresh_id())
        return Run.of((yield from self.caller.call(_RECHECK, request)).run)

    def delete(self, run_id: str, request_id: str | None) -> Steps[None]:
        request = service.DeleteRunRequest(run_id=run_id, request_id=request_id or fresh_id())
        yield from self.caller.call(_DELETE, request)
