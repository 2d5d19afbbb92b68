"""The OpenAI Agents SDK.

    from tidemark_sdk.openai_agents import Tidemark
    tidemark = Tidemark(User("web", "anna", owner=True))
    agent = tidemark.guard(Agent(name="assistant", tools=[...]))       # handoff targets and agents used as tools, too
    async with tidemark.turn("thread-1", words):
        result = await Runner.run(agent, words, hooks=tidemark.net)

Tools ask where they run, below guardrails and approvals of the host: an approval the monitor does not know of runs nothing. All
agents of a turn share its session.
"""

from __future__ import annotations

import copy
import functools
import json
import warnings
from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from typing import Any, cast

try:
    from agents import Agent, FunctionTool, Handoff, RunHooks
    from agents.agent import AgentBase
    from agents.tool import invoke_function_tool
    from agents.tool_context import ToolContext
except ImportError as e:  # pragma: no cover
    raise ImportError(f"{e}. Install it with: pip install 'tidemark-sdk[openai-agents]'") from e

from ._errors import RefusedError, TidemarkError, UndecidedError
from .monitor import Monitor
from .session import Decision, Session, Tool, User, inside, unasked

_session: ContextVar[Session | None] = ContextVar("tidemark_openai_session", default=None)


def _current() -> Session:
    session = _session.get()
    if session is None:
        raise TidemarkError("no turn was begun: async with tidemark.turn(conversation, words): await Runner.run(...)")
    return session


class Tidemark:
    """Guards agents. With pause=True a held call interrupts the run (`result.interruptions`) instead of waiting: resume it in
    `tidemark.turn(conversation)` once the question was answered."""

    def __init__(self, user: User, monitor: Monitor | None = None, *, pause: bool = False) -> None:
        self.monitor, self.user, self.pause = monitor or Monitor(), user, pause
        self.net = Net()

    def turn(self, conversation: str | None, words: str | None = None) -> Turn:
        """Around the runs of one turn; words are the user's, None where a run goes on that was begun before."""
        return Turn(self, conversation, words)

    def guard(self, agent: Agent[Any]) -> Agent[Any]:
        """The same agent, whose tools ask before they run. Its handoff targets are guarded with it."""
        return self._guard(agent, {})

    def _guard(self, agent: Agent[Any], done: dict[int, Agent[Any]]) -> Agent[Any]:
        if isinstance(agent, GuardedAgent):
            return agent
        if id(agent) in done:
            return done[id(agent)]
        guarded = cast("GuardedAgent", copy.copy(agent))
        guarded.__class__ = type("GuardedAgent", (GuardedAgent, type(agent)), {})
        guarded._tidemark = self
        done[id(agent)] = guarded
        guarded.handoffs = [self._handoff(h, done) for h in agent.handoffs]
        return guarded

    def _handoff(self, target: Agent[Any] | Handoff[Any, Any], done: dict[int, Agent[Any]]) -> Any:
        if isinstance(target, Agent):
            return self._guard(target, done)
        invoke, guarded = target.on_invoke_handoff, copy.copy(target)

        async def later(context: Any, arguments: str) -> Any:
            return self._guard(await invoke(context, arguments), done)

        guarded.on_invoke_handoff = later
        return guarded


class Turn:
    """The session that runs inside belong to. `with` is for run_sync, `async with` for the rest."""

    def __init__(self, tidemark: Tidemark, conversation: str | None, words: str | None) -> None:
        m = tidemark.monitor
        self.session = m.known(conversation) if words is None and conversation else m.session(conversation, tidemark.user)
        self._words, self._token = words, cast("Token[Session | None] | None", None)

    def __enter__(self) -> Session:
        if self._words is not None:
            self.session.begin(self._words)
        self._token = _session.set(self.session)
        return self.session

    async def __aenter__(self) -> Session:
        if self._words is not None:
            await self.session.abegin(self._words)
        self._token = _session.set(self.session)
        return self.session

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _session.reset(self._token)

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()


class GuardedAgent(Agent[Any]):
    """An agent whose tools ask."""

    _tidemark: Tidemark

    async def get_all_tools(self, run_context: Any) -> list[Any]:
        tools = await super().get_all_tools(run_context)
        for t in tools:
            inner = getattr(t, "_agent_instance", None)
            if inner is not None and not isinstance(inner, GuardedAgent):
                raise UndecidedError(
                    f"the agent {inner.name!r} is used as a tool, and nobody asks Tidemark about its calls: "
                    f"tidemark.guard({inner.name}).as_tool(...)"
                )
        for t in tools:
            _current().steers(t.name, _steers(t))
        view = await _current().avisible([_tool(t) for t in tools])
        if view.blocked:
            raise RefusedError(Decision(reason=view.blocked))
        _name_ungated(tools)
        return [_guarded(t, self._tidemark) for t in tools if t.name not in view.hidden]


def _tool(t: Any) -> Tool:
    return Tool(t.name, getattr(t, "description", "") or "", getattr(t, "params_json_schema", None))


_named: set[str] = set()


def _name_ungated(tools: Sequence[Any]) -> None:
    for t in tools:
        if not isinstance(t, FunctionTool) and t.name not in _named:
            _named.add(t.name)
            warnings.warn(f"{t.name} ({type(t).__name__}) runs where Tidemark is not asked: it can be hidden, not decided", stacklevel=2)


def _guarded(tool: Any, tidemark: Tidemark) -> Any:
    if not isinstance(tool, FunctionTool) or getattr(tool, "_tidemark", False):
        return tool
    guarded = copy.copy(tool)
    guarded.timeout_seconds = None  # it is the tool's, and counts from when it runs: a held call may take as long as a person does

    async def invoke(context: ToolContext[Any], arguments: str) -> Any:
        session, args = _current(), _parsed(arguments)
        session.steers(tool.name, _steers(tool))
        d = await session.adecide(tool.name, args, context.tool_call_id, wait=0 if tidemark.pause else None, changeable=True)
        if not d:
            return d.reason
        if d.args is not None:
            args, arguments = d.args, json.dumps(d.args)

        async def run() -> Any:
            return await invoke_function_tool(function_tool=tool, context=context, arguments=arguments)

        return await session.aexecute(tool.name, args, context.tool_call_id, run)

    guarded.on_invoke_tool = invoke
    if tidemark.pause:
        before = tool.needs_approval

        async def held(context: Any, args: dict[str, Any], call_id: str) -> bool:
            if before is True or (callable(before) and await before(context, args, call_id)):
                return True
            _current().steers(tool.name, _steers(tool))
            return (await _current().adecide(tool.name, args, call_id, wait=0)).held

        guarded.needs_approval = held
    guarded._tidemark = True  # type: ignore[attr-defined]
    return guarded


def _steers(tool: Any) -> bool:
    """Whether a tool is an agent that is handed work, whose own tools ask. Hand-offs and final answers are no calls of tools here."""
    return isinstance(getattr(tool, "_agent_instance", None), GuardedAgent)


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments  # no object: refused as it is


def _net(get_all_tools: Callable[..., Any]) -> Callable[..., Any]:
    """Below all agents of this process: in a turn, or inside a guarded call, one whose tools ask nobody stops before its model is asked."""

    @functools.wraps(get_all_tools)
    async def all_tools(self: AgentBase[Any], *args: Any, **kwargs: Any) -> Any:
        tools = await get_all_tools(self, *args, **kwargs)
        if tools and not isinstance(self, GuardedAgent) and (inside() or _session.get() is not None):
            raise unasked(
                f"the agent {self.name!r} was about to run in a turn of Tidemark's, and nobody asked Tidemark about its tools: "
                f"Runner.run(tidemark.guard({self.name}), ...)"
            )
        return tools

    return all_tools


AgentBase.get_all_tools = _net(AgentBase.get_all_tools)  # type: ignore[method-assign]


class Net(RunHooks[Any]):
    """A tool that does not ask stops the run: of an agent that a handoff led to, or one that was never guarded."""

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        if not getattr(tool, "_tidemark", False):
            raise UndecidedError(f"{tool.name} was about to run, and nobody asked Tidemark about it: tidemark.guard({agent.name})")
