"""Commands of the workflow queue: a scheduler carries each out later, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

from pawl_sdk._calls.caller import Caller, duration_of, fresh_id, json_bytes
from pawl_sdk._gen.pawl.v1 import queue_service_pb2 as service
from pawl_sdk._gen.pawl.v1 import queued_command_pb2, run_service_pb2
from pawl_sdk._plain import values_of
from pawl_sdk._steps import Method, Steps
from pawl_sdk.commands import (
    CommandPage,
    EnqueueOptions,
    EnqueueResumeOptions,
    EnqueueStartOptions,
    ListCommandsOptions,
    QueuedCommand,
)
from pawl_sdk.options import Decision

_ENQUEUE = Method("/pawl.v1.QueueService/EnqueueCommand", service.EnqueueCommandResponse)
_GET = Method("/pawl.v1.QueueService/GetCommand", service.GetCommandResponse)
_LIST = Method("/pawl.v1.QueueService/ListCommands", service.ListCommandsResponse)
_CANCEL = Method("/pawl.v1.QueueService/CancelCommand", service.CancelCommandResponse)
_REDRIVE = Method("/pawl.v1.QueueService/RedriveCommand", service.RedriveCommandResponse)
_DISCARD = Method("/pawl.v1.QueueService/DiscardCommand", service.DiscardCommandResponse)


@dataclass(frozen=True, slots=True)
class CommandCalls:
    """The calls of commands."""

    caller: Caller

    def start(self, workflow_id: str, input: object, **options: Unpack[EnqueueStartOptions]) -> Steps[QueuedCommand]:
        request = service.EnqueueCommandRequest(
            type=queued_command_pb2.COMMAND_TYPE_START,
            workflow_id=workflow_id,
            run_id=options.get("run_name", ""),
            input_json=json_bytes(input, options.get("input_json")),
            **_fields(options),
        )
        answer = yield from self.caller.call(_ENQUEUE, request)
        return QueuedCommand.of(answer.command)

    def resume(
        self, workflow_id: str, run: str, node_id: str, decision: Decision, **options: Unpack[EnqueueResumeOptions]
    ) -> Steps[QueuedCommand]:
        approves = decision == "approve"
        given = queued_command_pb2.CommandAnswer(
            node_id=node_id,
            iteration=options.get("iteration", 0),
            decision=run_service_pb2.DECISION_APPROVE if approves else run_service_pb2.DECISION_REJECT,
            comment=options.get("comment", ""),
            decided_by=options.get("decided_by", ""),
            response_json=json_bytes(options.get("response"), options.get("response_json")),
        )
        request = service.EnqueueCommandRequest(
            type=queued_command_pb2.COMMAND_TYPE_RESUME,
            workflow_id=workflow_id,
            run_id=run,
            answer=given,
            **_fields(options),
        )
        answer = yield from self.caller.call(_ENQUEUE, request)
        return QueuedCommand.of(answer.command)

    def get(self, command_id: str) -> Steps[QueuedCommand]:
        answer = yield from self.caller.call(_GET, service.GetCommandRequest(command_id=command_id))
        return QueuedCommand.of(answer.command)

    def list(self, **options: Unpack[ListCommandsOptions]) -> Steps[CommandPage]:
        request = service.ListCommandsRequest(
            states=values_of(queued_command_pb2.CommandState.DESCRIPTOR, options.get("states", ())),
            page_size=options.get("page_size", 0),
            page_token=options.get("page_token", ""),
        )
        answer = yield from self.caller.call(_LIST, request)
        return CommandPage(tuple(map(QueuedCommand.of, answer.commands)), answer.next_page_token)

    def cancel(self, command_id: str, request_id: str | None) -> Steps[QueuedCommand]:
        return (yield from self._change(_CANCEL, service.CancelCommandRequest, command_id, request_id))

    def redrive(self, command_id: str, request_id: str | None) -> Steps[QueuedCommand]:
        return (yield from self._change(_REDRIVE, service.RedriveCommandRequest, command_id, request_id))

    def discard(self, command_id: str, request_id: str | None) -> Steps[QueuedCommand]:
        return (yield from self._change(_DISCARD, service.DiscardCommandRequest, command_id, request_id))

    def _change(
        self, method: Method[Any], request: Callable[..., Any], command_id: str, request_id: str | None
    ) -> Steps[QueuedCommand]:
        asked = request(command_id=command_id, request_id=request_id or fresh_id())
        answer = yield from self.caller.call(method, asked)
        return QueuedCommand.of(answer.command)


def _fields(options: EnqueueOptions) -> dict[str, Any]:
    return {
        "priority": options.get("priority", 0),
        "max_attempts": options.get("max_attempts", 0),
        "delay": duration_of(options.get("delay") or None),
        "request_id": options.get("request_id") or fresh_id(),
    }
