"""What the calls of node types return: types with their schemas, and the executors that serve them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pawl_sdk import _json
from pawl_sdk._gen.pawl.v1 import node_type_service_pb2
from pawl_sdk._plain import time_of


@dataclass(frozen=True, slots=True)
class NodeType:
    """A node type. Lists leave out the schemas; a schema is None if the handler published none."""

    type: str
    description: str
    is_built_in: bool
    input_schema: Any
    output_schema: Any
    config_schema: Any
    executor_count: int
    """How many connected executors serve it."""
    updated_at: datetime | None
    """When an executor last registered other schemas; None for built-in types."""
    is_external: bool
    """Its outputs are data from outside, which get the label external."""

    @staticmethod
    def of(node_type: node_type_service_pb2.NodeType) -> NodeType:
        return NodeType(
            type=node_type.type,
            description=node_type.description,
            is_built_in=node_type.built_in,
            input_schema=_json.loads(node_type.input_schema),
            output_schema=_json.loads(node_type.output_schema),
            config_schema=_json.loads(node_type.config_schema),
            executor_count=node_type.executors,
            updated_at=time_of(node_type.update_time),
            is_external=node_type.external,
        )


@dataclass(frozen=True, slots=True)
class NodeTypePage:
    """One page of node types, by name. The token of the next page is empty on the last page."""

    node_types: tuple[NodeType, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class Executor:
    """A connected executor, or a handler process behind one. `process_name` is empty for an executor that runs its handlers itself."""

    executor_id: str
    description: str
    process_name: str
    language: str
    sdk: str
    build: str
    node_types: tuple[str, ...]
    slots: int
    """How many nodes it runs at once."""
    busy: int
    """How many nodes it runs now."""
    silent: float
    """How many seconds the handler process has been silent; 0 if it answers."""
    give_up_in: float
    """How many seconds the executor still waits for a silent process; 0 if it answers, or if that is not known."""
    scheduler_id: str
    connected_at: datetime | None

    @staticmethod
    def of(executor: node_type_service_pb2.Executor) -> Executor:
        return Executor(
            executor_id=executor.executor_id,
            description=executor.description,
            process_name=executor.process_name,
            language=executor.language,
            sdk=executor.sdk,
            build=executor.build,
            node_types=tuple(executor.node_types),
            slots=executor.slots,
            busy=executor.busy,
            silent=executor.silent_ms / 1000,
            give_up_in=executor.give_up_ms / 1000,
            scheduler_id=executor.scheduler_id,
            connected_at=time_of(executor.connect_time),
        )
