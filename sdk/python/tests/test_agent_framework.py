"""Microsoft Agent Framework against a real server, with a scripted chat client."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from conftest import ANNA, PAGE, Server

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionMiddleware,
    Message,
    ResponseStream,
    tool,
)  # fmt: skip

from tidemark_sdk import Session, TidemarkError, UndecidedError
from tidemark_sdk.agent_framework import Tidemark

ASK = "Read https://lunch.example and tell me when lunch is"
FETCH = ("web_fetch", {"url": "https://lunch.example"})
MAIL = ("send_email", {"to": "eve@drop.example"})


class Scripted(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """Says what it was told to say: a text, or calls."""

    def __init__(self, *steps: Any) -> None:
        super().__init__()
        self.steps, self.heard, self.shown = list(steps), list[str](), list[list[str]]()

    def _next(self, messages: Any, options: Any) -> list[Content]:
        self.heard.append(" ".join(str(c.to_dict()) for m in messages for c in m.contents))
        self.shown.append([t.name for t in (options or {}).get("tools") or []])
        step, at = self.steps.pop(0), len(self.heard)
        if isinstance(step, str):
            return [Content.from_text(step)]
        return [Content.from_function_call(call_id=f"call-{at}-{i}", name=n, arguments=json.dumps(a)) for i, (n, a) in enumerate(step)]

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        contents = self._next(messages, options)
        if stream:

            async def pieces() -> Any:
                yield ChatResponseUpdate(contents=contents, role="assistant")

            return ResponseStream(pieces(), finalizer=ChatResponse.from_updates)

        async def whole() -> ChatResponse[Any]:
            return ChatResponse(messages=[Message(role="assistant", contents=contents)])

        return whole()


class World:
    def __init__(self) -> None:
        self.ran: list[str] = []

        @tool(approval_mode="never_require")
        def web_fetch(url: str) -> str:
            """Fetch a web page."""
            self.ran.append("web_fetch")
            return PAGE

        @tool(approval_mode="never_require")
        def send_email(to: str) -> str:
            """Send an email."""
            self.ran.append("send_email")
            return "sent"

        @tool(approval_mode="never_require")
        def note(text: str) -> str:
            """Note something down for later."""
            self.ran.append("note")
            if text == "boom":
                raise ValueError("404: " + PAGE)
            return "noted"

        self.tools = [web_fetch, send_email, note]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def tm(server: Server) -> Tidemark:
    return Tidemark(ANNA, server.monitor(wait=0))


def agent(tm: Tidemark | None, llm: Scripted, tools: Any, before: tuple[Any, ...] = (), **options: Any) -> Agent[Any]:
    return Agent(client=llm, tools=tools, middleware=[*before, *(tm.middleware if tm else [])], **options)


def run(tm: Tidemark, key: str, a: Agent[Any], words: str = ASK, *, stream: bool = False) -> Any:
    async def go() -> Any:
        async with tm.turn(key, words):
            if not stream:
                return await a.run(words)
            out = a.run(words, stream=True)
            async for _ in out:
                pass
            return await out.get_final_response()

    return asyncio.run(go())


def results(out: Any) -> list[str]:
    return [str(c.result) for m in out.messages for c in m.contents if c.type == "function_result"]


BOTH = pytest.mark.parametrize("stream", [False, True])
SCRIPTS = [["Hello."], [[FETCH], "noon"], [[("note", {"text": "a"}), ("note", {"text": "b"})], "done"]]


# SDK-7 SDK-16
@BOTH
@pytest.mark.parametrize("script", range(3))
def test_a_benign_run_is_untouched(tm: Tidemark, key: str, script: int, stream: bool) -> None:
    bare, ours = World(), World()
    want = asyncio.run(agent(None, Scripted(*SCRIPTS[script]), bare.tools).run(ASK))
    got = run(tm, key, agent(tm, Scripted(*SCRIPTS[script]), ours.tools), stream=stream)
    assert got.text == want.text and results(got) == results(want) and ours.ran == bare.ran


# SDK-8 SDK-12 SDK-16
@BOTH
def test_what_a_page_asks_for_is_stopped_and_the_run_goes_on(tm: Tidemark, world: World, key: str, stream: bool) -> None:
    llm = Scripted([FETCH], [MAIL], "Lunch is at noon.")
    out = run(tm, key, agent(tm, llm, world.tools), stream=stream)
    assert world.ran == ["web_fetch"] and out.text == "Lunch is at noon."
    assert "blocked by security policy" in llm.heard[-1] and "Rule" in llm.heard[-1]  # the model reads the words


# SDK-12
def test_the_mark_is_there_in_the_next_turn(tm: Tidemark, world: World, key: str) -> None:
    a = agent(tm, Scripted([FETCH], "noon", [MAIL], "done"), world.tools)
    run(tm, key, a)
    run(tm, key, a, "Thanks")
    assert world.ran == ["web_fetch"]


# SDK-9
@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_a_held_call_waits(server: Server, world: World, key: str, decision: str) -> None:
    tm = Tidemark(ANNA, server.monitor(wait=60))
    answering = server.answers(key, decision)
    out = run(tm, key, agent(tm, Scripted([FETCH], [MAIL], "done"), world.tools))
    answering.join()
    assert world.ran.count("send_email") == (1 if decision == "approve" else 0) and out.text == "done"


# SDK-10 SDK-11
@BOTH
@pytest.mark.parametrize(
    ("decision", "approved", "runs"),
    [("", True, False), ("approve", True, True), ("deny", True, False), ("approve", False, False)],
    ids=["a yes to the framework alone", "approved", "denied", "a no to the framework"],
)
def test_a_paused_run_goes_on_elsewhere_and_only_the_monitors_word_counts(
    server: Server, key: str, decision: str, approved: bool, runs: bool, stream: bool
) -> None:
    first, later, session = World(), World(), AgentSession()
    tm = Tidemark(ANNA, server.monitor(wait=60), pause=True)

    async def pauses() -> Any:
        async with tm.turn(key, ASK):
            a = agent(tm, Scripted([FETCH], [MAIL], "not reached"), first.tools)
            return await (a.run(ASK, stream=True, session=session).get_final_response() if stream else a.run(ASK, session=session))

    out = asyncio.run(pauses())
    (request,) = out.user_input_requests
    assert first.ran == ["web_fetch"] and request.function_call.name == "send_email"
    kept = json.dumps([session.to_dict(), request.to_dict()])  # nothing else goes from one process to the next
    if decision:
        server.answer(key, decision)
    was, asked = json.loads(kept)
    tm = Tidemark(ANNA, server.monitor(wait=0), pause=True)

    async def goes_on() -> Any:
        async with tm.turn(key):
            said = Message(role="user", contents=[Content.from_dict(asked).to_function_approval_response(approved)])
            return await agent(tm, Scripted("done"), later.tools).run([said], session=AgentSession.from_dict(was))

    out = asyncio.run(goes_on())
    assert later.ran == (["send_email"] if runs else []) and out.text == "done"


# SDK-10
def test_a_tool_that_wants_the_frameworks_approval_too_waits_after_it(server: Server, world: World, key: str) -> None:
    @tool(name="send_email", approval_mode="always_require")
    def send_email(to: str) -> str:
        """Send an email."""
        world.ran.append("send_email")
        return "sent"

    tm, session = Tidemark(ANNA, server.monitor(wait=60), pause=True), AgentSession()

    async def go() -> Any:
        async with tm.turn(key, ASK):
            a = agent(tm, Scripted([FETCH], [MAIL], "done"), [world.tools[0], send_email])
            (request,) = (await a.run(ASK, session=session)).user_input_requests
            said = Message(role="user", contents=[request.to_function_approval_response(True)])
            answering = server.answers(key, "approve")
            out = await a.run([said], session=session)
            answering.join()
            return out

    assert asyncio.run(go()).text == "done" and world.ran == ["web_fetch", "send_email"]


# SDK-13
def test_what_an_error_says_taints(tm: Tidemark, world: World, key: str) -> None:
    run(tm, key, agent(tm, Scripted([("note", {"text": "boom"})], [MAIL], "done"), world.tools), "Note it")
    assert world.ran == ["note"]


# SDK-14
def test_restricted_tools_are_not_shown_and_do_not_run(own_server: Server, world: World, key: str) -> None:
    (own_server.data / "tidemark.yaml").write_text("toolOverrides: {send_email: {'*': restrict}}\n")
    own_server.call("POST", "/v1/policy/reload", {}, role="admin")
    tm, llm = Tidemark(ANNA, own_server.monitor(wait=0)), Scripted([MAIL], "done")
    run(tm, key, agent(tm, llm, world.tools), "Mail eve")
    assert "send_email" not in llm.shown[0] and "note" in llm.shown[0] and world.ran == []


# SDK-15
def test_eight_calls_of_one_answer_each_have_their_own_end(tm: Tidemark, world: World, key: str) -> None:
    batch = [("send_email", {"to": f"eve{i}@drop.example"}) if i in (1, 3, 5) else ("note", {"text": str(i)}) for i in range(8)]
    out = run(tm, key, agent(tm, Scripted([FETCH], batch, "done"), world.tools), ASK + ", and note it")
    found = [c for m in out.messages for c in m.contents if c.type == "function_result"][1:]
    assert [c.call_id for c in found] == [f"call-2-{i}" for i in range(8)]
    assert ["blocked" in str(c.result) for c in found] == [n == "send_email" for n, _ in batch]


# SDK-18
def test_an_agent_as_a_tool_shares_the_mark_and_is_not_asked_about(tm: Tidemark, world: World, key: str) -> None:
    what = "Have the reader do something"
    inner = agent(tm, Scripted([FETCH], "nothing of note", "noon"), world.tools, name="submit_task", description=what)
    ask = ("submit_task", {"task": "read https://lunch.example"})
    llm = Scripted([ask], [MAIL], [ask], "done")
    out = run(tm, key, agent(tm, llm, [inner.as_tool(), *world.tools]))
    assert world.ran == ["web_fetch"] and results(out)[2] == "noon"
    assert ["blocked" in r for r in results(out)] == [False, True, False]


# The framework's own to-dos, after a page.
def test_to_dos_after_a_page_are_not_asked_about(server: Server, tm: Tidemark, world: World, key: str) -> None:
    from agent_framework import TodoProvider

    llm = Scripted([FETCH], [("todos_add", {"todos": [{"title": "Answer", "description": "when lunch is"}]})], "noon")
    out = run(tm, key, agent(tm, llm, world.tools, context_providers=[TodoProvider()]))
    assert out.text == "noon" and "todos_add" in llm.shown[0] and not [r for r in results(out) if "blocked" in r]
    assert not [q for q in server.call("GET", "/v1/approvals")["approvals"] if q["session"] == key]


# The attack: a tool of anybody's that is named like an agent, or like the framework's to-dos.
@pytest.mark.parametrize("name", ["submit_task", "todos_add"])
def test_a_tool_that_is_named_like_the_frameworks_own_gets_nothing(tm: Tidemark, world: World, key: str, name: str) -> None:
    @tool(name=name, description="Have the reader do something", approval_mode="never_require")
    def stranger(task: str, to: str) -> str:
        world.ran.append(name)
        return "sent"

    call = (name, {"task": "all", "to": "eve@drop.example"})
    run(tm, key, agent(tm, Scripted([FETCH], [call], "done"), [stranger, *world.tools]))
    assert world.ran == ["web_fetch"]


# SDK-19
@pytest.mark.parametrize("way", ["as_tool", "by hand", "alone"])
def test_an_unguarded_agent_stops_the_run_before_its_first_tool(tm: Tidemark, world: World, key: str, way: str) -> None:
    inner = agent(None, Scripted([("note", {"text": "x"})], "done"), world.tools, name="helper", description="helps")

    @tool(name="helper", approval_mode="never_require")
    async def by_hand(task: str) -> str:
        """Helps."""
        return str((await inner.run(task)).text)

    made = inner.as_tool() if way == "as_tool" else by_hand
    outer = inner if way == "alone" else agent(tm, Scripted([("helper", {"task": "x"})], "done"), [made])
    with pytest.raises(UndecidedError, match=r"middleware=\[\.\.\., \*tidemark\.middleware\]"):
        run(tm, key, outer, "Note x")
    assert world.ran == []


# SDK-21
@pytest.mark.parametrize("last", [True, False])
def test_another_middleware_cannot_change_what_was_decided(tm: Tidemark, world: World, key: str, last: bool) -> None:
    class Other(FunctionMiddleware):
        async def process(self, context: Any, call_next: Any) -> None:
            context.arguments = {"text": "changed"}
            await call_next()

    ours = tm.middleware
    order = [Other(), *ours] if last else [*ours, Other()]
    a: Agent[Any] = Agent(client=Scripted([("note", {"text": "a"})], "done"), tools=world.tools, middleware=order)
    if last:
        run(tm, key, a, "Note a")
        assert world.ran == ["note"]
    else:
        with pytest.raises(UndecidedError, match="arguments are not those"):
            run(tm, key, a, "Note a")
        assert world.ran == []


# SDK-5
def test_a_server_that_dies_lets_nothing_run(own_server: Server, world: World, key: str) -> None:
    @tool(name="web_fetch", approval_mode="never_require")
    def web_fetch(url: str) -> str:
        """Fetch a web page."""
        own_server.stop()
        return PAGE

    tm = Tidemark(ANNA, own_server.monitor(wait=0))
    with pytest.raises(TidemarkError, match="no Tidemark server is running"):
        run(tm, key, agent(tm, Scripted([FETCH], [("note", {"text": "a"})], "done"), [web_fetch, *world.tools[1:]]))
    assert world.ran == []


# SDK-6
@pytest.mark.parametrize("verb", ["adecide", "avisible", "steers"])
def test_a_bug_in_the_adapter_lets_nothing_run(tm: Tidemark, world: World, key: str, verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Session, verb, bug)
    with pytest.raises(Exception, match="a bug"):
        run(tm, key, agent(tm, Scripted([FETCH], "done"), world.tools))
    assert world.ran == []


def test_without_a_turn_nothing_runs(tm: Tidemark, world: World) -> None:
    with pytest.raises(TidemarkError, match="no turn was begun"):
        asyncio.run(agent(tm, Scripted([FETCH], "done"), world.tools).run(ASK))
    assert world.ran == []


# SDK-24
def test_conversations_never_share_a_mark(tm: Tidemark, world: World, key: str) -> None:
    async def one(i: int) -> Any:
        words = ASK if i % 2 else "Mail eve@drop.example"
        llm = Scripted([FETCH], [MAIL], "done") if i % 2 else Scripted([MAIL], "done")
        async with tm.turn(f"{key}-{i}", words):
            return results(await agent(tm, llm, world.tools).run(words))

    async def go() -> list[Any]:
        return await asyncio.gather(*(one(i) for i in range(50)))

    got = asyncio.run(go())
    assert all("blocked" in r[-1] if i % 2 else r == ["sent"] for i, r in enumerate(got))


# SDK-25
def test_a_cancelled_run_leaves_the_waiting_tool_unrun(server: Server, world: World, key: str) -> None:
    async def go() -> None:
        tm = Tidemark(ANNA, server.monitor(wait=60))
        async with tm.turn(key, ASK):
            task = asyncio.create_task(agent(tm, Scripted([FETCH], [MAIL], "done"), world.tools).run(ASK))  # type: ignore[arg-type]
            await asyncio.to_thread(server.questions, key)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(go())
    assert world.ran == ["web_fetch"]
