"""A host of handlers in this process: a real gRPC server, and streams that the test plays by hand."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager

import grpc

from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire

PATIENCE = 10.0
EVERYTHING = 1 << 40
"""A heard_seq above every number of a test."""
LIMITS = wire.Limits(
    output_bytes=1 << 18,
    effect_bytes=1 << 18,
    partial_bytes=1 << 14,
    window_bytes=1 << 20,
    log_bytes=1 << 12,
    log_lines=1000,
    message_bytes=1 << 20,
    failure_bytes=1 << 14,
)


class HostStream:
    """One stream. `came` has the messages of the process, None after its end."""

    def __init__(self) -> None:
        self.came: queue.SimpleQueue[wire.ServeRequest | None] = queue.SimpleQueue()
        self._out: queue.SimpleQueue[wire.ServeResponse | None] = queue.SimpleQueue()

    def read(self) -> wire.ServeRequest:
        message = self.came.get(timeout=PATIENCE)
        assert message is not None, "the process ended the stream"
        return message

    def read_item(self, kind: str) -> wire.ProcessItem:
        """The next item of a kind; others are passed over."""
        while True:
            for item in self.read().items:
                if item.WhichOneof("item") == kind:
                    return item

    def welcome(self, heard_seq: int = 0, silence_ms: int = 10_000) -> None:
        opening = wire.Welcome(
            host_id="h", ping_ms=1000, silence_ms=silence_ms, resume_ms=3000, limits=LIMITS
        )
        self._out.put(wire.ServeResponse(welcome=opening, heard_seq=heard_seq))

    def lost(self) -> None:
        self._out.put(wire.ServeResponse(lost=wire.Lost()))

    def send(self, first_seq: int, *items: wire.HostItem, heard_seq: int = 0) -> None:
        self._out.put(wire.ServeResponse(first_seq=first_seq, items=items, heard_seq=heard_seq))

    def end(self) -> None:
        self._out.put(None)

    def play(self, requests: Iterator[wire.ServeRequest]) -> Iterator[wire.ServeResponse]:
        futures.ThreadPoolExecutor(1).submit(self._read, requests)
        while (message := self._out.get()) is not None:
            yield message

    def _read(self, requests: Iterator[wire.ServeRequest]) -> None:
        try:
            for request in requests:
                self.came.put(request)
        except grpc.RpcError:
            pass
        self.came.put(None)


class Host(grpc.GenericRpcHandler):
    """Gives streams in the order in which the process opens them."""

    def __init__(self) -> None:
        self.opened: queue.SimpleQueue[HostStream] = queue.SimpleQueue()
        self.refusal: grpc.StatusCode | None = None
        self.newest = HostStream()
        self.address = ""

    def accept(self) -> HostStream:
        self.newest = self.opened.get(timeout=PATIENCE)
        return self.newest

    def service(
        self, details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler[wire.ServeRequest, wire.ServeResponse]:
        return grpc.stream_stream_rpc_method_handler(
            self._serve,
            request_deserializer=wire.ServeRequest.FromString,
            response_serializer=wire.ServeResponse.SerializeToString,
        )

    def _serve(
        self, requests: Iterator[wire.ServeRequest], context: grpc.ServicerContext
    ) -> Iterator[wire.ServeResponse]:
        if self.refusal is not None:
            context.abort(self.refusal, "the token is wrong")
        stream = HostStream()
        context.add_callback(stream.end)
        self.opened.put(stream)
        yield from stream.play(requests)


@contextmanager
def scripted_host(port: int = 0) -> Iterator[Host]:
    host = Host()
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    server.add_generic_rpc_handlers((host,))
    host.address = f"127.0.0.1:{server.add_insecure_port(f'127.0.0.1:{port}')}"
    server.start()
    try:
        yield host
    finally:
        server.stop(None).wait()


def invoke(invocation_id: str, type: str, input_json: str = "null") -> wire.HostItem:
    return wire.HostItem(
        invoke=wire.Invoke(
            invocation_id=invocation_id,
            type=type,
            input_json=input_json,
            attempt=1,
            effect_key=f"key-{invocation_id}",
        )
    )
