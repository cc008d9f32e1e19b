"""The client for asyncio. Use it on the loop on which it was made; each watch has a stream of its own."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterable
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc
import grpc.aio

from pawl_sdk._address import DEFAULT_GATEWAY, OPTIONS, ForkGuard, split
from pawl_sdk._calls import Calls, Decision
from pawl_sdk._drive_async import AsyncDriver
from pawl_sdk._steps import OnReconnect, Steps
from pawl_sdk._watch import WatchOptions, watch
from pawl_sdk.model import AppliedWorkflow, Approval, ApprovalPage, Event, Run, RunPage, StartedRun, Workflow, WorkflowPage

T = TypeVar("T")


class _Base:
    def __init__(self, client: AsyncClient) -> None:
        self._run = client._run
        self._calls = client._calls


class Workflows(_Base):
    """Saved workflows."""

    async def apply(
        self, definition: str | dict[str, Any], *, workflow_id: str | None = None, strict: bool = False
    ) -> AppliedWorkflow:
        """Makes the saved workflow be this definition (a value, or text in JSON or YAML): creates or updates, and may be repeated."""
        return await self._run(self._calls.apply(definition, workflow_id=workflow_id, strict=strict))

    async def get(self, workflow_id: str, *, version: int = 0) -> Workflow:
        """One workflow with its definition; version 0 is the newest."""
        return await self._run(self._calls.get_workflow(workflow_id, version=version))

    async def list(self, *, page_size: int = 0, page_token: str = "") -> WorkflowPage:
        """A page of workflows."""
        return await self._run(self._calls.list_workflows(page_size=page_size, page_token=page_token))


class Approvals(_Base):
    """Questions that wait for people."""

    async def list(
        self,
        *,
        run_id: str = "",
        workflow_id: str = "",
        assignee: str = "",
        states: Iterable[str] = (),
        page_size: int = 0,
        page_token: str = "",
    ) -> ApprovalPage:
        """A page of approvals, newest first."""
        return await self._run(
            self._calls.list_approvals(
                run_id=run_id,
                workflow_id=workflow_id,
                assignee=assignee,
                states=states,
                page_size=page_size,
                page_token=page_token,
            )
        )

    async def get(self, approval_id: str) -> Approval:
        """One approval, with the schema of its response."""
        return await self._run(self._calls.get_approval(approval_id))

    async def decide(
        self,
        approval_id: str,
        decision: Decision,
        *,
        response: object = None,
        response_json: str | None = None,
        comment: str = "",
        decided_by: str = "",
        request_id: str | None = None,
    ) -> Approval:
        """Answers an approval. Raises PawlError INPUT_INVALID, NODE_ALREADY_DECIDED or APPROVAL_CLOSED."""
        return await self._run(
            self._calls.decide(
                approval_id,
                decision,
                response=response,
                response_json=response_json,
                comment=comment,
                decided_by=decided_by,
                request_id=request_id,
            )
        )


class AsyncClient:
    """Calls a gateway. Without an address it takes PAWL_ADDRESS, or the gateway of this machine."""

    def __init__(
        self, address: str | None = None, *, attempts: int = 4, timeout: float = 30.0
    ) -> None:
        target, is_tls = split(address or os.environ.get("PAWL_ADDRESS") or DEFAULT_GATEWAY)
        self._guard = ForkGuard("AsyncClient")
        self._channel = (
            grpc.aio.secure_channel(target, grpc.ssl_channel_credentials(), options=OPTIONS)
            if is_tls
            else grpc.aio.insecure_channel(target, options=OPTIONS)
        )
        self._calls = Calls(attempts, timeout)
        self.workflows = Workflows(self)
        self.approvals = Approvals(self)

    async def start(
        self,
        workflow_id: str,
        input: object = None,
        *,
        input_json: str | None = None,
        version: int = 0,
        priority: int = 0,
        deadline: float | None = None,
        request_id: str | None = None,
    ) -> StartedRun:
        """Accepts a run of a saved workflow and returns at once. `input_json` is JSON text that is sent to the letter."""
        return await self._run(
            self._calls.start(
                workflow_id,
                input,
                input_json=input_json,
                version=version,
                priority=priority,
                deadline=deadline,
                request_id=request_id,
            )
        )

    async def run(
        self,
        workflow_id: str,
        input: object = None,
        *,
        version: int = 0,
        deadline: float | None = None,
        request_id: str | None = None,
    ) -> Any:
        """Starts a run, waits for its end and returns its output. Raises RunFailed when the run did not complete."""
        return await self._run(
            self._calls.run(
                workflow_id, input, version=version, deadline=deadline, request_id=request_id
            )
        )

    def watch(
        self,
        run_id: str,
        *,
        after_event_id: int = 0,
        types: Iterable[str] = (),
        silence: float = 45.0,
        give_up: float = 300.0,
        on_reconnect: OnReconnect | None = None,
    ) -> AsyncGenerator[Event, None]:
        """The events of a run, once and in order, across reconnects; ends after the terminal one. Leave the loop to end it early."""
        self._guard.check()
        options = WatchOptions(
            after_event_id, tuple(types), silence, give_up, self._calls.timeout, on_reconnect
        )
        return AsyncDriver(self._channel).emit(watch(run_id, options))

    async def wait(self, run_id: str) -> Run:
        """Waits for the end and returns the run, however it ended."""
        return await self._run(self._calls.wait(run_id))

    async def get(self, run_id: str) -> Run:
        """One run with its nodes."""
        return await self._run(self._calls.get(run_id))

    async def list(
        self,
        *,
        workflow_id: str = "",
        statuses: Iterable[str] = (),
        query: str = "",
        page_size: int = 0,
        page_token: str = "",
    ) -> RunPage:
        """A page of runs, newest first."""
        return await self._run(
            self._calls.list_runs(
                workflow_id=workflow_id,
                statuses=statuses,
                query=query,
                page_size=page_size,
                page_token=page_token,
            )
        )

    async def cancel(self, run_id: str, *, reason: str = "", request_id: str | None = None) -> Run:
        """Aborts running nodes and ends the run. Raises PawlError RUN_ALREADY_FINISHED."""
        return await self._run(self._calls.cancel(run_id, reason=reason, request_id=request_id))

    async def close(self) -> None:
        """Closes the connection."""
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _run(self, steps: Steps[T]) -> T:
        self._guard.check()
        return await AsyncDriver(self._channel).run(steps)
