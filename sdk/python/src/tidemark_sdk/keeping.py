"""Results that are kept from the model, and values that come out of them.

    @tool
    @keep                              # what it returns is kept by the server; the model is shown a handle
    def fetch_page(url: str) -> str: ...

    agent = create_agent(model, [fetch_page, tool(extract_tool), tool(show_tool)], middleware=[Tidemark(user)])

`session.extract(handle, Model, question)` is the same for a program of one's own.
"""

from __future__ import annotations

import enum
import functools
import inspect
import json
import types
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from ._errors import TidemarkError
from .session import kept_here

F = TypeVar("F", bound=Callable[..., Any])


def keep(function: F) -> F:
    """A tool whose result is kept from the model. It has to run inside a guarded agent; elsewhere it raises before it runs."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def akept(*args: Any, **kwargs: Any) -> Any:
            call = kept_here()
            return await call.session.akeep(call.tool, call.args, await function(*args, **kwargs), call.call_id)

        return cast("F", akept)

    @functools.wraps(function)
    def kept(*args: Any, **kwargs: Any) -> Any:
        call = kept_here()
        return call.session.keep(call.tool, call.args, function(*args, **kwargs), call.call_id)

    return cast("F", kept)


def extract_tool(handle: str, question: str, shape: dict[str, Any]) -> str:
    """Have one value read out of a result that is kept as tidemark:rN, without reading it.

    The shape says what may come out: {"kind":"number","min":0,"max":100}, {"kind":"boolean"}, {"kind":"date"}, {"kind":"time"},
    {"kind":"datetime"}, {"kind":"choice","of":["a","b"]}, {"kind":"row"} for the position of an entry,
    {"kind":"list","each":SHAPE,"most":5} or {"kind":"object","fields":{"name":SHAPE}}.
    """
    raise TidemarkError("this tool is answered by Tidemark: the agent is not guarded")


def show_tool(handle: str) -> str:
    """Read a result that is kept as tidemark:rN, whole. What others wrote is in the conversation from then on, and calls that act may
    need the user's yes."""
    raise TidemarkError("this tool is answered by Tidemark: the agent is not guarded")


extract_tool.__name__ = extract_tool.__qualname__ = "tidemark_extract"
show_tool.__name__ = show_tool.__qualname__ = "tidemark_show"


WORDS = "could hold words of the text: use numbers with ge and le, bool, date, time, datetime, Literal or lists"


def shape_of(kind: Any, bounds: tuple[Any, ...] = ()) -> dict[str, Any]:
    """The closed shape of a type: of a Pydantic model, or of what one may have as fields. A type that could hold words is refused."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is not None and hasattr(kind, "__metadata__"):  # Annotated
        return shape_of(args[0], (*bounds, *kind.__metadata__))
    if origin in (Union, types.UnionType):
        rest = [a for a in args if a is not type(None)]
        if len(rest) == 1:
            return shape_of(rest[0], bounds)
    if origin is Literal and all(isinstance(a, str) for a in args):
        return {"kind": "choice", "of": list(args)}
    if origin is list and args:
        most = _bound(bounds, "max_length")
        if most is None:
            raise TypeError("a list needs max_length, so that it is known how much may come out")
        return {"kind": "list", "each": shape_of(args[0]), "most": int(most)}
    if isinstance(kind, dict):
        return cast("dict[str, Any]", kind)  # it is a shape
    if isinstance(kind, type):
        return _plain(kind, bounds)
    raise TypeError(f"{kind!r} {WORDS}")


def returns(kind: Any) -> str:
    """The line of an errand that says what the sub-agent returns: one value of this type, as JSON, and nothing else. Then what it has read
    stays with it. The sub-agent works in a session of its own, and its framework starts it by a tool of the framework's own."""
    return "tidemark-returns: " + json.dumps(shape_of(kind))


def _plain(kind: type, bounds: tuple[Any, ...]) -> dict[str, Any]:
    fields = cast("Mapping[str, Any] | None", getattr(kind, "model_fields", None))
    if fields is not None:
        return {"kind": "object", "fields": {name: shape_of(f.annotation, tuple(f.metadata)) for name, f in fields.items()}}
    if issubclass(kind, enum.Enum) and all(isinstance(m.value, str) for m in kind):
        return {"kind": "choice", "of": [m.value for m in kind]}
    for known, name in ((bool, "boolean"), (datetime, "datetime"), (date, "date"), (time, "time")):
        if issubclass(kind, known):
            return {"kind": name}
    if issubclass(kind, int | float):
        low, high = _bound(bounds, "ge", "gt"), _bound(bounds, "le", "lt")
        if low is None or high is None:
            raise TypeError("a number needs ge and le, so that it is known what may come out")
        return {"kind": "number", "min": low, "max": high}
    raise TypeError(f"{kind.__name__} {WORDS}")


def _bound(bounds: tuple[Any, ...], *names: str) -> Any:
    for b in bounds:
        for name in names:
            value = getattr(b, name, None)
            if value is not None:
                return value
    return None


def value_of(kind: Any, value: Any) -> Any:
    """A value that came out, as the type that was asked for."""
    validate = getattr(kind, "model_validate", None)
    return validate(value) if validate is not None else value
