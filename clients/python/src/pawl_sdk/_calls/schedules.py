"""Schedules: create, read, edit, pause, resume, preview, trigger, delete."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Unpack

from pawl_sdk._calls.caller import Caller, control_fields, fresh_id, json_bytes, timestamp_of
from pawl_sdk._gen.pawl.v1 import schedule_pb2
from pawl_sdk._gen.pawl.v1 import schedule_service_pb2 as service
from pawl_sdk._plain import time_of, values_of
from pawl_sdk._steps import Method, Steps
from pawl_sdk.model import Run, StartedRun
from pawl_sdk.operations import Schedule, SchedulePage
from pawl_sdk.options import ControlOptions, PreviewScheduleOptions, ScheduleOptions

_CREATE = Method("/pawl.v1.ScheduleService/CreateSchedule", service.CreateScheduleResponse)
_UPDATE = Method("/pawl.v1.ScheduleService/UpdateSchedule", service.UpdateScheduleResponse)
_GET = Method("/pawl.v1.ScheduleService/GetSchedule", service.GetScheduleResponse)
_LIST = Method("/pawl.v1.ScheduleService/ListSchedules", service.ListSchedulesResponse)
_DELETE = Method("/pawl.v1.ScheduleService/DeleteSchedule", service.DeleteScheduleResponse)
_PAUSE = Method("/pawl.v1.ScheduleService/PauseSchedule", service.PauseScheduleResponse)
_RESUME = Method("/pawl.v1.ScheduleService/ResumeSchedule", service.ResumeScheduleResponse)
_PREVIEW = Method("/pawl.v1.ScheduleService/PreviewSchedule", service.PreviewScheduleResponse)
_TRIGGER = Method("/pawl.v1.ScheduleService/TriggerSchedule", service.TriggerScheduleResponse)


@dataclass(frozen=True, slots=True)
class ScheduleCalls:
    """The calls of schedules."""

    caller: Caller

    def create(
        self, schedule_id: str, workflow_id: str, expression: str, **options: Unpack[ScheduleOptions]
    ) -> Steps[Schedule]:
        request = service.CreateScheduleRequest(
            schedule_id=schedule_id,
            spec=_spec(workflow_id, expression, options),
            request_id=options.get("request_id") or fresh_id(),
        )
        answer = yield from self.caller.call(_CREATE, request)
        return Schedule.of(answer.schedule)

    def update(
        self,
        schedule_id: str,
        workflow_id: str,
        expression: str,
        expected_version: int,
        **options: Unpack[ScheduleOptions],
    ) -> Steps[Schedule]:
        request = service.UpdateScheduleRequest(
            schedule_id=schedule_id,
            spec=_spec(workflow_id, expression, options),
            expected_version=expected_version,
            request_id=options.get("request_id") or fresh_id(),
        )
        answer = yield from self.caller.call(_UPDATE, request)
        return Schedule.of(answer.schedule)

    def get(self, schedule_id: str) -> Steps[Schedule]:
        answer = yield from self.caller.call(_GET, service.GetScheduleRequest(schedule_id=schedule_id))
        return Schedule.of(answer.schedule)

    def list(self, *, workflow_id: str, page_size: int, page_token: str) -> Steps[SchedulePage]:
        request = service.ListSchedulesRequest(
            workflow_id=workflow_id, page_size=page_size, page_token=page_token
        )
        answer = yield from self.caller.call(_LIST, request)
        return SchedulePage(tuple(map(Schedule.of, answer.schedules)), answer.next_page_token)

    def pause(self, schedule_id: str, **options: Unpack[ControlOptions]) -> Steps[Schedule]:
        fields = control_fields(options)
        request = service.PauseScheduleRequest(
            schedule_id=schedule_id,
            paused_by=fields["by"],
            reason=fields["reason"],
            request_id=fields["request_id"],
        )
        answer = yield from self.caller.call(_PAUSE, request)
        return Schedule.of(answer.schedule)

    def resume(self, schedule_id: str, request_id: str | None) -> Steps[Schedule]:
        request = service.ResumeScheduleRequest(
            schedule_id=schedule_id, request_id=request_id or fresh_id()
        )
        answer = yield from self.caller.call(_RESUME, request)
        return Schedule.of(answer.schedule)

    def delete(self, schedule_id: str, request_id: str | None) -> Steps[None]:
        request = service.DeleteScheduleRequest(
            schedule_id=schedule_id, request_id=request_id or fresh_id()
        )
        yield from self.caller.call(_DELETE, request)

    def preview(self, **options: Unpack[PreviewScheduleOptions]) -> Steps[tuple[datetime, ...]]:
        request = service.PreviewScheduleRequest(
            expression=options.get("expression", ""),
            schedule_id=options.get("schedule_id", ""),
            time_zone=options.get("time_zone", ""),
            count=options.get("count", 0),
            from_time=timestamp_of(options.get("after")),
        )
        answer = yield from self.caller.call(_PREVIEW, request)
        return tuple(time for each in answer.times if (time := time_of(each)))

    def trigger(self, schedule_id: str, request_id: str | None) -> Steps[StartedRun]:
        request = service.TriggerScheduleRequest(
            schedule_id=schedule_id, request_id=request_id or fresh_id()
        )
        answer = yield from self.caller.call(_TRIGGER, request)
        return StartedRun(Run.of(answer.run), answer.duplicate)


def _spec(workflow_id: str, expression: str, options: ScheduleOptions) -> schedule_pb2.ScheduleSpec:
    (missed,) = values_of(schedule_pb2.MissedPolicy.DESCRIPTOR, [options.get("missed", "skip")])
    (overlap,) = values_of(schedule_pb2.OverlapPolicy.DESCRIPTOR, [options.get("overlap", "allow")])
    return schedule_pb2.ScheduleSpec(
        workflow_id=workflow_id,
        workflow_version=options.get("workflow_version", 0),
        expression=expression,
        time_zone=options.get("time_zone", ""),
        input_json=json_bytes(options.get("input"), options.get("input_json")),
        priority=options.get("priority", 0),
        missed=missed,
        overlap=overlap,
    )
