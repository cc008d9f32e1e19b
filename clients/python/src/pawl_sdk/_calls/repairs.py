"""Repairs of finished runs: the plan, and the run that follows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from pawl_sdk._calls.caller import Caller, fresh_id, json_bytes, source_of
from pawl_sdk._gen.pawl.v1 import run_service_pb2 as service
from pawl_sdk._steps import Method, Steps
from pawl_sdk.model import Run
from pawl_sdk.repairs import RepairedRun, RepairOptions, RepairPlan, RetryOptions

_REPAIR = Method("/pawl.v1.RunService/RepairRun", service.RepairRunResponse)
_RETRY = Method("/pawl.v1.RunService/RetryRun", service.RetryRunResponse)


@dataclass(frozen=True, slots=True)
class RepairCalls:
    """The calls of repairs."""

    caller: Caller

    def plan(self, run_id: str, **options: Unpack[RepairOptions]) -> Steps[RepairPlan]:
        answer = yield from self.caller.call(_REPAIR, _request(run_id, options, dry_run=True))
        return RepairPlan.of(answer.plan)

    def repair(self, run_id: str, **options: Unpack[RepairOptions]) -> Steps[RepairedRun]:
        return _repaired((yield from self.caller.call(_REPAIR, _request(run_id, options))))

    def retry(self, run_id: str, **options: Unpack[RetryOptions]) -> Steps[RepairedRun]:
        request = service.RetryRunRequest(run_id=run_id, **_shared(options))
        return _repaired((yield from self.caller.call(_RETRY, request)))


def _shared(options: RetryOptions) -> dict[str, Any]:
    return {
        "latest": options.get("latest", False),
        "keep_effects": options.get("keep_effects", False),
        "plan_digest": options.get("plan_digest", ""),
        "request_id": options.get("request_id") or fresh_id(),
    }


def _request(run_id: str, options: RepairOptions, *, dry_run: bool = False) -> service.RepairRunRequest:
    handles: Mapping[str, str] = options.get("handles", {})
    outputs = [
        service.SetOutputRequest(node_id=node_id, output_json=json_bytes(output, None), handle=handles.get(node_id, ""))
        for node_id, output in options.get("outputs", {}).items()
    ]
    has_input = options.get("input") is not None or options.get("input_json") is not None
    return service.RepairRunRequest(
        run_id=run_id,
        from_nodes=options.get("from_nodes", ()),
        from_event_id=options.get("from_event_id", 0),
        definition=source_of(options["definition"]) if "definition" in options else None,
        input_json=json_bytes(options.get("input"), options.get("input_json")) if has_input else b"",
        outputs=outputs,
        keep_nodes=options.get("keep_nodes", ()),
        by=options.get("by", ""),
        reason=options.get("reason", ""),
        dry_run=dry_run,
        **_shared(options),
    )


def _repaired(answer: service.RepairRunResponse | service.RetryRunResponse) -> RepairedRun:
    plan = RepairPlan.of(answer.plan) if answer.HasField("plan") else None
    return RepairedRun(Run.of(answer.run), answer.duplicate, plan)
