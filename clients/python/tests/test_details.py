"""Details of runs, operators' calls and the catalogue of node types: what both clients send, and what they make of the answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from scripted_gateway import gateway
from test_operations import NEW_YEAR, Seen, stamp
from test_watch import fact

from pawl_sdk import Evidence, InvocationEffect, SlotHolder, TaintSource
from pawl_sdk._gen.pawl.v1 import (
    effect_pb2,
    event_pb2,
    event_service_pb2,
    explain_pb2,
    node_type_service_pb2,
    run_pb2,
    run_service_pb2,
    workflow_pb2,
    workflow_service_pb2,
)

RUN = run_pb2.Run(run_id="r", status=run_pb2.RUN_STATUS_RUNNING)


def test_node_types_come_by_page_and_one_by_one_with_their_schemas_and_executors_come_in_one_list(use: Any) -> None:
    seen, service = Seen(), node_type_service_pb2
    short = service.NodeType(type="http", built_in=True, executors=2)
    whole = service.NodeType(type="acme.pay@1", input_schema='{"type":"object"}', update_time=stamp(NEW_YEAR))
    process = service.Executor(
        executor_id="e",
        process_name="p",
        node_types=["acme.pay@1"],
        slots=8,
        busy=1,
        silent_ms=1500,
        give_up_ms=2500,
        connect_time=stamp(NEW_YEAR),
    )
    with gateway(
        ListNodeTypes=seen.answer(lambda _: service.ListNodeTypesResponse(node_types=[short], next_page_token="t")),
        GetNodeType=seen.answer(lambda _: service.GetNodeTypeResponse(node_type=whole)),
        ListExecutors=lambda *_: service.ListExecutorsResponse(executors=[process]),
    ) as address:
        page = use(address, "node_types.list", page_size=1, page_token="s")
        one = use(address, "node_types.get", "acme.pay@1")
        (executor,) = use(address, "node_types.executors")
    listed, got = seen.requests
    assert (listed.page_size, listed.page_token, got.type) == (1, "s", "acme.pay@1")
    assert (page.node_types[0].type, page.node_types[0].is_built_in, page.next_page_token) == ("http", True, "t")
    assert (page.node_types[0].executor_count, page.node_types[0].input_schema) == (2, None)
    assert (one.input_schema, one.output_schema, one.updated_at) == ({"type": "object"}, None, NEW_YEAR)
    assert (executor.process_name, executor.node_types) == ("p", ("acme.pay@1",))
    assert (executor.silent, executor.give_up_in) == (1.5, 2.5)
    assert (executor.slots, executor.busy, executor.connected_at) == (8, 1, NEW_YEAR)


def test_the_way_of_labels_is_asked_for_by_node_or_by_key_and_an_untrusted_input_is_named_in_a_start(use: Any) -> None:
    seen = Seen()
    source = explain_pb2.TaintSource(name="m", event_id=2, labels=["web"], **{"from": "node"})
    step = explain_pb2.TaintStep(event_id=4, type="node.completed", node_id="n", labels=["web"], added=["pii"], sources=[source])
    trace = explain_pb2.TaintTrace(labels=[run_pb2.TaintLabel(label="web", node_id="m")], steps=[step])
    with gateway(
        ExplainTaint=seen.answer(lambda _: run_service_pb2.ExplainTaintResponse(trace=trace)),
        StartRun=seen.answer(lambda _: run_service_pb2.StartRunResponse(run=RUN)),
    ) as address:
        explained = use(address, "explain_taint", "r", "n", iteration=2)
        use(address, "explain_taint", "r", memory_key="k")
        use(address, "start", "w", None, untrusted_input=True)
    by_node, by_key, started = seen.requests
    assert (by_node.run_id, by_node.node_id, by_node.iteration, by_node.memory_key) == ("r", "n", 2, "")
    assert (by_key.node_id, by_key.memory_key) == ("", "k")
    assert started.untrusted_input
    assert (explained.labels, explained.is_truncated) == ((("web", "m"),), False)
    (one,) = explained.steps
    assert (one.event_id, one.labels, one.added, one.dropped) == (4, ("web",), ("pii",), ())
    assert one.sources == (TaintSource("node", "m", 2, ("web",)),)


def test_an_explanation_has_its_reason_its_evidence_and_its_place_in_line(use: Any) -> None:
    seen = Seen()
    wait = explain_pb2.SlotWait(key="k", limit=1, taken_count=1, ahead_count=3, holders=[explain_pb2.SlotHolder(run_id="o")])
    why = explain_pb2.Explanation(
        reason=explain_pb2.EXPLAIN_REASON_WAITING_SLOT,
        status=run_pb2.NODE_STATUS_QUEUED,
        summary="It waits.",
        evidence=[explain_pb2.Evidence(event_id=4, type="node.queued", node_id="n")],
        since_time=stamp(NEW_YEAR),
        slot_wait=wait,
    )
    with gateway(ExplainNode=seen.answer(lambda _: run_service_pb2.ExplainNodeResponse(explanation=why))) as address:
        explained = use(address, "explain", "r", "n", iteration=2)
    (request,) = seen.requests
    assert (request.run_id, request.node_id, request.iteration) == ("r", "n", 2)
    assert (explained.reason, explained.status, explained.summary) == ("waiting_slot", "queued", "It waits.")
    assert explained.evidence == (Evidence(4, "node.queued", "n"),)
    assert (explained.since, explained.until) == (NEW_YEAR, None)
    assert (explained.slot_wait.ahead_count, explained.slot_wait.holders) == (3, (SlotHolder("o", "", 0),))


def test_an_invocation_has_what_the_handler_got_and_what_came_of_it(use: Any) -> None:
    seen = Seen()
    made = run_service_pb2.InvocationEffect(name="charge", effect_class="idempotent", committed=True, result_json=b'"ok"')
    invocation = run_service_pb2.Invocation(
        type="acme.pay@1",
        input_json=b'{"n":1}',
        attempt=2,
        timeout_ms=2500,
        status=run_pb2.NODE_STATUS_FAILED,
        cause="acme.declined",
        effects=[made],
        memory_json=b'{"count":1}',
        memory_writes_json=b'{"count":2}',
        taint=["web"],
        queue_delay_ms=1500,
    )
    with gateway(GetInvocation=seen.answer(lambda _: run_service_pb2.GetInvocationResponse(invocation=invocation))) as address:
        got = use(address, "invocation", "r", "n", iteration=1)
    (request,) = seen.requests
    assert (request.run_id, request.node_id, request.iteration) == ("r", "n", 1)
    assert (got.type, got.input, got.attempt, got.timeout) == ("acme.pay@1", {"n": 1}, 2, 2.5)
    assert (got.status, got.cause, got.output) == ("failed", "acme.declined", None)
    assert got.effects == (InvocationEffect("charge", "idempotent", True, "ok"),)
    assert (got.memory, got.memory_writes, got.state, got.goto_node) == ({"count": 1}, {"count": 2}, None, "")
    assert (got.taint, got.output_taint, got.queue_delay) == (("web",), (), 1.5)


def test_a_value_that_is_too_large_for_the_log_is_read_part_by_part(use: Any) -> None:
    seen = Seen()
    text = '{"text":"ééééé"}'.encode()
    cut = text.index(0xA9)
    parts = [text[:cut], text[cut:]]
    answer = seen.answer(lambda request: run_service_pb2.GetValueResponse(data=parts[request.part], total_bytes=len(text)))
    with gateway(GetValue=answer) as address:
        got = use(address, "value_text", "r", "ab" * 32)
    assert got == text.decode()
    assert [(each.run_id, each.sha256, each.part) for each in seen.requests] == [("r", "ab" * 32, 0), ("r", "ab" * 32, 1)]


def test_effects_events_and_tags_of_a_run_come_by_page(use: Any) -> None:
    seen = Seen()
    effect = effect_pb2.Effect(key="k", name="charge", state=effect_pb2.EFFECT_STATE_COMMITTED, commit_time=stamp(NEW_YEAR))
    tag = event_pb2.ExecutionTag(event_id=5, node_id="n", tag="node_started", metadata_json=b'{"attempt":1}', time=stamp(NEW_YEAR))
    with gateway(
        ListEffects=seen.answer(lambda _: run_service_pb2.ListEffectsResponse(effects=[effect], next_page_token="t")),
        ListEvents=seen.answer(lambda _: event_service_pb2.ListEventsResponse(events=[fact(4), fact(5)], has_more=True)),
        ListTags=seen.answer(lambda _: event_service_pb2.ListTagsResponse(tags=[tag])),
    ) as address:
        effects = use(address, "effects", "r", node_id="n", page_size=2, page_token="s")
        events = use(address, "events", "r", after_event_id=3, page_size=2)
        tags = use(address, "tags", "r", node_id="n", after_event_id=4, page_size=7)
    first, second, third = seen.requests
    assert (first.run_id, first.node_id, first.page_size, first.page_token) == ("r", "n", 2, "s")
    assert (second.run_id, second.after_event_id, second.page_size) == ("r", 3, 2)
    assert (third.run_id, third.node_id, third.after_event_id, third.page_size) == ("r", "n", 4, 7)
    (own,) = effects.effects
    assert (own.name, own.state, own.began_at, own.committed_at) == ("charge", "committed", None, NEW_YEAR)
    assert effects.next_page_token == "t"
    assert ([each.event_id for each in events.events], events.has_more) == ([4, 5], True)
    assert (tags.tags[0].tag, tags.tags[0].metadata, tags.has_more) == ("node_started", {"attempt": 1}, False)
    assert tags.tags[0].timestamp == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_test_run_goes_with_its_graph_and_its_input_to_the_letter_and_gives_its_warnings(use: Any) -> None:
    seen = Seen()
    warning = workflow_pb2.Violation(path="nodes[0]", reason="UNUSED", message="no edge")
    with gateway(
        TestRun=seen.answer(lambda _: run_service_pb2.TestRunResponse(run=RUN, duplicate=True, warnings=[warning]))
    ) as address:
        tested = use(address, "test", {"nodes": []}, input_json='{"n": 1.0}', request_id="q")
        use(address, "test", "nodes: []", {"n": 1})
    value, text = seen.requests
    assert (value.definition.text, value.input_json, value.request_id) == ('{"nodes":[]}', b'{"n": 1.0}', "q")
    assert (text.definition.text, text.input_json) == ("nodes: []", b'{"n":1}') and text.request_id != ""
    assert (tested.run.run_id, tested.is_duplicate, tested.warnings[0].reason) == ("r", True, "UNUSED")


def test_a_test_run_says_when_it_starts_how_long_it_may_take_and_that_it_is_temporary(use: Any) -> None:
    seen = Seen()
    at = datetime(2026, 12, 1, 6, tzinfo=UTC)
    with gateway(TestRun=seen.answer(lambda _: run_service_pb2.TestRunResponse(run=RUN))) as address:
        use(address, "test", "nodes: []", after_seconds=1.5, temporary=True, max_retries=0, budget={"tokens": 9})
        use(address, "test", "nodes: []", start_at=at, deadline=2.5, goal="g", constraints=["c"], untrusted_input=True)
        with pytest.raises(ValueError, match="has no time zone"):
            use(address, "test", "nodes: []", start_at=datetime(2026, 12, 1, 6))
    later, fixed = seen.requests
    assert (later.after_seconds, later.temporary, later.HasField("start_at")) == (1.5, True, False)
    assert (later.HasField("max_retries"), later.max_retries, later.budget.tokens) == (True, 0, 9)
    assert fixed.start_at.ToDatetime(tzinfo=UTC) == at and fixed.deadline.ToMilliseconds() == 2500
    absent = ["after_seconds", "max_retries", "budget"]
    assert (fixed.temporary, [name for name in absent if fixed.HasField(name)]) == (False, [])
    assert (fixed.goal, list(fixed.constraints), fixed.untrusted_input) == ("g", ["c"], True)


def test_a_decision_about_a_node_goes_by_name_with_its_comment(use: Any) -> None:
    seen = Seen()
    with gateway(DecideNode=seen.answer(lambda _: run_service_pb2.DecideNodeResponse(run=RUN))) as address:
        assert use(address, "decide", "r", "n", "reject", iteration=1, comment="no").run_id == "r"
        use(address, "decide", "r", "n", "approve")
        with pytest.raises(ValueError, match="'maybe' is not one of approve, reject"):
            use(address, "decide", "r", "n", "maybe")
    reject, approve = seen.requests
    assert (reject.run_id, reject.node_id, reject.iteration, reject.comment) == ("r", "n", 1, "no")
    assert [reject.decision, approve.decision] == [run_service_pb2.DECISION_REJECT, run_service_pb2.DECISION_APPROVE]
    assert len(set(seen.request_ids)) == 2


def test_a_signal_goes_to_its_run_by_name_with_its_payload_to_the_letter(use: Any) -> None:
    seen = Seen()
    answer = run_service_pb2.SignalRunResponse(run=RUN, duplicate=True, kept=True)
    with gateway(SignalRun=seen.answer(lambda _: answer)) as address:
        sent = use(address, "signal", "r", "paid", payload_json='{"n": 1.50}', request_id="same")
        assert (sent.run.run_id, sent.is_duplicate, sent.is_kept) == ("r", True, True)
        use(address, "signal", "r", "paid", [1])
    exact, value = seen.requests
    assert (exact.run_id, exact.name, exact.payload_json, exact.request_id) == ("r", "paid", b'{"n": 1.50}', "same")
    assert value.payload_json == b"[1]"
    assert len(set(seen.request_ids)) == 2


def test_a_recheck_and_the_deletions_of_runs_and_workflows_carry_request_ids(use: Any) -> None:
    seen = Seen()
    with gateway(
        RecheckRun=seen.answer(lambda _: run_service_pb2.RecheckRunResponse(run=RUN)),
        DeleteRun=seen.answer(lambda _: run_service_pb2.DeleteRunResponse()),
        DeleteWorkflow=seen.answer(lambda _: workflow_service_pb2.DeleteWorkflowResponse()),
    ) as address:
        assert use(address, "recheck", "r").status == "running"
        assert use(address, "delete", "r", request_id="mine") is None
        assert use(address, "workflows.delete", "w", force=True) is None
    recheck, run, workflow = seen.requests
    assert (recheck.run_id, run.run_id, run.request_id) == ("r", "r", "mine")
    assert (workflow.workflow_id, workflow.force) == ("w", True)
    assert "" not in seen.request_ids and len(set(seen.request_ids)) == 3
