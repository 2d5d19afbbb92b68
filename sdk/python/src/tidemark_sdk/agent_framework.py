"""Microsoft Agent Framework.

    from tidemark_sdk.agent_framework import Tidemark
    tidemark = Tidemark(User("web", "anna", owner=True))
    agent = Agent(client=client, tools=[...], middleware=[..., *tidemark.middleware])
    async with tidemark.turn("thread-1", words):
        await agent.run(words)

It goes last among the middleware: the last one sees the arguments that run. Agents used as tools and those of a workflow take the same
middleware; one that was forgotten is noticed, and the run stops before its first tool.

With pause=True a held call asks for the framework's own approval (`result.user_input_requests`) instead of waiting. Once the question was
answered, go on inside `tidemark.turn("thread-1")` with that request's `to_function_approval_response(True)` and the same AgentSession, in
this process or another one: the call is decided again there, so that the framework's approval alone opens nothing.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

try:
    from agent_framework import (
        ChatContext,
        ChatMiddleware,
        Content,
        FunctionInvocationContext,
        FunctionMiddleware,
        FunctionTool,
        MiddlewareFailure,
    )  # fmt: skip
except ImportError as e:  # pragma: no cover
    raise ImportError(f"{e}. Install it with: pip install 'tidemark-sdk[agent-framework]'") from e

from ._errors import RefusedError, UndecidedError
from ._turns import Turns, here, unlawful
from .monitor import Monitor
from .session import Decision, Session, Tool, User, inside, unasked


class StoppedError(UndecidedError, MiddlewareFailure):
    """UndecidedError as the framework lets it through: of whatever else a tool raises it makes a result."""


class TurnError(RefusedError, MiddlewareFailure):
    """The turn must not go on."""


class Tidemark(Turns):
    """Guards the agents whose middleware it is."""

    def __init__(self, user: User, monitor: Monitor | None = None, *, pause: bool = False) -> None:
        super().__init__(user, monitor)
        self.pause = pause

    @property
    def middleware(self) -> list[Any]:
        return [_Model(), _Call(self.pause)]


class _Model(ChatMiddleware):
    """The model is shown what it may see."""

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        session, options = here(), context.options
        tools = list(options.get("tools") or []) if options else []
        for t in tools:
            _declare(session, t)
        view = await session.avisible([_tool(t) for t in tools])
        if view.blocked:
            raise TurnError(Decision(reason=view.blocked))
        if view.hidden:
            context.options = {**(options or {}), "tools": [t for t in tools if _name(t) not in view.hidden]}
        await call_next()


class _Call(FunctionMiddleware):
    """A call is decided, runs, and is reported."""

    def __init__(self, pause: bool) -> None:
        self._pause = pause

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        try:
            session, tool = here(), context.function
            call_id, args = str(context.metadata.get("call_id") or ""), _plain(context.arguments)
            _declare(session, tool)
            # An agent that a tool started has no run of its own that could go on later, and a call that was approved does not ask again.
            pauses = self._pause and not inside() and context.metadata.get("approval_response") is None
            d = await session.adecide(tool.name, args, call_id, wait=0 if pauses else None, changeable=True)
        except Exception as e:
            raise StoppedError(f"Tidemark could not decide about a call, so nothing may run: {e}") from e
        if d.held and pauses:
            context.result = _request(context, d, call_id)
            return
        if not d:
            context.result = d.reason  # the words as a result: of what is raised the model reads only that something failed
            return
        if d.args is not None:
            context.arguments, args = dict(d.args), dict(d.args)
        context.result = await session.aexecute(tool.name, args, call_id, lambda: _ran(context, call_next), _came)


def _request(context: FunctionInvocationContext, d: Decision, call_id: str) -> Content:
    """The framework's own question about a call that is held: the run ends with it."""
    occurrence = str(context.metadata.get("function_call_occurrence_id") or call_id)
    call = Content.from_function_call(
        call_id=call_id, name=context.function.name, arguments=json.dumps(_plain(context.arguments)), id=occurrence
    )
    about = {"tidemark": {"question": d.question, "ticket": d.ticket}}
    return Content.from_function_approval_request(id=occurrence, function_call=call, additional_properties=about)


async def _ran(context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> Any:
    await call_next()
    return context.result


# The modules whose tools change nothing but the framework's own state: the to-dos and the mode of an agent.
STEERING = ("agent_framework._harness._todo", "agent_framework._harness._mode")


def _declare(session: Session, tool: Any) -> None:
    plain = getattr(getattr(tool, "func", None), "__module__", "") in STEERING  # nobody but the framework writes what they return
    session.steers(_name(tool), _steers(tool), plain)


def _steers(tool: Any) -> bool:
    """Whether a tool is the framework's own, by where its function was written: to-dos, or an agent that is handed work."""
    f = getattr(tool, "func", None)
    module, written = getattr(f, "__module__", ""), getattr(f, "__qualname__", "")
    return module in STEERING or (module == "agent_framework._agents" and written.endswith(".as_tool.<locals>._agent_wrapper"))


def _name(tool: Any) -> str:
    return str(tool.get("name") or tool.get("type") or "") if isinstance(tool, Mapping) else str(getattr(tool, "name", ""))


def _tool(tool: Any) -> Tool:
    if not isinstance(tool, FunctionTool):
        return Tool(_name(tool))
    return Tool(tool.name, tool.description or "", tool.parameters())


def _plain(arguments: Any) -> Any:
    return arguments.model_dump(mode="json") if hasattr(arguments, "model_dump") else dict(arguments)


def _came(out: Any) -> tuple[Any, bool]:
    """What a tool brought: pieces of content, of which the text counts, or anything."""
    if isinstance(out, list) and all(isinstance(c, Content) for c in out):
        return "\n".join(c.text if c.type == "text" and c.text else str(c.to_dict()) for c in out), False
    return out, False


ADVICE = "Give the agent that calls it middleware=[..., *tidemark.middleware], with Tidemark's as the last ones."


def _net(invoke: Callable[..., Any]) -> Callable[..., Any]:
    """Below all tools of this process: in a turn, a call of a model's that nobody decided about stops the run before it runs."""

    @functools.wraps(invoke)
    async def asking(self: FunctionTool, *args: Any, **kwargs: Any) -> Any:
        call_id = kwargs.get("tool_call_id")
        why = "" if call_id is None else unlawful(str(call_id), _plain(kwargs.get("arguments") or {}))  # without an id: part of a tool
        if why:
            text = f"{self.name} was about to run, and {why}. {ADVICE}"
            unasked(text)
            raise StoppedError(text)
        return await invoke(self, *args, **kwargs)

    return asking


FunctionTool.invoke = _net(FunctionTool.invoke)  # type: ignore[method-assign]
