"""Assistants: what both clients send and give."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from scripted_gateway import gateway, info, refuse

from pawl_sdk import PawlError
from pawl_sdk._gen.pawl.v1 import assistant_pb2, run_pb2, run_service_pb2, thread_pb2, thread_service_pb2
from pawl_sdk._gen.pawl.v1 import assistant_service_pb2 as service


def test_assistants_are_made_found_edited_and_refused_while_busy_and_starts_name_them(use: Any) -> None:
    seen: dict[str, Any] = {}

    def answers(name: str, answer: Any) -> Any:
        def script(request: Any, context: Any) -> Any:
            seen[name] = request
            return answer

        return script

    defaults = assistant_pb2.StartDefaults(multitask_strategy=run_service_pb2.MULTITASK_STRATEGY_ENQUEUE)
    spec = assistant_pb2.AssistantSpec(workflow_id="ask", config_json=b'{"tone": "kind"}', defaults=defaults)
    tutor = assistant_pb2.Assistant(assistant_id="tutor", spec=spec, version=2)
    run = run_pb2.Run(run_id="r", assistant_id="tutor")
    scripts = {
        "CreateAssistant": service.CreateAssistantResponse(assistant=tutor),
        "GetAssistant": service.GetAssistantResponse(assistant=tutor),
        "ListAssistants": service.ListAssistantsResponse(assistants=[tutor], next_page_token="next"),
        "UpdateAssistant": service.UpdateAssistantResponse(assistant=tutor),
        "UpdateThread": thread_service_pb2.UpdateThreadResponse(thread=thread_pb2.Thread(assistant_id="tutor")),
        "ListRuns": run_service_pb2.ListRunsResponse(runs=[run]),
    }

    def delete(request: Any, context: Any) -> Any:
        refuse(context, grpc.StatusCode.ABORTED, "run r has not ended", info("ASSISTANT_BUSY", run_id="r"))

    with gateway(**{name: answers(name, each) for name, each in scripts.items()}, DeleteAssistant=delete) as address:
        made = use(
            address, "assistants.create", "tutor", "ask",
            config={"tone": "kind"}, goal="teach", multitask="enqueue", budget={"tokens": 7}, thread_release="when_wanted",
        )
        assert (made.version, made.config, made.multitask) == (2, {"tone": "kind"}, "enqueue")
        assert use(address, "assistants.get", "tutor").workflow_id == "ask"
        page = use(address, "assistants.list", metadata={"team": "a"}, page_token="t")
        assert [each.assistant_id for each in page.assistants] == ["tutor"]
        assert use(address, "assistants.update", "tutor", "ask", expected_version=2).version == 2
        assert use(address, "threads.update", "chat", assistant_id="tutor").assistant_id == "tutor"
        assert use(address, "list", assistant_id="tutor").runs[0].assistant_id == "tutor"
        with pytest.raises(PawlError) as refused:
            use(address, "assistants.delete", "tutor")
    assert refused.value.reason == "ASSISTANT_BUSY"
    asked = seen["CreateAssistant"].spec
    assert asked.config_json == b'{"tone":"kind"}'
    assert (asked.defaults.goal, asked.defaults.budget.tokens) == ("teach", 7)
    assert asked.defaults.multitask_strategy == run_service_pb2.MULTITASK_STRATEGY_ENQUEUE
    assert asked.defaults.thread_release == run_service_pb2.THREAD_RELEASE_WHEN_WANTED
    assert seen["UpdateAssistant"].expected_version == 2
    assert seen["UpdateThread"].HasField("assistant_id") and seen["UpdateThread"].metadata_json == b""
    assert seen["ListRuns"].assistant_id == "tutor"
