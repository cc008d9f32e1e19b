"""A chat with an agent over one thread, for the browser test: it prints the history that the thread keeps, and how each turn ended.

It takes the address of a gateway, and a text so long that its answer must be stopped.
"""

from __future__ import annotations

import json
import sys
from typing import Literal

from pawl_sdk import Client

THREAD = "desk-python"


def stop_when_it_answers(client: Client, words: str, mode: Literal["interrupt", "rollback"]) -> None:
    """Starts a turn, and stops it in the middle of its answer."""
    turn = client.start("chat", {"text": words}, thread_id=THREAD, multitask="enqueue")
    answer = ""
    for item in client.stream(turn.run_id, ["messages"]):
        answer += item.data.get("text", "")
        if "You said: Tell me" in answer:
            break
    client.cancel(turn.run_id, mode=mode)
    client.wait(turn.run_id)


def chat(client: Client, long: str) -> dict[str, object]:
    first = client.run("chat", {"text": "Where is my parcel?"}, thread_id=THREAD, create_thread=True)
    assert first["text"].startswith("You said: Where is my parcel?"), first
    client.run("chat", {"text": "It is red."}, thread_id=THREAD)
    stop_when_it_answers(client, long, "interrupt")
    assert client.threads.get(THREAD).status == "interrupted"
    stop_when_it_answers(client, long, "rollback")
    client.run("chat", {"text": "Thank you."}, thread_id=THREAD)
    turns = reversed(client.list(thread_id=THREAD).runs)
    memory = client.threads.state(THREAD).memory
    return {"messages": memory["messages"], "ends": [[turn.status, turn.stop or None] for turn in turns]}


if __name__ == "__main__":
    address, long = sys.argv[1:]
    with Client(address) as connected:
        print(json.dumps(chat(connected, long)))
