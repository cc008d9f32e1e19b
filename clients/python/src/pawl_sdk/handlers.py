"""Handlers: functions for node types of your own. Their types become the schemas that Pawl checks workflows against."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, get_args, get_origin

from pawl_sdk import _json
from pawl_sdk._check import Misfit
from pawl_sdk._gen.pawl.handler.v1 import handler_service_pb2 as wire
from pawl_sdk._invocation import Invocation
from pawl_sdk._shape import ANYTHING, Shape, shape_of
from pawl_sdk.context import AsyncContext, BaseContext, Context
from pawl_sdk.outcome import Failed, Result

P = ParamSpec("P")
R = TypeVar("R")

_TYPE = re.compile(r"[A-Za-z0-9-][A-Za-z0-9._-]*(@[0-9]{1,6})?")
_MOST_TYPE = 128
_MOST_DESCRIPTION = 4000
_CONFIG = "config"
# Parameters named type hide the builtin.
_Class = type


class Handler(Generic[P, R]):
    """A function and its node type. Call it as the function it is; `serve` runs it for Pawl."""

    def __init__(
        self,
        type: str,
        function: Callable[P, R],
        *,
        stall: float | None,
        description: str | None,
        external: bool = False,
        state: bool = False,
    ) -> None:
        if _TYPE.fullmatch(type) is None or len(type) > _MOST_TYPE:
            raise ValueError(f"{type!r} is no node type; write a name such as acme.charge@1")
        self.type = type
        self.function = function
        self.stall = stall
        self.external = external
        self.state = state
        self.description = (description or inspect.getdoc(function) or "")[:_MOST_DESCRIPTION]
        self.is_async = inspect.iscoroutinefunction(function)
        self._plan = _Plan(type, function, self.is_async)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def describe(self) -> wire.Handler:
        """The handler as it is registered with a host."""
        plan = self._plan
        return wire.Handler(
            type=self.type,
            description=self.description,
            input_schema=_schema_text(plan.input),
            output_schema=_schema_text(plan.output),
            config_schema=_schema_text(plan.config),
            stall_ms=round((self.stall or 0) * 1000),
            external=self.external,
            state=self.state,
        )

    def call(self, invocation: Invocation) -> Any:
        """Calls the function; a coroutine for an async one. Raises Failed when the input or the config does not fit."""
        plan, invoke = self._plan, invocation.invoke
        args: list[Any] = []
        extra: dict[str, Any] = {}
        if plan.takes_input:
            args.append(_parse(plan.input, invoke.input_json, "input"))
        config = _parse(plan.config, invoke.config_json or "{}", _CONFIG)
        if plan.takes_config:
            extra[_CONFIG] = config
        if plan.context_name is not None:
            kind = AsyncContext if self.is_async else Context
            extra[plan.context_name] = kind(invocation)
        return self.function(*args, **extra)

    def dump(self, output: Any) -> str:
        """The output as JSON text. Raises Failed when it does not fit the type, or is no JSON."""
        try:
            return _json.dumps(self._plan.output.dump(output, ""))
        except Misfit as misfit:
            message = f"the output does not fit its type: {misfit}"
            raise Failed("contract_violated", message) from misfit
        except (TypeError, ValueError, RecursionError) as error:
            message = f"the output is not JSON: {error}"
            raise Failed("output_invalid", message, permanent=True) from error


class _Plan:
    """How a function is called: which parameter is which, and the shapes of its types."""

    def __init__(self, type: str, function: Callable[..., Any], is_async: bool) -> None:
        hints = typing.get_type_hints(function, include_extras=True)
        self.takes_input = False
        self.takes_config = False
        self.context_name: str | None = None
        self.input = self.config = ANYTHING
        for name in inspect.signature(function).parameters:
            hint = hints.get(name, Any)
            if isinstance(hint, _Class) and issubclass(hint, BaseContext):
                _check_context(type, hint, is_async)
                self.context_name = name
            elif name == _CONFIG:
                self.takes_config = True
                self.config = shape_of(hint)
            elif not self.takes_input:
                self.takes_input = True
                self.input = shape_of(hint)
            else:
                raise TypeError(
                    f"handler {type}: parameter {name!r} is unknown; a handler takes an input, a Context and a config"
                )
        returns = hints.get("return", Any)
        if get_origin(returns) is Result:
            returns = get_args(returns)[0]
        self.output = ANYTHING if returns in (Result, typing.NoReturn) else shape_of(returns)


def _check_context(type: str, hint: type[BaseContext], is_async: bool) -> None:
    wanted = AsyncContext if is_async else Context
    if not issubclass(wanted, hint):
        kind = "async" if is_async else "not async"
        raise TypeError(f"handler {type} is {kind}: annotate its context as pawl_sdk.{wanted.__name__}")


def _parse(shape: Shape, text: str, what: str) -> Any:
    try:
        return shape.parse(_json.loads(text), "")
    except (Misfit, ValueError) as fault:
        message = f"the {what} does not fit: {fault}"
        raise Failed(f"{what}_invalid", message, permanent=True) from fault


def _schema_text(shape: Shape) -> str:
    return _json.dumps(shape.schema) if shape.schema else ""


def handler(
    type: str,
    *,
    stall: float | None = None,
    description: str | None = None,
    external: bool = False,
    state: bool = False,
) -> Callable[[Callable[P, R]], Handler[P, R]]:
    """Makes a handler of a function: `@handler("acme.charge@1")`.

    The function takes an input, and may take a Context (AsyncContext if it is async) and a parameter named config. Its annotations are
    the schemas: pydantic models, dataclasses, TypedDict or Python's own types. The host keeps a silent process for `stall` seconds,
    60 by default. The outputs of an `external` handler are data from outside, which get the label external.
    """

    def make(function: Callable[P, R]) -> Handler[P, R]:
        return Handler(type, function, stall=stall, description=description, external=external, state=state)

    return make
