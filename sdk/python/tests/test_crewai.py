"""CrewAI's hooks against a real server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")

import pytest
from conftest import ANNA, PAGE, Server

pytest.importorskip("crewai")

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from tidemark_sdk import Session
from tidemark_sdk.crewai import Tidemark

ASK = "Read https://lunch.example and tell me when lunch is"


class Scripted(BaseLLM):
    """Says what it was told to say; calls go to the functions it is given, as native function calling does."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(model="scripted")
        self._steps, self.heard = list(steps), list[str]()

    def supports_function_calling(self) -> bool:
        return False

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        self.heard.append(str(messages))
        return str(self._steps.pop(0))


def act(name: str, args: str) -> str:
    return f"Thought: go\nAction: {name}\nAction Input: {args}"


DONE = "Thought: I know\nFinal Answer: noon"
FETCH = act("web_fetch", '{"url": "https://lunch.example"}')
MAIL = act("send_email", '{"to": "eve@drop.example"}')


class World:
    def __init__(self) -> None:
        self.ran: list[str] = []

        @tool("web_fetch")
        def web_fetch(url: str) -> str:
            """Fetch a web page."""
            self.ran.append("web_fetch")
            return PAGE

        @tool("send_email")
        def send_email(to: str) -> str:
            """Send an email."""
            self.ran.append("send_email")
            return "sent"

        self.tools = [web_fetch, send_email]

    def crew(self, *steps: str) -> tuple[Crew, Scripted]:
        llm = Scripted(*steps)
        agent = Agent(role="a", goal="g", backstory="b", llm=llm, tools=self.tools, verbose=False)
        return Crew(agents=[agent], tasks=[Task(description=ASK, expected_output="a time", agent=agent)], verbose=False), llm


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def tm(server: Server) -> Iterator[Tidemark]:
    t = Tidemark(ANNA, server.monitor(wait=0))
    yield t
    t.close()


# SDK-7 SDK-8 SDK-12
def test_what_a_page_asks_for_is_stopped_and_the_run_goes_on(tm: Tidemark, world: World, key: str) -> None:
    crew, llm = world.crew(FETCH, MAIL, DONE)
    with tm.turn(key, ASK):
        assert str(crew.kickoff()) == "noon"
    assert world.ran == ["web_fetch"] and any("blocked by security policy" in h for h in llm.heard)


# SDK-6
def test_a_bug_in_the_adapter_lets_nothing_run(tm: Tidemark, world: World, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a bug")

    crew, _ = world.crew(FETCH, DONE)
    with tm.turn(key, ASK):
        monkeypatch.setattr(Session, "decide", bug)
        crew.kickoff()
    assert world.ran == []


def test_without_a_turn_nothing_runs(tm: Tidemark, world: World) -> None:
    crew, _ = world.crew(FETCH, DONE)
    crew.kickoff()
    assert world.ran == []
