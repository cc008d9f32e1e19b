"""Schedules, pauses, dead letters and approvals: what both clients send, and what they make of the answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from scripted_gateway import gateway

from pawl_sdk._gen.pawl.v1 import (
    approval_pb2,
    approval_service_pb2,
    pause_pb2,
    queue_service_pb2,
    queued_command_pb2,
    repair_pb2,
    run_pb2,
    run_service_pb2,
    schedule_pb2,
    schedule_service_pb2,
    workflow_pb2,
    workflow_service_pb2,
)
from pawl_sdk.model import DayAmounts

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


class Seen:
    """Keeps the requests of scripts."""

    def __init__(self) -> None:
        self.requests: list[Any] = []

    def answer(self, make: Callable[[Any], Any]) -> Callable[[Any, grpc.ServicerContext], Any]:
        def script(request: Any, context: grpc.ServicerContext) -> Any:
            self.requests.append(request)
            return make(request)

        return script

    @property
    def request_ids(self) -> list[str]:
        return [request.request_id for request in self.requests]


def stamp(time: datetime) -> Timestamp:
    made = Timestamp()
    made.FromDatetime(time)
    return made


def test_a_schedule_goes_to_the_server_with_its_policies_by_name_and_its_input_to_the_letter(use: Any) -> None:
    seen = Seen()

    def create(request: Any) -> Any:
        schedule = schedule_pb2.Schedule(
            schedule_id=request.schedule_id, spec=request.spec, state=schedule_pb2.SCHEDULE_STATE_ACTIVE
        )
        return schedule_service_pb2.CreateScheduleResponse(schedule=schedule)

    with gateway(CreateSchedule=seen.answer(create)) as address:
        made = use(
            address, "schedules.create", "a", "w", "@daily", input_json='{"n": 1.0}', missed="run_all", overlap="skip"
        )
        use(address, "schedules.create", "b", "w", "@daily")
        with pytest.raises(ValueError, match="'later' is not one of skip, run_once, run_all"):
            use(address, "schedules.create", "c", "w", "@daily", missed="later")
    first, second = (request.spec for request in seen.requests)
    assert (first.workflow_id, first.expression, first.input_json) == ("w", "@daily", b'{"n": 1.0}')
    assert (first.missed, first.overlap) == (schedule_pb2.MISSED_POLICY_RUN_ALL, schedule_pb2.OVERLAP_POLICY_SKIP)
    assert (second.missed, second.overlap) == (schedule_pb2.MISSED_POLICY_SKIP, schedule_pb2.OVERLAP_POLICY_ALLOW)
    assert len(set(seen.request_ids)) == 2
    assert (made.missed, made.overlap, made.state, made.input) == ("run_all", "skip", "active", {"n": 1.0})


def test_the_times_of_a_preview_are_datetimes(use: Any) -> None:
    seen = Seen()
    times = schedule_service_pb2.PreviewScheduleResponse(times=[stamp(NEW_YEAR)])
    with gateway(PreviewSchedule=seen.answer(lambda _: times)) as address:
        assert use(address, "schedules.preview", expression="@daily", after=NEW_YEAR, count=1) == (NEW_YEAR,)
        with pytest.raises(ValueError, match="has no time zone"):
            use(address, "schedules.preview", expression="@daily", after=datetime(2026, 1, 1))
    (request,) = seen.requests
    assert (request.expression, request.schedule_id, request.count) == ("@daily", "", 1)
    assert request.from_time == stamp(NEW_YEAR)


def test_a_schedule_is_updated_paused_resumed_triggered_listed_and_deleted(use: Any) -> None:
    seen = Seen()
    schedule = schedule_pb2.Schedule(schedule_id="a", state=schedule_pb2.SCHEDULE_STATE_PAUSED, paused_by="ada")
    service = schedule_service_pb2
    run = run_pb2.Run(run_id="r")
    with gateway(
        UpdateSchedule=seen.answer(lambda _: service.UpdateScheduleResponse(schedule=schedule)),
        PauseSchedule=seen.answer(lambda _: service.PauseScheduleResponse(schedule=schedule)),
        ResumeSchedule=seen.answer(lambda _: service.ResumeScheduleResponse(schedule=schedule)),
        TriggerSchedule=seen.answer(lambda _: service.TriggerScheduleResponse(run=run, duplicate=True)),
        DeleteSchedule=seen.answer(lambda _: service.DeleteScheduleResponse()),
        GetSchedule=lambda *_: service.GetScheduleResponse(schedule=schedule),
        ListSchedules=lambda request, _: service.ListSchedulesResponse(
            schedules=[schedule], next_page_token=request.workflow_id
        ),
    ) as address:
        use(address, "schedules.update", "a", "w", "@hourly", expected_version=3)
        assert use(address, "schedules.pause", "a", by="ada", reason="a look").paused_by == "ada"
        use(address, "schedules.resume", "a")
        triggered = use(address, "schedules.trigger", "a")
        assert use(address, "schedules.delete", "a") is None
        assert use(address, "schedules.get", "a").state == "paused"
        page = use(address, "schedules.list", workflow_id="w")
    update, pause, *_ = seen.requests
    assert (update.expected_version, update.spec.expression) == (3, "@hourly")
    assert (pause.paused_by, pause.reason) == ("ada", "a look")
    assert (triggered.run.run_id, triggered.is_duplicate) == ("r", True)
    assert (len(page.schedules), page.next_page_token) == (1, "w")
    assert len(set(seen.request_ids)) == 5 and "" not in seen.request_ids


def test_pausing_and_resuming_a_run_send_by_reason_and_whether_the_runs_below_it_are_meant(use: Any) -> None:
    seen = Seen()
    paused = run_pb2.Run(run_id="r", status=run_pb2.RUN_STATUS_PAUSED)
    running = run_pb2.Run(run_id="r", status=run_pb2.RUN_STATUS_RUNNING)
    with gateway(
        PauseRun=seen.answer(lambda _: run_service_pb2.PauseRunResponse(run=paused)),
        ResumeRun=seen.answer(lambda _: run_service_pb2.ResumeRunResponse(run=running)),
    ) as address:
        assert use(address, "pause", "r", by="ada", reason="a look", children=True).status == "paused"
        assert use(address, "resume", "r").status == "running"
    pause, resume = seen.requests
    assert (pause.run_id, pause.by, pause.reason, pause.children) == ("r", "ada", "a look", True)
    assert (resume.run_id, resume.by, resume.reason, resume.children) == ("r", "", "", False)
    assert pause.request_id != resume.request_id


def test_a_top_up_sends_whole_micro_dollars_and_a_request_id_of_its_own(use: Any) -> None:
    seen = Seen()
    running = run_pb2.Run(run_id="r", status=run_pb2.RUN_STATUS_RUNNING)
    with gateway(TopUpRun=seen.answer(lambda _: run_service_pb2.TopUpRunResponse(run=running))) as address:
        assert use(address, "top_up", "r", tokens=5, cost_usd=0.25, by="ada").status == "running"
        with pytest.raises(ValueError):
            use(address, "top_up", "r", tokens=-1)
    (asked,) = seen.requests
    assert (asked.amounts.tokens, asked.amounts.cost_micros, asked.by) == (5, 250_000, "ada")
    assert asked.request_id != ""


def test_metadata_are_sent_as_json_and_filters_are_kept_by_name(use: Any) -> None:
    seen = Seen()
    changed = run_pb2.Run(run_id="r", metadata_json=b'{"team": "billing"}')
    kept = run_service_pb2.RunFilter(name="late", filter="duration > 1h")
    page = run_service_pb2.ListRunFiltersResponse(run_filters=[kept], next_page_token="t")
    with gateway(
        UpdateRunMetadata=seen.answer(lambda _: run_service_pb2.UpdateRunMetadataResponse(run=changed)),
        SaveRunFilter=seen.answer(lambda _: run_service_pb2.SaveRunFilterResponse(run_filter=kept)),
        ListRunFilters=seen.answer(lambda _: page),
        DeleteRunFilter=seen.answer(lambda _: run_service_pb2.DeleteRunFilterResponse()),
        ListRuns=seen.answer(lambda _: run_service_pb2.ListRunsResponse()),
    ) as address:
        assert use(address, "update_metadata", "r", {"team": "billing", "old": None}).metadata == {"team": "billing"}
        assert use(address, "save_filter", "late", "duration > 1h").filter == "duration > 1h"
        listed = use(address, "filters", page_size=5)
        assert ([each.name for each in listed.filters], listed.next_page_token) == (["late"], "t")
        use(address, "delete_filter", "late")
        use(address, "list", filter="status = failed", saved_filter="late")
    change, saved, _, deleted, listing = seen.requests
    assert json.loads(change.metadata_json) == {"team": "billing", "old": None}
    assert (saved.name, saved.filter, deleted.name) == ("late", "duration > 1h", "late")
    assert (listing.filter, listing.saved_filter) == ("status = failed", "late")
    assert len({change.request_id, saved.request_id, deleted.request_id} - {""}) == 3


def test_pausing_and_resuming_a_workflow_or_a_queue_send_by_and_reason_and_pauses_are_listed(use: Any) -> None:
    seen = Seen()
    queue = pause_pb2.Pause(scope=pause_pb2.PAUSE_SCOPE_QUEUE, name="http", by="ada")
    flow = pause_pb2.Pause(scope=pause_pb2.PAUSE_SCOPE_WORKFLOW, name="w", pausing=True)
    depth = queue_service_pb2.QueueDepth(node_type="http", waiting=2, held=True)
    with gateway(
        PauseWorkflow=seen.answer(lambda _: workflow_service_pb2.PauseWorkflowResponse(pause=flow)),
        ResumeWorkflow=seen.answer(lambda _: workflow_service_pb2.ResumeWorkflowResponse(resuming=True)),
        PauseQueue=seen.answer(lambda _: queue_service_pb2.PauseQueueResponse(pause=queue)),
        ResumeQueue=seen.answer(lambda _: queue_service_pb2.ResumeQueueResponse()),
        ListPauses=lambda *_: queue_service_pb2.ListPausesResponse(pauses=[queue, flow]),
        GetQueueDepth=lambda *_: queue_service_pb2.GetQueueDepthResponse(total=depth, queues=[depth]),
    ) as address:
        words = {"by": "ada", "reason": "a look"}
        assert use(address, "workflows.pause", "w", **words).is_pausing
        assert use(address, "workflows.resume", "w") is True
        assert use(address, "queues.pause", "http", **words).name == "http"
        assert use(address, "queues.resume", "http") is None
        pauses = use(address, "queues.pauses")
        depths = use(address, "queues.depth")
    assert [(each.scope, each.name) for each in pauses] == [("queue", "http"), ("workflow", "w")]
    assert (depths.total.waiting, depths.queues[0].is_held) == (2, True)
    asked = [(request.by, request.reason) for request in seen.requests]
    assert asked == [("ada", "a look"), ("", ""), ("ada", "a look"), ("", "")]
    assert len(set(seen.request_ids)) == 4


def test_a_redrive_goes_to_the_server_with_its_filter_and_keeps_its_request_id_across_retries(use: Any) -> None:
    asked: list[Any] = []

    def redrive(request: Any, context: grpc.ServicerContext) -> Any:
        asked.append(request)
        if len(asked) == 1:
            context.abort(grpc.StatusCode.UNAVAILABLE, "gone")
        letter = queue_service_pb2.RedrivenLetter(dead_letter_id="d", run_id="r")
        left = queue_service_pb2.LeftDeadLetters(reason="closed", count=2)
        return queue_service_pb2.RedriveDeadLettersResponse(redriven=[letter], left=[left])

    with gateway(RedriveDeadLetters=redrive) as address:
        options = {"workflow_id": "w", "node_type": "http", "before": NEW_YEAR, "limit": 7, "max_per_second": 2}
        done = use(address, "dead_letters.redrive", **options)
    assert [(each.dead_letter_id, each.run_id) for each in done.redriven] == [("d", "r")]
    assert [(each.reason, each.count) for each in done.left] == [("closed", 2)]
    assert (asked[0].filter.workflow_id, asked[0].filter.node_type) == ("w", "http")
    assert asked[0].filter.before_time == stamp(NEW_YEAR)
    assert (asked[0].limit, asked[0].max_per_second) == (7, 2)
    assert len(asked) == 2 and asked[0].request_id == asked[1].request_id != ""


def test_dead_letters_are_listed_previewed_and_discarded(use: Any) -> None:
    seen = Seen()
    service = queue_service_pb2
    letter = service.DeadLetter(dead_letter_id="d", error_message="no", state=service.DEAD_LETTER_STATE_OPEN)
    with gateway(
        ListDeadLetters=seen.answer(lambda _: service.ListDeadLettersResponse(dead_letters=[letter], next_page_token="t")),
        PreviewRedrive=seen.answer(lambda _: service.PreviewRedriveResponse(redriven=3, runs=2, first_ids=["d"])),
        DiscardDeadLetters=seen.answer(lambda _: service.DiscardDeadLettersResponse(dead_letter_ids=["d"])),
    ) as address:
        page = use(address, "dead_letters.list", states=["open"], workflow_id="w")
        preview = use(address, "dead_letters.preview", node_type="http", limit=5)
        assert use(address, "dead_letters.discard", ids=["d"]) == ("d",)
    assert (page.dead_letters[0].state, page.dead_letters[0].error, page.next_page_token) == ("open", "no", "t")
    assert (preview.redriven_count, preview.run_count, preview.first_ids) == (3, 2, ("d",))
    listed, previewed, discarded = seen.requests
    assert list(listed.states) == [service.DEAD_LETTER_STATE_OPEN] and listed.filter.workflow_id == "w"
    assert (previewed.filter.node_type, previewed.limit) == ("http", 5)
    assert list(discarded.filter.dead_letter_ids) == ["d"] and discarded.request_id != ""


def slow_server(letters: int, per_call: int, asked: list[str]) -> Callable[[Any, grpc.ServicerContext], Any]:
    """A server with dead letters that redrives a few a call, up to the limit of a request."""
    closed: dict[str, list[str]] = {}
    given = iter(range(letters))
    left = letters

    def redrive(request: Any, context: grpc.ServicerContext) -> Any:
        nonlocal left
        asked.append(request.request_id)
        own = closed.setdefault(request.request_id, [])
        for _ in range(min(per_call, request.limit - len(own), left)):
            own.append(f"d{next(given)}")
            left -= 1
        redriven = [queue_service_pb2.RedrivenLetter(dead_letter_id=each, run_id="r") for each in own]
        return queue_service_pb2.RedriveDeadLettersResponse(redriven=redriven, remaining=min(1000, left))

    return redrive


def test_a_redrive_of_many_continues_call_after_call_and_request_after_request_until_nothing_is_left(use: Any) -> None:
    asked: list[str] = []
    with gateway(RedriveDeadLetters=slow_server(2100, 600, asked)) as address:
        steps = use(address, "dead_letters.redrive_all", request_id="all")
    letters = [letter.dead_letter_id for step in steps for letter in step.redriven]
    assert letters == [f"d{index}" for index in range(2100)]
    assert [step.redriven_count for step in steps] == [600, 1000, 1600, 2000, 2100]
    assert asked == ["all", "all", "all.2", "all.2", "all.3"]


def test_a_redrive_of_so_many_ends_with_them_and_begun_again_under_its_request_id_it_doubles_nothing(use: Any) -> None:
    with gateway(RedriveDeadLetters=slow_server(50, 3, [])) as address:
        first, again = (
            [
                letter.dead_letter_id
                for step in use(address, "dead_letters.redrive_all", request_id="seven", limit=7)
                for letter in step.redriven
            ]
            for _ in range(2)
        )
    assert first == [f"d{index}" for index in range(7)] == again


def test_an_answer_goes_with_its_response_to_the_letter_or_with_none(use: Any) -> None:
    seen = Seen()
    service = approval_service_pb2
    approved = approval_pb2.Approval(approval_id="a", state=approval_pb2.APPROVAL_STATE_APPROVED)
    rejected = approval_pb2.Approval(approval_id="b", state=approval_pb2.APPROVAL_STATE_REJECTED)
    with gateway(
        ApproveApproval=seen.answer(lambda _: service.ApproveApprovalResponse(approval=approved)),
        RejectApproval=seen.answer(lambda _: service.RejectApprovalResponse(approval=rejected)),
    ) as address:
        decide = "approvals.decide"
        assert use(address, decide, "a", "approve", response_json='{"amount": 5.0}', decided_by="ada").state == "approved"
        use(address, decide, "a", "approve", response={"amount": 5})
        assert use(address, decide, "b", "reject", comment="no").state == "rejected"
    assert [request.response_json for request in seen.requests] == [b'{"amount": 5.0}', b'{"amount":5}', b""]
    first, _, last = seen.requests
    assert (first.decided_by, last.approval_id, last.comment) == ("ada", "b", "no")
    assert len(set(seen.request_ids)) == 3


def test_approvals_come_by_page_and_one_by_one_with_the_schema_of_the_response(use: Any) -> None:
    def listed(request: Any, context: grpc.ServicerContext) -> Any:
        name = f"{list(request.states)} {request.assignee} {request.page_token}"
        approvals = [approval_pb2.Approval(approval_id=name)]
        return approval_service_pb2.ListApprovalsResponse(approvals=approvals, next_page_token="more")

    whole = approval_pb2.Approval(approval_id="a", response_schema_json=b'{"type":"object"}')
    with gateway(
        ListApprovals=listed, GetApproval=lambda *_: approval_service_pb2.GetApprovalResponse(approval=whole)
    ) as address:
        page = use(address, "approvals.list", states=["open"], assignee="finance", page_token="t")
        one = use(address, "approvals.get", "a")
    assert (page.approvals[0].approval_id, page.next_page_token) == ("[1] finance t", "more")
    assert one.response_schema == {"type": "object"}


def test_a_repair_shows_its_plan_first_and_starts_a_run_by_its_digest(use: Any) -> None:
    seen = Seen()
    node = repair_pb2.RepairNode(node_id="a", action=repair_pb2.REPAIR_ACTION_RUN_ITEMS, items_reused=3, items_again=1)
    plan = repair_pb2.RepairPlan(run_id="r", digest="d", nodes=[node], warnings=["look"])
    run = run_pb2.Run(run_id="new", repair_of="r", repaired_by=["newer"])

    def repair(request: Any) -> Any:
        return run_service_pb2.RepairRunResponse(plan=plan, run=None if request.dry_run else run)

    with gateway(
        RepairRun=seen.answer(repair),
        RetryRun=seen.answer(lambda _: run_service_pb2.RetryRunResponse(run=run, duplicate=True)),
    ) as address:
        asked = {"from_nodes": ["a"], "definition": "id: w", "outputs": {"b": [1]}, "handles": {"b": "yes"}, "by": "ada"}
        shown = use(address, "repairs.plan", "r", **asked)
        repaired = use(address, "repairs.repair", "r", plan_digest=shown.digest, input={"n": 1}, **asked)
        retried = use(address, "repairs.retry", "r", latest=True, keep_effects=True)
    assert [(each.node_id, each.action, each.items_again) for each in shown.nodes] == [("a", "run_items", 1)]
    assert shown.warnings == ("look",)
    assert (repaired.run.run_id, repaired.plan, repaired.is_duplicate) == ("new", shown, False)
    assert (retried.plan, retried.is_duplicate) == (None, True)
    assert (retried.run.repair_of, retried.run.repaired_by) == ("r", ("newer",))
    first, second, third = seen.requests
    assert (first.dry_run, first.definition.text, list(first.from_nodes), first.input_json) == (True, "id: w", ["a"], b"")
    assert (second.dry_run, second.plan_digest, second.input_json, second.by) == (False, "d", b'{"n":1}', "ada")
    assert [(each.node_id, each.output_json, each.handle) for each in second.outputs] == [("b", b"[1]", "yes")]
    assert (third.latest, third.keep_effects) == (True, True)
    assert len(set(seen.request_ids)) == 3


def test_daily_budgets_come_by_page_and_a_day_without_a_limit_says_so(use: Any) -> None:
    seen = Seen()
    used = run_pb2.Amounts(tokens=3, node_executions=1)
    limit = run_pb2.Amounts(cost_micros=500)
    days = [
        workflow_pb2.DailyBudget(
            workflow_id="w", day="2026-01-01", limit=limit, used=used, reset_time=stamp(NEW_YEAR)
        ),
        workflow_pb2.DailyBudget(workflow_id="w", day="2025-12-31", used=used),
    ]
    answer = workflow_service_pb2.ListDailyBudgetsResponse(daily_budgets=days, next_page_token="t")
    with gateway(ListDailyBudgets=seen.answer(lambda _: answer)) as address:
        page = use(address, "workflows.daily_budgets", workflow_id="w", page_size=2, page_token="s")
    (request,) = seen.requests
    assert (request.workflow_id, request.page_size, request.page_token) == ("w", 2, "s")
    newest, oldest = page.budgets
    assert (newest.day, newest.limit, newest.resets_at) == ("2026-01-01", DayAmounts(0, 500, 0), NEW_YEAR)
    assert (newest.used, newest.reserved) == (DayAmounts(3, 0, 1), DayAmounts(0, 0, 0))
    assert (oldest.limit, oldest.resets_at, page.next_page_token) == (None, None, "t")


def test_a_command_is_enqueued_with_its_exact_input_or_answer_and_with_a_request_id_of_its_own(use: Any) -> None:
    seen = Seen()
    command = queued_command_pb2.QueuedCommand(
        command_id="c",
        state=queued_command_pb2.COMMAND_STATE_WAITING,
        type=queued_command_pb2.COMMAND_TYPE_START,
        input_json=b'{"n":1}',
        due_time=stamp(NEW_YEAR),
    )
    answer = queue_service_pb2.EnqueueCommandResponse(command=command)
    with gateway(EnqueueCommand=seen.answer(lambda _: answer)) as address:
        waiting = {"priority": -2, "max_attempts": 5, "delay": 1.5}
        queued = use(address, "commands.start", "w", input_json='{"n": 1.0}', run_name="name", **waiting)
        use(address, "commands.resume", "w", "name", "ask", "reject", response={"a": 1}, decided_by="ada", iteration=2)
    assert (queued.command_id, queued.state, queued.type, queued.input) == ("c", "waiting", "start", {"n": 1})
    assert (queued.due_at, queued.created_at, queued.answer) == (NEW_YEAR, None, None)
    start, resume = seen.requests
    assert (start.type, start.input_json, start.run_id) == (1, b'{"n": 1.0}', "name")
    assert (start.priority, start.max_attempts, start.delay.ToMilliseconds()) == (-2, 5, 1500)
    assert (resume.type, resume.run_id, resume.HasField("delay")) == (2, "name", False)
    given = resume.answer
    assert (given.node_id, given.iteration, given.decision, given.decided_by) == ("ask", 2, 2, "ada")
    assert given.response_json == b'{"a":1}'
    assert len(set(seen.request_ids)) == 2


def test_commands_are_listed_by_state_and_changed_by_id(use: Any) -> None:
    seen = Seen()
    dead = queued_command_pb2.QueuedCommand(
        command_id="c", state=queued_command_pb2.COMMAND_STATE_DEAD_LETTER, error_message="no", started_run_id="r"
    )
    page = queue_service_pb2.ListCommandsResponse(commands=[dead], next_page_token="n")
    with gateway(
        ListCommands=seen.answer(lambda _: page),
        GetCommand=seen.answer(lambda _: queue_service_pb2.GetCommandResponse(command=dead)),
        CancelCommand=seen.answer(lambda _: queue_service_pb2.CancelCommandResponse(command=dead)),
        RedriveCommand=seen.answer(lambda _: queue_service_pb2.RedriveCommandResponse(command=dead)),
        DiscardCommand=seen.answer(lambda _: queue_service_pb2.DiscardCommandResponse(command=dead)),
    ) as address:
        listed = use(address, "commands.list", states=("dead_letter",), page_size=2, page_token="t")
        changed = [use(address, f"commands.{verb}", "c", request_id="r") for verb in ("cancel", "redrive", "discard")]
        changed.append(use(address, "commands.get", "c"))
    assert (listed.next_page_token, listed.commands[0].state, listed.commands[0].run_id) == ("n", "dead_letter", "r")
    assert all(each == listed.commands[0] for each in changed)
    first, *others = seen.requests
    assert (list(first.states), first.page_size, first.page_token) == ([5], 2, "t")
    assert [each.command_id for each in others] == ["c"] * 4
    assert [each.request_id for each in others[:3]] == ["r"] * 3


def test_stats_have_ages_in_seconds_and_none_where_nothing_waits(use: Any) -> None:
    seen = Seen()
    total = queue_service_pb2.QueueStats(time=stamp(NEW_YEAR), slots=8, active=3, available=5, waiting=2, oldest_ms=1500, median_ms=500)
    pool = queue_service_pb2.PoolStats(process_id="p", service="gateway", kind="connections", pool="reads", size=5, in_use=1, idle=2)
    answer = queue_service_pb2.GetQueueStatsResponse(
        total=total, queues=[queue_service_pb2.QueueStats(node_type="http")], pools=[pool], points=[total]
    )
    answer.step.FromSeconds(60)
    with gateway(GetQueueStats=seen.answer(lambda _: answer)) as address:
        stats = use(address, "queues.stats", node_type="http", range=3600, step=60)
        use(address, "queues.stats")
    assert (stats.total.oldest, stats.total.median, stats.total.oldest_pending, stats.total.at) == (1.5, 0.5, None, NEW_YEAR)
    assert (stats.queues[0].node_type, stats.queues[0].oldest, stats.step.total_seconds()) == ("http", None, 60)
    assert (stats.points, stats.pools[0].in_use) == ((stats.total,), 1)
    first, second = seen.requests
    assert (first.node_type, first.range.ToSeconds(), first.step.ToSeconds()) == ("http", 3600, 60)
    assert not second.HasField("range") and not second.HasField("step")
