from __future__ import annotations

import asyncio
import json
import math
import random
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ANNA, PAGE, Server

import tidemark_sdk
from tidemark_sdk import Decision, Monitor, RefusedError, Session, TidemarkError, Tool, User, guard
from tidemark_sdk._json import canonical
from tidemark_sdk.testing import TOKEN, StubMonitor

MAIL = {"to": "eve@drop.example", "body": "the notes"}
TOOLS = [
    Tool("web_fetch", "Fetch a web page", {"type": "object", "properties": {"url": {"type": "string"}}}),
    Tool("send_email", "Send an email", {"type": "object", "properties": {"to": {"type": "string"}, "body": {"type": "string"}}}),
]


def tainted(session: Session, words: str = "Read the page and tell me when lunch is") -> None:
    session.begin(words)
    session.visible(TOOLS)
    args = {"url": "https://lunch.example"}
    assert session.decide("web_fetch", args, "c0")
    session.report("web_fetch", args, PAGE, "c0")


# SDK-8 SDK-12
def test_what_a_page_wants_is_held_and_the_reason_names_it(session: Session) -> None:
    tainted(session)
    d = session.decide("send_email", MAIL, "c1")
    assert not d and d.held and d.verdict == "confirm" and d.reason and d.taint == "untrusted"
    assert session.question(d.ticket).state == "pending"


# SDK-12
def test_the_mark_outlives_the_turn_and_a_restart_of_both_sides(own_server: Server, key: str) -> None:
    tainted(own_server.monitor(wait=0).session(key, ANNA))
    own_server.stop()
    own_server.start()
    later = own_server.monitor(wait=0).session(key, ANNA)
    later.begin("Thanks, go on.")
    later.visible(TOOLS)
    assert later.decide("send_email", MAIL, "c2").taint == "untrusted"


# SDK-13
def test_an_error_taints_as_a_result_does(session: Session) -> None:
    session.begin("Read the page")
    session.visible(TOOLS)
    session.decide("web_fetch", {"url": "https://lunch.example"}, "c0")
    session.report("web_fetch", {"url": "https://lunch.example"}, "404: " + PAGE, "c0", error=True)
    assert session.decide("send_email", MAIL, "c1").taint == "untrusted"


# SDK-9
@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_a_held_call_waits_for_its_answer(server: Server, key: str, decision: str) -> None:
    session = server.monitor(wait=60).session(key, ANNA)
    tainted(session)
    answering = server.answers(key, decision)
    d = session.decide("send_email", MAIL, "c1")
    answering.join()
    assert d.allowed == (decision == "approve")
    assert not session.decide("send_email", MAIL, "c2", wait=0)  # once


# SDK-2
def test_an_approval_holds_for_the_same_arguments_however_they_are_written(server: Server, key: str) -> None:
    session = server.monitor(wait=0).session(key, ANNA)
    tainted(session)
    args: dict[str, Any] = {"to": "eve@drop.example", "body": "é😀", "copies": 3.0, "list": [1, 2.5, {"b": None, "a": True}]}
    assert session.decide("send_email", args, "c1").held
    server.answer(key, "approve")
    again = json.loads(json.dumps(args))
    again = dict(reversed(list(again.items()))) | {"copies": 3}
    assert asyncio.run(session.adecide("send_email", again, "c2"))


# SDK-2
def test_one_value_has_one_spelling() -> None:
    draw = random.Random(7)

    def value(depth: int) -> Any:
        kind = draw.randrange(7 if depth else 5)
        if kind < 5:
            text = draw.choice("aé\u2028😀\n\"\\") * 3
            return [draw.randint(-(10**6), 10**6), draw.uniform(-1e9, 1e9), text, None, draw.random() < 0.5][kind]
        if kind == 5:
            return [value(depth - 1) for _ in range(draw.randrange(4))]
        return {draw.choice("abcé😀\ufb01") + str(i): value(depth - 1) for i in range(draw.randrange(4))}

    def shuffled(v: Any) -> Any:
        if isinstance(v, dict):
            items = [(k, shuffled(x)) for k, x in v.items()]
            draw.shuffle(items)
            return dict(items)
        return [shuffled(x) for x in v] if isinstance(v, list) else v

    for _ in range(500):
        v = value(4)
        text = canonical(v)
        assert canonical(json.loads(text)) == text == canonical(shuffled(v))


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (1.0, "1"), (1e21, "1e+21"), (1e20, "100000000000000000000"), (1e-6, "0.000001"), (1e-7, "1e-7"), (-0.0, "0"), (0.1, "0.1"),
        (5e-324, "5e-324"), (123.5, "123.5"), (-1.5e300, "-1.5e+300"),
    ],
)  # fmt: skip
def test_numbers_are_spelled_as_javascript_spells_them(x: float, text: str) -> None:
    assert canonical(x).decode() == text


def deep(levels: int) -> Any:
    out: Any = {}
    for _ in range(levels):
        out = {"x": out}
    return out


def cycle() -> Any:
    out: dict[str, Any] = {}
    out["me"] = out
    return out


UNSENDABLE = {
    "not a number": {"x": math.nan}, "infinity": {"x": math.inf}, "bytes": {"x": b"x"}, "half a character": {"x": "\ud800"},
    "a key that is half a character": {"\udfff": 1}, "inside itself": cycle(), "201 levels": deep(201), "9 MB": {"x": "a" * 9_000_000},
    "an object": {"x": object()}, "no object": [1], "nothing": None, "a key that is no text": {1: 2},
}  # fmt: skip


# SDK-3
@pytest.mark.parametrize("name", UNSENDABLE)
def test_arguments_that_cannot_be_sent_are_refused(session: Session, name: str) -> None:
    session.begin("Go")
    d = session.decide("anything", UNSENDABLE[name], "c")
    assert not d and "could not decide" in d.reason
    ran: list[Any] = []
    if not isinstance(UNSENDABLE[name], dict):
        return  # as a value it can be sent
    with pytest.raises(RefusedError):
        guard(lambda x: ran.append(x), session, name="note")(UNSENDABLE[name])
    assert ran == []


# SDK-3
@pytest.mark.parametrize("name", UNSENDABLE)
def test_results_are_cut_or_made_text_and_never_left_out(session: Session, name: str) -> None:
    session.begin("Read")
    assert session.decide("web_fetch", {"url": "https://a.example"}, "c")
    session.report("web_fetch", {"url": "https://a.example"}, UNSENDABLE[name], "c")
    assert not session.owes
    assert session.decide("send_email", MAIL, "c1").taint == "untrusted"


FAULTS: dict[str, bytes] = {
    "status 500": b"HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\n{}",
    "status 503": b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\n{}",
    "a redirect": b"HTTP/1.1 307 There\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    "a web page": b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n<html>hi</html>",
    "half an answer": b'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"tidemark"',
    "half a head": b"HTTP/1.1 200",
    "the answer of another hook": b'HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n{"tidemark":{"taint":"owner"}}',
    "a bare yes": b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"block":false}',
    "no HTTP": b"SSH-2.0-OpenSSH_9\r\n",
    "a hang-up": b"",
}


class Relay:
    """Stands before the stub, lets proof and version through and answers hooks with a fault; None is silence."""

    def __init__(self, stub: StubMonitor, fault: bytes | None) -> None:
        self.fault, self.active = fault, False
        handler = stub._server.RequestHandlerClass
        relay = self
        post = handler.do_POST  # type: ignore[attr-defined]

        def do_POST(h: Any) -> None:
            if not relay.active:
                return post(h)
            h.rfile.read(int(h.headers["Content-Length"]))
            if relay.fault is None:
                time.sleep(60)
            h.wfile.write(relay.fault or b"")
            h.close_connection = True
            return None

        handler.do_POST = do_POST  # type: ignore[attr-defined]


# SDK-4
@pytest.mark.parametrize("fault", [*FAULTS, "silence"])
def test_a_faulty_server_lets_nothing_run(fault: str) -> None:
    with StubMonitor() as stub:
        relay = Relay(stub, FAULTS.get(fault))
        m = stub.monitor(wait=0, limit=2)
        session = m.session("s", ANNA)
        session.begin("Go")
        relay.active = True
        d = session.decide("x", {})
        assert not d and "could not decide" in d.reason and len(d.reason) > 60
        d = asyncio.run(session.adecide("x", {}))
        assert not d and "could not decide" in d.reason
        if fault != "the answer of another hook":  # which says nothing there
            with pytest.raises(TidemarkError):
                session.begin("Go on")
        m.close()


# SDK-4
def test_no_server_a_wrong_token_and_a_stranger_on_the_port_are_named(server: Server) -> None:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    assert "no Tidemark server is running" in Monitor(f"http://127.0.0.1:{free}", "x" * 20).session("s", ANNA).decide("x", {}).reason
    assert "could not show" in Monitor(server.url, "wrong-token-0123456789").session("s", ANNA).decide("x", {}).reason
    assert "use https" in Monitor("http://192.0.2.1:80", "x" * 20).session("s", ANNA).decide("x", {}).reason


def test_nothing_is_told_to_a_stranger_on_the_port() -> None:
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def stranger() -> None:
            conn, _ = listener.accept()
            heard.append(conn.recv(65536))
            conn.sendall(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
            heard.append(conn.recv(65536))
            conn.close()

        t = threading.Thread(target=stranger)
        t.start()
        d = Monitor(f"http://127.0.0.1:{listener.getsockname()[1]}", TOKEN).session("s", ANNA).decide("x", {"secret": "hush"})
        t.join()
    assert not d and TOKEN.encode() not in b"".join(heard) and b"hush" not in b"".join(heard)


# SDK-5
def test_a_lost_report_blocks_the_next_call_until_it_is_made_up(own_server: Server, key: str) -> None:
    m = own_server.monitor(wait=0)
    session = m.session(key, ANNA)
    session.begin("Read the page, then mail me")
    session.visible(TOOLS)
    assert session.decide("web_fetch", {"url": "https://a.example"}, "c0")
    own_server.stop()
    session.report("web_fetch", {"url": "https://a.example"}, PAGE, "c0")
    assert session.owes
    d = session.decide("read", {"path": "a"}, "c1")
    assert not d and "no Tidemark server is running" in d.reason
    own_server.start()
    m._url = own_server.url
    assert session.decide("send_email", MAIL, "c2").taint == "untrusted"
    assert not session.owes


# SDK-25
def test_cancelling_a_waiting_call_leaves_nothing_behind(server: Server, key: str) -> None:
    async def go() -> None:
        m = server.monitor(wait=60)
        session = m.session(key, ANNA)
        await asyncio.to_thread(tainted, session)
        task = asyncio.create_task(session.adecide("send_email", MAIL, "c1"))
        await asyncio.to_thread(server.questions, key)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await m.aclose()

    asyncio.run(go())


# SDK-26
def test_sixty_held_calls_delay_nobody(server: Server, key: str) -> None:
    async def go() -> None:
        m = server.monitor(wait=60)
        session, other = m.session(key, ANNA), m.session(key + "-other", ANNA)
        await asyncio.to_thread(tainted, session)
        held = [asyncio.create_task(session.adecide("send_email", {"to": f"eve{i}@drop.example"}, f"c{i}")) for i in range(60)]
        await asyncio.to_thread(server.questions, key, 60)
        await other.abegin("Go")
        assert await other.adecide("read", {"path": "a"}, "c")
        assert not any(t.done() for t in held)
        for t in held:
            t.cancel()
        await asyncio.gather(*held, return_exceptions=True)
        await m.aclose()

    asyncio.run(go())


# SDK-18
def test_a_child_starts_with_its_parents_mark_and_brings_its_own_back(server: Server, key: str) -> None:
    m = server.monitor(wait=0)
    parent = m.session(key, ANNA)
    tainted(parent)
    with parent.inside("c1"):
        child = m.session("ignored", ANNA)
        child.begin("model's words")
        assert child.parent == key and child.decide("send_email", MAIL, "x").taint == "untrusted"
    for reads, mark in [(False, "local"), (True, "untrusted")]:
        clean = m.session(f"{key}-{reads}", ANNA)
        clean.begin("Have a look at https://lunch.example")
        assert clean.decide("read", {"path": "a"}, "c1")  # whose own result is of this machine
        with clean.inside("c1"):
            child = m.session("ignored", ANNA)
            child.begin("look")
            if reads:
                child.report("web_fetch", {"url": "https://lunch.example"}, PAGE, "x")
        clean.report("read", {"path": "a"}, "all fine", "c1")
        assert clean.decide("read", {"path": "b"}, "c2").taint == mark


# SDK-24
def test_conversations_never_share_a_mark(server: Server, key: str) -> None:
    m = server.monitor(wait=0)

    async def one(i: int) -> str:
        s = m.session(f"{key}-{i}", ANNA)
        await s.abegin("Read the page")
        await s.avisible(TOOLS)
        if i % 2:
            await s.adecide("web_fetch", {"url": "https://a.example"}, "c0")
            await s.areport("web_fetch", {"url": "https://a.example"}, PAGE, "c0")
        return (await s.adecide("read", {"path": "a"}, "c1")).taint

    async def go() -> list[str]:
        out = await asyncio.gather(*(one(i) for i in range(50)))
        await m.aclose()
        return out

    assert asyncio.run(go()) == ["owner", "untrusted"] * 25


# SDK-24
def test_a_conversation_without_a_name_is_a_session_of_its_own_and_warned_of(server: Server) -> None:
    with pytest.warns(UserWarning, match="thread id"):
        a = server.monitor().session(None, ANNA)
    with pytest.warns(UserWarning, match="thread id"):
        b = server.monitor().session(None, ANNA)
    assert a.key != b.key


def test_who_the_user_is_must_be_said(server: Server, key: str) -> None:
    with pytest.raises(TidemarkError, match="who the user is"):
        server.monitor().session(key, None).begin("hi")
    stranger = server.monitor(wait=0).session(key, User.unknown())
    stranger.begin("hi")
    assert stranger.decide("send_email", MAIL, "c").taint == "untrusted"


# SDK-17
def test_guarded_functions_sync_and_async(session: Session) -> None:
    def add(a: int, b: int = 2) -> int:
        return a + b

    async def later(a: int) -> int:
        return a

    session.begin("Add one and two")
    assert guard(add, session)(1) == 3
    assert asyncio.run(guard(later, lambda: session)(5)) == 5
    with pytest.raises(ZeroDivisionError):
        guard(lambda: 1 // 0, session, name="divide")()
    assert not session.owes


def test_the_server_must_speak_our_api(monkeypatch: pytest.MonkeyPatch) -> None:
    import tidemark_sdk.testing as testing

    for api, words in [((2, 0), "too new"), ((1, 0), "too old")]:
        monkeypatch.setattr(testing, "API", api)
        with StubMonitor() as stub:
            d = stub.monitor().session("s", ANNA).decide("x", {})
            assert not d and words in d.reason and "update" in d.reason


@pytest.mark.parametrize(("own", "verdict"), [([], "confirm"), (["write_file"], "allow")])
def test_which_tools_are_the_hosts_own_is_the_applications_word(server: Server, key: str, own: list[str], verdict: str) -> None:
    s = server.monitor(wait=0, host_tools=own).session(key, ANNA)
    tainted(s)
    assert s.decide("write_file", {"path": "notes.txt", "content": "lunch at noon"}, "c1").verdict == verdict


def test_every_hook_says_which_tools_are_the_hosts_own() -> None:
    for own in ([], ["exec", "read"]):
        with StubMonitor() as stub:
            s = stub.monitor(host_tools=own).session("s", ANNA)
            s.begin("Go")
            s.decide("exec", {"command": "ls"}, "c1")
            s.report("exec", {"command": "ls"}, "a", "c1")
            s.child().begin("look")
            heard = [*stub.begun, *stub.asked, *stub.told]
            assert [h["ctx"]["hostTools"] for h in heard] == [own] * 4
    with pytest.raises(TypeError, match="list of names"):
        Monitor(host_tools="exec")


def test_every_hook_says_which_tools_steer_the_framework() -> None:
    with StubMonitor() as stub:
        s = stub.monitor(control_tools=["write_todos"]).session("s", ANNA)
        s.control_tools = ("Plan", "write_todos")  # as an adapter knows them
        s.begin("Hello")
        s.decide("read", {}, "c1")
        heard = [*stub.begun, *stub.asked]
        assert heard
        assert all(h["ctx"]["controlTools"] == ["write_todos", "Plan"] for h in heard)


def test_a_tool_of_the_frameworks_name_is_an_ordinary_one_again() -> None:
    with StubMonitor() as stub:
        s = stub.monitor().session("s", ANNA)
        s.begin("Hello")
        for own in (True, True, False):
            s.steers("write_todos", own)
            s.decide("write_todos", {}, "c1")
        s.steers("send_email", False)
        s.decide("send_email", {}, "c2")
        said = [h["ctx"].get("controlTools") for h in (*stub.begun, *stub.asked)]
        assert said == [None, ["write_todos"], ["write_todos"], [], []]
        s.steers("write_todos", True)  # nor is it the framework's later: a call of the other may be under way
        s.decide("write_todos", {}, "c3")
        assert stub.asked[-1]["ctx"]["controlTools"] == []


def test_a_tool_that_works_here_is_told_unless_another_has_its_name() -> None:
    with StubMonitor() as stub:
        s = stub.monitor(host_tools=["exec"]).session("s", ANNA)
        s.begin("Hello")
        for own in (True, True, False, True):
            s.works_here("write_file", own)
            s.decide("write_file", {}, "c1")
        said = [h["ctx"]["hostTools"] for h in stub.asked]
        assert said == [["exec", "write_file"], ["exec", "write_file"], ["exec"], ["exec"]]


# SDK-9
def test_that_nobody_answered_in_time_is_told(server: Server, key: str) -> None:
    s = server.monitor(wait=1).session(key, ANNA)
    tainted(s)
    d = s.decide("send_email", MAIL, "c1")
    assert d.held and d.timed_out and not d
    assert not s.decide("send_email", MAIL, "c2", wait=0).timed_out  # nobody waited


def test_a_refusal_may_be_the_result(session: Session) -> None:
    ran: list[str] = []

    def send_email(to: str) -> str:
        ran.append(to)
        return "sent"

    async def asend_email(to: str) -> str:
        ran.append(to)
        return "sent"

    tainted(session)
    told = guard(send_email, session, refused="return")
    later = guard(asend_email, session, name="send_email", refused="return")
    assert "blocked by security policy" in told("eve@drop.example")
    assert "blocked by security policy" in asyncio.run(later("eve@drop.example"))
    assert ran == []
    with pytest.raises(ValueError):
        guard(send_email, session, refused="words")  # type: ignore[arg-type]


def test_the_wrong_token_says_what_to_do(server: Server) -> None:
    why = Monitor(server.url, "wrong-token-0123456789").session("s", ANNA).decide("x", {}).reason
    assert "tidemark token agent" in why and "TIDEMARK_TOKEN" in why


def test_a_user_that_is_none_is_told_how_one_is_written(server: Server) -> None:
    for wrong in ({"channel": "web", "id": "anna", "owner": True}, "anna"):
        with pytest.raises(TypeError, match=r"give User\(channel, id, owner\)"):
            server.monitor().session("t", wrong)  # pyright: ignore[reportArgumentType]


def test_an_address_without_a_token_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    monkeypatch.delenv("TIDEMARK_TOKEN", raising=False)
    why = Monitor("http://127.0.0.1:9").session("s", ANNA).decide("x", {}).reason
    assert "there is no token for http://127.0.0.1:9" in why and "tidemark token agent" in why


# SDK-10: a run that goes on in another process ends there, and cannot seal the turn.
def test_a_process_that_did_not_begin_the_session_ends_without_sealing(server: Server, key: str) -> None:
    first = server.monitor(wait=0).session(key, ANNA)
    first.begin("Hello")
    with pytest.warns(UserWarning, match="the turn stays open"):
        server.monitor(wait=0).known(key).end("done")
    first.end("done")


# SDK-29
def test_the_oldest_versions_that_are_promised_are_those_that_are_tried() -> None:
    here = Path(__file__).parents[1]
    promised = set(re.findall(r'"([a-z0-9-]+)>=([0-9.]+),', (here / "pyproject.toml").read_text()))
    lines = (here / "locks" / "oldest.txt").read_text().splitlines()
    assert promised == {tuple(line.split()[1].split("==")) for line in lines if not line.startswith("#")}


# SDK-28
def test_importing_brings_neither_frameworks_nor_the_network() -> None:
    code = "import sys, tidemark_sdk; print(' '.join(sorted({m.partition('.')[0] for m in sys.modules})))"
    loaded = set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())
    assert not loaded & {"asyncio", "ssl", "socket", "http", "httpx", "httpx2", "pydantic", "langchain", "langchain_core", "agents"}
    # And none of what is slow to import, in an interpreter that brings nothing along.
    where = str(Path(tidemark_sdk.__file__).parents[1])
    code = f"import sys; sys.path.insert(0, {where!r}); import tidemark_sdk; print(' '.join(sys.modules))"
    loaded = set(subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, capture_output=True, text=True).stdout.split())
    assert not loaded & {"typing", "dataclasses", "inspect", "json", "pathlib", "uuid", "urllib.parse", "ipaddress", "contextlib"}


# What is tried is the package as others get it: the wheel, with all that a registry shows of it.
def test_the_installed_package_is_whole() -> None:
    from importlib import metadata

    here = Path(__file__).parents[1]
    assert here not in Path(tidemark_sdk.__file__).parents, "the tree is tried, and not the wheel"
    of, files = metadata.metadata("tidemark-sdk"), [str(f) for f in metadata.files("tidemark-sdk") or []]
    assert of["Version"] == tidemark_sdk.__version__ and of["License-Expression"] == "Apache-2.0" and of["Author"] and of["Keywords"]
    assert {u.split(",")[0] for u in of.get_all("Project-URL", [])} >= {"Homepage", "Documentation", "Repository", "Issues", "Changelog"}
    (licence,) = [f for f in metadata.files("tidemark-sdk") or [] if f.name == "LICENSE"]
    assert licence.read_text() == (here.parents[1] / "LICENSE").read_text()
    assert "tidemark_sdk/py.typed" in files and not [f for f in files if "test_" in f]
    modules = {p.name for p in (here / "src" / "tidemark_sdk").glob("*.py")}
    assert {f.split("/")[-1] for f in files if f.startswith("tidemark_sdk/") and f.endswith(".py")} == modules
    text = str(of.get_payload())
    assert "](.." not in text and "](docs/" not in text  # such links are dead outside the tree


def test_values_are_equal_by_their_parts_and_not_to_be_changed() -> None:
    import copy
    import pickle

    one = Decision(True, "", "allow", "r")
    assert one == Decision(allowed=True, reason="", verdict="allow", rule="r") != Decision() and hash(one) == hash(copy.copy(one))
    assert pickle.loads(pickle.dumps(one)) == one and repr(User("web", "anna", owner=True)) == "User(channel='web', id='anna', owner=True)"
    with pytest.raises(AttributeError):
        one.allowed = False  # type: ignore[misc]
    with pytest.raises(TypeError):
        User("web", "anna")  # type: ignore[call-arg]


def test_discovery_reads_what_the_server_left(own_server: Server, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(own_server.data))
    s = Monitor(wait=0).session(key, ANNA)
    s.begin("Read a")
    assert s.decide("read", {"path": "a"}, "c")
    (own_server.data / "tokens.json").chmod(0o644)
    assert "open to others" in s.decide("read", {"path": "a"}, "c").reason


# SDK-28
def test_the_code_of_the_readme_runs(own_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(own_server.data))
    text = (Path(__file__).parents[1] / "README.md").read_text()
    code = "\n".join(line[4:] for line in text.splitlines() if line.startswith("    ") or not line)
    scope: dict[str, Any] = {}
    exec(code, scope)
    assert scope["decision"].allowed, scope["decision"].reason


# The owner's words in a conversation that another process began count for nobody: whoever runs the program is told, also where an adapter
# hands on nothing of what `begin` returns.
def test_words_that_count_for_nobody_are_told(server: Server, key: str) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        server.monitor().session(key, ANNA).begin("Note a")
    with pytest.warns(UserWarning, match="takes these words for nobody's"):
        server.monitor().session(key, ANNA).begin("Note b")
