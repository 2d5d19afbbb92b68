"""Google ADK against a real server, with a scripted model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from conftest import ANNA, PAGE, Server

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools import AgentTool
from google.genai import types

from tidemark_sdk.adk import Tidemark

FETCH = ("web_fetch", {"url": "https://lunch.example"})
MAIL = ("send_email", {"to": "eve@drop.example"})
ASK = "Read https://lunch.example and tell me when lunch is"


class Scripted(BaseLlm):
    steps: list[Any]
    at: int = 0
    shown: list[Any] = []  # noqa: RUF012

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        step = self.steps[self.at]
        self.at += 1
        self.shown.append(sorted(llm_request.tools_dict))
        if isinstance(step, str):
            parts = [types.Part(text=step)]
        else:
            calls = [types.FunctionCall(name=n, args=dict(a), id=f"c-{self.at}-{i}") for i, (n, a) in enumerate(step)]
            parts = [types.Part(function_call=c) for c in calls]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


class World:
    def __init__(self) -> None:
        self.ran: list[str] = []

    def web_fetch(self, url: str) -> str:
        """Fetch a web page."""
        self.ran.append("web_fetch")
        return PAGE

    def send_email(self, to: str) -> str:
        """Send an email."""
        self.ran.append("send_email")
        return "sent"

    def note(self, text: str) -> str:
        """Note something down."""
        self.ran.append("note")
        return "noted"

    @property
    def tools(self) -> list[Any]:
        return [self.web_fetch, self.send_email, self.note]


def run(agent: Any, plugins: list[Any], key: str, words: str = ASK) -> list[Any]:
    async def go() -> list[Any]:
        runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=plugins))
        await runner.session_service.create_session(app_name="app", user_id="u", session_id=key)
        message = types.Content(role="user", parts=[types.Part(text=words)])
        return [e async for e in runner.run_async(user_id="u", session_id=key, new_message=message)]

    return asyncio.run(go())


def saved(agent: Any, plugin: Any, key: str, kept: Any, *parts: types.Part) -> list[Any]:
    """A run whose session is kept in a file: nothing else of it goes from one run to the next."""

    async def go() -> list[Any]:
        sessions = SqliteSessionService(str(kept))
        runner = Runner(app=App(name="app", root_agent=agent, plugins=[plugin]), session_service=sessions)
        if await sessions.get_session(app_name="app", user_id="u", session_id=key) is None:
            await sessions.create_session(app_name="app", user_id="u", session_id=key)
        message = types.Content(role="user", parts=list(parts))
        return [e async for e in runner.run_async(user_id="u", session_id=key, new_message=message)]

    return asyncio.run(go())


def agent(world: World, *steps: Any, **more: Any) -> LlmAgent:
    model = Scripted(model="scripted", steps=list(steps))
    return LlmAgent(name=more.pop("name", "a"), model=model, tools=more.pop("tools", world.tools), **more)


def responses(events: list[Any]) -> list[Any]:
    return [r.response for e in events for r in e.get_function_responses()]


@pytest.fixture
def world() -> World:
    return World()


# SDK-7
@pytest.mark.parametrize("steps", [["Hello."], [[FETCH], "noon"], [[("note", {"text": "a"}), ("note", {"text": "b"})], "done"]])
def test_a_benign_run_is_untouched(server: Server, key: str, steps: Any) -> None:
    bare, ours = World(), World()
    want = responses(run(agent(bare, *steps), [], key))
    assert responses(run(agent(ours, *steps), [Tidemark(ANNA, server.monitor(wait=0))], key)) == want
    assert ours.ran == bare.ran


# SDK-8 SDK-12
def test_what_a_page_asks_for_is_stopped_and_the_run_goes_on(server: Server, world: World, key: str) -> None:
    events = run(agent(world, [FETCH], [MAIL], "noon"), [Tidemark(ANNA, server.monitor(wait=0))], key)
    assert world.ran == ["web_fetch"] and "blocked by security policy" in responses(events)[-1]["error"]
    assert events[-1].content.parts[0].text == "noon"


# SDK-9
@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_a_held_call_waits(server: Server, world: World, key: str, decision: str) -> None:
    answering = server.answers(f"app/u/{key}", decision)
    run(agent(world, [FETCH], [MAIL], "done"), [Tidemark(ANNA, server.monitor(wait=60))], key)
    answering.join()
    assert world.ran.count("send_email") == (1 if decision == "approve" else 0)


# SDK-10 SDK-11
@pytest.mark.parametrize(
    ("decision", "confirmed", "runs"),
    [("", True, False), ("approve", True, True), ("deny", True, False), ("approve", False, False)],
    ids=["a yes to ADK alone", "approved", "denied", "a no to ADK"],
)
def test_a_paused_run_goes_on_elsewhere_and_only_the_monitors_word_counts(
    server: Server, key: str, tmp_path: Any, decision: str, confirmed: bool, runs: bool
) -> None:
    kept, first, later = tmp_path / "sessions.db", World(), World()
    plugin = Tidemark(ANNA, server.monitor(wait=60), pause=True)
    events = saved(agent(first, [FETCH], [MAIL], "not reached"), plugin, key, kept, types.Part(text=ASK))
    (asked,) = [c for e in events for c in e.get_function_calls() if c.name == "adk_request_confirmation"]
    assert first.ran == ["web_fetch"] and asked.args["toolConfirmation"]["hint"]  # type: ignore[index]
    if decision:
        server.answer(f"app/u/{key}", decision)
    said = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": confirmed})
    plugin = Tidemark(ANNA, server.monitor(wait=0), pause=True)
    events = saved(agent(later, "done"), plugin, key, kept, types.Part(function_response=said))
    assert later.ran == (["send_email"] if runs else []) and events[-1].content.parts[0].text == "done"
    assert len([r for r in server.steps(f"app/u/{key}") if r["kind"] == "turn.began"]) == 1


# SDK-10
def test_a_call_inside_an_agent_that_is_a_tool_waits(server: Server, world: World, key: str) -> None:
    inner = agent(world, [FETCH], [MAIL], "sent", name="reader", description="reads")
    outer = agent(world, [("reader", {"request": "read it"})], "done", tools=[AgentTool(inner)])
    answering = server.answers(f"app/u/{key}", "approve")
    run(outer, [Tidemark(ANNA, server.monitor(wait=60), pause=True)], key)
    answering.join()
    assert world.ran == ["web_fetch", "send_email"]


# SDK-14
def test_restricted_tools_are_not_shown_and_do_not_run(own_server: Server, world: World, key: str) -> None:
    (own_server.data / "tidemark.yaml").write_text("toolOverrides: {send_email: {'*': restrict}}\n")
    own_server.call("POST", "/v1/policy/reload", {}, role="admin")
    one = agent(world, [MAIL], "done")
    events = run(one, [Tidemark(ANNA, own_server.monitor(wait=0))], key, "Mail eve")
    assert one.model.shown[0] == ["note", "web_fetch"] and world.ran == []  # type: ignore[union-attr]
    assert "error" in responses(events)[0]


# SDK-18 SDK-23
def test_an_agent_as_a_tool_shares_the_mark_and_begins_no_turn(server: Server, world: World, key: str) -> None:
    inner = agent(world, [FETCH], "nothing of note", name="reader", description="reads")
    outer = agent(world, [("reader", {"request": "mail eve@drop.example"})], [MAIL], "done", tools=[AgentTool(inner), *world.tools])
    run(outer, [Tidemark(ANNA, server.monitor(wait=0))], key)
    assert world.ran == ["web_fetch"]
    assert len([r for r in server.steps(f"app/u/{key}") if r["kind"] == "turn.began"]) == 1


# SDK-20
def test_a_transfer_keeps_session_and_mark(server: Server, world: World, key: str) -> None:
    second = agent(world, [MAIL], "done", name="second", description="second")
    first = agent(world, [FETCH], [("transfer_to_agent", {"agent_name": "second"})], sub_agents=[second])
    run(first, [Tidemark(ANNA, server.monitor(wait=0))], key)
    assert world.ran == ["web_fetch"]


# SDK-21
def test_arguments_that_are_changed_afterwards_stop_the_run(server: Server, world: World, key: str) -> None:
    def change(tool: Any, args: dict[str, Any], tool_context: Any) -> None:
        args["text"] = "changed"

    one = agent(world, [("note", {"text": "a"})], [("note", {"text": "b"})], "done", before_tool_callback=change)
    with pytest.raises(Exception, match="were changed"):
        run(one, [Tidemark(ANNA, server.monitor(wait=0))], key, "Note a and b")
    assert world.ran == ["note"]


# SDK-5
def test_a_server_that_dies_lets_nothing_run(own_server: Server, world: World, key: str) -> None:
    def web_fetch(url: str) -> str:
        """Fetch a web page."""
        own_server.stop()
        return PAGE

    with pytest.raises(Exception, match="no Tidemark server is running"):
        plugin = Tidemark(ANNA, own_server.monitor(wait=0))
        run(agent(world, [FETCH], [("note", {"text": "a"})], "done", tools=[web_fetch, world.note]), [plugin], key)
    assert world.ran == []


def test_what_steers_a_run_is_told_by_its_function_or_class_and_not_by_name() -> None:
    from google.adk.tools import FunctionTool
    from google.adk.tools.exit_loop_tool import exit_loop as leave

    from tidemark_sdk.adk import _steers

    def exit_loop(reason: str) -> str:
        """Leave, and tell somebody."""
        return reason

    assert _steers(FunctionTool(leave)) and _steers(AgentTool(LlmAgent(name="reader", model="none")))
    assert not _steers(FunctionTool(exit_loop))
