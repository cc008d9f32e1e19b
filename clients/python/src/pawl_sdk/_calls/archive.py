"""The archive: archived runs are listed, read and put back, and runs are exported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from pawl_sdk._calls.caller import Caller, fresh_id
from pawl_sdk._gen.pawl.v1 import archive_service_pb2 as service
from pawl_sdk._steps import SILENT, Close, Emissions, Emit, Method, Next, Open, Steps
from pawl_sdk.archive import ArchivedPage, ArchivedRun, RestoredRun
from pawl_sdk.errors import UNREACHABLE, PawlError
from pawl_sdk.model import Run

_LIST = Method("/pawl.v1.ArchiveService/ListArchivedRuns", service.ListArchivedRunsResponse)
_GET = Method("/pawl.v1.ArchiveService/GetArchivedRun", service.GetArchivedRunResponse)
_READ = Method("/pawl.v1.ArchiveService/ReadArchivedRun", service.ReadArchivedRunResponse)
_EXPORT = Method("/pawl.v1.ArchiveService/ExportRun", service.ExportRunResponse)
_RESTORE = Method("/pawl.v1.ArchiveService/RestoreRun", service.RestoreRunResponse)


@dataclass(frozen=True, slots=True)
class ArchiveCalls:
    """The calls of the archive."""

    caller: Caller

    def list(self, month: str, filter: str, page_size: int, page_token: str) -> Steps[ArchivedPage]:
        request = service.ListArchivedRunsRequest(
            month=month, filter=filter, page_size=page_size, page_token=page_token
        )
        answer = yield from self.caller.call(_LIST, request)
        return ArchivedPage(tuple(map(ArchivedRun.of, answer.archived_runs)), answer.next_page_token)

    def get(self, run_id: str) -> Steps[ArchivedRun]:
        request = service.GetArchivedRunRequest(run_id=run_id)
        return ArchivedRun.of((yield from self.caller.call(_GET, request)).archived_run)

    def read(self, run_id: str) -> Emissions[bytes]:
        return self._pieces(_READ, service.ReadArchivedRunRequest(run_id=run_id))

    def export_run(self, run_id: str) -> Emissions[bytes]:
        return self._pieces(_EXPORT, service.ExportRunRequest(run_id=run_id))

    def restore(self, run_id: str, request_id: str | None) -> Steps[RestoredRun]:
        request = service.RestoreRunRequest(run_id=run_id, request_id=request_id or fresh_id())
        answer = yield from self.caller.call(_RESTORE, request)
        return RestoredRun(Run.of(answer.run), tuple(answer.restored_run_ids), tuple(answer.missing_run_ids))

    def _pieces(self, method: Method[Any], request: Message) -> Emissions[bytes]:
        """A file in pieces. A cut is an error, because the manifest at its end is missing."""
        yield Open(method, request)
        while True:
            message: Any = yield Next(self.caller.timeout)
            if message is SILENT:
                raise PawlError(UNREACHABLE, "the gateway sent nothing of the file in time")
            if message is None:
                break
            yield Emit(message.data)
        yield Close()
