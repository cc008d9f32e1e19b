"""Streams of threads and of many runs against a real gateway, with signals, assistants, and delayed and temporary runs.

`cut` restarts the gateway. The composite cursor of a thread is made by the client, so it must survive a real reconnect.
"""

from __future__ import annotations

from collections.abc import Callable

from pawl_sdk import Client, ThreadEvent

PAID = {
    "id": "py-paid",
    "nodes": [{"id": "start", "type": "start"}, {"id": "wait", "type": "await_signal", "config": {"name": "paid"}}],
    "edges": [{"source": "start", "target": "wait"}],
}


def streams(client: Client, cut: Callable[[], None]) -> None:
    later = client.start("py-double", {"n": 4}, after_seconds=2).run_id
    assert client.get(later).status == "pending"
    assert "10" in str(client.run("py-double", {"n": 5}, temporary=True))
    client.workflows.apply(PAID)
    assert client.assistants.create("py-cashier", "py-paid", config={"till": 7}).config == {"till": 7}
    thread(client, cut)
    many(client, cut)
    client.assistants.delete("py-cashier", force=True)
    assert client.wait(later).output is not None


def thread(client: Client, cut: Callable[[], None]) -> None:
    asked = {"assistant_id": "py-cashier", "thread_id": "py-till", "create_thread": True, "multitask": "enqueue"}
    runs = [client.start("", n, **asked).run_id for n in range(2)]  # type: ignore[arg-type]
    assert client.get(runs[0]).assistant_id == "py-cashier"
    lost: list[str] = []
    seen: list[ThreadEvent] = []
    for entry in client.watch_thread("py-till", until_idle=True, on_reconnect=lambda at, _: lost.append(at)):
        seen.append(entry)
        if entry.event.type == "node.blocked":
            if entry.event.run_id == runs[0]:
                cut()
            sent = client.signal(entry.event.run_id, "paid", {"amount": 7})
            assert not sent.is_kept and not sent.is_duplicate, sent
    assert lost, "the stream met no cut"
    ids = [(each.event.run_id, each.event.event_id) for each in seen]
    lengths = [client.get(run_id).last_event_id for run_id in runs]
    assert ids == [(run, n + 1) for run, length in zip(runs, lengths, strict=True) for n in range(length)], ids
    for at in (1, lengths[0] - 1, lengths[0] + 1):
        rest = client.watch_thread("py-till", cursor=seen[at].cursor, until_idle=True)
        assert [(each.event.run_id, each.event.event_id) for each in rest] == ids[at + 1 :]
    items = list(client.stream_thread("py-till", ["updates", "control"], until_idle=True))
    done = [each for each in items if each.mode == "control" and each.data.get("signal") == "done"]
    assert [each.run_id for each in done] == runs, items
    again = client.stream_thread("py-till", ["updates", "control"], cursor=done[0].cursor, until_idle=True)
    rest_of_items = [(each.run_id, each.event_id, each.mode) for each in items[items.index(done[0]) + 1 :]]
    assert [(each.run_id, each.event_id, each.mode) for each in again] == rest_of_items


def many(client: Client, cut: Callable[[], None]) -> None:
    runs = [client.start("py-paid", n).run_id for n in range(2)]
    seen: dict[str, list[int]] = {run_id: [] for run_id in runs}
    blocked: set[str] = set()
    for event in client.watch_many(dict.fromkeys(runs, 0)):
        seen[event.run_id].append(event.event_id)
        if event.type != "node.blocked":
            continue
        blocked.add(event.run_id)
        if len(blocked) == 2:
            cut()
            for run_id in runs:
                client.signal(run_id, "paid")
    for run_id, ids in seen.items():
        assert ids == list(range(1, client.get(run_id).last_event_id + 1)), seen
