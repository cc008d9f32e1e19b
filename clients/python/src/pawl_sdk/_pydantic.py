"""Shapes of types that mention pydantic. Imported only for such a type, so pydantic stays optional."""

from __future__ import annotations

from typing import Any

import pydantic
from pydantic.errors import PydanticUserError

from pawl_sdk._check import Misfit
from pawl_sdk._shape import Shape


def pydantic_shape(annotation: Any) -> Shape:
    """The shape of a model, or of a type with models in it."""
    try:
        adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(annotation)
        schema = adapter.json_schema(mode="validation")
    except PydanticUserError as error:
        raise TypeError(f"pydantic cannot describe {annotation!r} as JSON: {error}") from error

    def parse(value: Any, path: str) -> Any:
        try:
            return adapter.validate_python(value)
        except pydantic.ValidationError as error:
            raise _misfit(error, path) from error

    def dump(value: Any, path: str) -> Any:
        try:
            checked = adapter.validate_python(value)
        except pydantic.ValidationError as error:
            raise _misfit(error, path) from error
        return adapter.dump_python(checked, mode="json", by_alias=True)

    return Shape(schema, parse, dump)


def _misfit(error: pydantic.ValidationError, path: str) -> Misfit:
    """The first fault, with its path and how many there are."""
    faults = error.errors(include_url=False, include_input=False)
    where = path
    for part in faults[0]["loc"]:
        where += f"[{part}]" if isinstance(part, int) else f".{part}" if where else str(part)
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return Misfit(where, faults[0]["msg"] + more)
