"""Messages as plain values: user data decoded, enum values by their short names, times as datetimes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from pawl_sdk import _json
from pawl_sdk._gen.pawl.v1 import run_pb2

_JSON_SUFFIX = "_json"


def plain(message: Message) -> dict[str, Any]:
    """The set fields of a message by name. A field such as output_json becomes `output` with the decoded value."""
    fields: dict[str, Any] = {}
    for field, value in message.ListFields():
        if field.name.endswith(_JSON_SUFFIX) and isinstance(value, bytes):
            fields[field.name.removesuffix(_JSON_SUFFIX)] = _json.loads(value)
        elif isinstance(value, (str, bytes, bool, int, float, Message)):
            fields[field.name] = _value(field, value)
        else:
            fields[field.name] = _many(field, value)
    return fields


def _many(field: FieldDescriptor, value: Any) -> Any:
    if hasattr(value, "items"):
        return dict(value.items())
    return [_value(field, each) for each in value]


def _value(field: FieldDescriptor, value: Any) -> Any:
    if isinstance(value, Timestamp):
        return time_of(value)
    if isinstance(value, Duration):
        return value.ToTimedelta()
    if isinstance(value, Message):
        return plain(value)
    if field.enum_type is not None:
        return short_name(field.enum_type, value)
    return value


def time_of(value: Timestamp) -> datetime | None:
    """The time of a field; None when it is not set."""
    if value.seconds == 0 and value.nanos == 0:
        return None
    return value.ToDatetime(tzinfo=UTC)


def short_name(enum: EnumDescriptor, value: int) -> str:
    """`completed` for RUN_STATUS_COMPLETED; a number that this package does not know stays a number."""
    found = enum.values_by_number.get(value)
    return f"unknown_{value}" if found is None else found.name[len(_prefix(enum)) :].lower()


def failure_class_name(value: int) -> str:
    """`user_timeout` for FAILURE_CLASS_USER_TIMEOUT; empty without a failure."""
    return short_name(run_pb2.FailureClass.DESCRIPTOR, value) if value else ""


def values_of(enum: EnumDescriptor, names: Iterable[str]) -> list[Any]:
    """The values of short names. Raises ValueError for a name that is not in the enum."""
    return [_value_of(enum, name) for name in names]


def _value_of(enum: EnumDescriptor, name: str) -> int:
    found = enum.values_by_name.get(_prefix(enum) + name.upper())
    if found is None or found.number == 0:
        known = ", ".join(short_name(enum, each.number) for each in enum.values if each.number)
        raise ValueError(f"{name!r} is not one of {known}")
    return int(found.number)


def _prefix(enum: EnumDescriptor) -> str:
    """RUN_STATUS_ of RunStatus: the value 0 is always …_UNSPECIFIED."""
    return enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
