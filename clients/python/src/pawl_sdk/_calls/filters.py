"""What runs are found by: their metadata, and filters that are kept under a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pawl_sdk._calls.caller import Caller, fresh_id, json_bytes
from pawl_sdk._gen.pawl.v1 import run_service_pb2 as service
from pawl_sdk._steps import Method, Steps
from pawl_sdk.model import KeptFilter, KeptFilterPage, Run

_METADATA = Method("/pawl.v1.RunService/UpdateRunMetadata", service.UpdateRunMetadataResponse)
_SAVE = Method("/pawl.v1.RunService/SaveRunFilter", service.SaveRunFilterResponse)
_LIST = Method("/pawl.v1.RunService/ListRunFilters", service.ListRunFiltersResponse)
_DELETE = Method("/pawl.v1.RunService/DeleteRunFilter", service.DeleteRunFilterResponse)


@dataclass(frozen=True, slots=True)
class FilterCalls:
    """The calls about metadata and kept filters."""

    caller: Caller

    def update_metadata(self, run_id: str, metadata: Mapping[str, Any]) -> Steps[Run]:
        request = service.UpdateRunMetadataRequest(
            run_id=run_id, metadata_json=json_bytes(metadata, None), request_id=fresh_id()
        )
        return Run.of((yield from self.caller.call(_METADATA, request)).run)

    def save(self, name: str, filter: str) -> Steps[KeptFilter]:
        request = service.SaveRunFilterRequest(name=name, filter=filter, request_id=fresh_id())
        kept = (yield from self.caller.call(_SAVE, request)).run_filter
        return KeptFilter(kept.name, kept.filter)

    def list(self, *, page_size: int, page_token: str) -> Steps[KeptFilterPage]:
        request = service.ListRunFiltersRequest(page_size=page_size, page_token=page_token)
        answer = yield from self.caller.call(_LIST, request)
        filters = tuple(KeptFilter(kept.name, kept.filter) for kept in answer.run_filters)
        return KeptFilterPage(filters, answer.next_page_token)

    def delete(self, name: str) -> Steps[None]:
        yield from self.caller.call(_DELETE, service.DeleteRunFilterRequest(name=name, request_id=fresh_id()))
