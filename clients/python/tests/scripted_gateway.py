"""A gateway in this process: a real gRPC server whose methods are scripts of the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from pawl_sdk._gen.pawl.v1 import (
    approval_service_pb2,
    archive_service_pb2,
    assistant_service_pb2,
    event_service_pb2,
    node_type_service_pb2,
    queue_service_pb2,
    run_service_pb2,
    schedule_service_pb2,
    thread_service_pb2,
    webhook_service_pb2,
    workflow_service_pb2,
)

MODULES = {
    "RunService": run_service_pb2,
    "EventService": event_service_pb2,
    "WorkflowService": workflow_service_pb2,
    "ApprovalService": approval_service_pb2,
    "ScheduleService": schedule_service_pb2,
    "AssistantService": assistant_service_pb2,
    "ThreadService": thread_service_pb2,
    "WebhookService": webhook_service_pb2,
    "QueueService": queue_service_pb2,
    "NodeTypeService": node_type_service_pb2,
    "ArchiveService": archive_service_pb2,
}
# The methods that stream.
MAKERS: dict[str, Any] = {
    "Watch": grpc.unary_stream_rpc_method_handler,
    "WatchThread": grpc.unary_stream_rpc_method_handler,
    "WatchRun": grpc.unary_stream_rpc_method_handler,
    "ReadArchivedRun": grpc.unary_stream_rpc_method_handler,
    "ExportRun": grpc.unary_stream_rpc_method_handler,
    "ExecuteRun": grpc.unary_stream_rpc_method_handler,
    "SubmitRuns": grpc.stream_stream_rpc_method_handler,
}
Script = Callable[[Any, grpc.ServicerContext], Any]


class _Router(grpc.GenericRpcHandler):
    def __init__(self, scripts: dict[str, Script]) -> None:
        self._scripts = scripts

    def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        service, method = details.method.removeprefix("/pawl.v1.").split("/")
        script = self._scripts.get(method)
        if script is None:
            return None
        request = getattr(MODULES[service], f"{method}Request")
        make = MAKERS.get(method, grpc.unary_unary_rpc_method_handler)
        handler: grpc.RpcMethodHandler[Any, Any] = make(
            script,
            request_deserializer=request.FromString,
            response_serializer=lambda answer: answer.SerializeToString(),
        )
        return handler


@contextmanager
def gateway(*, workers: int = 16, **scripts: Script) -> Iterator[str]:
    """Serves the scripts by the names of their methods, and gives the address."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=workers))
    server.add_generic_rpc_handlers((_Router(scripts),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


def refuse(context: grpc.ServicerContext, code: grpc.StatusCode, message: str, *details: Any) -> None:
    """Ends the call as a Pawl server does: with google.rpc.Status in the trailer."""
    packed = []
    for detail in details:
        wrapped = any_pb2.Any()
        wrapped.Pack(detail)
        packed.append(wrapped)
    status = status_pb2.Status(code=code.value[0], message=message, details=packed)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(code, message)


def info(reason: str, **metadata: str) -> Any:
    return error_details_pb2.ErrorInfo(reason=reason, domain="pawl", metadata=metadata)
