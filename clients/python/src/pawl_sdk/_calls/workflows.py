"""Workflows: apply, read, delete, pause, resume."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, Unpack

from pawl_sdk import _json
from pawl_sdk._calls.caller import Caller, control_fields, fresh_id, source_of
from pawl_sdk._gen.pawl.v1 import workflow_pb2
from pawl_sdk._gen.pawl.v1 import workflow_service_pb2 as service
from pawl_sdk._steps import Method, Steps
from pawl_sdk.errors import PawlError
from pawl_sdk.model import AppliedWorkflow, DailyBudget, DailyBudgetPage, Workflow, WorkflowPage, violation_of
from pawl_sdk.operations import Pause
from pawl_sdk.options import ControlOptions

_CREATE = Method("/pawl.v1.WorkflowService/CreateWorkflow", service.CreateWorkflowResponse)
_UPDATE = Method("/pawl.v1.WorkflowService/UpdateWorkflow", service.UpdateWorkflowResponse)
_GET = Method("/pawl.v1.WorkflowService/GetWorkflow", service.GetWorkflowResponse)
_DELETE = Method("/pawl.v1.WorkflowService/DeleteWorkflow", service.DeleteWorkflowResponse)
_LIST = Method("/pawl.v1.WorkflowService/ListWorkflows", service.ListWorkflowsResponse)
_VALIDATE = Method("/pawl.v1.WorkflowService/ValidateWorkflow", service.ValidateWorkflowResponse)
_PAUSE = Method("/pawl.v1.WorkflowService/PauseWorkflow", service.PauseWorkflowResponse)
_RESUME = Method("/pawl.v1.WorkflowService/ResumeWorkflow", service.ResumeWorkflowResponse)
_DAYS = Method("/pawl.v1.WorkflowService/ListDailyBudgets", service.ListDailyBudgetsResponse)


class Saved(Protocol):
    """The answer of a call that saves a workflow."""

    @property
    def workflow(self) -> workflow_pb2.Workflow: ...
    @property
    def warnings(self) -> Iterable[workflow_pb2.Violation]: ...


@dataclass(frozen=True, slots=True)
class WorkflowCalls:
    """The calls of workflows."""

    caller: Caller

    def apply(
        self, definition: str | dict[str, Any], *, workflow_id: str | None, strict: bool
    ) -> Steps[AppliedWorkflow]:
        """The last writer wins. The race it survives: another client creates the workflow after the read; it is updated then."""
        source = source_of(definition)
        own = workflow_id or (yield from self._own_id(source))
        known = None if own is None else (yield from self._known(own))
        if known is None or own is None:
            create = service.CreateWorkflowRequest(
                workflow_id=own or "", definition=source, request_id=fresh_id(), strict=strict
            )
            try:
                made = yield from self.caller.call(_CREATE, create)
                return applied(made, "created")
            except PawlError as error:
                if error.reason != "WORKFLOW_EXISTS" or own is None:
                    raise
        update = service.UpdateWorkflowRequest(
            workflow_id=own, definition=source, request_id=fresh_id(), strict=strict
        )
        saved = yield from self.caller.call(_UPDATE, update)
        is_same = known is not None and saved.workflow.version == known.version
        return applied(saved, "unchanged" if is_same else "updated")

    def _own_id(self, source: workflow_pb2.DefinitionSource) -> Steps[str | None]:
        """The server reads the id from the text, so this package needs no YAML parser."""
        request = service.ValidateWorkflowRequest(definition=source)
        answer = yield from self.caller.call(_VALIDATE, request)
        canonical = _json.loads(answer.definition_json)
        own = canonical.get("id") if isinstance(canonical, dict) else None
        return own if isinstance(own, str) and own else None

    def _known(self, workflow_id: str) -> Steps[Workflow | None]:
        try:
            return (yield from self.get(workflow_id, version=0))
        except PawlError as error:
            if error.reason != "WORKFLOW_NOT_FOUND":
                raise
            return None

    def get(self, workflow_id: str, *, version: int) -> Steps[Workflow]:
        request = service.GetWorkflowRequest(workflow_id=workflow_id, version=version)
        answer = yield from self.caller.call(_GET, request)
        return Workflow.of(answer.workflow)

    def list(self, *, page_size: int, page_token: str) -> Steps[WorkflowPage]:
        request = service.ListWorkflowsRequest(
            page_size=page_size, page_token=page_token
        )
        answer = yield from self.caller.call(_LIST, request)
        workflows = tuple(Workflow.of(workflow) for workflow in answer.workflows)
        return WorkflowPage(workflows, answer.next_page_token)

    def delete(self, workflow_id: str, *, force: bool, request_id: str | None) -> Steps[None]:
        request = service.DeleteWorkflowRequest(
            workflow_id=workflow_id, force=force, request_id=request_id or fresh_id()
        )
        yield from self.caller.call(_DELETE, request)

    def pause(self, workflow_id: str, **options: Unpack[ControlOptions]) -> Steps[Pause]:
        request = service.PauseWorkflowRequest(workflow_id=workflow_id, **control_fields(options))
        answer = yield from self.caller.call(_PAUSE, request)
        return Pause.of(answer.pause)

    def resume(self, workflow_id: str, **options: Unpack[ControlOptions]) -> Steps[bool]:
        request = service.ResumeWorkflowRequest(workflow_id=workflow_id, **control_fields(options))
        answer = yield from self.caller.call(_RESUME, request)
        return bool(answer.resuming)

    def daily_budgets(self, *, workflow_id: str, page_size: int, page_token: str) -> Steps[DailyBudgetPage]:
        request = service.ListDailyBudgetsRequest(
            workflow_id=workflow_id, page_size=page_size, page_token=page_token
        )
        answer = yield from self.caller.call(_DAYS, request)
        return DailyBudgetPage(tuple(map(DailyBudget.of, answer.daily_budgets)), answer.next_page_token)


def applied(answer: Saved, outcome: str) -> AppliedWorkflow:
    """What a call that saved a workflow returns."""
    return AppliedWorkflow(Workflow.of(answer.workflow), outcome, tuple(map(violation_of, answer.warnings)))
