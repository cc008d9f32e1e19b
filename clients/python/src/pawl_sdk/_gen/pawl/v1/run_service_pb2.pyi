from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pawl_sdk._gen.pawl.v1 import effect_pb2 as _effect_pb2
from pawl_sdk._gen.pawl.v1 import event_pb2 as _event_pb2
from pawl_sdk._gen.pawl.v1 import explain_pb2 as _explain_pb2
from pawl_sdk._gen.pawl.v1 import repair_pb2 as _repair_pb2
from pawl_sdk._gen.pawl.v1 import run_pb2 as _run_pb2
from pawl_sdk._gen.pawl.v1 import webhook_pb2 as _webhook_pb2
from pawl_sdk._gen.pawl.v1 import workflow_pb2 as _workflow_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ThreadRelease(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    THREAD_RELEASE_UNSPECIFIED: _ClassVar[ThreadRelease]
    THREAD_RELEASE_NEVER: _ClassVar[ThreadRelease]
    THREAD_RELEASE_WHEN_WANTED: _ClassVar[ThreadRelease]

class MultitaskStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MULTITASK_STRATEGY_UNSPECIFIED: _ClassVar[MultitaskStrategy]
    MULTITASK_STRATEGY_REJECT: _ClassVar[MultitaskStrategy]
    MULTITASK_STRATEGY_ENQUEUE: _ClassVar[MultitaskStrategy]
    MULTITASK_STRATEGY_INTERRUPT: _ClassVar[MultitaskStrategy]
    MULTITASK_STRATEGY_ROLLBACK: _ClassVar[MultitaskStrategy]

class IdempotencyScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    IDEMPOTENCY_SCOPE_UNSPECIFIED: _ClassVar[IdempotencyScope]
    IDEMPOTENCY_SCOPE_INPUT_HASH: _ClassVar[IdempotencyScope]

class Decision(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_UNSPECIFIED: _ClassVar[Decision]
    DECISION_APPROVE: _ClassVar[Decision]
    DECISION_REJECT: _ClassVar[Decision]
THREAD_RELEASE_UNSPECIFIED: ThreadRelease
THREAD_RELEASE_NEVER: ThreadRelease
THREAD_RELEASE_WHEN_WANTED: ThreadRelease
MULTITASK_STRATEGY_UNSPECIFIED: MultitaskStrategy
MULTITASK_STRATEGY_REJECT: MultitaskStrategy
MULTITASK_STRATEGY_ENQUEUE: MultitaskStrategy
MULTITASK_STRATEGY_INTERRUPT: MultitaskStrategy
MULTITASK_STRATEGY_ROLLBACK: MultitaskStrategy
IDEMPOTENCY_SCOPE_UNSPECIFIED: IdempotencyScope
IDEMPOTENCY_SCOPE_INPUT_HASH: IdempotencyScope
DECISION_UNSPECIFIED: Decision
DECISION_APPROVE: Decision
DECISION_REJECT: Decision

class StartRunRequest(_message.Message):
    __slots__ = ("workflow_id", "version", "assistant_id", "input_json", "input", "request_id", "priority", "deadline", "idempotency", "max_iterations", "thread_id", "create_thread", "multitask_strategy", "thread_release", "metadata_json", "metadata", "goal", "constraints", "max_retries", "untrusted_input", "budget", "webhook", "after_seconds", "start_at", "temporary")
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_FIELD_NUMBER: _ClassVar[int]
    MAX_ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_THREAD_FIELD_NUMBER: _ClassVar[int]
    MULTITASK_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    THREAD_RELEASE_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    MAX_RETRIES_FIELD_NUMBER: _ClassVar[int]
    UNTRUSTED_INPUT_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_FIELD_NUMBER: _ClassVar[int]
    AFTER_SECONDS_FIELD_NUMBER: _ClassVar[int]
    START_AT_FIELD_NUMBER: _ClassVar[int]
    TEMPORARY_FIELD_NUMBER: _ClassVar[int]
    workflow_id: str
    version: int
    assistant_id: str
    input_json: bytes
    input: _struct_pb2.Value
    request_id: str
    priority: int
    deadline: _duration_pb2.Duration
    idempotency: Idempotency
    max_iterations: int
    thread_id: str
    create_thread: bool
    multitask_strategy: MultitaskStrategy
    thread_release: ThreadRelease
    metadata_json: bytes
    metadata: _struct_pb2.Value
    goal: str
    constraints: _containers.RepeatedScalarFieldContainer[str]
    max_retries: int
    untrusted_input: bool
    budget: _run_pb2.Budget
    webhook: _webhook_pb2.RunWebhook
    after_seconds: float
    start_at: _timestamp_pb2.Timestamp
    temporary: bool
    def __init__(self, workflow_id: _Optional[str] = ..., version: _Optional[int] = ..., assistant_id: _Optional[str] = ..., input_json: _Optional[bytes] = ..., input: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., request_id: _Optional[str] = ..., priority: _Optional[int] = ..., deadline: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., idempotency: _Optional[_Union[Idempotency, _Mapping]] = ..., max_iterations: _Optional[int] = ..., thread_id: _Optional[str] = ..., create_thread: bool = ..., multitask_strategy: _Optional[_Union[MultitaskStrategy, str]] = ..., thread_release: _Optional[_Union[ThreadRelease, str]] = ..., metadata_json: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., goal: _Optional[str] = ..., constraints: _Optional[_Iterable[str]] = ..., max_retries: _Optional[int] = ..., untrusted_input: bool = ..., budget: _Optional[_Union[_run_pb2.Budget, _Mapping]] = ..., webhook: _Optional[_Union[_webhook_pb2.RunWebhook, _Mapping]] = ..., after_seconds: _Optional[float] = ..., start_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., temporary: bool = ...) -> None: ...

class Idempotency(_message.Message):
    __slots__ = ("scope", "ttl")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    scope: IdempotencyScope
    ttl: _duration_pb2.Duration
    def __init__(self, scope: _Optional[_Union[IdempotencyScope, str]] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class StartRunResponse(_message.Message):
    __slots__ = ("run", "duplicate")
    RUN_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    duplicate: bool
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., duplicate: bool = ...) -> None: ...

class ExecuteRunRequest(_message.Message):
    __slots__ = ("start", "types")
    START_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    start: StartRunRequest
    types: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, start: _Optional[_Union[StartRunRequest, _Mapping]] = ..., types: _Optional[_Iterable[str]] = ...) -> None: ...

class ExecuteRunResponse(_message.Message):
    __slots__ = ("run", "duplicate", "events")
    RUN_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    duplicate: bool
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.RunEvent]
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., duplicate: bool = ..., events: _Optional[_Iterable[_Union[_event_pb2.RunEvent, _Mapping]]] = ...) -> None: ...

class SubmitRunsRequest(_message.Message):
    __slots__ = ("submissions",)
    SUBMISSIONS_FIELD_NUMBER: _ClassVar[int]
    submissions: _containers.RepeatedCompositeFieldContainer[Submission]
    def __init__(self, submissions: _Optional[_Iterable[_Union[Submission, _Mapping]]] = ...) -> None: ...

class Submission(_message.Message):
    __slots__ = ("start", "wait", "traceparent")
    START_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    start: StartRunRequest
    wait: bool
    traceparent: str
    def __init__(self, start: _Optional[_Union[StartRunRequest, _Mapping]] = ..., wait: bool = ..., traceparent: _Optional[str] = ...) -> None: ...

class SubmitRunsResponse(_message.Message):
    __slots__ = ("answers",)
    ANSWERS_FIELD_NUMBER: _ClassVar[int]
    answers: _containers.RepeatedCompositeFieldContainer[SubmissionAnswer]
    def __init__(self, answers: _Optional[_Iterable[_Union[SubmissionAnswer, _Mapping]]] = ...) -> None: ...

class SubmissionAnswer(_message.Message):
    __slots__ = ("request_id", "accepted", "refused", "end")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    accepted: AcceptedSubmission
    refused: Refusal
    end: RunEnd
    def __init__(self, request_id: _Optional[str] = ..., accepted: _Optional[_Union[AcceptedSubmission, _Mapping]] = ..., refused: _Optional[_Union[Refusal, _Mapping]] = ..., end: _Optional[_Union[RunEnd, _Mapping]] = ...) -> None: ...

class AcceptedSubmission(_message.Message):
    __slots__ = ("run_id", "duplicate")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    duplicate: bool
    def __init__(self, run_id: _Optional[str] = ..., duplicate: bool = ...) -> None: ...

class RunEnd(_message.Message):
    __slots__ = ("run_id", "status", "output_json", "output", "error_message", "has_failures", "last_event_id", "failed_node_id", "cause", "failure_class", "values_left_out")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HAS_FAILURES_FIELD_NUMBER: _ClassVar[int]
    LAST_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    FAILED_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    status: _run_pb2.RunStatus
    output_json: bytes
    output: _struct_pb2.Value
    error_message: str
    has_failures: bool
    last_event_id: int
    failed_node_id: str
    cause: str
    failure_class: _run_pb2.FailureClass
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run_id: _Optional[str] = ..., status: _Optional[_Union[_run_pb2.RunStatus, str]] = ..., output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., error_message: _Optional[str] = ..., has_failures: bool = ..., last_event_id: _Optional[int] = ..., failed_node_id: _Optional[str] = ..., cause: _Optional[str] = ..., failure_class: _Optional[_Union[_run_pb2.FailureClass, str]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class Refusal(_message.Message):
    __slots__ = ("code", "reason", "message", "metadata", "violations", "retry_delay", "origin_request_id")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    code: int
    reason: str
    message: str
    metadata: _containers.ScalarMap[str, str]
    violations: _containers.RepeatedCompositeFieldContainer[_workflow_pb2.Violation]
    retry_delay: _duration_pb2.Duration
    origin_request_id: str
    def __init__(self, code: _Optional[int] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ..., violations: _Optional[_Iterable[_Union[_workflow_pb2.Violation, _Mapping]]] = ..., retry_delay: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., origin_request_id: _Optional[str] = ...) -> None: ...

class TestRunRequest(_message.Message):
    __slots__ = ("definition", "input_json", "input", "request_id", "deadline", "max_iterations", "goal", "constraints", "max_retries", "untrusted_input", "budget", "after_seconds", "start_at", "temporary")
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    MAX_ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    GOAL_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    MAX_RETRIES_FIELD_NUMBER: _ClassVar[int]
    UNTRUSTED_INPUT_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    AFTER_SECONDS_FIELD_NUMBER: _ClassVar[int]
    START_AT_FIELD_NUMBER: _ClassVar[int]
    TEMPORARY_FIELD_NUMBER: _ClassVar[int]
    definition: _workflow_pb2.DefinitionSource
    input_json: bytes
    input: _struct_pb2.Value
    request_id: str
    deadline: _duration_pb2.Duration
    max_iterations: int
    goal: str
    constraints: _containers.RepeatedScalarFieldContainer[str]
    max_retries: int
    untrusted_input: bool
    budget: _run_pb2.Budget
    after_seconds: float
    start_at: _timestamp_pb2.Timestamp
    temporary: bool
    def __init__(self, definition: _Optional[_Union[_workflow_pb2.DefinitionSource, _Mapping]] = ..., input_json: _Optional[bytes] = ..., input: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., request_id: _Optional[str] = ..., deadline: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_iterations: _Optional[int] = ..., goal: _Optional[str] = ..., constraints: _Optional[_Iterable[str]] = ..., max_retries: _Optional[int] = ..., untrusted_input: bool = ..., budget: _Optional[_Union[_run_pb2.Budget, _Mapping]] = ..., after_seconds: _Optional[float] = ..., start_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., temporary: bool = ...) -> None: ...

class TestRunResponse(_message.Message):
    __slots__ = ("run", "duplicate", "warnings")
    RUN_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    duplicate: bool
    warnings: _containers.RepeatedCompositeFieldContainer[_workflow_pb2.Violation]
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., duplicate: bool = ..., warnings: _Optional[_Iterable[_Union[_workflow_pb2.Violation, _Mapping]]] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("run_id", "at_event_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AT_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    at_event_id: int
    def __init__(self, run_id: _Optional[str] = ..., at_event_id: _Optional[int] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run", "definition_json", "definition", "values_left_out")
    RUN_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_JSON_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    definition_json: bytes
    definition: _struct_pb2.Value
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., definition_json: _Optional[bytes] = ..., definition: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class WaitRunRequest(_message.Message):
    __slots__ = ("run_id", "timeout", "with_result")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    WITH_RESULT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    timeout: _duration_pb2.Duration
    with_result: bool
    def __init__(self, run_id: _Optional[str] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., with_result: bool = ...) -> None: ...

class WaitRunResponse(_message.Message):
    __slots__ = ("run", "has_ended", "result")
    RUN_FIELD_NUMBER: _ClassVar[int]
    HAS_ENDED_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    has_ended: bool
    result: _webhook_pb2.RunResult
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., has_ended: bool = ..., result: _Optional[_Union[_webhook_pb2.RunResult, _Mapping]] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ("statuses", "workflow_id", "kind", "page_size", "page_token", "query", "filter", "saved_filter", "schedule_id", "thread_id", "assistant_id", "stops")
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    SAVED_FILTER_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_ID_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_ID_FIELD_NUMBER: _ClassVar[int]
    STOPS_FIELD_NUMBER: _ClassVar[int]
    statuses: _containers.RepeatedScalarFieldContainer[_run_pb2.RunStatus]
    workflow_id: str
    kind: _run_pb2.RunKind
    page_size: int
    page_token: str
    query: str
    filter: str
    saved_filter: str
    schedule_id: str
    thread_id: str
    assistant_id: str
    stops: _containers.RepeatedScalarFieldContainer[_run_pb2.StopMode]
    def __init__(self, statuses: _Optional[_Iterable[_Union[_run_pb2.RunStatus, str]]] = ..., workflow_id: _Optional[str] = ..., kind: _Optional[_Union[_run_pb2.RunKind, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., query: _Optional[str] = ..., filter: _Optional[str] = ..., saved_filter: _Optional[str] = ..., schedule_id: _Optional[str] = ..., thread_id: _Optional[str] = ..., assistant_id: _Optional[str] = ..., stops: _Optional[_Iterable[_Union[_run_pb2.StopMode, str]]] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("runs", "next_page_token")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[_run_pb2.Run]
    next_page_token: str
    def __init__(self, runs: _Optional[_Iterable[_Union[_run_pb2.Run, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ExplainNodeRequest(_message.Message):
    __slots__ = ("run_id", "node_id", "iteration")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    node_id: str
    iteration: int
    def __init__(self, run_id: _Optional[str] = ..., node_id: _Optional[str] = ..., iteration: _Optional[int] = ...) -> None: ...

class ExplainNodeResponse(_message.Message):
    __slots__ = ("explanation",)
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    explanation: _explain_pb2.Explanation
    def __init__(self, explanation: _Optional[_Union[_explain_pb2.Explanation, _Mapping]] = ...) -> None: ...

class ExplainTaintRequest(_message.Message):
    __slots__ = ("run_id", "node_id", "iteration", "memory_key")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    MEMORY_KEY_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    node_id: str
    iteration: int
    memory_key: str
    def __init__(self, run_id: _Optional[str] = ..., node_id: _Optional[str] = ..., iteration: _Optional[int] = ..., memory_key: _Optional[str] = ...) -> None: ...

class ExplainTaintResponse(_message.Message):
    __slots__ = ("trace",)
    TRACE_FIELD_NUMBER: _ClassVar[int]
    trace: _explain_pb2.TaintTrace
    def __init__(self, trace: _Optional[_Union[_explain_pb2.TaintTrace, _Mapping]] = ...) -> None: ...

class ListEffectsRequest(_message.Message):
    __slots__ = ("run_id", "node_id", "page_size", "page_token")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    node_id: str
    page_size: int
    page_token: str
    def __init__(self, run_id: _Optional[str] = ..., node_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListEffectsResponse(_message.Message):
    __slots__ = ("effects", "next_page_token")
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    effects: _containers.RepeatedCompositeFieldContainer[_effect_pb2.Effect]
    next_page_token: str
    def __init__(self, effects: _Optional[_Iterable[_Union[_effect_pb2.Effect, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetValueRequest(_message.Message):
    __slots__ = ("run_id", "sha256", "part")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    sha256: str
    part: int
    def __init__(self, run_id: _Optional[str] = ..., sha256: _Optional[str] = ..., part: _Optional[int] = ...) -> None: ...

class GetValueResponse(_message.Message):
    __slots__ = ("data", "total_bytes")
    DATA_FIELD_NUMBER: _ClassVar[int]
    TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    total_bytes: int
    def __init__(self, data: _Optional[bytes] = ..., total_bytes: _Optional[int] = ...) -> None: ...

class GetInvocationRequest(_message.Message):
    __slots__ = ("run_id", "node_id", "iteration")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    node_id: str
    iteration: int
    def __init__(self, run_id: _Optional[str] = ..., node_id: _Optional[str] = ..., iteration: _Optional[int] = ...) -> None: ...

class GetInvocationResponse(_message.Message):
    __slots__ = ("invocation",)
    INVOCATION_FIELD_NUMBER: _ClassVar[int]
    invocation: Invocation
    def __init__(self, invocation: _Optional[_Union[Invocation, _Mapping]] = ...) -> None: ...

class Invocation(_message.Message):
    __slots__ = ("type", "input_json", "input", "config_json", "config", "attempt", "effect_key", "timeout_ms", "workflow_id", "status", "output_json", "output", "handle", "cause", "message", "failure_class", "effects", "memory_json", "memory", "state_json", "state", "taint", "traceparent", "memory_writes_json", "memory_writes", "goto_node", "queue_delay_ms", "output_taint", "values_left_out")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    EFFECT_KEY_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_JSON_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    STATE_JSON_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TAINT_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_WRITES_JSON_FIELD_NUMBER: _ClassVar[int]
    MEMORY_WRITES_FIELD_NUMBER: _ClassVar[int]
    GOTO_NODE_FIELD_NUMBER: _ClassVar[int]
    QUEUE_DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TAINT_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    type: str
    input_json: bytes
    input: _struct_pb2.Value
    config_json: bytes
    config: _struct_pb2.Value
    attempt: int
    effect_key: str
    timeout_ms: int
    workflow_id: str
    status: _run_pb2.NodeStatus
    output_json: bytes
    output: _struct_pb2.Value
    handle: str
    cause: str
    message: str
    failure_class: _run_pb2.FailureClass
    effects: _containers.RepeatedCompositeFieldContainer[InvocationEffect]
    memory_json: bytes
    memory: _struct_pb2.Value
    state_json: bytes
    state: _struct_pb2.Value
    taint: _containers.RepeatedScalarFieldContainer[str]
    traceparent: str
    memory_writes_json: bytes
    memory_writes: _struct_pb2.Value
    goto_node: str
    queue_delay_ms: int
    output_taint: _containers.RepeatedScalarFieldContainer[str]
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, type: _Optional[str] = ..., input_json: _Optional[bytes] = ..., input: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., config_json: _Optional[bytes] = ..., config: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., attempt: _Optional[int] = ..., effect_key: _Optional[str] = ..., timeout_ms: _Optional[int] = ..., workflow_id: _Optional[str] = ..., status: _Optional[_Union[_run_pb2.NodeStatus, str]] = ..., output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., handle: _Optional[str] = ..., cause: _Optional[str] = ..., message: _Optional[str] = ..., failure_class: _Optional[_Union[_run_pb2.FailureClass, str]] = ..., effects: _Optional[_Iterable[_Union[InvocationEffect, _Mapping]]] = ..., memory_json: _Optional[bytes] = ..., memory: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., state_json: _Optional[bytes] = ..., state: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., taint: _Optional[_Iterable[str]] = ..., traceparent: _Optional[str] = ..., memory_writes_json: _Optional[bytes] = ..., memory_writes: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., goto_node: _Optional[str] = ..., queue_delay_ms: _Optional[int] = ..., output_taint: _Optional[_Iterable[str]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class InvocationEffect(_message.Message):
    __slots__ = ("name", "effect_class", "committed", "result_json", "result", "values_left_out")
    NAME_FIELD_NUMBER: _ClassVar[int]
    EFFECT_CLASS_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_FIELD_NUMBER: _ClassVar[int]
    RESULT_JSON_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    VALUES_LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    name: str
    effect_class: str
    committed: bool
    result_json: bytes
    result: _struct_pb2.Value
    values_left_out: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., effect_class: _Optional[str] = ..., committed: bool = ..., result_json: _Optional[bytes] = ..., result: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., values_left_out: _Optional[_Iterable[str]] = ...) -> None: ...

class CancelRunRequest(_message.Message):
    __slots__ = ("run_id", "reason", "request_id", "compensate", "mode")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    COMPENSATE_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    reason: str
    request_id: str
    compensate: bool
    mode: _run_pb2.StopMode
    def __init__(self, run_id: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ..., compensate: bool = ..., mode: _Optional[_Union[_run_pb2.StopMode, str]] = ...) -> None: ...

class CancelRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class DeleteRunRequest(_message.Message):
    __slots__ = ("run_id", "request_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    request_id: str
    def __init__(self, run_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class DeleteRunResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DecideNodeRequest(_message.Message):
    __slots__ = ("run_id", "node_id", "iteration", "decision", "comment", "request_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    node_id: str
    iteration: int
    decision: Decision
    comment: str
    request_id: str
    def __init__(self, run_id: _Optional[str] = ..., node_id: _Optional[str] = ..., iteration: _Optional[int] = ..., decision: _Optional[_Union[Decision, str]] = ..., comment: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class DecideNodeResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class RecheckRunRequest(_message.Message):
    __slots__ = ("run_id", "request_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    request_id: str
    def __init__(self, run_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class RecheckRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class PauseRunRequest(_message.Message):
    __slots__ = ("run_id", "by", "reason", "request_id", "children")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    by: str
    reason: str
    request_id: str
    children: bool
    def __init__(self, run_id: _Optional[str] = ..., by: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ..., children: bool = ...) -> None: ...

class PauseRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class TopUpRunRequest(_message.Message):
    __slots__ = ("run_id", "amounts", "by", "reason", "request_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AMOUNTS_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    amounts: _run_pb2.Amounts
    by: str
    reason: str
    request_id: str
    def __init__(self, run_id: _Optional[str] = ..., amounts: _Optional[_Union[_run_pb2.Amounts, _Mapping]] = ..., by: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class TopUpRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class ResumeRunRequest(_message.Message):
    __slots__ = ("run_id", "by", "reason", "request_id", "children")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    by: str
    reason: str
    request_id: str
    children: bool
    def __init__(self, run_id: _Optional[str] = ..., by: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ..., children: bool = ...) -> None: ...

class ResumeRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class RepairRunRequest(_message.Message):
    __slots__ = ("run_id", "from_nodes", "from_event_id", "definition", "latest", "input_json", "input", "outputs", "keep_nodes", "dry_run", "plan_digest", "request_id", "by", "reason", "keep_effects")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    FROM_NODES_FIELD_NUMBER: _ClassVar[int]
    FROM_EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_FIELD_NUMBER: _ClassVar[int]
    LATEST_FIELD_NUMBER: _ClassVar[int]
    INPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    KEEP_NODES_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    PLAN_DIGEST_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    KEEP_EFFECTS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    from_nodes: _containers.RepeatedScalarFieldContainer[str]
    from_event_id: int
    definition: _workflow_pb2.DefinitionSource
    latest: bool
    input_json: bytes
    input: _struct_pb2.Value
    outputs: _containers.RepeatedCompositeFieldContainer[SetOutputRequest]
    keep_nodes: _containers.RepeatedScalarFieldContainer[str]
    dry_run: bool
    plan_digest: str
    request_id: str
    by: str
    reason: str
    keep_effects: bool
    def __init__(self, run_id: _Optional[str] = ..., from_nodes: _Optional[_Iterable[str]] = ..., from_event_id: _Optional[int] = ..., definition: _Optional[_Union[_workflow_pb2.DefinitionSource, _Mapping]] = ..., latest: bool = ..., input_json: _Optional[bytes] = ..., input: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., outputs: _Optional[_Iterable[_Union[SetOutputRequest, _Mapping]]] = ..., keep_nodes: _Optional[_Iterable[str]] = ..., dry_run: bool = ..., plan_digest: _Optional[str] = ..., request_id: _Optional[str] = ..., by: _Optional[str] = ..., reason: _Optional[str] = ..., keep_effects: bool = ...) -> None: ...

class SetOutputRequest(_message.Message):
    __slots__ = ("node_id", "output_json", "output", "handle")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_JSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    output_json: bytes
    output: _struct_pb2.Value
    handle: str
    def __init__(self, node_id: _Optional[str] = ..., output_json: _Optional[bytes] = ..., output: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., handle: _Optional[str] = ...) -> None: ...

class RepairRunResponse(_message.Message):
    __slots__ = ("plan", "run", "duplicate", "warnings")
    PLAN_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    plan: _repair_pb2.RepairPlan
    run: _run_pb2.Run
    duplicate: bool
    warnings: _containers.RepeatedCompositeFieldContainer[_workflow_pb2.Violation]
    def __init__(self, plan: _Optional[_Union[_repair_pb2.RepairPlan, _Mapping]] = ..., run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., duplicate: bool = ..., warnings: _Optional[_Iterable[_Union[_workflow_pb2.Violation, _Mapping]]] = ...) -> None: ...

class RetryRunRequest(_message.Message):
    __slots__ = ("run_id", "latest", "dry_run", "plan_digest", "request_id", "keep_effects")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    LATEST_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    PLAN_DIGEST_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    KEEP_EFFECTS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    latest: bool
    dry_run: bool
    plan_digest: str
    request_id: str
    keep_effects: bool
    def __init__(self, run_id: _Optional[str] = ..., latest: bool = ..., dry_run: bool = ..., plan_digest: _Optional[str] = ..., request_id: _Optional[str] = ..., keep_effects: bool = ...) -> None: ...

class RetryRunResponse(_message.Message):
    __slots__ = ("plan", "run", "duplicate")
    PLAN_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    plan: _repair_pb2.RepairPlan
    run: _run_pb2.Run
    duplicate: bool
    def __init__(self, plan: _Optional[_Union[_repair_pb2.RepairPlan, _Mapping]] = ..., run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., duplicate: bool = ...) -> None: ...

class SignalRunRequest(_message.Message):
    __slots__ = ("run_id", "name", "payload_json", "payload", "request_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_JSON_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    name: str
    payload_json: bytes
    payload: _struct_pb2.Value
    request_id: str
    def __init__(self, run_id: _Optional[str] = ..., name: _Optional[str] = ..., payload_json: _Optional[bytes] = ..., payload: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class SignalRunResponse(_message.Message):
    __slots__ = ("run", "duplicate", "kept")
    RUN_FIELD_NUMBER: _ClassVar[int]
    DUPLICATE_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    duplicate: bool
    kept: bool
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., duplicate: bool = ..., kept: bool = ...) -> None: ...

class UpdateRunMetadataRequest(_message.Message):
    __slots__ = ("run_id", "metadata_json", "metadata", "request_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_JSON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    metadata_json: bytes
    metadata: _struct_pb2.Value
    request_id: str
    def __init__(self, run_id: _Optional[str] = ..., metadata_json: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class UpdateRunMetadataResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class RunFilter(_message.Message):
    __slots__ = ("name", "filter", "create_time", "update_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    filter: str
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., filter: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SaveRunFilterRequest(_message.Message):
    __slots__ = ("name", "filter", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    filter: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., filter: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class SaveRunFilterResponse(_message.Message):
    __slots__ = ("run_filter",)
    RUN_FILTER_FIELD_NUMBER: _ClassVar[int]
    run_filter: RunFilter
    def __init__(self, run_filter: _Optional[_Union[RunFilter, _Mapping]] = ...) -> None: ...

class ListRunFiltersRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListRunFiltersResponse(_message.Message):
    __slots__ = ("run_filters", "next_page_token")
    RUN_FILTERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    run_filters: _containers.RepeatedCompositeFieldContainer[RunFilter]
    next_page_token: str
    def __init__(self, run_filters: _Optional[_Iterable[_Union[RunFilter, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteRunFilterRequest(_message.Message):
    __slots__ = ("name", "request_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    request_id: str
    def __init__(self, name: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class DeleteRunFilterResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
