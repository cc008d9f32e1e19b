"""Types as JSON: what fits, what does not, and where the fault is."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pydantic
import pytest

from pawl_sdk import Check
from pawl_sdk._check import Misfit
from pawl_sdk._shape import shape_of


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Item:
    name: str
    count: Annotated[int, Check(minimum=1)] = 1


@dataclass
class Order:
    items: list[Item]
    colour: Colour
    note: str | None = None
    tags: dict[str, float] = field(default_factory=dict)


class Options(TypedDict):
    mode: Literal["a", "b"]
    limit: NotRequired[int]


def test_a_dataclass_becomes_a_schema_with_its_required_fields() -> None:
    assert shape_of(Item).schema == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
        "required": ["name"],
    }


def test_json_becomes_a_dataclass_and_back() -> None:
    shape = shape_of(Order)
    order = shape.parse({"items": [{"name": "x", "count": 2.0}], "colour": "red"}, "")
    assert order == Order([Item("x", 2)], Colour.RED)
    assert shape.dump(order, "") == {
        "items": [{"name": "x", "count": 2}],
        "colour": "red",
        "note": None,
        "tags": {},
    }


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({"items": [{"name": "x"}, {}], "colour": "red"}, r"items\[1\].name: it is missing"),
        ({"items": [{"name": 5}], "colour": "red"}, r"items\[0\].name: expected string, got integer"),
        ({"items": [{"name": "x", "count": 0}], "colour": "red"}, r"count: 0 is less than 1"),
        ({"items": [{"name": "x", "count": True}], "colour": "red"}, "expected integer, got boolean"),
        ({"items": [], "colour": "blue"}, "colour: 'blue' is not one of"),
        ({"items": {}, "colour": "red"}, "items: expected array, got object"),
        ([], "the value: expected object, got array"),
    ],
)
def test_a_misfit_names_its_path(value: Any, fault: str) -> None:
    with pytest.raises(Misfit, match=fault):
        shape_of(Order).parse(value, "")


def test_a_typed_dict_knows_its_optional_keys_though_annotations_are_text() -> None:
    shape = shape_of(Options)
    assert shape.schema["required"] == ["mode"]
    assert shape.parse({"mode": "a"}, "") == {"mode": "a"}
    with pytest.raises(Misfit, match="mode: 'c' is not one of"):
        shape.parse({"mode": "c"}, "")


class Model(pydantic.BaseModel):
    cents: pydantic.PositiveInt


@dataclass
class WithModel:
    model: Model


def test_a_pydantic_model_is_checked_and_described_by_pydantic() -> None:
    shape = shape_of(Model)
    assert shape.schema["properties"]["cents"] == {
        "exclusiveMinimum": 0,
        "title": "Cents",
        "type": "integer",
    }
    assert shape.dump(shape.parse({"cents": 5}, ""), "") == {"cents": 5}
    with pytest.raises(Misfit, match="cents: Input should be greater than 0"):
        shape.parse({"cents": 0}, "")
    assert shape_of(WithModel).parse({"model": {"cents": 1}}, "").model.cents == 1


@dataclass
class Tree:
    children: list[Tree]


@pytest.mark.parametrize("kind", [complex, Tree, dict[int, str]])
def test_a_type_without_a_json_shape_is_refused_with_advice(kind: Any) -> None:
    with pytest.raises(TypeError, match="pydantic model"):
        shape_of(kind)
