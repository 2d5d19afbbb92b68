"""Agents written in Python, guarded by the Tidemark monitor.

    from tidemark_sdk import Monitor, User
    session = Monitor().session("thread-1", User("web", "anna", owner=True))
    session.begin("Mail Petra the notes")
    if session.decide("send_email", {"to": "petra@lund.example"}): ...

Adapters of frameworks are modules of their own: tidemark_sdk.langchain, .openai_agents, .pydantic_ai, .claude, .adk, .crewai,
.agent_framework, .autogen, .llama_index, .smolagents.
"""

from ._errors import RefusedError, TidemarkError, UndecidedError
from .guarding import guard
from .monitor import Monitor
from .session import Decision, Question, Session, Tool, User, View

__all__ = [
    "Decision", "Monitor", "Question", "RefusedError", "Session", "TidemarkError", "Tool", "UndecidedError", "User", "View", "guard",
]  # fmt: skip
__version__ = "0.1.0"
