"""Approvals: questions that wait for people, and their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

from pawl_sdk._calls.caller import Caller, fresh_id, json_bytes
from pawl_sdk._gen.pawl.v1 import approval_pb2, approval_service_pb2
from pawl_sdk._plain import values_of
from pawl_sdk._steps import Method, Steps
from pawl_sdk.model import Approval, ApprovalPage
from pawl_sdk.options import AnswerOptions, Decision, ListApprovalsOptions

_LIST = Method("/pawl.v1.ApprovalService/ListApprovals", approval_service_pb2.ListApprovalsResponse)
_GET = Method("/pawl.v1.ApprovalService/GetApproval", approval_service_pb2.GetApprovalResponse)
_APPROVE = Method(
    "/pawl.v1.ApprovalService/ApproveApproval", approval_service_pb2.ApproveApprovalResponse
)
_REJECT = Method(
    "/pawl.v1.ApprovalService/RejectApproval", approval_service_pb2.RejectApprovalResponse
)


@dataclass(frozen=True, slots=True)
class ApprovalCalls:
    """The calls of approvals."""

    caller: Caller

    def list(self, **options: Unpack[ListApprovalsOptions]) -> Steps[ApprovalPage]:
        request = approval_service_pb2.ListApprovalsRequest(
            run_id=options.get("run_id", ""),
            workflow_id=options.get("workflow_id", ""),
            assignee=options.get("assignee", ""),
            states=values_of(approval_pb2.ApprovalState.DESCRIPTOR, options.get("states", ())),
            page_size=options.get("page_size", 0),
            page_token=options.get("page_token", ""),
        )
        answer = yield from self.caller.call(_LIST, request)
        approvals = tuple(Approval.of(approval) for approval in answer.approvals)
        return ApprovalPage(approvals, answer.next_page_token)

    def get(self, approval_id: str) -> Steps[Approval]:
        request = approval_service_pb2.GetApprovalRequest(approval_id=approval_id)
        answer = yield from self.caller.call(_GET, request)
        return Approval.of(answer.approval)

    def decide(self, approval_id: str, decision: Decision, **options: Unpack[AnswerOptions]) -> Steps[Approval]:
        response = json_bytes(options.get("response"), options.get("response_json"))
        comment, decided_by = options.get("comment", ""), options.get("decided_by", "")
        request_id = options.get("request_id") or fresh_id()
        if decision == "approve":
            approve = approval_service_pb2.ApproveApprovalRequest(
                approval_id=approval_id,
                response_json=response,
                comment=comment,
                decided_by=decided_by,
                request_id=request_id,
            )
            return Approval.of((yield from self.caller.call(_APPROVE, approve)).approval)
        reject = approval_service_pb2.RejectApprovalRequest(
            approval_id=approval_id,
            response_json=response,
            comment=comment,
            decided_by=decided_by,
            request_id=request_id,
        )
        return Approval.of((yield from self.caller.call(_REJECT, reject)).approval)
