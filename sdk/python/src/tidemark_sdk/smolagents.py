"""smolagents (ToolCallingAgent, CodeAgent).

    from tidemark_sdk.smolagents import Tidemark
    tidemark = Tidemark(User("web", "anna", owner=True))
    with tidemark.turn("thread-1", words):
        agent.run(words)

Every tool of the process asks from when there is a Tidemark, those of managed agents and those that the code of a CodeAgent calls too: all
of a turn share its session. Outside of a turn a tool is refused. What that code does without a tool is not seen, and a remote executor
runs tools where we are not.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any
from uuid import uuid4

try:
    from smolagents import FinalAnswerTool, MultiStepAgent, Tool, UserInputTool, local_python_executor
except ImportError as e:  # pragma: no cover
    raise ImportError(f"{e}. Install it with: pip install 'tidemark-sdk[smolagents]'") from e

from ._errors import RefusedError
from ._turns import Turns, here
from .monitor import Monitor
from .session import Decision, User
from .session import Tool as Told


class Tidemark(Turns):
    """Guards every tool of the process, from when it is made."""

    def __init__(self, user: User, monitor: Monitor | None = None) -> None:
        super().__init__(user, monitor)
        _guard()


def _asking(call: Callable[..., Any]) -> Callable[..., Any]:
    """Round the one place where a tool is called."""

    @functools.wraps(call)
    def decided(self: Tool, *args: Any, sanitize_inputs_outputs: bool = False, **kwargs: Any) -> Any:
        if type(self) is FinalAnswerTool:
            return call(self, *args, sanitize_inputs_outputs=sanitize_inputs_outputs, **kwargs)  # its own: it does nothing but end the run
        session, given, call_id = here(), _bound(self, args, kwargs), uuid4().hex
        session.steers(self.name, type(self) is UserInputTool)
        d = session.decide(self.name, given, call_id, changeable=True)
        d.check()
        given = given if d.args is None else dict(d.args)
        return session.execute(self.name, given, call_id, lambda: call(self, sanitize_inputs_outputs=sanitize_inputs_outputs, **given))

    return decided


def _bound(tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by their names, as the tool itself would take them."""
    names = list(tool.inputs)
    if len(args) == 1 and not kwargs and isinstance(args[0], dict) and all(key in names for key in args[0]):
        return dict(args[0])
    if len(args) > len(names) or set(names[: len(args)]) & set(kwargs):
        raise TypeError(f"{tool.name} takes {', '.join(names)}")
    return {**dict(zip(names, args, strict=False)), **kwargs}


def _telling(run: Callable[..., Any]) -> Callable[..., Any]:
    """Round a run: the monitor is told what its tools are. They stand in the prompt, and cannot be hidden one by one."""

    @functools.wraps(run)
    def told(self: MultiStepAgent, *args: Any, **kwargs: Any) -> Any:
        tools = [t for t in self.tools.values() if type(t) is not FinalAnswerTool]
        for t in tools:
            here().steers(t.name, type(t) is UserInputTool)
        view = here().visible([Told(t.name, t.description, _schema(t)) for t in tools])
        if view.blocked:
            raise RefusedError(Decision(reason=view.blocked))
        return run(self, *args, **kwargs)

    return told


def _schema(tool: Tool) -> dict[str, Any]:
    properties = {n: {"type": i.get("type", "string"), "description": i.get("description", "")} for n, i in tool.inputs.items()}
    return {"type": "object", "properties": properties}


class _Carrying(ThreadPoolExecutor):
    """The interpreter of a CodeAgent runs code in a thread of its own: it belongs to the turn that started it."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return super().submit(copy_context().run, fn, *args, **kwargs)


_guarded = False


def _guard() -> None:
    global _guarded
    if _guarded:
        return
    _guarded = True
    Tool.__call__ = _asking(Tool.__call__)  # type: ignore[method-assign]
    MultiStepAgent.run = _telling(MultiStepAgent.run)  # type: ignore[method-assign]
    local_python_executor.ThreadPoolExecutor = _Carrying  # type: ignore[misc, attr-defined]
