"""A caller of Pawl in Python, for the flow test: every call of the client against a real gateway.

It prints `cut` when the test must restart the gateway, and reads a line when that is done. The last line is `ok`.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from typing import Any

import grpc
from streams import streams

from pawl_sdk import AcceptedRun, AsyncClient, Client, Event, PawlError, Reconnect, RunFailed, StartItem

START = {"id": "start", "type": "start"}
END = {"id": "end", "type": "end"}


def workflow(name: str, node: dict[str, Any]) -> dict[str, Any]:
    edges = [{"source": "start", "target": "work"}, {"source": "work", "target": "end"}]
    return {"id": name, "nodes": [START, {"id": "work", **node}, END], "edges": edges}


def script(code: str) -> dict[str, Any]:
    return {"type": "javascript", "config": {"code": code}}


ASK = {"type": "approval", "config": {"message": "Refund {{ ctx.input.amount }}?"}}


def say(word: str) -> None:
    print(word, flush=True)


def save(client: Client) -> None:
    double = workflow("py-double", script("return { twice: ctx.input.n * 2 }"))
    assert client.workflows.apply(double).outcome == "created"
    assert client.workflows.apply(double).outcome == "unchanged"
    assert client.workflows.get("py-double").definition["id"] == "py-double"
    client.workflows.apply(workflow("py-broken", script("throw new Error('on purpose')")))
    client.workflows.apply(workflow("py-ask", ASK))
    listed = {each.workflow_id for each in client.workflows.list().workflows}
    assert listed == {"py-double", "py-broken", "py-ask"}


def run(client: Client) -> None:
    output = client.run("py-double", {"n": 21})
    assert "42" in str(output), output
    try:
        client.run("py-broken")
        raise AssertionError("a broken run returned")
    except RunFailed as failed:
        assert failed.status == "failed" and "on purpose" in failed.error, failed
        assert client.get(failed.run_id).status == "failed"
    first = client.start("py-double", {"n": 1}, request_id="py-request-1")
    again = client.start("py-double", {"n": 1}, request_id="py-request-1")
    assert again.is_duplicate and again.run_id == first.run_id
    assert client.wait(first.run_id).status == "completed"
    completed = client.list(workflow_id="py-double", statuses=["completed"])
    assert len(completed.runs) == 2


def many(client: Client) -> None:
    items = [StartItem("py-none" if n == 3 else "py-double", {"n": n}) for n in range(6)]
    outcomes = client.start_many(items)
    refused = outcomes.pop(3)
    assert isinstance(refused, PawlError) and refused.reason == "WORKFLOW_NOT_FOUND", refused
    accepted = {each.run_id for each in outcomes if isinstance(each, AcceptedRun)}
    assert len(accepted) == 5
    assert {client.wait(run_id).status for run_id in accepted} == {"completed"}
    types = [event.type for event in client.execute("py-double", {"n": 4})]
    assert types[0] == "run.started" and types[-1] == "run.completed", types


def schedules(client: Client) -> None:
    new_year = datetime(2030, 1, 1, tzinfo=UTC)
    times = client.schedules.preview(expression="0 9 * * *", after=new_year, count=2)
    assert times == (datetime(2030, 1, 1, 9, tzinfo=UTC), datetime(2030, 1, 2, 9, tzinfo=UTC))
    made = client.schedules.create("py-daily", "py-double", "0 9 * * *", input={"n": 5}, overlap="skip")
    assert (made.state, made.overlap, made.missed, made.input) == ("active", "skip", "skip", {"n": 5}), made
    changed = client.schedules.update(
        "py-daily", "py-double", "0 10 * * *", input={"n": 6}, expected_version=made.version
    )
    assert changed.expression == "0 10 * * *" and changed.version > made.version
    assert client.schedules.pause("py-daily", by="ann", reason="a look").paused_by == "ann"
    assert client.schedules.get("py-daily").state == "paused"
    assert client.schedules.resume("py-daily").state == "active"
    run_id = client.schedules.trigger("py-daily").run.run_id
    assert "12" in str(client.wait(run_id).output)
    assert [run.run_id for run in client.list(schedule_id="py-daily").runs] == [run_id]
    assert [each.schedule_id for each in client.schedules.list(workflow_id="py-double").schedules] == ["py-daily"]
    client.schedules.delete("py-daily")
    assert client.schedules.list().schedules == ()


def details(client: Client) -> None:
    tested = client.test(workflow("py-test", script("return ctx.input.n + 1")), {"n": 1})
    run_id = tested.run.run_id
    assert not tested.is_duplicate and tested.warnings == (), tested
    assert client.wait(run_id, timeout=60).status == "completed"
    explained = client.explain(run_id, "work")
    assert (explained.reason, explained.status) == ("completed", "completed") and explained.evidence, explained
    events = client.events(run_id, page_size=2)
    assert [event.event_id for event in events.events] == [1, 2] and events.has_more
    rest = client.events(run_id, after_event_id=2)
    assert rest.events[-1].type == "run.completed" and not rest.has_more
    tags = [tag.tag for tag in client.tags(run_id, node_id="work").tags]
    assert tags[-1] == "node_completed", tags
    assert client.effects(run_id).effects == ()
    client.delete(run_id)
    client.workflows.apply(workflow("py-gone", script("return 1")))
    client.workflows.delete("py-gone")
    types = {each.type: each for each in client.node_types.list(page_size=200).node_types}
    assert types["javascript"].is_built_in and types["javascript"].executor_count >= 1
    assert client.node_types.get("javascript").config_schema is not None
    assert any("javascript" in each.node_types for each in client.node_types.executors())


def leave(client: Client) -> None:
    started: list[AcceptedRun] = []
    for call in (
        lambda: client.run("py-ask", {"amount": 3}, on_start=started.append, timeout=2),
        lambda: client.wait(started[0].run_id, timeout=0.2),
        lambda: list(client.watch(started[0].run_id, timeout=0.2)),
    ):
        try:
            call()
            raise AssertionError("a run without its answer ended")
        except PawlError as error:
            assert error.reason == "DEADLINE_PASSED", error
    run = client.get(started[0].run_id)
    assert not run.has_ended, run
    assert client.recheck(run.run_id).run_id == run.run_id
    assert client.decide(run.run_id, "work", "approve").run_id == run.run_id
    assert client.wait(run.run_id).status == "completed"


def pauses(client: Client) -> None:
    assert client.workflows.pause("py-double", by="ann", reason="a look").scope == "workflow"
    assert client.queues.pause("javascript", by="bob").name == "javascript"
    listed = [(each.scope, each.name, each.by) for each in client.queues.pauses()]
    assert listed == [("queue", "javascript", "bob"), ("workflow", "py-double", "ann")], listed
    client.queues.resume("javascript")
    client.workflows.resume("py-double")
    run_id = client.start("py-ask", {"amount": 2}).run_id
    assert client.pause(run_id, by="ann").status == "paused"
    assert client.resume(run_id).status != "paused"
    client.cancel(run_id)
    assert client.queues.depth().total.dead_letter == 0


def refusals(client: Client) -> None:
    for call, reason in (
        (lambda: client.get("00000000-0000-7000-8000-000000000000"), "RUN_NOT_FOUND"),
        (lambda: client.node_types.get("py.none@1"), "NODE_TYPE_NOT_FOUND"),
        (lambda: client.invocation(client.start("py-double", {"n": 1}).run_id, "work"), "NODE_NOT_INVOKED"),
        (lambda: client.delete(client.start("py-double", {"n": 1}).run_id), "RUN_NOT_DELETABLE"),
        (lambda: client.start("py-none"), "WORKFLOW_NOT_FOUND"),
        (lambda: client.workflows.apply({"id": "py-bad", "nodes": []}), "DEFINITION_INVALID"),
        (lambda: client.schedules.create("py-bad", "py-double", "now and then"), "INPUT_INVALID"),
        (lambda: client.dead_letters.discard(), "INPUT_INVALID"),
    ):
        try:
            call()
            raise AssertionError(f"no {reason}")
        except PawlError as error:
            assert error.reason == reason, error
            assert reason != "DEFINITION_INVALID" or error.violations[0].message != ""


def cut() -> None:
    say("cut")
    sys.stdin.readline()


def watch_across_a_cut(client: Client) -> None:
    run_id = client.start("py-ask", {"amount": 7}).run_id
    lost: list[Reconnect] = []
    events: list[Event] = []
    for event in client.watch(run_id, on_reconnect=lost.append):
        events.append(event)
        if event.type == "node.blocked":
            cut()
            (asked,) = client.approvals.list(run_id=run_id, states=["open"]).approvals
            assert asked.message == "Refund 7?" and asked.node_id == "work"
            client.approvals.decide(
                asked.approval_id, "approve", response={"note": "yes"}, decided_by="ann"
            )
            decided = client.approvals.get(asked.approval_id)
            assert (decided.state, decided.decided_by) == ("approved", "ann")
            assert decided.response == {"note": "yes"}
    assert [each.event_id for each in events] == list(range(1, len(events) + 1))
    assert events[-1].type == "run.completed" and len(lost) >= 1


def cancel(client: Client) -> None:
    run_id = client.start("py-ask", {"amount": 1}).run_id
    client.cancel(run_id, reason="not needed")
    assert client.wait(run_id).status == "cancelled"
    try:
        client.cancel(run_id)
        raise AssertionError("a second cancel was accepted")
    except PawlError as error:
        assert error.reason == "RUN_ALREADY_FINISHED", error


def threads(client: Client) -> None:
    code = "return [...(ctx.memory.said ?? []), ctx.input]"
    memory = {"write_key": "said", "read_keys": ["said"]}
    say_node = {"type": "javascript", "config": {"code": code}, **memory}
    client.workflows.apply(workflow("py-say", say_node))
    hold = workflow("py-hold", say_node)
    hold["nodes"].insert(2, {"id": "ask", "type": "approval", "config": {"message": "Continue?"}})
    hold["edges"] = [{"source": a, "target": b} for a, b in (("start", "work"), ("work", "ask"), ("ask", "end"))]
    client.workflows.apply(hold)
    assert client.threads.create("py-chat", metadata={"user": "ada"}).status == "idle"
    for text in ("one", "two"):
        client.run("py-say", text, thread_id="py-chat")
    assert client.threads.state("py-chat").memory == {"said": ["one", "two"]}
    held = client.start("py-hold", "three", thread_id="py-chat").run_id
    waiting = client.start("py-say", "four", thread_id="py-chat", multitask="enqueue").run_id
    try:
        client.start("py-say", "no", thread_id="py-chat")
        raise AssertionError("a busy thread took a run")
    except PawlError as error:
        assert (error.reason, error.code) == ("THREAD_BUSY", grpc.StatusCode.ABORTED), error
        assert error.metadata["run_id"] == held, error.metadata
    # The approval opens when the text is in the memory of the run.
    for event in client.watch(held, types=["node.blocked"]):
        if event.type == "node.blocked":
            break
    five = client.run("py-say", "five", thread_id="py-chat", multitask="interrupt")
    assert client.get(held).stop == "interrupt" and client.get(waiting).stop == "interrupt"
    assert five == ["one", "two", "three", "five"], five
    resumed = client.resume(waiting)
    continued = client.wait(resumed.run_id)
    assert (continued.status, continued.repair_of) == ("completed", waiting), continued
    rolled = client.start("py-hold", "six", thread_id="py-chat").run_id
    client.cancel(rolled, mode="rollback")
    assert client.wait(rolled).stop == "rollback"
    said = ["one", "two", "three", "five", "four"]
    assert client.threads.state("py-chat").memory == {"said": said}
    history = client.list(thread_id="py-chat").runs
    assert [run.stop for run in history] == ["rollback", "", "", "interrupt", "interrupt", "", ""]
    assert len(client.list(thread_id="py-chat", statuses=["cancelled"], stops=["rollback"]).runs) == 1
    client.threads.fork("py-chat", new_thread_id="py-fork", run_id=history[-1].run_id, metadata={"user": "ada"})
    assert client.threads.state("py-fork").memory == {"said": ["one"]}
    assert len(client.threads.list(metadata={"user": "ada"}).threads) == 2
    assert client.threads.update("py-fork", {"user": "eve"}).metadata == {"user": "eve"}
    client.threads.delete("py-chat", force=True)
    try:
        client.threads.get("py-chat")
        raise AssertionError("a deleted thread was found")
    except PawlError as error:
        assert error.reason == "THREAD_NOT_FOUND", error


async def on_a_loop() -> None:
    async with AsyncClient() as client:
        outputs = await asyncio.gather(*(client.run("py-double", {"n": n}) for n in range(5)))
        assert len(outputs) == 5
        started = await client.start("py-double", {"n": 3})
        types = [event.type async for event in client.watch(started.run_id)]
        assert types[0] == "run.started" and types[-1] == "run.completed"


if __name__ == "__main__":
    with Client() as shared:
        save(shared)
        run(shared)
        many(shared)
        details(shared)
        leave(shared)
        schedules(shared)
        pauses(shared)
        refusals(shared)
        watch_across_a_cut(shared)
        cancel(shared)
        threads(shared)
        streams(shared, cut)
    asyncio.run(on_a_loop())
    say("ok")
