"""The JSON shape of a type: its schema (2020-12), how a JSON value becomes a value of the type, and back.

Python's own types, dataclasses, TypedDict, Literal and Enum are written here. A type that mentions pydantic is pydantic's as a whole.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin

from pawl_sdk._check import Check, Misfit

Parse = Callable[[Any, str], Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """A type as JSON. `schema` is empty where everything fits."""

    schema: dict[str, Any]
    parse: Parse
    """Makes a value of JSON. Raises Misfit."""
    dump: Parse
    """Makes JSON of a value. Raises Misfit."""


def _same(value: Any, path: str) -> Any:
    return value


ANYTHING = Shape({}, _same, _same)


def shape_of(annotation: Any) -> Shape:
    """The shape of an annotation. Raises TypeError for a type that JSON does not have."""
    if _mentions_pydantic(annotation, frozenset()):
        from pawl_sdk._pydantic import pydantic_shape

        return pydantic_shape(annotation)
    return _write(annotation, ())


def _mentions_pydantic(annotation: Any, seen: frozenset[type]) -> bool:
    if isinstance(annotation, type) and annotation not in seen:
        if hasattr(annotation, "__pydantic_validator__"):
            return True
        if dataclasses.is_dataclass(annotation) or typing.is_typeddict(annotation):
            hints = typing.get_type_hints(annotation, include_extras=True)
            return any(_mentions_pydantic(each, seen | {annotation}) for each in hints.values())
    metadata = getattr(annotation, "__metadata__", ())
    if any(type(each).__module__.split(".")[0] in ("pydantic", "annotated_types") for each in metadata):
        return True
    return any(_mentions_pydantic(each, seen) for each in get_args(annotation))


def _write(annotation: Any, parents: tuple[type, ...]) -> Shape:
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation is Any or annotation is object:
        return ANYTHING
    if origin in (Required, NotRequired):
        return _write(args[0], parents)
    if origin is typing.Annotated:
        return _checked(_write(args[0], parents), annotation.__metadata__)
    if origin in (Union, types.UnionType):
        return _union([_write(each, parents) for each in args])
    if origin is Literal:
        return _one_of({each: each for each in args})
    if origin in (list, Sequence, typing.Sequence) and args:
        return _list(_write(args[0], parents))
    if origin is tuple and len(args) == 2 and args[1] is ...:
        item = _list(_write(args[0], parents))
        return Shape(item.schema, lambda value, path: tuple(item.parse(value, path)), item.dump)
    if origin in (dict, Mapping, typing.Mapping) and args[:1] == (str,):
        return _dict(_write(args[1], parents))
    return _write_class(annotation, parents)


def _write_class(kind: Any, parents: tuple[type, ...]) -> Shape:
    if kind in _SCALARS:
        return _SCALARS[kind]
    if kind is list:
        return _list(ANYTHING)
    if kind is dict:
        return _dict(ANYTHING)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _one_of({each.value: each for each in kind})
    is_record = dataclasses.is_dataclass(kind) or typing.is_typeddict(kind)
    if not is_record:
        raise TypeError(
            f"{kind!r} has no JSON shape; use a dataclass, a TypedDict, a pydantic model or Any"
        )
    if kind in parents:
        raise TypeError(f"{kind.__name__} contains itself; write it as a pydantic model")
    return _record(kind, (*parents, kind))


def _scalar(name: str, accepts: Callable[[Any], bool], make: Callable[[Any], Any]) -> Shape:
    def parse(value: Any, path: str) -> Any:
        if not accepts(value):
            raise Misfit(path, f"expected {name}, got {kind_of(value)}")
        return make(value)

    return Shape({"type": name}, parse, parse)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


_SCALARS: dict[Any, Shape] = {
    str: _scalar("string", lambda value: isinstance(value, str), str),
    bool: _scalar("boolean", lambda value: isinstance(value, bool), bool),
    int: _scalar("integer", lambda value: _is_number(value) and value == int(value), int),
    float: _scalar("number", _is_number, lambda value: value),
    type(None): _scalar("null", lambda value: value is None, lambda value: None),
    None: _scalar("null", lambda value: value is None, lambda value: None),
}


def kind_of(value: Any) -> str:
    """The name of a value's kind, for people."""
    names = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object"}
    names |= {list: "array", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _checked(inner: Shape, metadata: tuple[Any, ...]) -> Shape:
    checks = [each for each in metadata if isinstance(each, Check)]
    schema = dict(inner.schema)
    for each in checks:
        schema |= each.keywords(schema.get("type"))

    def through(then: Parse) -> Parse:
        def parse(value: Any, path: str) -> Any:
            made = then(value, path)
            for each in checks:
                each.check(made, path)
            return made

        return parse

    return Shape(schema, through(inner.parse), through(inner.dump))


def _union(options: list[Shape]) -> Shape:
    def first(way: Callable[[Shape], Parse]) -> Parse:
        def parse(value: Any, path: str) -> Any:
            faults: list[str] = []
            for option in options:
                try:
                    return way(option)(value, path)
                except Misfit as misfit:
                    faults.append(str(misfit))
            raise Misfit(path, f"it fits none of {len(options)} types: {'; '.join(faults)}")

        return parse

    schema = {"anyOf": [option.schema for option in options]}
    return Shape(schema, first(lambda option: option.parse), first(lambda option: option.dump))


def _one_of(values: dict[Any, Any]) -> Shape:
    """Literals, and enums by their values."""

    def parse(value: Any, path: str) -> Any:
        for wire, made in values.items():
            if type(wire) is type(value) and wire == value:
                return made
        raise Misfit(path, f"{value!r} is not one of {list(values)}")

    def dump(value: Any, path: str) -> Any:
        for wire, made in values.items():
            if made is value or (type(made) is type(value) and made == value):
                return wire
        raise Misfit(path, f"{value!r} is not one of {list(values)}")

    return Shape({"enum": list(values)}, parse, dump)


def _list(item: Shape) -> Shape:
    def each(then: Parse) -> Parse:
        def parse(value: Any, path: str) -> list[Any]:
            if not isinstance(value, (list, tuple)):
                raise Misfit(path, f"expected array, got {kind_of(value)}")
            return [then(one, f"{path}[{index}]") for index, one in enumerate(value)]

        return parse

    return Shape({"type": "array", "items": item.schema}, each(item.parse), each(item.dump))


def _dict(item: Shape) -> Shape:
    def each(then: Parse) -> Parse:
        def parse(value: Any, path: str) -> dict[str, Any]:
            if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
                raise Misfit(path, f"expected object, got {kind_of(value)}")
            return {key: then(one, join(path, key)) for key, one in value.items()}

        return parse

    schema = {"type": "object", "additionalProperties": item.schema}
    return Shape(schema, each(item.parse), each(item.dump))


def join(path: str, key: str) -> str:
    """The path of a key."""
    return f"{path}.{key}" if path else key


def _record(kind: Any, parents: tuple[type, ...]) -> Shape:
    hints = typing.get_type_hints(kind, include_extras=True)
    is_typed_dict = typing.is_typeddict(kind)
    fields = {} if is_typed_dict else {each.name: each for each in dataclasses.fields(kind)}
    names = [name for name in hints if is_typed_dict or (name in fields and fields[name].init)]
    shapes = {name: _write(hints[name], parents) for name in names}
    required = [name for name in names if _is_required(kind, fields.get(name), name, hints[name])]

    def parse(value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            raise Misfit(path, f"expected object, got {kind_of(value)}")
        made = _fields_of(value, path, "parse")
        try:
            return kind(**made)
        except ValueError as error:
            raise Misfit(path, str(error)) from error

    def dump(value: Any, path: str) -> Any:
        if not isinstance(value, dict if is_typed_dict else kind):
            raise Misfit(path, f"expected {kind.__name__}, got {kind_of(value)}")
        given = value if is_typed_dict else {name: getattr(value, name) for name in names}
        return _fields_of(given, path, "dump")

    def _fields_of(given: dict[str, Any], path: str, way: Literal["parse", "dump"]) -> Any:
        missing = [name for name in required if name not in given]
        if missing:
            raise Misfit(join(path, missing[0]), "it is missing")
        return {
            name: getattr(shapes[name], way)(given[name], join(path, name))
            for name in names
            if name in given
        }

    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: shape.schema for name, shape in shapes.items()},
    }
    if required:
        schema["required"] = required
    return Shape(schema, parse, dump)


def _is_required(kind: Any, field: dataclasses.Field[Any] | None, name: str, hint: Any) -> bool:
    if field is None:
        # Where annotations are text, the class itself does not see NotRequired.
        mark = get_origin(hint)
        return mark is Required or (mark is not NotRequired and name in kind.__required_keys__)
    has_default = field.default is not dataclasses.MISSING
    return not has_default and field.default_factory is dataclasses.MISSING
