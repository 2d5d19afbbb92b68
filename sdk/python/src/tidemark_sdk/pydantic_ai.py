"""Pydantic AI.

    from tidemark_sdk.pydantic_ai import Tidemark
    agent = Agent(model, tools=[...], capabilities=[Tidemark(User("web", "anna", owner=True))])
    await agent.run(words, conversation_id="thread-1")

It sits round the tools themselves, below every other capability: what is decided is what runs. An inner agent that was forgotten is
noticed: the run stops before its first tool.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

try:
    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
    from pydantic_ai.exceptions import ApprovalRequired
    from pydantic_ai.tool_manager import ToolManager
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, CombinedToolset, ToolsetTool, WrapperToolset
    from pydantic_core import to_jsonable_python
except ImportError as e:  # pragma: no cover
    raise ImportError(f"{e}. Install it with: pip install 'tidemark-sdk[pydantic-ai]'") from e

from ._errors import RefusedError
from .monitor import Monitor
from .session import Decision, Session, Tool, User, inside, unasked, who


class Tidemark(AbstractCapability[Any]):
    """Guards the agents it is given to. user is who speaks, or a function of the run's dependencies that says it.

    With pause=True a held call ends the run with DeferredToolRequests, which must be among the agent's output types: go on with
    `deferred_tool_results` once the question was answered.
    """

    def __init__(self, user: User | Callable[[Any], User], monitor: Monitor | None = None, *, pause: bool = False) -> None:
        self.monitor = monitor or Monitor()
        self._user, self._pause = user, pause
        self._session: Session | None = None

    async def for_run(self, ctx: RunContext[Any]) -> Tidemark:
        run = Tidemark(self._user, self.monitor, pause=self._pause)
        user = who(self._user, ctx.deps)
        run._session = self.monitor.session(ctx.conversation_id, user)  # which goes along with the messages
        return run

    def get_ordering(self) -> CapabilityOrdering:
        return CapabilityOrdering(position="innermost")

    async def before_run(self, ctx: RunContext[Any]) -> None:
        if ctx.prompt:  # a run that goes on has none
            await self.session.abegin(_words(ctx.prompt))

    async def prepare_tools(self, ctx: RunContext[Any], tool_defs: list[ToolDefinition]) -> list[ToolDefinition]:
        view = await self.session.avisible(Tool(t.name, t.description or "", t.parameters_json_schema) for t in tool_defs)
        if view.blocked:
            raise RefusedError(Decision(reason=view.blocked))
        return [t for t in tool_defs if t.name not in view.hidden]

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return _Guarded(toolset, self)

    async def after_run(self, ctx: RunContext[Any], *, result: Any) -> Any:
        if isinstance(result.output, str):
            await self.session.aend(result.output)
        return result

    @property
    def session(self) -> Session:
        if self._session is None:
            raise RefusedError(Decision())
        return self._session

    @property
    def pauses(self) -> bool:
        return self._pause


@dataclass
class _Guarded(WrapperToolset[Any]):
    """Tools that ask where they run."""

    tidemark: Tidemark

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        session, call_id = self.tidemark.session, ctx.tool_call_id or ""
        args = _plain(tool_args)
        d = await session.adecide(name, args, call_id, wait=0 if self.tidemark.pauses else None)
        if d.held and self.tidemark.pauses and not ctx.tool_call_approved:
            raise ApprovalRequired(metadata={"tidemark": {"question": d.question, "ticket": d.ticket}})
        if not d:
            return d.reason
        return await session.aexecute(name, args, call_id, lambda: self.wrapped.call_tool(name, tool_args, ctx, tool), _came)


def _words(prompt: str | Sequence[Any]) -> str:
    return prompt if isinstance(prompt, str) else "\n".join(p for p in prompt if isinstance(p, str))


def _plain(args: dict[str, Any]) -> Any:
    """The arguments as they run, which were validated: objects of classes become JSON again."""
    try:
        return to_jsonable_python(args, inf_nan_mode="constants")
    except Exception:
        return args  # refused, with the cause


def _came(out: Any) -> tuple[Any, bool]:
    try:
        return to_jsonable_python(out, fallback=str), False
    except Exception:
        return out, False


def _is_guarded(toolset: AbstractToolset[Any]) -> bool:
    """Whether calls of these tools pass through ours."""
    if isinstance(toolset, _Guarded):
        return True
    if isinstance(toolset, WrapperToolset):
        return _is_guarded(cast("WrapperToolset[Any]", toolset).wrapped)
    return isinstance(toolset, CombinedToolset) and all(_is_guarded(t) for t in cast("CombinedToolset[Any]", toolset).toolsets)


def _net(execute: Callable[..., Any]) -> Callable[..., Any]:
    """Below all agents of this process: inside a guarded call, an agent whose tools ask nobody stops the run before they run.

    A capability sees its own agent alone, so this is the one place that every agent's calls pass.
    """

    @functools.wraps(execute)
    async def execute_tool_call(self: ToolManager[Any], validated: Any, *args: Any, **kwargs: Any) -> Any:
        if inside() and not _is_guarded(self.toolset):
            raise unasked(
                f"{validated.call.tool_name} was about to run in an agent that a guarded tool started, and nobody asked Tidemark about "
                "it. Give that agent capabilities=[Tidemark(user)] too."
            )
        return await execute(self, validated, *args, **kwargs)

    return execute_tool_call


ToolManager.execute_tool_call = _net(ToolManager.execute_tool_call)
