"""Node types and executors: what the cluster can run, and which executors run it."""

from __future__ import annotations

from dataclasses import dataclass

from pawl_sdk._calls.caller import Caller
from pawl_sdk._gen.pawl.v1 import node_type_service_pb2 as service
from pawl_sdk._steps import Method, Steps
from pawl_sdk.catalogue import Executor, NodeType, NodeTypePage

_LIST = Method("/pawl.v1.NodeTypeService/ListNodeTypes", service.ListNodeTypesResponse)
_GET = Method("/pawl.v1.NodeTypeService/GetNodeType", service.GetNodeTypeResponse)
_EXECUTORS = Method("/pawl.v1.NodeTypeService/ListExecutors", service.ListExecutorsResponse)


@dataclass(frozen=True, slots=True)
class CatalogueCalls:
    """The calls of node types."""

    caller: Caller

    def list(self, *, page_size: int, page_token: str) -> Steps[NodeTypePage]:
        request = service.ListNodeTypesRequest(page_size=page_size, page_token=page_token)
        answer = yield from self.caller.call(_LIST, request)
        return NodeTypePage(tuple(map(NodeType.of, answer.node_types)), answer.next_page_token)

    def get(self, type: str) -> Steps[NodeType]:
        answer = yield from self.caller.call(_GET, service.GetNodeTypeRequest(type=type))
        return NodeType.of(answer.node_type)

    def executors(self) -> Steps[tuple[Executor, ...]]:
        answer = yield from self.caller.call(_EXECUTORS, service.ListExecutorsRequest())
        return tuple(map(Executor.of, answer.executors))
