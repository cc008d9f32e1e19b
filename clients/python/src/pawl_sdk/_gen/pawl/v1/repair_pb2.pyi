from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RepairAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REPAIR_ACTION_UNSPECIFIED: _ClassVar[RepairAction]
    REPAIR_ACTION_REUSE: _ClassVar[RepairAction]
    REPAIR_ACTION_RUN: _ClassVar[RepairAction]
    REPAIR_ACTION_RUN_ITEMS: _ClassVar[RepairAction]
    REPAIR_ACTION_SET: _ClassVar[RepairAction]
    REPAIR_ACTION_REMOVE: _ClassVar[RepairAction]
REPAIR_ACTION_UNSPECIFIED: RepairAction
REPAIR_ACTION_REUSE: RepairAction
REPAIR_ACTION_RUN: RepairAction
REPAIR_ACTION_RUN_ITEMS: RepairAction
REPAIR_ACTION_SET: RepairAction
REPAIR_ACTION_REMOVE: RepairAction

class RepairPlan(_message.Message):
    __slots__ = ("run_id", "digest", "nodes", "reused_facts", "input_tokens", "output_tokens", "warnings", "definition_digest", "workflow_version", "cost_micros", "reserved_tokens", "reserved_cost_micros")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    REUSED_FACTS_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    DEFINITION_DIGEST_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_VERSION_FIELD_NUMBER: _ClassVar[int]
    COST_MICROS_FIELD_NUMBER: _ClassVar[int]
    RESERVED_TOKENS_FIELD_NUMBER: _ClassVar[int]
    RESERVED_COST_MICROS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    digest: str
    nodes: _containers.RepeatedCompositeFieldContainer[RepairNode]
    reused_facts: int
    input_tokens: int
    output_tokens: int
    warnings: _containers.RepeatedScalarFieldContainer[str]
    definition_digest: str
    workflow_version: int
    cost_micros: int
    reserved_tokens: int
    reserved_cost_micros: int
    def __init__(self, run_id: _Optional[str] = ..., digest: _Optional[str] = ..., nodes: _Optional[_Iterable[_Union[RepairNode, _Mapping]]] = ..., reused_facts: _Optional[int] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., warnings: _Optional[_Iterable[str]] = ..., definition_digest: _Optional[str] = ..., workflow_version: _Optional[int] = ..., cost_micros: _Optional[int] = ..., reserved_tokens: _Optional[int] = ..., reserved_cost_micros: _Optional[int] = ...) -> None: ...

class RepairNode(_message.Message):
    __slots__ = ("node_id", "action", "reason", "event_id", "change", "changed_fields", "items_reused", "items_again", "effects", "input_tokens", "output_tokens", "cost_micros")
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELDS_FIELD_NUMBER: _ClassVar[int]
    ITEMS_REUSED_FIELD_NUMBER: _ClassVar[int]
    ITEMS_AGAIN_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_MICROS_FIELD_NUMBER: _ClassVar[int]
    node_id: str
    action: RepairAction
    reason: str
    event_id: int
    change: str
    changed_fields: _containers.RepeatedScalarFieldContainer[str]
    items_reused: int
    items_again: int
    effects: _containers.RepeatedCompositeFieldContainer[RepairEffects]
    input_tokens: int
    output_tokens: int
    cost_micros: int
    def __init__(self, node_id: _Optional[str] = ..., action: _Optional[_Union[RepairAction, str]] = ..., reason: _Optional[str] = ..., event_id: _Optional[int] = ..., change: _Optional[str] = ..., changed_fields: _Optional[_Iterable[str]] = ..., items_reused: _Optional[int] = ..., items_again: _Optional[int] = ..., effects: _Optional[_Iterable[_Union[RepairEffects, _Mapping]]] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost_micros: _Optional[int] = ...) -> None: ...

class RepairEffects(_message.Message):
    __slots__ = ("effect_class", "committed", "begun", "kept")
    EFFECT_CLASS_FIELD_NUMBER: _ClassVar[int]
    COMMITTED_FIELD_NUMBER: _ClassVar[int]
    BEGUN_FIELD_NUMBER: _ClassVar[int]
    KEPT_FIELD_NUMBER: _ClassVar[int]
    effect_class: str
    committed: int
    begun: int
    kept: bool
    def __init__(self, effect_class: _Optional[str] = ..., committed: _Optional[int] = ..., begun: _Optional[int] = ..., kept: bool = ...) -> None: ...
