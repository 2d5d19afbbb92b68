"""AutoGen (autogen-agentchat).

    from tidemark_sdk.autogen import Tidemark
    tidemark = Tidemark(User("web", "anna", owner=True))
    agent = AssistantAgent("assistant", model_client=client, workbench=tidemark.tools([...]))
    async with tidemark.turn("thread-1", words):
        await agent.run(task=words)

`tidemark.guard(workbench)` does the same for a workbench, one of MCP too. All agents of a team take such a workbench and share the
session of the turn; one that was forgotten is noticed, and the run stops before its model is asked.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

try:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.tools import AgentTool, TeamTool
    from autogen_core import CancellationToken
    from autogen_core.tools import BaseStreamTool, BaseTool, FunctionTool, StaticWorkbench, TextResultContent, ToolResult, Workbench
except ImportError as e:  # pragma: no cover
    raise ImportError(f"{e}. Install it with: pip install 'tidemark-sdk[autogen]'") from e

from ._errors import RefusedError
from ._turns import Turns, here, in_turn, unlawful
from .session import Decision, Tool, inside, unasked


class Tidemark(Turns):
    """Guards workbenches."""

    def tools(self, tools: Sequence[BaseTool[Any, Any] | Callable[..., Any] | Callable[..., Awaitable[Any]]]) -> Workbench:
        """A workbench of these tools, as AssistantAgent(tools=...) would make it, whose calls ask."""
        made = [t if isinstance(t, BaseTool) else FunctionTool(t, description=t.__doc__ or "") for t in tools]
        return self.guard(StaticWorkbench(made))

    def guard(self, workbench: Workbench) -> Workbench:
        return workbench if isinstance(workbench, Guarded) else Guarded(workbench)


class _Run:
    """An agent that answers: the task in which it asks its model, and what must end it. Its calls are tasks of their own, and it waits for
    ever for one that raises: so a call returns words, and the agent ends once they are there."""

    def __init__(self) -> None:
        self.task = asyncio.current_task()
        self.broke: Exception | None = None


_run: ContextVar[_Run | None] = ContextVar("tidemark_autogen_run", default=None)


class Guarded(Workbench):
    """A workbench whose calls ask, of whose tools the model is shown those that it may see."""

    def __init__(self, workbench: Workbench) -> None:
        self._inner = workbench

    async def list_tools(self) -> list[Any]:
        tools, run = await self._inner.list_tools(), _run.get()
        if run is None or run.task is not asyncio.current_task():
            return tools  # an agent looks again for every call that it makes: those are decided
        session = here()
        for t in tools:
            session.steers(t["name"], self._steers(t["name"]))
        view = await session.avisible([Tool(t["name"], t.get("description", ""), t.get("parameters")) for t in tools])
        if view.blocked:
            raise RefusedError(Decision(reason=view.blocked))
        return [t for t in tools if t["name"] not in view.hidden]

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, cancellation_token: CancellationToken | None = None,
        call_id: str | None = None,
    ) -> ToolResult:  # fmt: skip
        try:
            return await self._call(name, dict(arguments or {}), cancellation_token, call_id)
        except Exception as e:
            if (run := _run.get()) is not None:
                run.broke = run.broke or e
            return _words(name, str(e))

    async def _call(self, name: str, args: dict[str, Any], token: CancellationToken | None, call_id: str | None) -> ToolResult:
        session, call = here(), call_id or ""
        session.steers(name, self._steers(name))
        d = await session.adecide(name, args, call, changeable=True)
        if not d:
            return _words(name, d.reason)
        args = args if d.args is None else dict(d.args)
        return await session.aexecute(name, args, call, lambda: self._inner.call_tool(name, args, token, call_id), _came)

    def _steers(self, name: str) -> bool:
        """Whether a tool is AutoGen's own by which work is handed to another agent or team, by its class."""
        tools: list[Any] = getattr(self._inner, "_tools", []) if isinstance(self._inner, StaticWorkbench) else []
        return any(t.name == name and type(t) in (AgentTool, TeamTool) for t in tools)

    async def start(self) -> None:
        await self._inner.start()

    async def stop(self) -> None:
        await self._inner.stop()

    async def reset(self) -> None:
        await self._inner.reset()

    async def save_state(self) -> Mapping[str, Any]:
        return await self._inner.save_state()

    async def load_state(self, state: Mapping[str, Any]) -> None:
        await self._inner.load_state(state)


def _words(name: str, text: str) -> ToolResult:
    return ToolResult(name=name, result=[TextResultContent(content=text)], is_error=True)


def _came(out: ToolResult) -> tuple[Any, bool]:
    return out.to_text(), out.is_error


def _hands_over(tool: BaseTool[Any, Any]) -> bool:
    """AutoGen's own hand-off, by where its function was written: it does nothing but name who goes on, in the same turn."""
    return isinstance(tool, FunctionTool) and getattr(tool._func, "__module__", "") == "autogen_agentchat.base._handoff"


ADVICE = "Give the agent that calls it workbench=tidemark.tools([...]), or tidemark.guard(workbench)."


def _stop(tool: BaseTool[Any, Any], args: Any, call_id: str | None) -> None:
    if call_id is None or _hands_over(tool):
        return  # a tool that another one calls is part of that one
    if why := unlawful(call_id, args):
        raise unasked(f"{tool.name} was about to run, and {why}. {ADVICE}")


def _net(run_json: Callable[..., Any]) -> Callable[..., Any]:
    """Below all tools of this process: in a turn, a call of a model's that nobody decided about does not run."""

    @functools.wraps(run_json)
    async def asking(self: BaseTool[Any, Any], args: Any, cancellation_token: Any, call_id: str | None = None) -> Any:
        _stop(self, args, call_id)
        return await run_json(self, args, cancellation_token, call_id)

    return asking


def _net_of_streams(run_json_stream: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(run_json_stream)
    async def asking(self: Any, args: Any, cancellation_token: Any, call_id: str | None = None) -> AsyncGenerator[Any, None]:
        _stop(self, args, call_id)
        async for piece in run_json_stream(self, args, cancellation_token, call_id):
            yield piece

    return asking


def _net_of_agents(on_messages_stream: Callable[..., Any]) -> Callable[..., Any]:
    """And an agent whose tools ask nobody stops before its model is asked: not every workbench has tools of this process."""

    @functools.wraps(on_messages_stream)
    async def asking(self: AssistantAgent, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        if in_turn() or inside():
            for w in self._workbench:
                if not isinstance(w, Guarded) and await w.list_tools():
                    raise unasked(f"the agent {self.name!r} was about to run in a turn, and nobody asks Tidemark about its tools. {ADVICE}")
        run, outer = _Run(), _run.get()
        _run.set(run)
        try:
            async for piece in on_messages_stream(self, *args, **kwargs):
                if run.broke is not None:
                    raise run.broke
                yield piece
        finally:
            _run.set(outer)

    return asking


BaseTool.run_json = _net(BaseTool.run_json)  # type: ignore[method-assign]
BaseStreamTool.run_json_stream = _net_of_streams(BaseStreamTool.run_json_stream)  # type: ignore[method-assign]
AssistantAgent.on_messages_stream = _net_of_agents(AssistantAgent.on_messages_stream)  # type: ignore[method-assign]
