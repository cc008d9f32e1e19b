"""Limits of values beyond their types, and the error of a value that does not fit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


class Misfit(Exception):
    """A value does not fit its type."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path or 'the value'}: {message}")


@dataclass(frozen=True, slots=True)
class Check:
    """Limits of a value, for `Annotated[int, Check(minimum=1)]`."""

    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None

    def keywords(self, kind: object) -> dict[str, Any]:
        """The keywords of JSON Schema for a value of this kind of schema."""
        length = {"array": "Items", "object": "Properties"}.get(str(kind), "Length")
        all_of = {
            "minimum": self.minimum,
            "maximum": self.maximum,
            f"min{length}": self.min_length,
            f"max{length}": self.max_length,
            "pattern": self.pattern,
        }
        return {name: value for name, value in all_of.items() if value is not None}

    def check(self, value: Any, path: str) -> None:
        """Raises Misfit for a value outside of the limits."""
        if self.minimum is not None and value < self.minimum:
            raise Misfit(path, f"{value} is less than {self.minimum}")
        if self.maximum is not None and value > self.maximum:
            raise Misfit(path, f"{value} is more than {self.maximum}")
        if self.min_length is not None and len(value) < self.min_length:
            raise Misfit(path, f"its length {len(value)} is less than {self.min_length}")
        if self.max_length is not None and len(value) > self.max_length:
            raise Misfit(path, f"its length {len(value)} is more than {self.max_length}")
        if self.pattern is not None and re.search(self.pattern, value) is None:
            raise Misfit(path, f"it does not match {self.pattern}")
