"""JSON as values and as text. Text of the user travels to the letter; values are written compactly, and never as NaN."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

Json: TypeAlias = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
"""Everything that JSON can express."""


def dumps(value: object) -> str:
    """The JSON text of a value. Raises TypeError or ValueError for a value that JSON cannot express."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def loads(text: str | bytes) -> Any:
    """The value of JSON text; None for empty text."""
    return json.loads(text) if text else None
