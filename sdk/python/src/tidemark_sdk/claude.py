"""The Claude Agent SDK.

    from tidemark_sdk.claude import Tidemark
    options = ClaudeAgentOptions(hooks=Tidemark(User("web", "anna", owner=True)).hooks)

Hooks that fail block: without that the tool would run. The list of tools cannot be narrowed per model call; a restricted tool is
refused when it is called. `can_use_tool` is no gate and is not used.
"""

from __future__ import annotations

from typing import Any

try:
    from claude_agent_sdk import HookMatcher
except ImportError as e:  # pragma: no cover
    raise ImportError(f"{e}. Install it with: pip install 'tidemark-sdk[claude]'") from e

from .monitor import Monitor
from .session import Session, User

SLACK = 60  # seconds that a hook may take longer than a person

# The tools by which the program steers itself. Tools of servers and of the application have names that begin with mcp__, so no other
# tool can have one of these: a name without it is the program's own, and works where that runs.
CONTROL = (
    "TodoWrite", "ToolSearch", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "EnterPlanMode", "ExitPlanMode", "AskUserQuestion",
    "Task", "Agent", "TaskOutput", "AgentOutputTool",
)  # fmt: skip


class Tidemark:
    """Hooks of one agent. conversation names the session where the agent's own id is not to."""

    def __init__(self, user: User, monitor: Monitor | None = None, *, conversation: str = "") -> None:
        self.monitor, self.user, self._conversation = monitor or Monitor(), user, conversation

    @property
    def hooks(self) -> dict[str, list[HookMatcher]]:
        """For ClaudeAgentOptions(hooks=...), or to be joined with hooks of your own."""
        patience = self.monitor.wait + self.monitor.limit + SLACK
        return {
            name: [HookMatcher(hooks=[hook], timeout=patience, on_failure="block")]
            for name, hook in {
                "UserPromptSubmit": self._prompt, "PreToolUse": self._before,
                "PostToolUse": self._after, "PostToolUseFailure": self._failed,
            }.items()
        }  # fmt: skip

    def _session(self, i: Any) -> Session:
        session = self.monitor.session(self._conversation or i["session_id"], self.user)
        session.control_tools = CONTROL
        session.steers("TodoWrite", True, plain=True)
        name = str(i.get("tool_name") or "")
        if name and not name.startswith("mcp__"):
            session.works_here(name, True)
        return session

    async def _prompt(self, i: Any, tool_use_id: str | None, context: Any) -> Any:
        words = str(i["prompt"])
        if words.lstrip().startswith("<task-notification>") or i.get("source") not in (None, "user", "sdk"):
            return {}  # what a sub-agent reports, what a timer wakes up with: not the user's words
        await self._session(i).abegin(words)
        return {}

    async def _before(self, i: Any, tool_use_id: str | None, context: Any) -> Any:
        d = await self._session(i).adecide(i["tool_name"], i["tool_input"], tool_use_id or "")
        out: dict[str, Any] = {"hookEventName": "PreToolUse", "permissionDecision": "allow" if d else "deny"}
        if not d:
            out["permissionDecisionReason"] = d.reason
        return {"hookSpecificOutput": out}

    async def _after(self, i: Any, tool_use_id: str | None, context: Any) -> Any:
        await self._session(i).areport(i["tool_name"], i["tool_input"], i.get("tool_response"), tool_use_id or "")
        return {}

    async def _failed(self, i: Any, tool_use_id: str | None, context: Any) -> Any:
        error = str(i.get("error") or "the call failed")
        await self._session(i).areport(i["tool_name"], i["tool_input"], error, tool_use_id or "", error=True)
        return {}
