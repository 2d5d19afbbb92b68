"""CrewAI.

    from tidemark_sdk.crewai import Tidemark
    tidemark = Tidemark(User("web", "anna", owner=True))
    with tidemark.turn("thread-1", words):
        crew.kickoff(inputs=...)

Hooks of CrewAI are of the whole process, agents that work is delegated to included. They are synchronous: a call that waits for a
person holds up its thread, also under akickoff. No hook sees the list of tools; a restricted tool is refused when it is called.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar, Token
from typing import Any, cast
from uuid import uuid4

try:
    from crewai.hooks.dispatch import HookAborted, InterceptionPoint, get_hooks, register, unregister
except ImportError as e:  # pragma: no cover
    raise ImportError(f"{e}. Install it with: pip install 'tidemark-sdk[crewai]'") from e

from ._json import text_of
from .monitor import Monitor
from .session import Decision, Session, User

_session: ContextVar[Session | None] = ContextVar("tidemark_crewai_session", default=None)
_lock = threading.Lock()
_open = 0  # adapters that were not closed
_calls: dict[int, tuple[str, Decision]] = {}  # by the identity of their arguments, which the context keeps


class Tidemark:
    """Guards every crew of the process until it is closed; a tool outside of a turn is refused. Several share one pair of hooks, so that a
    service may have one for each of its users, and each call is decided once."""

    def __init__(self, user: User, monitor: Monitor | None = None) -> None:
        global _open
        self.monitor, self.user, self._closed = monitor or Monitor(), user, False
        with _lock:
            _open += 1
            _stand()

    def close(self) -> None:
        """Guard no longer, unless another one does."""
        global _open
        with _lock:
            if self._closed:
                return
            self._closed = True
            _open -= 1
            if not _open:
                unregister(InterceptionPoint.PRE_TOOL_CALL, _before)
                unregister(InterceptionPoint.POST_TOOL_CALL, _after)

    def turn(self, conversation: str | None, words: str) -> Turn:
        with _lock:
            if not self._closed:
                _stand()  # once more where somebody has cleared all hooks
        return Turn(self.monitor.session(conversation, self.user), words)


def _stand() -> None:
    for point, hook in ((InterceptionPoint.PRE_TOOL_CALL, _before), (InterceptionPoint.POST_TOOL_CALL, _after)):
        if hook not in get_hooks(point):
            register(point, hook)


def _before(context: Any) -> None:
    # Whatever else a hook raises is swallowed, and the tool runs.
    try:
        d = Decision(reason="Tidemark: no turn was begun: with tidemark.turn(conversation, words): crew.kickoff()")
        session, call_id = _session.get(), uuid4().hex
        if session is not None:
            session.steers(context.tool_name, _steers(context.tool))
            d = session.decide(context.tool_name, context.tool_input, call_id)
        _calls[id(context.tool_input)] = (call_id, d)
    except BaseException as e:
        raise HookAborted(reason=f"Tidemark could not decide, so nothing may run: {text_of(e)}", source="tidemark") from None
    if not d:
        raise HookAborted(reason=d.reason, source="tidemark")


def _after(context: Any) -> Any:
    call_id, d = _calls.pop(id(context.tool_input), ("", Decision()))
    if not d:
        return d.reason  # else the model would read only that a hook blocked it
    session = _session.get()
    if session is not None:
        session.report(context.tool_name, context.tool_input, context.tool_result, call_id)
    return None


# CrewAI's own tools by which agents of a crew hand work to one another and ask one another.
CLASSES = (
    ("crewai.tools.agent_tools.delegate_work_tool", "DelegateWorkTool"), ("crewai.tools.agent_tools.ask_question_tool", "AskQuestionTool"),
)  # fmt: skip


def _steers(tool: Any) -> bool:
    """Whether a tool is CrewAI's own, by its class, or by that of the tool it was made of."""
    kinds = (type(t) for t in (tool, getattr(tool, "_original_tool", None)) if t is not None)
    return any((k.__module__, k.__qualname__) in CLASSES for k in kinds)


class Turn:
    """The session that runs inside belong to."""

    def __init__(self, session: Session, words: str) -> None:
        self.session, self._words, self._token = session, words, cast("Token[Session | None] | None", None)

    def __enter__(self) -> Session:
        self.session.begin(self._words)
        self._token = _session.set(self.session)
        return self.session

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _session.reset(self._token)
