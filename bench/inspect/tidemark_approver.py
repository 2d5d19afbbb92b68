"""An approver for Inspect AI that asks the monitor.

    from inspect_ai.approval import ApprovalPolicy
    eval(task, model=..., approval=[ApprovalPolicy(tidemark(User("inspect", "user", owner=True)), "*")])

Inspect shows an approver the history and no results, so what tools brought is told before the next call is decided: a result that
no call follows is never told, and needs not be.
"""

from __future__ import annotations

from typing import Any

from inspect_ai.approval import Approval, Approver, approver
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ChatMessageUser
from inspect_ai.tool import ToolCall, ToolCallView

from tidemark_sdk import Monitor, Session, User


class Sample:
    """What the monitor was told of one sample."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.told: set[str] = set()

    async def tell(self, history: list[ChatMessage]) -> None:
        made: dict[str, Any] = {}
        for at, m in enumerate(history):
            name = m.id or str(at)
            if isinstance(m, ChatMessageAssistant):
                made.update({c.id: c.arguments for c in m.tool_calls or []})
            if name in self.told:
                continue
            self.told.add(name)
            if isinstance(m, ChatMessageUser):
                await self.session.abegin(m.text)
            elif isinstance(m, ChatMessageTool):
                error = m.error.message if m.error else ""
                call = m.tool_call_id or ""
                await self.session.areport(m.function or "unknown", made.get(call, {}), error or m.text, call, error=bool(error))


@approver(name="tidemark")
def tidemark(user: User, monitor: Monitor | None = None) -> Approver:
    """Each sample is a session of its own; a call that is not allowed is rejected with the reason."""
    reached = monitor or Monitor()
    samples: dict[str, Sample] = {}

    async def approve(message: str, call: ToolCall, view: ToolCallView, history: list[ChatMessage]) -> Approval:
        first = next((m.id for m in history if m.id), None)
        sample = samples.setdefault(first or "", Sample(reached.session(f"inspect:{first}" if first else None, user)))
        await sample.tell(history)
        d = await sample.session.adecide(call.function, call.arguments, call.id)
        return Approval(decision="approve" if d else "reject", explanation=d.reason or None)

    return approve
