from pawl_sdk._gen.pawl.v1 import run_pb2 as _run_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ArchivedRun(_message.Message):
    __slots__ = ("run", "lines", "sha256", "counts")
    RUN_FIELD_NUMBER: _ClassVar[int]
    LINES_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    lines: int
    sha256: str
    counts: _containers.RepeatedCompositeFieldContainer[RecordCount]
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., lines: _Optional[int] = ..., sha256: _Optional[str] = ..., counts: _Optional[_Iterable[_Union[RecordCount, _Mapping]]] = ...) -> None: ...

class RecordCount(_message.Message):
    __slots__ = ("record", "count")
    RECORD_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    record: str
    count: int
    def __init__(self, record: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class ListArchivedRunsRequest(_message.Message):
    __slots__ = ("month", "filter", "page_size", "page_token")
    MONTH_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    month: str
    filter: str
    page_size: int
    page_token: str
    def __init__(self, month: _Optional[str] = ..., filter: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListArchivedRunsResponse(_message.Message):
    __slots__ = ("archived_runs", "next_page_token")
    ARCHIVED_RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    archived_runs: _containers.RepeatedCompositeFieldContainer[ArchivedRun]
    next_page_token: str
    def __init__(self, archived_runs: _Optional[_Iterable[_Union[ArchivedRun, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetArchivedRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class GetArchivedRunResponse(_message.Message):
    __slots__ = ("archived_run",)
    ARCHIVED_RUN_FIELD_NUMBER: _ClassVar[int]
    archived_run: ArchivedRun
    def __init__(self, archived_run: _Optional[_Union[ArchivedRun, _Mapping]] = ...) -> None: ...

class ReadArchivedRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class ReadArchivedRunResponse(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class ExportRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class ExportRunResponse(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class RestoreRunRequest(_message.Message):
    __slots__ = ("run_id", "request_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    request_id: str
    def __init__(self, run_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class RestoreRunResponse(_message.Message):
    __slots__ = ("run", "restored_run_ids", "missing_run_ids")
    RUN_FIELD_NUMBER: _ClassVar[int]
    RESTORED_RUN_IDS_FIELD_NUMBER: _ClassVar[int]
    MISSING_RUN_IDS_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    restored_run_ids: _containers.RepeatedScalarFieldContainer[str]
    missing_run_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., restored_run_ids: _Optional[_Iterable[str]] = ..., missing_run_ids: _Optional[_Iterable[str]] = ...) -> None: ...
