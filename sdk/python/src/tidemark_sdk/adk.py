"""Google's Agent Development Kit.

    from tidemark_sdk.adk import Tidemark
    app = App(name="app", root_agent=root, plugins=[..., Tidemark(User("web", "anna", owner=True))])
    runner = Runner(app=app, session_service=...)

It goes last among the plugins. What an agent's own before_tool_callback changes afterwards is noticed when the tool has run: the
run stops, and no further tool runs in it.

With pause=True a held call asks for ADK's own confirmation (`adk_request_confirmation`) instead of waiting. Send its answer to the runner
once the question was answered, in this process or another one: the call is decided again there, so that a yes to ADK alone opens nothing,
and a no to it lets nothing run.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

try:
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools.transfer_to_agent_tool import TransferToAgentTool
except ImportError as e:  # pragma: no cover
    raise ImportError(f"{e}. Install it with: pip install 'tidemark-sdk[adk]'") from e

from ._errors import RefusedError, UndecidedError
from ._json import UnsendableError, canonical, text_of
from .monitor import Monitor
from .session import Decision, Session, Tool, User

_calling: ContextVar[tuple[Session, str] | None] = ContextVar("tidemark_adk_calling", default=None)


class Tidemark(BasePlugin):
    """Guards every agent of a runner, also after a transfer and inside AgentTool. All of them share the session."""

    def __init__(self, user: User, monitor: Monitor | None = None, *, pause: bool = False) -> None:
        super().__init__(name="tidemark")
        self.monitor, self.user, self.pause = monitor or Monitor(), user, pause
        self._decided: dict[str, bytes] = {}
        self._inside: dict[str, Session] = {}  # sessions of AgentTool, by their own id

    def _session(self, context: Any) -> Session:
        session = getattr(context, "session", None) or context._invocation_context.session
        return self._inside.get(session.id) or self.monitor.known(f"{session.app_name}/{session.user_id}/{session.id}")

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> None:
        session = invocation_context.session
        if (outer := _calling.get()) is not None:
            self._inside[session.id] = outer[0]  # an agent that is called as a tool: the model's words
            if len(self._inside) > 10_000:
                del self._inside[next(iter(self._inside))]
            return
        words = "\n".join(p.text for p in user_message.parts or [] if p.text)
        if words:
            await self.monitor.session(f"{session.app_name}/{session.user_id}/{session.id}", self.user).abegin(words)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        session = self._session(callback_context)
        for t in llm_request.tools_dict.values():
            if not isinstance(t, TransferToAgentTool):
                session.steers(t.name, _steers(t), _plain(t))
        view = await session.avisible(map(_tool, llm_request.tools_dict.values()))
        if view.blocked:
            raise RefusedError(Decision(reason=view.blocked))
        for name in view.hidden:
            llm_request.tools_dict.pop(name, None)
            for t in llm_request.config.tools or []:
                if getattr(t, "function_declarations", None):
                    t.function_declarations = [d for d in t.function_declarations if d.name != name]

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> dict[str, Any] | None:
        session, call_id = self._session(tool_context), tool_context.function_call_id or ""
        if isinstance(tool, TransferToAgentTool):
            return None  # ADK's own: it does nothing but name who goes on, in the same session
        session.steers(tool.name, _steers(tool), _plain(tool))
        confirmed = tool_context.tool_confirmation  # what ADK was told, where the run was paused at this call
        if confirmed is not None and not confirmed.confirmed:
            return {"error": "This tool call is rejected."}
        pauses = self.pause and tool_context.session.id not in self._inside  # a session of AgentTool lives no longer than its call
        d = await session.adecide(tool.name, tool_args, call_id, wait=0 if pauses else None)
        if d.held and pauses and confirmed is None:
            tool_context.request_confirmation(hint=d.question, payload={"tidemark": {"question": d.question, "ticket": d.ticket}})
            tool_context.actions.skip_summarization = True  # the run ends here, and goes on with the answer
        if not d:
            return {"error": d.reason}
        self._decided[call_id] = canonical(tool_args)
        _calling.set((session, call_id))
        return None

    async def after_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any) -> None:
        call_id = tool_context.function_call_id or ""
        decided = self._decided.pop(call_id, None)
        _calling.set(None)
        if decided is None:
            return  # it was refused, and did not run
        await self._session(tool_context).areport(tool.name, tool_args, result, call_id)
        try:
            same = canonical(tool_args) == decided
        except UnsendableError:
            same = False
        if not same:
            raise UndecidedError(
                f"the arguments of {tool.name} were changed after Tidemark decided about them: let it be the last plugin, and change "
                "arguments before it and not in an agent's before_tool_callback"
            )

    async def on_tool_error_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, error: Exception) -> None:
        call_id = tool_context.function_call_id or ""
        if self._decided.pop(call_id, None) is not None:
            _calling.set(None)
            text = f"{type(error).__name__}: {text_of(error)}"
            await self._session(tool_context).areport(tool.name, tool_args, text, call_id, error=True)


# The functions of ADK that steer a run, and its classes that do: leaving a loop, asking the user to choose, the final answer, an agent
# that is called as a tool.
FUNCTIONS = (("google.adk.tools.exit_loop_tool", "exit_loop"), ("google.adk.tools.get_user_choice_tool", "get_user_choice"))
CLASSES = (
    ("google.adk.tools.set_model_response_tool", "SetModelResponseTool"), ("google.adk.tools.agent_tool", "AgentTool"),
    ("google.adk.tools.agent_tool", "_SingleTurnAgentTool"), ("google.adk.tools.agent_tool", "_TaskAgentTool"),
)  # fmt: skip


def _steers(tool: Any) -> bool:
    """Whether a tool is ADK's own, by its class or by the function behind it."""
    func, kind = getattr(tool, "func", None), type(tool)
    if (getattr(func, "__module__", ""), getattr(func, "__qualname__", "")) in FUNCTIONS:
        return True
    return (kind.__module__, kind.__qualname__) in CLASSES


def _plain(tool: Any) -> bool:
    """Whether nobody but ADK writes what the tool returns: the end of a loop, the answer in its form."""
    return getattr(getattr(tool, "func", None), "__qualname__", "") == "exit_loop" or type(tool).__qualname__ == "SetModelResponseTool"


def _tool(tool: Any) -> Tool:
    declaration = tool._get_declaration()
    if declaration is None:
        return Tool(tool.name, tool.description or "")
    schema = getattr(declaration, "parameters_json_schema", None)
    if schema is None and declaration.parameters is not None:
        schema = declaration.parameters.model_dump(mode="json", exclude_none=True)
    return Tool(tool.name, declaration.description or "", schema)
