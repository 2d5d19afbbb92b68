"""LlamaIndex agents (FunctionAgent, ReActAgent, CodeActAgent, AgentWorkflow).

    from tidemark_sdk.llama_index import Tidemark
    tidemark = Tidemark(User("web", "anna", owner=True))
    async with tidemark.turn("thread-1", words):
        await agent.run(words, ctx=ctx)

Every agent of the process is guarded from when there is a Tidemark, those of a workflow and those that a tool starts by hand too: all of
a turn share its session. Outside of a turn a tool is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

try:
    from llama_index.core.agent.workflow import AgentWorkflow, CodeActAgent, FunctionAgent, ReActAgent
    from llama_index.core.agent.workflow.base_agent import BaseWorkflowAgent
    from llama_index.core.agent.workflow.multi_agent_workflow import handoff
    from llama_index.core.tools import ToolOutput
except ImportError as e:  # pragma: no cover
    raise ImportError(f"{e}. Install it with: pip install 'tidemark-sdk[llama-index]'") from e

from ._errors import RefusedError, UndecidedError
from ._turns import Turns, here
from .monitor import Monitor
from .session import Decision, Session, Tool, User


class Tidemark(Turns):
    """Guards every agent of the process, from when it is made."""

    def __init__(self, user: User, monitor: Monitor | None = None) -> None:
        super().__init__(user, monitor)
        _guard()


def _steers(tool: Any) -> bool:
    """Whether a tool is LlamaIndex's own hand-off, by the function behind it: it does nothing but name who goes on."""
    return any(getattr(tool, name, None) is handoff for name in ("_real_fn", "real_fn", "_async_fn", "async_fn"))


def _tool(tool: Any) -> Tool:
    return Tool(tool.metadata.get_name(), tool.metadata.description or "", tool.metadata.get_parameters_dict())


def _asking(call: Callable[..., Any]) -> Callable[..., Any]:
    """Round the one place where an agent calls a tool."""

    @functools.wraps(call)
    async def decided(self: Any, ctx: Any, tool: Any, tool_input: dict[str, Any]) -> Any:
        session, name, call_id = here(), tool.metadata.get_name(), uuid4().hex  # the model's own id does not come as far as here
        session.steers(name, _steers(tool), plain=True)
        d = await session.adecide(name, tool_input, call_id, changeable=True)
        if not d:
            return ToolOutput(content=d.reason, tool_name=name, raw_input=tool_input, raw_output=d.reason, is_error=True)
        args = tool_input if d.args is None else dict(d.args)

        async def run() -> Any:
            out = await call(self, ctx, tool, args)
            if isinstance(out.exception, UndecidedError):
                raise out.exception  # a net of another adapter: the agent would make words of it
            return out

        return await session.aexecute(name, args, call_id, run, _came)

    return decided


def _came(out: Any) -> tuple[Any, bool]:
    return out.content, bool(out.is_error)


def _shown(take_step: Callable[..., Any]) -> Callable[..., Any]:
    """Round a step of an agent, which asks its model: it is shown what it may see."""

    @functools.wraps(take_step)
    async def narrowed(self: Any, ctx: Any, llm_input: Any, tools: Sequence[Any], memory: Any) -> Any:
        return await take_step(self, ctx, llm_input, await _visible(here(), tools), memory)

    return narrowed


async def _visible(session: Session, tools: Sequence[Any]) -> list[Any]:
    for t in tools:
        session.steers(t.metadata.get_name(), _steers(t), plain=True)
    view = await session.avisible([_tool(t) for t in tools])
    if view.blocked:
        raise RefusedError(Decision(reason=view.blocked))
    return [t for t in tools if t.metadata.get_name() not in view.hidden]


_guarded = False


def _guard() -> None:
    global _guarded
    if _guarded:
        return
    _guarded = True
    for calls in (BaseWorkflowAgent, AgentWorkflow):
        calls._call_tool = _asking(calls._call_tool)  # type: ignore[method-assign]
    for asks in (FunctionAgent, ReActAgent, CodeActAgent):
        asks.take_step = _shown(asks.take_step)  # type: ignore[method-assign]
