"""AG2, the successor of AutoGen 0.2 (package ag2, from 1.0).

    from tidemark_sdk.ag2 import Tidemark
    tidemark = Tidemark(User("web", "anna", owner=True))
    async with tidemark.turn("thread-1", words):
        await agent.ask(words)

Every agent of the process asks, also those that others start: there is nothing to forget. A tool outside of a turn is refused.
"""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

try:
    from ag2.agent import Agent
    from ag2.events import BuiltinToolResultEvent, ToolCallEvent, ToolErrorEvent, ToolResult, ToolResultEvent
    from ag2.tools.executor import ToolExecutor
    from ag2.tools.final import FunctionTool
    from ag2.tools.final.client_tool import ClientTool
    from ag2.tools.final.function_tool import FunctionToolSchema
except ImportError as e:  # pragma: no cover
    raise ImportError(f"{e}. Install it with: pip install 'tidemark-sdk[ag2]'") from e

from ._errors import RefusedError
from ._turns import Turns, here, in_turn
from .monitor import Monitor
from .session import Decision, Session, Tool, User, inside, unasked


class Tidemark(Turns):
    """Guards all agents of the process, from when the first of it is made."""

    def __init__(self, user: User, monitor: Monitor | None = None) -> None:
        super().__init__(user, monitor)
        _stand()


_standing = False


def _stand() -> None:
    """Stand in the places that all calls of tools pass, and all requests to models."""
    global _standing
    if _standing:
        return
    _standing = True
    classes: list[Any] = [FunctionTool, ClientTool]
    try:
        from ag2.tools.toolkits.mcp_server import toolkit  # which needs the package mcp
    except ImportError:
        pass
    else:
        classes.append(toolkit._MCPProxyTool)
    for kind in classes:
        kind.__call__ = _asking(kind.__call__)
    ToolExecutor.register = _known(ToolExecutor.register)  # type: ignore[method-assign]
    scope = "_drive_scope" if hasattr(Agent, "_drive_scope") else "_turn_scope"
    setattr(Agent, scope, _seeing(getattr(Agent, scope)))


def _asking(call: Callable[..., Any]) -> Callable[..., Any]:
    """Round the execution of a tool, below all middleware: what is decided is what runs."""

    @functools.wraps(call)
    async def decided(self: Any, event: ToolCallEvent, context: Any) -> Any:
        session, args = here(), dict(event.serialized_arguments)
        session.steers(event.name, _steers(self))
        d = await session.adecide(event.name, args, event.id, changeable=True)
        if not d:
            return _words(event, d)
        args = args if d.args is None else dict(d.args)
        given = copy(event)
        given.arguments, given.serialized_arguments = json.dumps(args), args
        return await session.aexecute(event.name, args, event.id, lambda: call(self, given, context), _came)

    return decided


def _words(event: ToolCallEvent, d: Decision) -> Any:
    """A refusal as the model reads it: the framework would show it the traceback of whatever is raised."""
    if d.verdict == "answered":
        return ToolResultEvent.from_call(event, d.reason)
    return ToolErrorEvent(parent_id=event.id, name=event.name, error=RefusedError(d), result=ToolResult(d.reason))


def _came(out: Any) -> tuple[Any, bool]:
    if not isinstance(out, ToolResultEvent):
        return "The client was asked to run it. Nobody knows what it will say.", False
    return [_part(p) for p in out.result.parts], isinstance(out, ToolErrorEvent)


def _part(part: Any) -> Any:
    for name in ("content", "data", "url", "file_id"):
        if (value := getattr(part, name, None)) is not None:
            return value
    return str(part)


def _steers(tool: Any) -> bool:
    """Whether a tool is AG2's own by which work is handed to another agent, by where its function was written."""
    written = getattr(getattr(tool, "model", None), "call", None)
    module, name = getattr(written, "__module__", ""), getattr(written, "__qualname__", "")
    return (module, name) in STEERING


STEERING = (
    ("ag2.agent", "_build_subtask_toolkit.<locals>.run_subtask"), ("ag2.agent", "_build_subtask_toolkit.<locals>.run_subtasks"),
    ("ag2.tools.subagents.subagent_tool", "subagent_tool.<locals>.delegate"),
)  # fmt: skip


def _known(register: Callable[..., Any]) -> Callable[..., Any]:
    """Below all tools of a run: in a turn, or inside a guarded tool, one whose class runs it in a way of its own is not offered."""

    @functools.wraps(register)
    def looked(self: Any, stack: Any, context: Any, *, tools: Iterable[Any] = (), **options: Any) -> Any:
        tools = tuple(tools)
        if in_turn() or inside():
            for t in tools:
                if not getattr(type(t).register, "__module__", "").startswith("ag2."):
                    way = f"{type(t).__name__} runs a tool in a way of its own"
                    raise unasked(f"{way}, which nobody asks Tidemark about. Make it with @tool.")
        return register(self, stack, context, tools=tools, **options)

    return looked


def _seeing(scope: Callable[..., Any]) -> Callable[..., Any]:
    """Round a run of an agent: its model is shown what it may see."""

    @functools.wraps(scope)
    def asked(self: Any, event: Any, *, client: Any, **options: Any) -> Any:
        return scope(self, event, client=client if isinstance(client, _Sees) else _Sees(client), **options)

    return asked


class _Sees:
    """A client of a model."""

    _told: set[str] = set()  # noqa: RUF012 (one for the process: it is said once)

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def __call__(self, messages: Any, context: Any, *, tools: Iterable[Any] = (), **options: Any) -> Any:
        schemas = list(tools)
        if not in_turn():
            return await self._client(messages, context, tools=schemas, **options)  # its tools are refused
        session = here()
        view = await session.avisible([self._tool(s) for s in schemas])
        if view.blocked:
            raise RefusedError(Decision(reason=view.blocked))
        shown = [s for s in schemas if _name(s) not in view.hidden]
        with context.stream.where(BuiltinToolResultEvent).sub_scope(_brought(session)):
            return await self._client(messages, context, tools=shown, **options)

    def _tool(self, schema: Any) -> Tool:
        name = _name(schema)
        if isinstance(schema, FunctionToolSchema):
            return Tool(name, schema.function.description or "", schema.function.parameters)
        if name not in self._told:
            self._told.add(name)
            warnings.warn(f"the provider runs {name}: Tidemark can hide it and label what it brings, not decide", stacklevel=2)
        return Tool(name)


def _brought(session: Session) -> Callable[..., Any]:
    """What tools brought that the provider ran: it is in the context from now on."""

    async def told(event: BuiltinToolResultEvent) -> None:
        await session.areport(event.name or "provider_tool", {}, [_part(p) for p in event.result.parts], event.parent_id)

    return told


def _name(schema: Any) -> str:
    return schema.function.name if isinstance(schema, FunctionToolSchema) else str(schema.type)
