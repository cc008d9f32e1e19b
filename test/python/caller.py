"""A caller of Pawl in Python, for the flow test: every call of the client against a real gateway.

It prints `cut` when the test must restart the gateway, and reads a line when that is done. The last line is `ok`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from pawl_sdk import AsyncClient, Client, Event, PawlError, Reconnect, RunFailed

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
    assert again.is_duplicate and again.run.run_id == first.run.run_id
    assert client.wait(first.run.run_id).status == "completed"
    completed = client.list(workflow_id="py-double", statuses=["completed"])
    assert len(completed.runs) == 2


def refusals(client: Client) -> None:
    for call, reason in (
        (lambda: client.get("00000000-0000-7000-8000-000000000000"), "RUN_NOT_FOUND"),
        (lambda: client.start("py-none"), "WORKFLOW_NOT_FOUND"),
        (lambda: client.workflows.apply({"id": "py-bad", "nodes": []}), "DEFINITION_INVALID"),
    ):
        try:
            call()
            raise AssertionError(f"no {reason}")
        except PawlError as error:
            assert error.reason == reason, error
            assert reason != "DEFINITION_INVALID" or error.violations[0].message != ""


def watch_across_a_cut(client: Client) -> None:
    run_id = client.start("py-ask", {"amount": 7}).run.run_id
    lost: list[Reconnect] = []
    events: list[Event] = []
    for event in client.watch(run_id, on_reconnect=lost.append):
        events.append(event)
        if event.type == "node.blocked":
            say("cut")
            sys.stdin.readline()
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
    run_id = client.start("py-ask", {"amount": 1}).run.run_id
    client.cancel(run_id, reason="not needed")
    assert client.wait(run_id).status == "cancelled"
    try:
        client.cancel(run_id)
        raise AssertionError("a second cancel was accepted")
    except PawlError as error:
        assert error.reason == "RUN_ALREADY_FINISHED", error


async def on_a_loop() -> None:
    async with AsyncClient() as client:
        outputs = await asyncio.gather(*(client.run("py-double", {"n": n}) for n in range(5)))
        assert len(outputs) == 5
        started = await client.start("py-double", {"n": 3})
        types = [event.type async for event in client.watch(started.run.run_id)]
        assert types[0] == "run.started" and types[-1] == "run.completed"


if __name__ == "__main__":
    with Client() as shared:
        save(shared)
        run(shared)
        refusals(shared)
        watch_across_a_cut(shared)
        cancel(shared)
    asyncio.run(on_a_loop())
    say("ok")
