"""LangChain, LangGraph and deepagents.

    from tidemark_sdk.langchain import Tidemark
    agent = create_agent(model, tools, middleware=[..., Tidemark(User("web", "anna", owner=True))], checkpointer=...)

It goes last among the middleware: the last one sees the arguments that run. Sub-agents take the same object
(`subagents=[{..., "middleware": [tidemark]}]`); one that was forgotten is noticed, and the run stops before its first tool.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any, cast

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState
    from langchain.agents.middleware.types import ModelRequest, PrivateStateAttr
    from langchain.tools.tool_node import ToolCallRequest
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
    from langchain_core.tracers.context import register_configure_hook
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langgraph.types import interrupt
    from typing_extensions import NotRequired
except ImportError as e:  # pragma: no cover
    raise ImportError(f"{e}. Install it with: pip install 'tidemark-sdk[langchain]'") from e

from ._errors import RefusedError, TidemarkError
from .monitor import Monitor
from .session import Decision, Session, Tool, User, View, unasked, undecided, who

Call = tuple[str, dict[str, Any], str]  # name, arguments, id


class TidemarkState(AgentState[Any]):
    """Which session a run belongs to is part of its state, so that a run which is resumed elsewhere is the same."""

    tidemark_session: NotRequired[Annotated[str, PrivateStateAttr]]


if TYPE_CHECKING:
    Middleware = AgentMiddleware[Any, Any, Any]
else:
    Middleware = AgentMiddleware  # which takes two kinds in early versions, and three now


class Tidemark(Middleware):
    """Guards the agents it is given to.

    user is who speaks, or a function of the run's context (`invoke(..., context=...)`) that says it. With pause=True the graph is
    interrupted at a held call instead of waiting there: resume it once the question was answered, with any value.
    """

    state_schema = TidemarkState

    def __init__(self, user: User | Callable[[Any], User], monitor: Monitor | None = None, *, pause: bool = False) -> None:
        super().__init__()
        self.monitor = monitor or Monitor()
        self._user, self._pause = user, pause
        self._told: set[str] = set()

    # The turn.

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        session, words = self._opens(state, runtime)
        if words is not None:
            session.begin(words)
        return {"tidemark_session": session.key}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        session, words = self._opens(state, runtime)
        if words is not None:
            await session.abegin(words)
        return {"tidemark_session": session.key}

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        self._session(state, runtime).end(_last(state).text if _last(state) else "")
        return None

    async def aafter_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        await self._session(state, runtime).aend(_last(state).text if _last(state) else "")
        return None

    def _opens(self, state: Any, runtime: Any) -> tuple[Session, str | None]:
        user = who(self._user, runtime.context)
        last = _last(state)
        return self.monitor.session(_thread(runtime), user), str(last.text) if _typed(last) else None

    def _session(self, state: Any, runtime: Any) -> Session:
        """The session of a hook in the middle of a run: begun here, or by a process before this one."""
        key = state.get("tidemark_session") if isinstance(state, Mapping) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        key = cast("str | None", key) or _thread(runtime)
        if key is None:
            raise TidemarkError("this run has no thread id and was begun without Tidemark: nothing is known about it")
        return self.monitor.known(key)

    # The model.

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        session = self._session(request.state, request.runtime)
        out = handler(_narrowed(request, session.visible(self._tools(request, session))))
        for name, result in _at_the_provider(out):
            session.report(name, {}, result)
        return out

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]) -> Any:
        session = self._session(request.state, request.runtime)
        out = await handler(_narrowed(request, await session.avisible(self._tools(request, session))))
        for name, result in _at_the_provider(out):
            await session.areport(name, {}, result)
        return out

    def _tools(self, request: ModelRequest[Any], session: Session) -> Iterator[Tool]:
        for t in request.tools:
            name = _name(t)
            _declare(session, name, t)
            if isinstance(t, dict) and "function" not in t:
                if name not in self._told:
                    self._told.add(name)
                    warnings.warn(f"the provider runs {name}: Tidemark can hide it and label what it brings, not decide", stacklevel=2)
                yield Tool(name)
            else:
                about = convert_to_openai_tool(t)["function"]
                yield Tool(name, about.get("description", ""), about.get("parameters"))

    # Tools.

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        session, (name, args, call_id) = self._session(request.state, request.runtime), _call(request)
        _declare(session, name, request.tool)
        d = session.decide(name, args, call_id, wait=0 if self._pause else None, changeable=True)
        if d.held and self._pause:
            interrupt(_asked(name, args, d))
            d = session.decide(name, args, call_id, wait=0, changeable=True)
        if not d:
            return _refusal(d, name, call_id)
        request, args = _as_decided(request, d)
        return session.execute(name, args, call_id, lambda: handler(request), _came)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Any]]) -> Any:
        session, (name, args, call_id) = self._session(request.state, request.runtime), _call(request)
        _declare(session, name, request.tool)
        d = await session.adecide(name, args, call_id, wait=0 if self._pause else None, changeable=True)
        if d.held and self._pause:
            interrupt(_asked(name, args, d))
            d = await session.adecide(name, args, call_id, wait=0, changeable=True)
        if not d:
            return _refusal(d, name, call_id)
        request, args = _as_decided(request, d)
        return await session.aexecute(name, args, call_id, lambda: handler(request), _came)


# The modules whose tools change nothing but the state of the graph, or hand it to another agent of it: to-dos, sub-agents, hand-offs.
STEERING = (
    "langchain.agents.middleware.todo", "deepagents.middleware.subagents", "langgraph_supervisor.handoff", "langgraph_swarm.handoff",
)  # fmt: skip


# Those of them whose results nobody writes but the framework: not sub-agents, and not a message that is forwarded.
PLAIN = ("langchain.agents.middleware.todo", "langgraph_swarm.handoff")
HANDS_OVER = ("langgraph_supervisor.handoff", "create_handoff_tool.<locals>.")


# deepagents' tools for the files of the agent: in the state of the graph, or where its backend keeps them. Its shell is not among them.
FILES, FILED = ("deepagents.middleware.filesystem",), ("ls", "read_file", "write_file", "edit_file", "glob", "grep")


def _declare(session: Session, name: str, tool: Any) -> None:
    session.steers(name, _steers(tool), _plain(tool))
    session.works_here(name, name in FILED and _written_in(tool, FILES))


def _steers(tool: Any) -> bool:
    return _written_in(tool, STEERING)


def _plain(tool: Any) -> bool:
    func: Any = getattr(tool, "func", None)
    hands = getattr(func, "__module__", "") == HANDS_OVER[0] and getattr(func, "__qualname__", "").startswith(HANDS_OVER[1])
    return _written_in(tool, PLAIN) or hands


def _written_in(tool: Any, modules: tuple[str, ...]) -> bool:
    """Whether a tool is the framework's own, by where its function was written."""
    made = [f for f in (getattr(tool, "func", None), getattr(tool, "coroutine", None)) if f is not None]
    return bool(made) and all(getattr(f, "__module__", None) in modules for f in made)


def _last(state: Any) -> Any:
    messages: Any = state["messages"]
    return messages[-1] if messages else None


def _typed(message: Any) -> bool:
    """Whether a person wrote it: middleware puts its own messages (summaries, verdicts of graders) into the conversation as a person's."""
    return isinstance(message, HumanMessage) and not message.additional_kwargs.get("lc_source")  # pyright: ignore[reportUnknownMemberType]


def _thread(runtime: Any) -> str | None:
    info = getattr(runtime, "execution_info", None)
    thread = getattr(info, "thread_id", None)
    return thread or (getattr(runtime, "config", None) or {}).get("configurable", {}).get("thread_id")


def _name(tool: Any) -> str:
    if not isinstance(tool, dict):
        return str(tool.name)
    t = cast("dict[str, Any]", tool)
    return str(t.get("function", {}).get("name") or t.get("name") or t.get("type"))


def _narrowed(request: ModelRequest[Any], view: View) -> ModelRequest[Any]:
    if view.blocked:
        raise RefusedError(Decision(reason=view.blocked))
    if view.hidden:
        request = request.override(tools=[t for t in request.tools if _name(t) not in view.hidden])
    if view.notice:
        prompt = request.system_message.text + "\n\n" if request.system_message else ""
        request = request.override(system_message=SystemMessage(prompt + view.notice))
    return request


def _at_the_provider(response: Any) -> Iterator[tuple[str, Any]]:
    """What tools brought that the provider ran: it is in the context from now on."""
    for message in getattr(response, "result", []):
        names: dict[str, str] = {}
        for block in message.content_blocks:
            if block["type"] == "server_tool_call":
                names[block["id"]] = block["name"]
            elif block["type"] == "server_tool_result":
                yield names.get(block["tool_call_id"], "provider_tool"), block


def _call(request: ToolCallRequest) -> Call:
    c = request.tool_call
    return c["name"], c["args"], c["id"] or ""


def _as_decided(request: ToolCallRequest, d: Decision) -> tuple[ToolCallRequest, dict[str, Any]]:
    args = request.tool_call["args"] if d.args is None else dict(d.args)
    return request.override(tool_call={**request.tool_call, "args": args}), args


def _asked(name: str, args: Any, d: Decision) -> dict[str, Any]:
    return {"tidemark": {"tool": name, "args": args, "question": d.question, "ticket": d.ticket}}


def _refusal(d: Decision, name: str, call_id: str) -> ToolMessage:
    return ToolMessage(d.reason, tool_call_id=call_id, name=name, status="success" if d.verdict == "answered" else "error")


def _came(out: Any) -> tuple[Any, bool]:
    """What a tool brought: a message, or a command that changes the state, whose text is all there is."""
    if isinstance(out, ToolMessage):
        return cast("Any", out.content), out.status == "error"  # pyright: ignore[reportUnknownMemberType]
    update: Any = getattr(out, "update", None)
    if isinstance(update, dict) and list(cast("dict[str, Any]", update)) == ["messages"]:
        messages: Any = cast("dict[str, Any]", update)["messages"]
        if isinstance(messages, list) and len(cast("list[Any]", messages)) == 1 and isinstance(messages[0], ToolMessage):
            return _came(messages[0])  # it changes nothing but the conversation, by this one message
    return (update if update is not None else out), False


class Net(BaseCallbackHandler):
    """Below all tools of this process: inside a guarded call, one that nobody decided about stops the run before it runs."""

    raise_error = True
    run_inline = True

    def on_tool_start(
        self, serialized: dict[str, Any], input_str: str, *, inputs: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        call_id = kwargs.get("tool_call_id")
        if call_id is None:
            return  # a tool that another one calls is part of that one
        if why := undecided(call_id, inputs or {}):
            raise unasked(
                f"{serialized.get('name')} was about to run, and {why}. Give the agent that calls it middleware=[..., tidemark], "
                "with Tidemark as the last one; a sub-agent of deepagents takes it as its own \"middleware\"."
            )


_net: ContextVar[Net | None] = ContextVar("tidemark_net", default=Net())  # noqa: B039
register_configure_hook(_net, inheritable=True)
