"""Every call of the API as steps, for `Client` and `AsyncClient`.

A call that may succeed later is repeated. That is safe for mutations too: each one carries a request id, by which the server recognises a
repeat. The race it survives: an answer is lost after the server committed.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from google.protobuf.message import Message

from pawl_sdk import _json
from pawl_sdk._gen.pawl.v1 import (
    approval_pb2,
    approval_service_pb2,
    run_pb2,
    run_service_pb2,
    workflow_pb2,
    workflow_service_pb2,
)
from pawl_sdk._plain import values_of
from pawl_sdk._steps import Answer, Call, Method, Pause, Steps
from pawl_sdk._watch import GET_RUN, backoff
from pawl_sdk.errors import PawlError, RunFailed, Violation
from pawl_sdk.model import (
    AppliedWorkflow,
    Approval,
    ApprovalPage,
    Run,
    RunPage,
    StartedRun,
    Workflow,
    WorkflowPage,
)

Decision = Literal["approve", "reject"]

_START = Method("/pawl.v1.RunService/StartRun", run_service_pb2.StartRunResponse)
_WAIT = Method("/pawl.v1.RunService/WaitRun", run_service_pb2.WaitRunResponse)
_LIST_RUNS = Method("/pawl.v1.RunService/ListRuns", run_service_pb2.ListRunsResponse)
_CANCEL = Method("/pawl.v1.RunService/CancelRun", run_service_pb2.CancelRunResponse)
_CREATE = Method(
    "/pawl.v1.WorkflowService/CreateWorkflow", workflow_service_pb2.CreateWorkflowResponse
)
_UPDATE = Method(
    "/pawl.v1.WorkflowService/UpdateWorkflow", workflow_service_pb2.UpdateWorkflowResponse
)
_GET_WORKFLOW = Method(
    "/pawl.v1.WorkflowService/GetWorkflow", workflow_service_pb2.GetWorkflowResponse
)
_LIST_WORKFLOWS = Method(
    "/pawl.v1.WorkflowService/ListWorkflows", workflow_service_pb2.ListWorkflowsResponse
)
_VALIDATE = Method(
    "/pawl.v1.WorkflowService/ValidateWorkflow", workflow_service_pb2.ValidateWorkflowResponse
)
_LIST_APPROVALS = Method(
    "/pawl.v1.ApprovalService/ListApprovals", approval_service_pb2.ListApprovalsResponse
)
_GET_APPROVAL = Method(
    "/pawl.v1.ApprovalService/GetApproval", approval_service_pb2.GetApprovalResponse
)
_APPROVE = Method(
    "/pawl.v1.ApprovalService/ApproveApproval", approval_service_pb2.ApproveApprovalResponse
)
_REJECT = Method(
    "/pawl.v1.ApprovalService/RejectApproval", approval_service_pb2.RejectApprovalResponse
)


class Saved(Protocol):
    """The answer of a call that saves a workflow."""

    @property
    def workflow(self) -> workflow_pb2.Workflow: ...
    @property
    def warnings(self) -> Iterable[workflow_pb2.Violation]: ...


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls, with how often and how long each one is tried."""

    attempts: int = 4
    timeout: float = 30.0

    def call(self, method: Method[Answer], request: Message) -> Steps[Answer]:
        """Calls a method until it succeeds, fails for good or runs out of attempts."""
        attempt = 1
        while True:
            try:
                answer: Answer = yield Call(method, request, self.timeout)
                return answer
            except PawlError as error:
                if not error.retryable or attempt >= self.attempts:
                    raise
                delay = max(backoff(attempt), error.retry_after or 0)
            yield Pause(delay)
            attempt += 1

    def start(
        self,
        workflow_id: str,
        input: object = None,
        *,
        input_json: str | None = None,
        version: int = 0,
        priority: int = 0,
        deadline: float | None = None,
        request_id: str | None = None,
    ) -> Steps[StartedRun]:
        request = run_service_pb2.StartRunRequest(
            workflow_id=workflow_id,
            version=version,
            input_json=json_bytes(input, input_json),
            request_id=request_id or fresh_id(),
            priority=priority,
        )
        if deadline is not None:
            request.deadline.FromMilliseconds(round(deadline * 1000))
        answer = yield from self.call(_START, request)
        return StartedRun(Run.of(answer.run), answer.duplicate)

    def get(self, run_id: str) -> Steps[Run]:
        request = run_service_pb2.GetRunRequest(run_id=run_id)
        answer = yield from self.call(GET_RUN, request)
        return Run.of(answer.run)

    def wait(self, run_id: str) -> Steps[Run]:
        """Waits for the end. The server answers after 20 s at the latest, and the call is repeated."""
        while True:
            request = run_service_pb2.WaitRunRequest(run_id=run_id)
            answer = yield from self.call(_WAIT, request)
            if answer.has_ended:
                return Run.of(answer.run)

    def run(self, workflow_id: str, input: object, **options: Any) -> Steps[Any]:
        """Starts a run, waits for its end and returns its output. Raises RunFailed when it did not complete."""
        started = yield from self.start(workflow_id, input, **options)
        ended = started.run if started.run.has_ended else (yield from self.wait(started.run.run_id))
        if ended.status != "completed":
            raise RunFailed(ended)
        return ended.output

    def cancel(self, run_id: str, *, reason: str, request_id: str | None) -> Steps[Run]:
        request = run_service_pb2.CancelRunRequest(
            run_id=run_id, reason=reason, request_id=request_id or fresh_id()
        )
        answer = yield from self.call(_CANCEL, request)
        return Run.of(answer.run)

    def list_runs(
        self,
        *,
        workflow_id: str,
        statuses: Iterable[str],
        query: str,
        page_size: int,
        page_token: str,
    ) -> Steps[RunPage]:
        request = run_service_pb2.ListRunsRequest(
            workflow_id=workflow_id, query=query, page_size=page_size, page_token=page_token
        )
        request.statuses.extend(values_of(run_pb2.RunStatus.DESCRIPTOR, statuses))
        answer = yield from self.call(_LIST_RUNS, request)
        return RunPage(tuple(Run.of(run) for run in answer.runs), answer.next_page_token)

    def apply(
        self, definition: str | dict[str, Any], *, workflow_id: str | None, strict: bool
    ) -> Steps[AppliedWorkflow]:
        """The last writer wins. The race it survives: another client creates the workflow after the read; it is updated then."""
        text = definition if isinstance(definition, str) else _json.dumps(definition)
        source = workflow_pb2.DefinitionSource(text=text)
        own = workflow_id or (yield from self._own_id(source))
        known = None if own is None else (yield from self._known(own))
        if known is None or own is None:
            create = workflow_service_pb2.CreateWorkflowRequest(
                workflow_id=own or "", definition=source, request_id=fresh_id(), strict=strict
            )
            try:
                made = yield from self.call(_CREATE, create)
                return applied(made, "created")
            except PawlError as error:
                if error.reason != "WORKFLOW_EXISTS" or own is None:
                    raise
        update = workflow_service_pb2.UpdateWorkflowRequest(
            workflow_id=own, definition=source, request_id=fresh_id(), strict=strict
        )
        saved = yield from self.call(_UPDATE, update)
        is_same = known is not None and saved.workflow.version == known.version
        return applied(saved, "unchanged" if is_same else "updated")

    def _own_id(self, source: workflow_pb2.DefinitionSource) -> Steps[str | None]:
        """The server reads the id from the text, so this package needs no YAML parser."""
        request = workflow_service_pb2.ValidateWorkflowRequest(definition=source)
        answer = yield from self.call(_VALIDATE, request)
        canonical = _json.loads(answer.definition_json)
        own = canonical.get("id") if isinstance(canonical, dict) else None
        return own if isinstance(own, str) and own else None

    def _known(self, workflow_id: str) -> Steps[Workflow | None]:
        try:
            return (yield from self.get_workflow(workflow_id, version=0))
        except PawlError as error:
            if error.reason != "WORKFLOW_NOT_FOUND":
                raise
            return None

    def get_workflow(self, workflow_id: str, *, version: int) -> Steps[Workflow]:
        request = workflow_service_pb2.GetWorkflowRequest(workflow_id=workflow_id, version=version)
        answer = yield from self.call(_GET_WORKFLOW, request)
        return Workflow.of(answer.workflow)

    def list_workflows(self, *, page_size: int, page_token: str) -> Steps[WorkflowPage]:
        request = workflow_service_pb2.ListWorkflowsRequest(
            page_size=page_size, page_token=page_token
        )
        answer = yield from self.call(_LIST_WORKFLOWS, request)
        workflows = tuple(Workflow.of(workflow) for workflow in answer.workflows)
        return WorkflowPage(workflows, answer.next_page_token)

    def list_approvals(
        self,
        *,
        run_id: str,
        workflow_id: str,
        assignee: str,
        states: Iterable[str],
        page_size: int,
        page_token: str,
    ) -> Steps[ApprovalPage]:
        request = approval_service_pb2.ListApprovalsRequest(
            run_id=run_id,
            workflow_id=workflow_id,
            assignee=assignee,
            page_size=page_size,
            page_token=page_token,
        )
        request.states.extend(values_of(approval_pb2.ApprovalState.DESCRIPTOR, states))
        answer = yield from self.call(_LIST_APPROVALS, request)
        approvals = tuple(Approval.of(approval) for approval in answer.approvals)
        return ApprovalPage(approvals, answer.next_page_token)

    def get_approval(self, approval_id: str) -> Steps[Approval]:
        request = approval_service_pb2.GetApprovalRequest(approval_id=approval_id)
        answer = yield from self.call(_GET_APPROVAL, request)
        return Approval.of(answer.approval)

    def decide(
        self,
        approval_id: str,
        decision: Decision,
        *,
        response: object,
        response_json: str | None,
        comment: str,
        decided_by: str,
        request_id: str | None,
    ) -> Steps[Approval]:
        fields = {
            "approval_id": approval_id,
            "response_json": json_bytes(response, response_json),
            "comment": comment,
            "decided_by": decided_by,
            "request_id": request_id or fresh_id(),
        }
        if decision == "approve":
            approve = approval_service_pb2.ApproveApprovalRequest(**fields)  # type: ignore[arg-type]
            return Approval.of((yield from self.call(_APPROVE, approve)).approval)
        reject = approval_service_pb2.RejectApprovalRequest(**fields)  # type: ignore[arg-type]
        return Approval.of((yield from self.call(_REJECT, reject)).approval)


def fresh_id() -> str:
    """A fresh request id."""
    return str(uuid.uuid4())


def json_bytes(value: object, text: str | None) -> bytes:
    """JSON text to the letter, or a value as JSON; nothing for None without text."""
    if text is not None:
        return text.encode()
    return b"" if value is None else _json.dumps(value).encode()


def applied(answer: Saved, outcome: str) -> AppliedWorkflow:
    """What a call that saved a workflow returns."""
    warnings = tuple(
        Violation(path=each.path, reason=each.reason, message=each.message)
        for each in answer.warnings
    )
    return AppliedWorkflow(Workflow.of(answer.workflow), outcome, warnings)
