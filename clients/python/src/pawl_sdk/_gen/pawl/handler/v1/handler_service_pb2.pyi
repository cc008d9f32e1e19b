from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CancelReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CANCEL_REASON_UNSPECIFIED: _ClassVar[CancelReason]
    CANCEL_REASON_CANCELLED: _ClassVar[CancelReason]
    CANCEL_REASON_TIMEOUT: _ClassVar[CancelReason]
    CANCEL_REASON_CLAIM_LOST: _ClassVar[CancelReason]
    CANCEL_REASON_BLOCKED: _ClassVar[CancelReason]
    CANCEL_REASON_DRAINED: _ClassVar[CancelReason]

class LogLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LOG_LEVEL_UNSPECIFIED: _ClassVar[LogLevel]
    LOG_LEVEL_DEBUG: _ClassVar[LogLevel]
    LOG_LEVEL_INFO: _ClassVar[LogLevel]
    LOG_LEVEL_WARN: _ClassVar[LogLevel]
    LOG_LEVEL_ERROR: _ClassVar[LogLevel]

class EffectClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EFFECT_CLASS_UNSPECIFIED: _ClassVar[EffectClass]
    EFFECT_CLASS_TRANSACTIONAL: _ClassVar[EffectClass]
    EFFECT_CLASS_IDEMPOTENT: _ClassVar[EffectClass]
    EFFECT_CLASS_AT_MOST_ONCE: _ClassVar[EffectClass]

class EffectState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EFFECT_STATE_UNSPECIFIED: _ClassVar[EffectState]
    EFFECT_STATE_NEW: _ClassVar[EffectState]
    EFFECT_STATE_BEGUN_BEFORE: _ClassVar[EffectState]
    EFFECT_STATE_COMMITTED: _ClassVar[EffectState]
    EFFECT_STATE_REFUSED: _ClassVar[EffectState]
    EFFECT_STATE_REVOKED: _ClassVar[EffectState]

class SessionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_STATE_UNSPECIFIED: _ClassVar[SessionState]
    SESSION_STATE_OPEN: _ClassVar[SessionState]
    SESSION_STATE_STALLED: _ClassVar[SessionState]
    SESSION_STATE_CUT: _ClassVar[SessionState]
    SESSION_STATE_DRAINING: _ClassVar[SessionState]
CANCEL_REASON_UNSPECIFIED: CancelReason
CANCEL_REASON_CANCELLED: CancelReason
CANCEL_REASON_TIMEOUT: CancelReason
CANCEL_REASON_CLAIM_LOST: CancelReason
CANCEL_REASON_BLOCKED: CancelReason
CANCEL_REASON_DRAINED: CancelReason
LOG_LEVEL_UNSPECIFIED: LogLevel
LOG_LEVEL_DEBUG: LogLevel
LOG_LEVEL_INFO: LogLevel
LOG_LEVEL_WARN: LogLevel
LOG_LEVEL_ERROR: LogLevel
EFFECT_CLASS_UNSPECIFIED: EffectClass
EFFECT_CLASS_TRANSACTIONAL: EffectClass
EFFECT_CLASS_IDEMPOTENT: EffectClass
EFFECT_CLASS_AT_MOST_ONCE: EffectClass
EFFECT_STATE_UNSPECIFIED: EffectState
EFFECT_STATE_NEW: EffectState
EFFECT_STATE_BEGUN_BEFORE: EffectState
EFFECT_STATE_COMMITTED: EffectState
EFFECT_STATE_REFUSED: EffectState
EFFECT_STATE_REVOKED: EffectState
SESSION_STATE_UNSPECIFIED: SessionState
SESSION_STATE_OPEN: SessionState
SESSION_STATE_STALLED: SessionState
SESSION_STATE_CUT: SessionState
SESSION_STATE_DRAINING: SessionState

class ServeRequest(_message.Message):
    __slots__ = ("hello", "resume", "first_seq", "heard_seq", "items")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    FIRST_SEQ_FIELD_NUMBER: _ClassVar[int]
    HEARD_SEQ_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    resume: Resume
    first_seq: int
    heard_seq: int
    items: _containers.RepeatedCompositeFieldContainer[ProcessItem]
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., resume: _Optional[_Union[Resume, _Mapping]] = ..., first_seq: _Optional[int] = ..., heard_seq: _Optional[int] = ..., items: _Optional[_Iterable[_Union[ProcessItem, _Mapping]]] = ...) -> None: ...

class ServeResponse(_message.Message):
    __slots__ = ("welcome", "lost", "first_seq", "heard_seq", "items")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    FIRST_SEQ_FIELD_NUMBER: _ClassVar[int]
    HEARD_SEQ_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    lost: Lost
    first_seq: int
    heard_seq: int
    items: _containers.RepeatedCompositeFieldContainer[HostItem]
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., lost: _Optional[_Union[Lost, _Mapping]] = ..., first_seq: _Optional[int] = ..., heard_seq: _Optional[int] = ..., items: _Optional[_Iterable[_Union[HostItem, _Mapping]]] = ...) -> None: ...

class ProcessItem(_message.Message):
    __slots__ = ("partial", "log", "effect_begin", "effect_commit", "result", "failure", "ended", "room", "leaving", "pong", "spent")
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    EFFECT_BEGIN_FIELD_NUMBER: _ClassVar[int]
    EFFECT_COMMIT_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    ROOM_FIELD_NUMBER: _ClassVar[int]
    LEAVING_FIELD_NUMBER: _ClassVar[int]
    PONG_FIELD_NUMBER: _ClassVar[int]
    SPENT_FIELD_NUMBER: _ClassVar[int]
    partial: Partial
    log: Log
    effect_begin: EffectBegin
    effect_commit: EffectCommit
    result: Result
    failure: Failure
    ended: Ended
    room: Room
    leaving: Leaving
    pong: Pong
    spent: Spent
    def __init__(self, partial: _Optional[_Union[Partial, _Mapping]] = ..., log: _Optional[_Union[Log, _Mapping]] = ..., effect_begin: _Optional[_Union[EffectBegin, _Mapping]] = ..., effect_commit: _Optional[_Union[EffectCommit, _Mapping]] = ..., result: _Optional[_Union[Result, _Mapping]] = ..., failure: _Optional[_Union[Failure, _Mapping]] = ..., ended: _Optional[_Union[Ended, _Mapping]] = ..., room: _Optional[_Union[Room, _Mapping]] = ..., leaving: _Optional[_Union[Leaving, _Mapping]] = ..., pong: _Optional[_Union[Pong, _Mapping]] = ..., spent: _Optional[_Union[Spent, _Mapping]] = ...) -> None: ...

class HostItem(_message.Message):
    __slots__ = ("invoke", "cancel", "effect_begun", "effect_committed", "streamed", "refused", "ping", "drain")
    INVOKE_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    EFFECT_BEGUN_FIELD_NUMBER: _ClassVar[int]
    EFFECT_COMMITTED_FIELD_NUMBER: _ClassVar[int]
    STREAMED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    PING_FIELD_NUMBER: _ClassVar[int]
    DRAIN_FIELD_NUMBER: _ClassVar[int]
    invoke: Invoke
    cancel: Cancel
    effect_begun: EffectBegun
    effect_committed: EffectCommitted
    streamed: Streamed
    refused: Refused
    ping: Ping
    drain: Drain
    def __init__(self, invoke: _Optional[_Union[Invoke, _Mapping]] = ..., cancel: _Optional[_Union[Cancel, _Mapping]] = ..., effect_begun: _Optional[_Union[EffectBegun, _Mapping]] = ..., effect_committed: _Optional[_Union[EffectCommitted, _Mapping]] = ..., streamed: _Optional[_Union[Streamed, _Mapping]] = ..., refused: _Optional[_Union[Refused, _Mapping]] = ..., ping: _Optional[_Union[Ping, _Mapping]] = ..., drain: _Optional[_Union[Drain, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("session_id", "protocol", "name", "build", "sdk", "language", "slots", "handlers")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    BUILD_FIELD_NUMBER: _ClassVar[int]
    SDK_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    HANDLERS_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    protocol: int
    name: str
    build: str
    sdk: str
    language: str
    slots: int
    handlers: _containers.RepeatedCompositeFieldContainer[Handler]
    def __init__(self, session_id: _Optional[str] = ..., protocol: _Optional[int] = ..., name: _Optional[str] = ..., build: _Optional[str] = ..., sdk: _Optional[str] = ..., language: _Optional[str] = ..., slots: _Optional[int] = ..., handlers: _Optional[_Iterable[_Union[Handler, _Mapping]]] = ...) -> None: ...

class Handler(_message.Message):
    __slots__ = ("type", "description", "input_schema", "output_schema", "config_schema", "stall_ms", "state", "external")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    CONFIG_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    STALL_MS_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_FIELD_NUMBER: _ClassVar[int]
    type: str
    description: str
    input_schema: str
    output_schema: str
    config_schema: str
    stall_ms: int
    state: bool
    external: bool
    def __init__(self, type: _Optional[str] = ..., description: _Optional[str] = ..., input_schema: _Optional[str] = ..., output_schema: _Optional[str] = ..., config_schema: _Optional[str] = ..., stall_ms: _Optional[int] = ..., state: bool = ..., external: bool = ...) -> None: ...

class Resume(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("host_id", "resumed", "ping_ms", "silence_ms", "resume_ms", "limits")
    HOST_ID_FIELD_NUMBER: _ClassVar[int]
    RESUMED_FIELD_NUMBER: _ClassVar[int]
    PING_MS_FIELD_NUMBER: _ClassVar[int]
    SILENCE_MS_FIELD_NUMBER: _ClassVar[int]
    RESUME_MS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    host_id: str
    resumed: bool
    ping_ms: int
    silence_ms: int
    resume_ms: int
    limits: Limits
    def __init__(self, host_id: _Optional[str] = ..., resumed: bool = ..., ping_ms: _Optional[int] = ..., silence_ms: _Optional[int] = ..., resume_ms: _Optional[int] = ..., limits: _Optional[_Union[Limits, _Mapping]] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("output_bytes", "effect_bytes", "partial_bytes", "window_bytes", "log_bytes", "log_lines", "message_bytes", "failure_bytes")
    OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    EFFECT_BYTES_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    WINDOW_BYTES_FIELD_NUMBER: _ClassVar[int]
    LOG_BYTES_FIELD_NUMBER: _ClassVar[int]
    LOG_LINES_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    FAILURE_BYTES_FIELD_NUMBER: _ClassVar[int]
    output_bytes: int
    effect_bytes: int
    partial_bytes: int
    window_bytes: int
    log_bytes: int
    log_lines: int
    message_bytes: int
    failure_bytes: int
    def __init__(self, output_bytes: _Optional[int] = ..., effect_bytes: _Optional[int] = ..., partial_bytes: _Optional[int] = ..., window_bytes: _Optional[int] = ..., log_bytes: _Optional[int] = ..., log_lines: _Optional[int] = ..., message_bytes: _Optional[int] = ..., failure_bytes: _Optional[int] = ...) -> None: ...

class Lost(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Invoke(_message.Message):
    __slots__ = ("invocation_id", "type", "input_json", "config_json", "attempt", "effect_key", "timeout_ms", "run_id", "node_id", "iteration", "workflow_id", "traceparent", "memory_json", "state_json", "taint")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    EFFECT_KEY_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_JSON_FIELD_NUMBER: _ClassVar[int]
    STATE_JSON_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    type: str
    input_json: str
    config_json: str
    attempt: int
    effect_key: str
    timeout_ms: int
    run_id: str
    node_id: str
    iteration: int
    workflow_id: str
    traceparent: str
    memory_json: str
    state_json: str
    taint: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, invocation_id: _Optional[str] = ..., type: _Optional[str] = ..., input_json: _Optional[str] = ..., config_json: _Optional[str] = ..., attempt: _Optional[int] = ..., effect_key: _Optional[str] = ..., timeout_ms: _Optional[int] = ..., run_id: _Optional[str] = ..., node_id: _Optional[str] = ..., iteration: _Optional[int] = ..., workflow_id: _Optional[str] = ..., traceparent: _Optional[str] = ..., memory_json: _Optional[str] = ..., state_json: _Optional[str] = ..., taint: _Optional[_Iterable[str]] = ...) -> None: ...

class Cancel(_message.Message):
    __slots__ = ("invocation_id", "reason")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    reason: CancelReason
    def __init__(self, invocation_id: _Optional[str] = ..., reason: _Optional[_Union[CancelReason, str]] = ...) -> None: ...

class Partial(_message.Message):
    __slots__ = ("invocation_id", "text", "media")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    text: str
    media: Media
    def __init__(self, invocation_id: _Optional[str] = ..., text: _Optional[str] = ..., media: _Optional[_Union[Media, _Mapping]] = ...) -> None: ...

class Media(_message.Message):
    __slots__ = ("url", "mime")
    URL_FIELD_NUMBER: _ClassVar[int]
    MIME_FIELD_NUMBER: _ClassVar[int]
    url: str
    mime: str
    def __init__(self, url: _Optional[str] = ..., mime: _Optional[str] = ...) -> None: ...

class Streamed(_message.Message):
    __slots__ = ("invocation_id", "count")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    count: int
    def __init__(self, invocation_id: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...

class Log(_message.Message):
    __slots__ = ("invocation_id", "level", "message")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    level: LogLevel
    message: str
    def __init__(self, invocation_id: _Optional[str] = ..., level: _Optional[_Union[LogLevel, str]] = ..., message: _Optional[str] = ...) -> None: ...

class EffectBegin(_message.Message):
    __slots__ = ("invocation_id", "name", "effect_class")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    EFFECT_CLASS_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    name: str
    effect_class: EffectClass
    def __init__(self, invocation_id: _Optional[str] = ..., name: _Optional[str] = ..., effect_class: _Optional[_Union[EffectClass, str]] = ...) -> None: ...

class EffectBegun(_message.Message):
    __slots__ = ("invocation_id", "name", "state", "result_json")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    name: str
    state: EffectState
    result_json: str
    def __init__(self, invocation_id: _Optional[str] = ..., name: _Optional[str] = ..., state: _Optional[_Union[EffectState, str]] = ..., result_json: _Optional[str] = ...) -> None: ...

class EffectCommit(_message.Message):
    __slots__ = ("invocation_id", "name", "result_json")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    name: str
    result_json: str
    def __init__(self, invocation_id: _Optional[str] = ..., name: _Optional[str] = ..., result_json: _Optional[str] = ...) -> None: ...

class EffectCommitted(_message.Message):
    __slots__ = ("invocation_id", "name", "state")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    name: str
    state: EffectState
    def __init__(self, invocation_id: _Optional[str] = ..., name: _Optional[str] = ..., state: _Optional[_Union[EffectState, str]] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens", "cost_micros", "model")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_MICROS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    cost_micros: int
    model: str
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost_micros: _Optional[int] = ..., model: _Optional[str] = ...) -> None: ...

class Spent(_message.Message):
    __slots__ = ("invocation_id", "usage")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    usage: Usage
    def __init__(self, invocation_id: _Optional[str] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ...) -> None: ...

class Result(_message.Message):
    __slots__ = ("invocation_id", "output_json", "handle", "usage", "queue_delay_ms", "actions", "taint")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    QUEUE_DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    output_json: str
    handle: str
    usage: Usage
    queue_delay_ms: int
    actions: _containers.RepeatedCompositeFieldContainer[Action]
    taint: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, invocation_id: _Optional[str] = ..., output_json: _Optional[str] = ..., handle: _Optional[str] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., queue_delay_ms: _Optional[int] = ..., actions: _Optional[_Iterable[_Union[Action, _Mapping]]] = ..., taint: _Optional[_Iterable[str]] = ...) -> None: ...

class Action(_message.Message):
    __slots__ = ("update_memory", "set_status", "goto_node", "handoff", "request_human_input", "resume_from_human", "merge_parallel_results", "unknown")
    UPDATE_MEMORY_FIELD_NUMBER: _ClassVar[int]
    SET_STATUS_FIELD_NUMBER: _ClassVar[int]
    GOTO_NODE_FIELD_NUMBER: _ClassVar[int]
    HANDOFF_FIELD_NUMBER: _ClassVar[int]
    REQUEST_HUMAN_INPUT_FIELD_NUMBER: _ClassVar[int]
    RESUME_FROM_HUMAN_FIELD_NUMBER: _ClassVar[int]
    MERGE_PARALLEL_RESULTS_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    update_memory: UpdateMemory
    set_status: SetStatus
    goto_node: GotoNode
    handoff: Handoff
    request_human_input: RequestHumanInput
    resume_from_human: ResumeFromHuman
    merge_parallel_results: MergeParallelResults
    unknown: str
    def __init__(self, update_memory: _Optional[_Union[UpdateMemory, _Mapping]] = ..., set_status: _Optional[_Union[SetStatus, _Mapping]] = ..., goto_node: _Optional[_Union[GotoNode, _Mapping]] = ..., handoff: _Optional[_Union[Handoff, _Mapping]] = ..., request_human_input: _Optional[_Union[RequestHumanInput, _Mapping]] = ..., resume_from_human: _Optional[_Union[ResumeFromHuman, _Mapping]] = ..., merge_parallel_results: _Optional[_Union[MergeParallelResults, _Mapping]] = ..., unknown: _Optional[str] = ...) -> None: ...

class UpdateMemory(_message.Message):
    __slots__ = ("values_json",)
    VALUES_JSON_FIELD_NUMBER: _ClassVar[int]
    values_json: str
    def __init__(self, values_json: _Optional[str] = ...) -> None: ...

class SetStatus(_message.Message):
    __slots__ = ("status", "message", "output_json")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    status: str
    message: str
    output_json: str
    def __init__(self, status: _Optional[str] = ..., message: _Optional[str] = ..., output_json: _Optional[str] = ...) -> None: ...

class GotoNode(_message.Message):
    __slots__ = ("node", "reason")
    NODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    node: str
    reason: str
    def __init__(self, node: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class Handoff(_message.Message):
    __slots__ = ("node", "workflow", "version", "input_json", "reason")
    NODE_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    node: str
    workflow: str
    version: int
    input_json: str
    reason: str
    def __init__(self, node: _Optional[str] = ..., workflow: _Optional[str] = ..., version: _Optional[int] = ..., input_json: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RequestHumanInput(_message.Message):
    __slots__ = ("message", "details_json", "assignees", "deadline_ms")
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    ASSIGNEES_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    message: str
    details_json: str
    assignees: _containers.RepeatedScalarFieldContainer[str]
    deadline_ms: int
    def __init__(self, message: _Optional[str] = ..., details_json: _Optional[str] = ..., assignees: _Optional[_Iterable[str]] = ..., deadline_ms: _Optional[int] = ...) -> None: ...

class ResumeFromHuman(_message.Message):
    __slots__ = ("node", "approval_id", "decision", "response_json", "iteration", "comment")
    NODE_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_JSON_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    node: str
    approval_id: str
    decision: str
    response_json: str
    iteration: int
    comment: str
    def __init__(self, node: _Optional[str] = ..., approval_id: _Optional[str] = ..., decision: _Optional[str] = ..., response_json: _Optional[str] = ..., iteration: _Optional[int] = ..., comment: _Optional[str] = ...) -> None: ...

class MergeParallelResults(_message.Message):
    __slots__ = ("keys", "nodes", "into", "strategy")
    KEYS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    INTO_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedScalarFieldContainer[str]
    nodes: _containers.RepeatedScalarFieldContainer[str]
    into: str
    strategy: str
    def __init__(self, keys: _Optional[_Iterable[str]] = ..., nodes: _Optional[_Iterable[str]] = ..., into: _Optional[str] = ..., strategy: _Optional[str] = ...) -> None: ...

class Failure(_message.Message):
    __slots__ = ("invocation_id", "cause", "message", "permanent", "retry_after_ms", "details_json")
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PERMANENT_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    DETAILS_JSON_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    cause: str
    message: str
    permanent: bool
    retry_after_ms: int
    details_json: str
    def __init__(self, invocation_id: _Optional[str] = ..., cause: _Optional[str] = ..., message: _Optional[str] = ..., permanent: bool = ..., retry_after_ms: _Optional[int] = ..., details_json: _Optional[str] = ...) -> None: ...

class Ended(_message.Message):
    __slots__ = ("invocation_id",)
    INVOCATION_ID_FIELD_NUMBER: _ClassVar[int]
    invocation_id: str
    def __init__(self, invocation_id: _Optional[str] = ...) -> None: ...

class Room(_message.Message):
    __slots__ = ("slots",)
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    slots: int
    def __init__(self, slots: _Optional[int] = ...) -> None: ...

class Leaving(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Refused(_message.Message):
    __slots__ = ("type", "reason", "message")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    type: str
    reason: str
    message: str
    def __init__(self, type: _Optional[str] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class Ping(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Pong(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Drain(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ("host_id", "sessions")
    HOST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    host_id: str
    sessions: _containers.RepeatedCompositeFieldContainer[Session]
    def __init__(self, host_id: _Optional[str] = ..., sessions: _Optional[_Iterable[_Union[Session, _Mapping]]] = ...) -> None: ...

class Session(_message.Message):
    __slots__ = ("executor_id", "name", "build", "sdk", "language", "types", "refused", "state", "slots", "busy", "silent_ms", "round_trip_us", "late_items", "ignoring", "ignoring_ms")
    EXECUTOR_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    BUILD_FIELD_NUMBER: _ClassVar[int]
    SDK_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    BUSY_FIELD_NUMBER: _ClassVar[int]
    SILENT_MS_FIELD_NUMBER: _ClassVar[int]
    ROUND_TRIP_US_FIELD_NUMBER: _ClassVar[int]
    LATE_ITEMS_FIELD_NUMBER: _ClassVar[int]
    IGNORING_FIELD_NUMBER: _ClassVar[int]
    IGNORING_MS_FIELD_NUMBER: _ClassVar[int]
    executor_id: str
    name: str
    build: str
    sdk: str
    language: str
    types: _containers.RepeatedScalarFieldContainer[str]
    refused: _containers.RepeatedCompositeFieldContainer[Refused]
    state: SessionState
    slots: int
    busy: int
    silent_ms: int
    round_trip_us: int
    late_items: int
    ignoring: int
    ignoring_ms: int
    def __init__(self, executor_id: _Optional[str] = ..., name: _Optional[str] = ..., build: _Optional[str] = ..., sdk: _Optional[str] = ..., language: _Optional[str] = ..., types: _Optional[_Iterable[str]] = ..., refused: _Optional[_Iterable[_Union[Refused, _Mapping]]] = ..., state: _Optional[_Union[SessionState, str]] = ..., slots: _Optional[int] = ..., busy: _Optional[int] = ..., silent_ms: _Optional[int] = ..., round_trip_us: _Optional[int] = ..., late_items: _Optional[int] = ..., ignoring: _Optional[int] = ..., ignoring_ms: _Optional[int] = ...) -> None: ...
