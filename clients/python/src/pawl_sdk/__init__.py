"""Pawl for Python: start and watch workflows, and write handlers for node types of your own."""

from pawl_sdk._json import Json
from pawl_sdk._link import Status
from pawl_sdk._check import Check
from pawl_sdk._steps import Reconnect
from pawl_sdk._version import VERSION as __version__
from pawl_sdk.async_client import AsyncClient
from pawl_sdk.client import Client
from pawl_sdk.context import AsyncContext, Context
from pawl_sdk.errors import PawlError, RunFailed, Violation
from pawl_sdk.handlers import Handler, handler
from pawl_sdk.model import (
    AcceptedRun,
    AppliedWorkflow,
    Approval,
    ApprovalPage,
    Event,
    NodeRun,
    Run,
    RunPage,
    StartedRun,
    StartItem,
    Workflow,
    WorkflowPage,
)
from pawl_sdk.operations import (
    DeadLetter,
    DeadLetterPage,
    LeftDeadLetters,
    Pause,
    QueueDepth,
    QueueDepths,
    Redrive,
    RedrivenLetter,
    RedrivePreview,
    RedriveStep,
    Schedule,
    SchedulePage,
)
from pawl_sdk.outcome import (
    AT_MOST_ONCE,
    IDEMPOTENT,
    TRANSACTIONAL,
    Cancelled,
    CancelReason,
    EffectClass,
    EffectRefused,
    Failed,
    Result,
    Usage,
)
from pawl_sdk.server import Server, aserve, serve
from pawl_sdk.testing import Ran, arun_handler, run_handler

__all__ = [
    "AT_MOST_ONCE",
    "IDEMPOTENT",
    "TRANSACTIONAL",
    "AcceptedRun",
    "AppliedWorkflow",
    "Approval",
    "ApprovalPage",
    "AsyncClient",
    "AsyncContext",
    "CancelReason",
    "Cancelled",
    "Check",
    "Client",
    "Context",
    "DeadLetter",
    "DeadLetterPage",
    "EffectClass",
    "EffectRefused",
    "Event",
    "Failed",
    "Handler",
    "Json",
    "LeftDeadLetters",
    "NodeRun",
    "Pause",
    "PawlError",
    "QueueDepth",
    "QueueDepths",
    "Ran",
    "Reconnect",
    "Redrive",
    "RedrivePreview",
    "RedriveStep",
    "RedrivenLetter",
    "Result",
    "Run",
    "RunFailed",
    "RunPage",
    "Schedule",
    "SchedulePage",
    "Server",
    "StartItem",
    "StartedRun",
    "Status",
    "Usage",
    "Violation",
    "Workflow",
    "WorkflowPage",
    "__version__",
    "arun_handler",
    "aserve",
    "handler",
    "run_handler",
    "serve",
]
