"""The dead letter of one workflow, for the flow test: a Python caller lists, previews, redrives and discards. `letters.py <workflow>`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

from pawl_sdk import Client, LeftDeadLetters

if __name__ == "__main__":
    workflow_id = sys.argv[1]
    with Client() as client:
        (letter,) = client.dead_letters.list(workflow_id=workflow_id, states=["open"]).dead_letters
        assert (letter.node_type, letter.deliveries, letter.state) == ("javascript", 3, "open"), letter
        assert client.queues.depth().total.dead_letter == 1
        ids = [letter.dead_letter_id]
        preview = client.dead_letters.preview(ids=ids)
        assert (preview.redriven_count, preview.run_count, preview.first_ids) == (1, 1, tuple(ids)), preview
        early = datetime(2000, 1, 1, tzinfo=UTC)
        assert client.dead_letters.preview(workflow_id=workflow_id, before=early).redriven_count == 0
        steps = list(client.dead_letters.redrive_all(workflow_id=workflow_id, request_id="py-redrive"))
        (redriven,) = steps[0].redriven
        assert redriven.dead_letter_id == letter.dead_letter_id and steps[-1].remaining == 0
        again = client.dead_letters.redrive(workflow_id=workflow_id, limit=1000, request_id="py-redrive")
        assert again.redriven == (redriven,), again
        late = client.dead_letters.redrive(ids=ids)
        assert (late.redriven, late.left) == ((), (LeftDeadLetters("not_open", 1),)), late
        assert client.dead_letters.discard(ids=ids) == ()
        (closed,) = client.dead_letters.list(ids=ids, states=["redriven"]).dead_letters
        assert closed.redrive_run_id == redriven.run_id and closed.closed_at is not None
        assert len(client.list(workflow_id=workflow_id).runs) == 2
    print("ok", flush=True)
