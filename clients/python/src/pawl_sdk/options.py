"""The options of calls, for code that passes them on: `def start(**options: Unpack[StartOptions])`. Every time is in seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, TypedDict

from pawl_sdk.errors import PawlError
from pawl_sdk.webhooks import RunWebhook

Decision = Literal["approve", "reject"]
"""The answer of a person."""
Missed = Literal["skip", "run_once", "run_all"]
"""What to do about occurrences that came due while no scheduler ran."""
StopMode = Literal["interrupt", "rollback"]
"""How to stop a run, if not by a plain cancellation."""
Multitask = Literal["reject", "enqueue", "interrupt", "rollback"]
"""What a new run does with the runs of its thread that have not ended."""
Overlap = Literal["allow", "skip"]
"""What to do about an occurrence while the run of the previous one is live."""
ThreadRelease = Literal["never", "when_wanted"]
"""Whether a run gives its thread up while it only waits for people or signals."""


class Budget(TypedDict, total=False):
    """How much a run may use. It can lower the limits of the definition, and not raise them."""

    tokens: int
    cost_usd: float
    node_executions: int
    on_exceeded: Literal["fail", "pause"]
    """What happens when the run needs more: it fails, or it pauses until `top_up`."""


class WatchThreadOptions(TypedDict, total=False):
    """How to watch a thread."""

    cursor: str
    """The cursor of the last event that the caller has; default: from the first run that the thread still has."""
    skip_finished: bool
    """Without a cursor: begin with the run that holds the thread, or with the next one."""
    until_idle: bool
    """End when the caller has everything and no run holds the thread. Otherwise the stream stays open between runs."""
    types: Iterable[str]
    """Only events of these types. The terminal event of each run always comes."""
    node_ids: Iterable[str]
    node_types: Iterable[str]
    silence: float
    """The longest time without a message or a heartbeat; default 45 s."""
    on_reconnect: Callable[[str, PawlError], None]
    """Called before every reconnect, with the cursor after which the stream continues."""


class TestRunOptions(TypedDict, total=False):
    """How to run a graph that is not saved. `input_json` is JSON text that is sent to the letter; it takes precedence over the input."""

    input_json: str | None
    deadline: float | None
    """How many seconds the run may take from its start; default the definition's own."""
    after_seconds: float | None
    """How many seconds after its acceptance the run starts; default at once. The run is pending until then. It excludes `start_at`."""
    start_at: datetime | None
    """When the run starts, by the clock of the database. A time in the past means at once."""
    temporary: bool
    """The run is deleted with everything that belongs to it, soon after its end. It excludes `thread_id` and `dedupe_input` of a start."""
    goal: str
    """What the run is for; default the definition's own. Templates read it as `ctx.goal`."""
    constraints: Iterable[str]
    """The rules that its nodes respect; default the definition's own. Templates read them as `ctx.constraints`."""
    max_iterations: int
    """How often the run may repeat; default the definition's own."""
    max_retries: int | None
    """How often an execution may be retried at most; default the definition's own, or the policy of each node."""
    budget: Budget | None
    request_id: str | None
    untrusted_input: bool
    """The input is not trusted: it gets the label input."""


class StartOptions(TestRunOptions, total=False):
    """How to start a run of a saved workflow."""

    version: int
    priority: int
    metadata: Mapping[str, Any] | None
    """A JSON object to find the run by. Templates read it as `ctx.metadata`."""
    dedupe_input: float | None
    """For so many seconds, a second start with the same workflow and input returns the first run."""
    webhook: RunWebhook | None
    """Calls a URL at events of the run."""
    thread_id: str
    """The thread that the run belongs to: it begins with the memory of the thread."""
    create_thread: bool
    """Creates the thread if there is none. Otherwise the start is refused with THREAD_NOT_FOUND."""
    multitask: Multitask
    """Default reject: THREAD_BUSY while another run of the thread has not ended."""
    thread_release: ThreadRelease
    """Default never. `when_wanted`: the run is interrupted if it only waits and another run wants the thread."""
    assistant_id: str
    """The assistant in place of a workflow: the workflow id is empty then."""


class TopUpOptions(TypedDict, total=False):
    """What to add to the budget of a run, who adds it, and why."""

    tokens: int
    cost_usd: float
    node_executions: int
    by: str
    reason: str
    request_id: str | None


class ListRunsOptions(TypedDict, total=False):
    """Which runs."""

    workflow_id: str
    statuses: Iterable[str]
    schedule_id: str
    thread_id: str
    """Only runs of this thread: its history."""
    assistant_id: str
    """Only runs of this assistant."""
    stops: Iterable[StopMode]
    """Of cancelled runs, only those that were stopped in one of these ways. Other runs pass: name the status too."""
    query: str
    filter: str
    """A filter such as `status = failed AND metadata.team = "billing"`."""
    saved_filter: str
    """The name of a kept filter, which must hold as well."""
    page_size: int
    page_token: str


class ControlOptions(TypedDict, total=False):
    """The person who pauses or resumes, and the reason."""

    by: str
    reason: str
    request_id: str | None


class ControlRunOptions(ControlOptions, total=False):
    """How to pause or resume a run; `children` means also the runs below it."""

    children: bool


class ListApprovalsOptions(TypedDict, total=False):
    """Which approvals."""

    run_id: str
    workflow_id: str
    assignee: str
    states: Iterable[str]
    page_size: int
    page_token: str


class AnswerOptions(TypedDict, total=False):
    """The answer to an approval. `response_json` is JSON text that is sent to the letter; it takes precedence over `response`."""

    response: object
    response_json: str | None
    comment: str
    decided_by: str
    request_id: str | None


class ScheduleOptions(TypedDict, total=False):
    """The parts of a schedule that have defaults. `input_json` is JSON text that is kept to the letter; it takes precedence over `input`."""

    workflow_version: int
    time_zone: str
    input: Any
    input_json: str | None
    priority: int
    missed: Missed
    overlap: Overlap
    request_id: str | None


class PreviewScheduleOptions(TypedDict, total=False):
    """Which times, of an expression or of a saved schedule."""

    expression: str
    schedule_id: str
    time_zone: str
    count: int
    after: datetime | None


class DeadLetterFilter(TypedDict, total=False):
    """Which dead letters; an absent field does not narrow the selection."""

    ids: Iterable[str]
    workflow_id: str
    node_type: str
    before: datetime | None


class ListDeadLettersOptions(DeadLetterFilter, total=False):
    """A page of dead letters."""

    states: Iterable[str]
    page_size: int
    page_token: str


class PreviewRedriveOptions(DeadLetterFilter, total=False):
    """How many dead letters are looked at; default 100, at most 1,000."""

    limit: int


class DiscardOptions(PreviewRedriveOptions, total=False):
    """How many dead letters at most; default 100, at most 1,000."""

    request_id: str | None


class RedriveOptions(DiscardOptions, total=False):
    """How many dead letters a second at most; default 50."""

    max_per_second: int
