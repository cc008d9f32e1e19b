"""Archived runs, and runs as files."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from scripted_gateway import gateway
from test_operations import Seen

from pawl_sdk import PawlError
from pawl_sdk._gen.pawl.v1 import archive_service_pb2 as service
from pawl_sdk._gen.pawl.v1 import run_pb2


def test_archived_runs_are_listed_read_exported_and_restored(use: Any) -> None:
    seen = Seen()
    run = run_pb2.Run(run_id="r", status=run_pb2.RUN_STATUS_FAILED)
    counts = [service.RecordCount(record="event", count=5)]
    archived = service.ArchivedRun(run=run, lines=7, sha256="ab", counts=counts)

    def cut(_: Any, context: grpc.ServicerContext) -> Any:
        yield service.ReadArchivedRunResponse(data=b"a")
        context.abort(grpc.StatusCode.UNAVAILABLE, "cut")

    def export(request: Any, _: Any) -> Any:
        yield service.ExportRunResponse(data=request.run_id.encode())
        yield service.ExportRunResponse(data=b"\n")

    restored = service.RestoreRunResponse(run=run, restored_run_ids=["r"], missing_run_ids=["lost"])
    with gateway(
        ListArchivedRuns=lambda request, _: service.ListArchivedRunsResponse(
            archived_runs=[archived], next_page_token=request.month + request.filter
        ),
        GetArchivedRun=lambda *_: service.GetArchivedRunResponse(archived_run=archived),
        ReadArchivedRun=cut,
        ExportRun=export,
        RestoreRun=seen.answer(lambda _: restored),
    ) as address:
        page = use(address, "archive.list", month="2026-06", filter=" status = failed", page_size=2)
        assert (page.archived_runs[0].run.status, page.next_page_token) == ("failed", "2026-06 status = failed")
        one = use(address, "archive.get", "r")
        assert (one.lines, one.sha256, one.counts) == (7, "ab", {"event": 5})
        assert use(address, "archive.export_run", "r") == [b"r", b"\n"]
        with pytest.raises(PawlError):
            use(address, "archive.read", "r")
        back = use(address, "archive.restore", "r", request_id="one")
        assert (back.restored_run_ids, back.missing_run_ids) == (("r",), ("lost",))
    assert seen.request_ids == ["one"]
