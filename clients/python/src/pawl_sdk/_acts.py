"""The actions of one invocation: what a handler asks of the engine beside its output.

They commit with the output: a handler that fails, or that is cancelled, has done none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from google.protobuf.json_format import MessageToDict

from pawl_sdk import _json
from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire
from pawl_sdk.outcome import Failed

RunEnding = Literal["completed", "failed", "cancelled", "paused"]
"""The statuses that a handler may give its run."""
Strategy = Literal["last_write_wins", "concat", "array", "json_object"]
"""How several values become one."""

UNSET: Any = object()
"""An argument that was not given, since None is JSON too."""


class Acts:
    """Collects actions in the order in which the handler asks for them."""

    def __init__(self) -> None:
        self._actions: list[wire.Action] = []
        self._values: dict[str, Any] = {}

    def remember(self, key: str, value: object) -> None:
        _text(value, f"memory.{key}")
        self._values[key] = value

    def set_status(self, status: RunEnding, message: str, output: object) -> None:
        text = _text(output, "output")
        action = wire.SetStatus(status=status, message=message, output_json=text)
        self._actions.append(wire.Action(set_status=action))

    def goto(self, node: str, reason: str) -> None:
        self._actions.append(wire.Action(goto_node=wire.GotoNode(node=node, reason=reason)))

    def hand_off(self, node: str, workflow: str, version: int, input: object, reason: str) -> None:
        action = wire.Handoff(
            node=node, workflow=workflow, version=version, input_json=_text(input, "input"), reason=reason
        )
        self._actions.append(wire.Action(handoff=action))

    def ask_human(self, message: str, details: object, assignees: Sequence[str], deadline: float) -> None:
        action = wire.RequestHumanInput(
            message=message,
            details_json=_text(details, "details"),
            assignees=assignees,
            deadline_ms=round(deadline * 1000),
        )
        self._actions.append(wire.Action(request_human_input=action))

    def answer_human(
        self, decision: str, response: object, node: str, iteration: int, approval_id: str, comment: str
    ) -> None:
        action = wire.ResumeFromHuman(
            node=node,
            iteration=iteration,
            approval_id=approval_id,
            decision=decision,
            response_json=_text(response, "response"),
            comment=comment,
        )
        self._actions.append(wire.Action(resume_from_human=action))

    def merge_results(self, into: str, strategy: Strategy, keys: Sequence[str], nodes: Sequence[str]) -> None:
        action = wire.MergeParallelResults(keys=keys, nodes=nodes, into=into, strategy=strategy)
        self._actions.append(wire.Action(merge_parallel_results=action))

    def end(self) -> list[wire.Action]:
        """All actions. The memory comes first, so that a merge sees what the handler wrote."""
        if not self._values:
            return self._actions
        written = wire.UpdateMemory(values_json=_text(self._values, "memory"))
        return [wire.Action(update_memory=written), *self._actions]


def _text(value: object, what: str) -> str:
    """The JSON text of a value; empty for one that was not given."""
    if value is UNSET:
        return ""
    try:
        return _json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise Failed("action_invalid", f"{what} is not JSON: {error}", permanent=True) from error


def plain(action: wire.Action) -> dict[str, Any]:
    """An action as plain data: its type and its fields, with JSON parsed."""
    name = action.WhichOneof("action") or ""
    fields = MessageToDict(getattr(action, name), preserving_proto_field_name=True)
    parsed = {
        key.removesuffix("_json"): _json.loads(value) if key.endswith("_json") else value
        for key, value in fields.items()
    }
    return {"type": name, **parsed}
