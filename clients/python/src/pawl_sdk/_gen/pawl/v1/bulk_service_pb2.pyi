from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class BulkAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BULK_ACTION_UNSPECIFIED: _ClassVar[BulkAction]
    BULK_ACTION_CANCEL: _ClassVar[BulkAction]
    BULK_ACTION_PAUSE: _ClassVar[BulkAction]
    BULK_ACTION_RESUME: _ClassVar[BulkAction]
    BULK_ACTION_RETRY: _ClassVar[BulkAction]
    BULK_ACTION_REPAIR: _ClassVar[BulkAction]
    BULK_ACTION_REDRIVE: _ClassVar[BulkAction]
    BULK_ACTION_DELETE: _ClassVar[BulkAction]

class BulkState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BULK_STATE_UNSPECIFIED: _ClassVar[BulkState]
    BULK_STATE_CANARY: _ClassVar[BulkState]
    BULK_STATE_WAITING: _ClassVar[BulkState]
    BULK_STATE_RUNNING: _ClassVar[BulkState]
    BULK_STATE_COMPLETED: _ClassVar[BulkState]
    BULK_STATE_STOPPED: _ClassVar[BulkState]
    BULK_STATE_ABORTED: _ClassVar[BulkState]

class BulkOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BULK_OUTCOME_UNSPECIFIED: _ClassVar[BulkOutcome]
    BULK_OUTCOME_DONE: _ClassVar[BulkOutcome]
    BULK_OUTCOME_FAILED: _ClassVar[BulkOutcome]
    BULK_OUTCOME_SKIPPED: _ClassVar[BulkOutcome]
BULK_ACTION_UNSPECIFIED: BulkAction
BULK_ACTION_CANCEL: BulkAction
BULK_ACTION_PAUSE: BulkAction
BULK_ACTION_RESUME: BulkAction
BULK_ACTION_RETRY: BulkAction
BULK_ACTION_REPAIR: BulkAction
BULK_ACTION_REDRIVE: BulkAction
BULK_ACTION_DELETE: BulkAction
BULK_STATE_UNSPECIFIED: BulkState
BULK_STATE_CANARY: BulkState
BULK_STATE_WAITING: BulkState
BULK_STATE_RUNNING: BulkState
BULK_STATE_COMPLETED: BulkState
BULK_STATE_STOPPED: BulkState
BULK_STATE_ABORTED: BulkState
BULK_OUTCOME_UNSPECIFIED: BulkOutcome
BULK_OUTCOME_DONE: BulkOutcome
BULK_OUTCOME_FAILED: BulkOutcome
BULK_OUTCOME_SKIPPED: BulkOutcome

class BulkOptions(_message.Message):
    __slots__ = ("canary_runs", "canary_percent", "auto_continue", "max_per_second", "abort_failed", "abort_percent", "compensate", "definition_text", "latest", "from_nodes", "keep_effects", "by", "reason")
    CANARY_RUNS_FIELD_NUMBER: _ClassVar[int]
    CANARY_PERCENT_FIELD_NUMBER: _ClassVar[int]
    AUTO_CONTINUE_FIELD_NUMBER: _ClassVar[int]
    MAX_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    ABORT_FAILED_FIELD_NUMBER: _ClassVar[int]
    ABORT_PERCENT_FIELD_NUMBER: _ClassVar[int]
    COMPENSATE_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_TEXT_FIELD_NUMBER: _ClassVar[int]
    LATEST_FIELD_NUMBER: _ClassVar[int]
    FROM_NODES_FIELD_NUMBER: _ClassVar[int]
    KEEP_EFFECTS_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    canary_runs: int
    canary_percent: int
    auto_continue: bool
    max_per_second: int
    abort_failed: int
    abort_percent: int
    compensate: bool
    definition_text: str
    latest: bool
    from_nodes: _containers.RepeatedScalarFieldContainer[str]
    keep_effects: bool
    by: str
    reason: str
    def __init__(self, canary_runs: _Optional[int] = ..., canary_percent: _Optional[int] = ..., auto_continue: bool = ..., max_per_second: _Optional[int] = ..., abort_failed: _Optional[int] = ..., abort_percent: _Optional[int] = ..., compensate: bool = ..., definition_text: _Optional[str] = ..., latest: bool = ..., from_nodes: _Optional[_Iterable[str]] = ..., keep_effects: bool = ..., by: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class BulkCount(_message.Message):
    __slots__ = ("outcome", "reason", "count")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    outcome: BulkOutcome
    reason: str
    count: int
    def __init__(self, outcome: _Optional[_Union[BulkOutcome, str]] = ..., reason: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class Bulk(_message.Message):
    __slots__ = ("bulk_id", "action", "filter", "options", "state", "matched", "canary", "done", "failed", "skipped", "state_reason", "create_time", "update_time", "end_time")
    BULK_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    MATCHED_FIELD_NUMBER: _ClassVar[int]
    CANARY_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    STATE_REASON_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    bulk_id: str
    action: BulkAction
    filter: str
    options: BulkOptions
    state: BulkState
    matched: int
    canary: int
    done: int
    failed: int
    skipped: int
    state_reason: str
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    def __init__(self, bulk_id: _Optional[str] = ..., action: _Optional[_Union[BulkAction, str]] = ..., filter: _Optional[str] = ..., options: _Optional[_Union[BulkOptions, _Mapping]] = ..., state: _Optional[_Union[BulkState, str]] = ..., matched: _Optional[int] = ..., canary: _Optional[int] = ..., done: _Optional[int] = ..., failed: _Optional[int] = ..., skipped: _Optional[int] = ..., state_reason: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class BulkRun(_message.Message):
    __slots__ = ("run_id", "position", "outcome", "reason", "message", "new_run_id", "end_time")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    NEW_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    position: int
    outcome: BulkOutcome
    reason: str
    message: str
    new_run_id: str
    end_time: _timestamp_pb2.Timestamp
    def __init__(self, run_id: _Optional[str] = ..., position: _Optional[int] = ..., outcome: _Optional[_Union[BulkOutcome, str]] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., new_run_id: _Optional[str] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class BulkPreview(_message.Message):
    __slots__ = ("matched", "applies", "skipped", "first_run_ids")
    MATCHED_FIELD_NUMBER: _ClassVar[int]
    APPLIES_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    FIRST_RUN_IDS_FIELD_NUMBER: _ClassVar[int]
    matched: int
    applies: int
    skipped: _containers.RepeatedCompositeFieldContainer[BulkCount]
    first_run_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, matched: _Optional[int] = ..., applies: _Optional[int] = ..., skipped: _Optional[_Iterable[_Union[BulkCount, _Mapping]]] = ..., first_run_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class StartBulkRequest(_message.Message):
    __slots__ = ("filter", "saved_filter", "action", "options", "dry_run", "request_id")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    SAVED_FILTER_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    filter: str
    saved_filter: str
    action: BulkAction
    options: BulkOptions
    dry_run: bool
    request_id: str
    def __init__(self, filter: _Optional[str] = ..., saved_filter: _Optional[str] = ..., action: _Optional[_Union[BulkAction, str]] = ..., options: _Optional[_Union[BulkOptions, _Mapping]] = ..., dry_run: bool = ..., request_id: _Optional[str] = ...) -> None: ...

class StartBulkResponse(_message.Message):
    __slots__ = ("bulk", "preview", "duplicate")
    BULK_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    bulk: Bulk
    preview: BulkPreview
    duplicate: bool
    def __init__(self, bulk: _Optional[_Union[Bulk, _Mapping]] = ..., preview: _Optional[_Union[BulkPreview, _Mapping]] = ..., duplicate: bool = ...) -> None: ...

class GetBulkRequest(_message.Message):
    __slots__ = ("bulk_id",)
    BULK_ID_FIELD_NUMBER: _ClassVar[int]
    bulk_id: str
    def __init__(self, bulk_id: _Optional[str] = ...) -> None: ...

class GetBulkResponse(_message.Message):
    __slots__ = ("bulk", "reasons")
    BULK_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    bulk: Bulk
    reasons: _containers.RepeatedCompositeFieldContainer[BulkCount]
    def __init__(self, bulk: _Optional[_Union[Bulk, _Mapping]] = ..., reasons: _Optional[_Iterable[_Union[BulkCount, _Mapping]]] = ...) -> None: ...

class ListBulksRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListBulksResponse(_message.Message):
    __slots__ = ("bulks", "next_page_token")
    BULKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    bulks: _containers.RepeatedCompositeFieldContainer[Bulk]
    next_page_token: str
    def __init__(self, bulks: _Optional[_Iterable[_Union[Bulk, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListBulkRunsRequest(_message.Message):
    __slots__ = ("bulk_id", "outcomes", "page_size", "page_token")
    BULK_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    bulk_id: str
    outcomes: _containers.RepeatedScalarFieldContainer[BulkOutcome]
    page_size: int
    page_token: str
    def __init__(self, bulk_id: _Optional[str] = ..., outcomes: _Optional[_Iterable[_Union[BulkOutcome, str]]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListBulkRunsResponse(_message.Message):
    __slots__ = ("runs", "next_page_token")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[BulkRun]
    next_page_token: str
    def __init__(self, runs: _Optional[_Iterable[_Union[BulkRun, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ContinueBulkRequest(_message.Message):
    __slots__ = ("bulk_id", "request_id")
    BULK_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    bulk_id: str
    request_id: str
    def __init__(self, bulk_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class ContinueBulkResponse(_message.Message):
    __slots__ = ("bulk",)
    BULK_FIELD_NUMBER: _ClassVar[int]
    bulk: Bulk
    def __init__(self, bulk: _Optional[_Union[Bulk, _Mapping]] = ...) -> None: ...

class StopBulkRequest(_message.Message):
    __slots__ = ("bulk_id", "reason", "request_id")
    BULK_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    bulk_id: str
    reason: str
    request_id: str
    def __init__(self, bulk_id: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class StopBulkResponse(_message.Message):
    __slots__ = ("bulk",)
    BULK_FIELD_NUMBER: _ClassVar[int]
    bulk: Bulk
    def __init__(self, bulk: _Optional[_Union[Bulk, _Mapping]] = ...) -> None: ...
