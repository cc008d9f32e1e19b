"""Assistants: create, read, list, update and delete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pawl_sdk._calls.caller import Caller, fresh_id, json_bytes
from pawl_sdk._calls.runs import set_budget
from pawl_sdk._gen.pawl.v1 import assistant_pb2, run_service_pb2
from pawl_sdk._gen.pawl.v1 import assistant_service_pb2 as service
from pawl_sdk._plain import values_of
from pawl_sdk._steps import Method, Steps
from pawl_sdk.assistants import Assistant, AssistantOptions, AssistantPage

_CREATE = Method("/pawl.v1.AssistantService/CreateAssistant", service.CreateAssistantResponse)
_GET = Method("/pawl.v1.AssistantService/GetAssistant", service.GetAssistantResponse)
_LIST = Method("/pawl.v1.AssistantService/ListAssistants", service.ListAssistantsResponse)
_UPDATE = Method("/pawl.v1.AssistantService/UpdateAssistant", service.UpdateAssistantResponse)
_DELETE = Method("/pawl.v1.AssistantService/DeleteAssistant", service.DeleteAssistantResponse)


@dataclass(frozen=True, slots=True)
class AssistantCalls:
    """The calls of assistants."""

    caller: Caller

    def create(self, assistant_id: str, workflow_id: str, options: AssistantOptions) -> Steps[Assistant]:
        request = service.CreateAssistantRequest(
            assistant_id=assistant_id,
            spec=_spec(workflow_id, options),
            request_id=options.get("request_id") or fresh_id(),
        )
        return Assistant.of((yield from self.caller.call(_CREATE, request)).assistant)

    def get(self, assistant_id: str) -> Steps[Assistant]:
        answer = yield from self.caller.call(_GET, service.GetAssistantRequest(assistant_id=assistant_id))
        return Assistant.of(answer.assistant)

    def list(
        self, metadata: Mapping[str, Any] | None, workflow_id: str, page_size: int, page_token: str
    ) -> Steps[AssistantPage]:
        request = service.ListAssistantsRequest(
            metadata_json=json_bytes(metadata, None),
            workflow_id=workflow_id,
            page_size=page_size,
            page_token=page_token,
        )
        answer = yield from self.caller.call(_LIST, request)
        return AssistantPage(tuple(map(Assistant.of, answer.assistants)), answer.next_page_token)

    def update(
        self, assistant_id: str, workflow_id: str, expected_version: int, options: AssistantOptions
    ) -> Steps[Assistant]:
        request = service.UpdateAssistantRequest(
            assistant_id=assistant_id,
            spec=_spec(workflow_id, options),
            expected_version=expected_version,
            request_id=options.get("request_id") or fresh_id(),
        )
        return Assistant.of((yield from self.caller.call(_UPDATE, request)).assistant)

    def delete(self, assistant_id: str, force: bool, request_id: str | None) -> Steps[None]:
        request = service.DeleteAssistantRequest(
            assistant_id=assistant_id, force=force, request_id=request_id or fresh_id()
        )
        yield from self.caller.call(_DELETE, request)


def _spec(workflow_id: str, options: AssistantOptions) -> assistant_pb2.AssistantSpec:
    defaults = assistant_pb2.StartDefaults(goal=options.get("goal", ""), constraints=options.get("constraints", ()))
    if "multitask" in options:
        strategies = run_service_pb2.MultitaskStrategy.DESCRIPTOR
        (defaults.multitask_strategy,) = values_of(strategies, [options["multitask"]])
    if "thread_release" in options:
        releases = run_service_pb2.ThreadRelease.DESCRIPTOR
        (defaults.thread_release,) = values_of(releases, [options["thread_release"]])
    if "budget" in options:
        set_budget(defaults.budget, options["budget"])
    return assistant_pb2.AssistantSpec(
        workflow_id=workflow_id,
        workflow_version=options.get("workflow_version", 0),
        config_json=json_bytes(options.get("config"), options.get("config_json")),
        metadata_json=json_bytes(options.get("metadata"), None),
        defaults=defaults,
    )
