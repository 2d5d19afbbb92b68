"""A conversation with the monitor: who speaks, what the model may see, which calls may run, what came back.

Every verb has two forms: `decide` for threads and `adecide` for tasks. Both run the same steps, which are written once as
generators that yield requests.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping
from contextvars import ContextVar

from ._errors import RefusedError, TidemarkError, UndecidedError
from ._http import Answer, Request
from ._json import MAX_BODY, UnsendableError, canonical, cut, sendable, text_of, whole
from ._light import Value, cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterable
    from contextvars import Token
    from typing import Any, TypeVar

    from .monitor import Monitor

    T = TypeVar("T")
    R = TypeVar("R")
    Came = Callable[[R], tuple[Any, bool]]
    Steps = Generator["Request | Look", Answer, T]

PIECE = 30  # seconds of one request that waits: a server that is gone is noticed, and the question is the same


class User(Value):
    """Who speaks to the agent. The application says it, because nothing else can know: there is no default.

    owner is whether this person's words are what the agent is to do. `User.unknown()` is for text whose author nobody knows.
    """

    __slots__ = ("channel", "id", "owner")
    channel: str
    id: str
    owner: bool

    def __init__(self, channel: str, id: str, owner: bool) -> None:
        self._set(channel, id, owner)

    @staticmethod
    def unknown() -> User:
        return User("", "", False)

    def _context(self) -> dict[str, Any]:
        if not self.channel:
            return {"senderMetadata": False}
        return {"messageProvider": self.channel, "senderId": self.id, "senderIsOwner": self.owner}


def who(user: User | Callable[[Any], User], context: Any) -> User:
    """Who speaks in a run, where the application gave the user or a function of the run's context."""
    return a_user(user(context) if callable(user) else user)


def a_user(said: Any) -> User:
    if not isinstance(said, User):
        raise TypeError(f"the user is a {type(said).__name__}: give User(channel, id, owner)")
    return said


class Tool(Value):
    """A tool as the model is told of it: what it does is worked out from this."""

    __slots__ = ("name", "description", "parameters")  # noqa: RUF023
    name: str
    description: str
    parameters: Mapping[str, Any] | None

    def __init__(self, name: str, description: str = "", parameters: Mapping[str, Any] | None = None) -> None:
        self._set(name, description, parameters)

    def _wire(self) -> dict[str, Any]:
        out: dict[str, Any] = {"name": self.name, "description": whole(self.description)}
        if self.parameters is not None:
            out["parameters"] = sendable(self.parameters)
        return out


class Decision(Value):
    """What became of one call. It is a yes only where the monitor said yes."""

    __slots__ = ("allowed", "reason", "verdict", "rule", "taint", "ticket", "question", "timed_out", "args")  # noqa: RUF023
    allowed: bool
    reason: str
    verdict: str
    rule: str
    taint: str
    ticket: str  # of a call that is held: Session.question asks what became of it
    question: str  # the same in words, for the owner and not for the model
    timed_out: bool
    args: Mapping[str, Any] | None  # what to run instead, where a plugin of the server changed it

    def __init__(
        self, allowed: bool = False, reason: str = "Tidemark was not asked, so nothing may run.", verdict: str = "deny", rule: str = "",
        taint: str = "", ticket: str = "", question: str = "", timed_out: bool = False, args: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._set(allowed, reason, verdict, rule, taint, ticket, question, timed_out, args)

    def __bool__(self) -> bool:
        return self.allowed

    @property
    def held(self) -> bool:
        return bool(self.ticket)

    def late(self) -> Decision:
        """The same of a held call for which as long was waited as was to be, and nobody answered."""
        return Decision(self.allowed, self.reason, self.verdict, self.rule, self.taint, self.ticket, self.question, True, self.args)

    def check(self) -> None:
        """Raise RefusedError unless the call may run."""
        if not self.allowed:
            raise RefusedError(self)


class View(Value):
    """What the model may see now."""

    __slots__ = ("hidden", "blocked", "notice")  # noqa: RUF023
    hidden: frozenset[str]
    blocked: str  # why the turn must not go on; "" where it may
    notice: str  # for the system prompt, where the policy wants the model told

    def __init__(self, hidden: frozenset[str] = frozenset(), blocked: str = "", notice: str = "") -> None:
        self._set(hidden, blocked, notice)


class Question(Value):
    __slots__ = ("state", "note", "abandoned")  # noqa: RUF023
    state: str  # pending, approved, denied, expired, spent, dead, moot, lost
    note: str
    abandoned: bool

    def __init__(self, state: str, note: str = "", abandoned: bool = False) -> None:
        self._set(state, note, abandoned)


class _Running:
    """A call that runs, and the sessions that were begun inside it."""

    def __init__(self, session: Session, call_id: str, args: Any, tool: str = "") -> None:
        self.session, self.call_id, self.args, self.tool = session, call_id, args, tool
        self.children: list[str] = []
        self.started = False
        self.broke: UndecidedError | None = None  # what a net raised inside
        self._token: Token[_Running | None] | None = None

    def __enter__(self) -> _Running:
        self._token = _running.set(self)
        return self

    def __exit__(self, *failed: object) -> None:
        if self._token is not None:
            _running.reset(self._token)
        if self.children:
            self.session.began(self.call_id, self.children)


_running: ContextVar[_Running | None] = ContextVar("tidemark_running", default=None)


def inside() -> bool:
    """Whether a guarded call runs here."""
    return _running.get() is not None


def kept_here() -> _Running:
    """The call whose result is to be kept from the model."""
    r = _running.get()
    if r is None or not r.tool:
        raise TidemarkError("a tool whose results are kept from the model runs inside a guarded agent only")
    return r


def unasked(why: str) -> UndecidedError:
    """What a net raises. Frameworks make words for the model of what a tool raises: the guarded call that it was inside raises it again,
    so that the run stops."""
    e = UndecidedError(why)
    if (r := _running.get()) is not None:
        r.broke = e
    return e


def undecided(call_id: str, args: Any) -> str:
    """For a net below the tools of a framework: why a tool that is about to run here must not, "" where it may.

    Only the call that was decided may start here, once, with the arguments that were decided. Outside of guarded calls the net
    knows nothing.
    """
    r = _running.get()
    if r is None:
        return ""
    if r.call_id != call_id or r.started:
        return "nobody asked Tidemark about it"
    r.started = True
    try:
        same = canonical(args) == canonical(r.args)
    except UnsendableError:
        same = False
    return "" if same else "its arguments are not those Tidemark was asked about"


class Look:
    """A function of the application's that is called between two requests."""

    def __init__(self, function: Callable[..., Any], params: Mapping[str, Any]) -> None:
        self.function, self.params = function, params
        self.result: Any = None
        self.failed = True

    def run(self) -> Answer:
        try:
            out = self.function(**self.params)
            if hasattr(out, "__await__"):
                out.close()
                raise TypeError("it is asynchronous, and the session is not")
        except Exception as e:
            return self._came(f"{type(e).__name__}: {text_of(e)}", True)
        return self._came(out, False)

    async def arun(self) -> Answer:
        try:
            out = self.function(**self.params)
            if hasattr(out, "__await__"):
                out = await out
        except Exception as e:
            return self._came(f"{type(e).__name__}: {text_of(e)}", True)
        return self._came(out, False)

    def _came(self, result: Any, failed: bool) -> Answer:
        self.result, self.failed = result, failed
        return Answer(200, b"{}")


class Session:
    """One conversation. Made by `Monitor.session`."""

    def __init__(self, monitor: Monitor, key: str, user: User | None, parent: str = "") -> None:
        self.monitor, self.key, self.user, self.parent = monitor, key, user, parent
        self.control_tools: tuple[str, ...] = ()  # of the framework itself, as its adapter knows them; beside those of the monitor
        self.host_tools: tuple[str, ...] = ()  # of the program that the framework is: they work where it runs; beside those of the monitor
        self._steered = False  # an adapter has said so of a tool: then it is also said that none is left
        self._plain: tuple[str, ...] = ()  # of the control tools, those whose results nobody writes but the framework
        self._strange: tuple[set[str], set[str], set[str]] = (set(), set(), set())  # names of tools that are not so, for each of the three
        self._lock = threading.Lock()
        self._owed: list[bytes] = []
        self._children: dict[str, list[str]] = {}
        self._ticket = monitor.own_ticket(key)  # that the session is ours; in memory and nowhere else
        self._foreign = ""  # why nothing may run here: somebody else's words may be what the session is judged by

    def steers(self, name: str, own: bool, plain: bool = False) -> None:
        """Whether the tool that is offered or about to be called by this name is the framework's own, by which it steers itself. Adapters
        tell by what the tool is, never by its name. The server is told names: one that another tool has too is an ordinary one, for as
        long as the session lives, so that no call can pass under the word for another that runs beside it.

        plain says that nobody but the framework writes a part of what the tool returns: a list of to-dos, a hand-off. What another agent,
        a person or a task in the background says comes through tools that steer, too, and is not plain."""
        with self._lock:
            self._plain = _declared(self._plain, self._strange[2], name, own and plain)
            before = self.control_tools
            self.control_tools = _declared(before, self._strange[0], name, own)
            self._steered = self._steered or before != self.control_tools

    def works_here(self, name: str, own: bool) -> None:
        """Whether the tool of this name is the framework's own and works where the program runs (its files), told in the same way."""
        with self._lock:
            self.host_tools = _declared(self.host_tools, self._strange[1], name, own)

    # The user speaks.

    def begin(self, words: str) -> str:
        """Begin a turn with the user's own words. Returns what the user is to be told, if anything."""
        return self.monitor.run(self._begin(words))

    async def abegin(self, words: str) -> str:
        return await self.monitor.arun(self._begin(words))

    def _begin(self, words: str) -> Steps[str]:
        yield from self._settle()
        ctx = self._ctx()
        if self.parent:
            ctx["spawnedBy"] = self.parent
        elif self.user is not None:
            ctx.update(self.user._context())  # pyright: ignore[reportPrivateUsage]
        else:
            raise TidemarkError("nobody said who the user is: give User(channel, id, owner)")
        event = {"content": whole(words), "from": ctx.get("senderId", ""), "senderId": ctx.get("senderId", "")}
        note = _note((yield self._hook("message_received", event, ctx)))
        return str(self._greeted(note) or note.get("notice") or "")

    def _greeted(self, note: Mapping[str, Any]) -> str:
        """Keep the ticket of a session that begins. Returns what the user is to be told where their words do not count."""
        hello = note.get("hello")
        if not isinstance(hello, Mapping):
            return ""  # a server from before there were tickets
        hello = cast("Mapping[str, Any]", hello)
        if ticket := hello.get("ticket"):
            if self._ticket not in ("", str(ticket)):
                why = "this Tidemark server draws tickets itself, so the session ends with this process: update the server"
                warnings.warn(why, stacklevel=2)
            self._ticket = str(ticket)
        if hello.get("proof") != "none" or self.parent:
            return ""
        if self.monitor.own_ticket(self.key):
            # Whoever has our secret begins all of our sessions: this one was begun by others, and what they said is what it is judged by.
            self._foreign = (
                f"the conversation {self.key!r} was not begun with this program's secret (by others, before there was one, or with an "
                "older one), or something ran in it before the user's first words: begin a new one"
            )
            raise TidemarkError(self._foreign)
        told = f"Tidemark takes these words for nobody's: {hello.get('why') or 'they were not proven'}"
        if self.user is not None and self.user.owner:
            # Adapters hand on nothing of what `begin` returns, and every question would seem untrue.
            warnings.warn(f"{told} (or, where this program began it and was started again: Monitor(secret=...))", stacklevel=2)
        return told

    # The model is about to be asked.

    def visible(self, tools: Iterable[Tool], model: str = "") -> View:
        """Which tools the model may not see now, and whether the turn may go on."""
        return self.monitor.run(self._visible(tools, model))

    async def avisible(self, tools: Iterable[Tool], model: str = "") -> View:
        return await self.monitor.arun(self._visible(tools, model))

    def _visible(self, tools: Iterable[Tool], model: str) -> Steps[View]:
        yield from self._settle()
        event: dict[str, Any] = {"messages": [], "systemPrompt": "", "model": model, "iteration": 0, "sessionKey": self.key}
        event["tools"] = [t._wire() for t in tools]  # pyright: ignore[reportPrivateUsage]
        event["hostTools"] = self._host()
        answer = _object((yield self._hook("before_llm_call", event, self._ctx())))
        note = _member(answer)
        if answer.get("block"):
            return View(blocked=str(answer.get("blockReason") or "Tidemark has ended this turn."))
        hidden = cast("list[Any]", note.get("hidden") or [])
        return View(frozenset(map(str, hidden)), "", str(note.get("notice") or ""))

    # A tool is about to run.

    def decide(self, tool: str, args: Any, call_id: str = "", *, wait: float | None = None, changeable: bool = False) -> Decision:
        """May this exact call run? Never raises: what cannot be decided is a no, with its cause.

        wait is how many seconds a held call waits for a person; changeable says that the caller runs `Decision.args` where there
        are any.
        """
        try:
            return self.monitor.run(self._decide(tool, args, call_id, wait, changeable))
        except Exception as e:
            return _undecided(e)

    async def adecide(self, tool: str, args: Any, call_id: str = "", *, wait: float | None = None, changeable: bool = False) -> Decision:
        try:
            return await self.monitor.arun(self._decide(tool, args, call_id, wait, changeable))
        except Exception as e:
            return _undecided(e)

    def _decide(self, tool: str, args: Any, call_id: str, wait: float | None, changeable: bool) -> Steps[Decision]:
        if not isinstance(args, Mapping):
            raise UnsendableError(f"the arguments are {type(args).__name__} and no object")
        if self._foreign:
            raise TidemarkError(self._foreign)
        yield from self._settle()
        left = int(self.monitor.wait if wait is None else wait)
        event: dict[str, Any] = {"toolName": tool, "params": args, "toolCallId": call_id}
        looks = bool(self.monitor.lookups)
        while True:
            piece = max(0, min(left, PIECE))
            ctx = self._ctx() | ({"wait": piece} if piece else {}) | ({"looks": True} if looks else {})
            answer = _object((yield self._hook("before_tool_call", event, ctx, piece)))
            if looks and (wanted := _member(answer).get("lookUps")):
                yield from self._look_up(cast("list[Any]", wanted))
                looks = False
                continue
            d = _decision(answer)
            left -= piece
            if d.held and left > 0:
                continue
            if d.held and piece:
                return d.late()
            if d.args is not None and not changeable:
                return Decision(reason="Tidemark: a plugin changed the parameters of this call, which cannot be carried out here.")
            return d

    def _look_up(self, wanted: list[Any]) -> Steps[None]:
        """Make the calls that the monitor wants made itself. No model is shown what they bring."""
        for each in wanted:
            call = _fields(each) or {}
            name, params = str(call.get("tool")), _fields(call.get("params")) or {}
            function = self.monitor.lookups.get(name)
            result, error = "there is no such function here", True
            if function is not None:
                look = Look(function, params)
                yield look
                result, error = look.result, look.failed
            self._owe(name, params, result, str(call.get("id")), error)
        yield from self._settle()

    # A tool has answered.

    def report(self, tool: str, args: Any, result: Any, call_id: str = "", *, error: bool = False) -> None:
        """Tell what came back, an error too. What cannot be told now is owed: no call is let through before it is."""
        self._owe(tool, args, result, call_id, error)
        try:
            self.monitor.run(self._settle())
        except TidemarkError:
            return

    async def areport(self, tool: str, args: Any, result: Any, call_id: str = "", *, error: bool = False) -> None:
        self._owe(tool, args, result, call_id, error)
        try:
            await self.monitor.arun(self._settle())
        except TidemarkError:
            return

    def _owe(self, tool: str, args: Any, result: Any, call_id: str, error: bool) -> None:
        children = self._children.pop(call_id, [])
        for child in children or [""]:
            event: dict[str, Any] = {"toolName": tool, "toolCallId": call_id}
            if tool in self._plain and tool in self.control_tools and not child and not error:
                event["own"] = True
            event["params"] = args if isinstance(args, Mapping) and sendable(args) is args else {}
            value = sendable(result)
            body = self._body(event, value, error, child)
            if len(body) > MAX_BODY:
                body = self._body(event, cut(value), error, child)
            if len(body) > MAX_BODY:
                body = self._body(event | {"params": {}}, cut(value), error, child)
            with self._lock:
                self._owed.append(body)

    def _body(self, event: dict[str, Any], value: Any, error: bool, child: str) -> bytes:
        if child:
            value = {"content": value, "childSessionKey": child}
        came = {"error": value or "the call failed"} if error and isinstance(value, str) else {"result": value}
        return canonical({"event": event | came, "ctx": self._ctx()})

    @property
    def owes(self) -> bool:
        """Whether a result was not told yet."""
        return bool(self._owed)

    def _settle(self) -> Steps[None]:
        while True:
            with self._lock:
                if not self._owed:
                    return
                body = self._owed[0]
            answer = yield Request("POST", "/v1/hooks/after_tool_call", body, self.monitor.limit)
            if answer.status != 409:  # the turn is sealed: the result was recorded all the same
                try:
                    _note(answer)
                except TidemarkError as e:
                    raise TidemarkError(f"the result of an earlier call could not be reported: {e}") from None
            with self._lock:
                if body in self._owed:
                    self._owed.remove(body)

    # Results that are kept from the model.

    def keep(self, tool: str, args: Any, result: Any, call_id: str) -> str:
        """Have a result of a call that was decided kept from the model. Returns what to show instead, which names its handle; where the
        server keeps nothing, the result itself, which is told like any other."""
        return self.monitor.run(self._keep(tool, args, result, call_id))

    async def akeep(self, tool: str, args: Any, result: Any, call_id: str) -> str:
        return await self.monitor.arun(self._keep(tool, args, result, call_id))

    def _keep(self, tool: str, args: Any, result: Any, call_id: str) -> Steps[str]:
        yield from self._settle()
        event = {"toolName": tool, "toolCallId": call_id, "params": args, "hold": True, "result": sendable(result)}
        note = _note((yield self._hook("after_tool_call", event, self._ctx())))
        held = _fields(note.get("held"))
        return str(held.get("shown")) if held else result

    def extract(self, handle: str, kind: Any, question: str = "") -> Any:
        """Have a value read out of what is kept, as a Pydantic model or any other type of a closed shape (`keeping.shape_of`)."""
        return self.monitor.run(self._extract(handle, kind, question))

    async def aextract(self, handle: str, kind: Any, question: str = "") -> Any:
        return await self.monitor.arun(self._extract(handle, kind, question))

    def _extract(self, handle: str, kind: Any, question: str) -> Steps[Any]:
        import json

        from .keeping import shape_of, value_of  # whoever extracts nothing does not pay for it

        params = {"handle": handle, "question": question, "shape": shape_of(kind)}
        return value_of(kind, json.loads((yield from self._own("tidemark_extract", params))))

    def show(self, handle: str) -> str:
        """What is kept, whole. The model has read it from then on."""
        return self.monitor.run(self._own("tidemark_show", {"handle": handle}))

    async def ashow(self, handle: str) -> str:
        return await self.monitor.arun(self._own("tidemark_show", {"handle": handle}))

    def _own(self, tool: str, params: dict[str, Any]) -> Steps[str]:
        yield from self._settle()
        note = _note((yield self._hook("before_tool_call", {"toolName": tool, "params": params}, self._ctx())))
        answer = _fields(note.get("answer"))
        if answer is None:
            raise TidemarkError("this server keeps nothing from models: update it")
        if answer.get("failed"):
            raise TidemarkError(str(answer.get("text")))
        return str(answer.get("text"))

    # The turn is over.

    def end(self, content: str = "") -> None:
        """Seal the turn with the agent's answer. Raises RefusedError where a plugin of the server holds the answer back."""
        self.monitor.run(self._end(content))

    async def aend(self, content: str = "") -> None:
        await self.monitor.arun(self._end(content))

    def _end(self, content: str) -> Steps[None]:
        yield from self._settle()
        event = {"content": whole(content), "sessionKey": self.key}
        came = yield self._hook("before_response_emit", event, self._ctx())
        if came.status == 403 and not self._ticket and b"problem:ticket" in came.body:
            # The process that began the session alone can seal its turns. A run that was saved there and goes on here ends all the same.
            why = "another process began this session, so the turn stays open, and no plugin of the server saw the answer"
            warnings.warn(why, stacklevel=2)
            return
        answer = _object(came)
        _member(answer)
        if answer.get("block"):
            raise RefusedError(Decision(reason=str(answer.get("blockReason") or "Tidemark holds this answer back.")))

    # Questions of held calls.

    def question(self, ticket: str, wait: float = 0) -> Question:
        """What became of the question about a call of one's own."""
        return self.monitor.run(self._question(ticket, wait))

    async def aquestion(self, ticket: str, wait: float = 0) -> Question:
        return await self.monitor.arun(self._question(ticket, wait))

    def _question(self, ticket: str, wait: float) -> Steps[Question]:
        left = int(wait)
        while True:
            piece = max(0, min(left, PIECE))
            q = _object((yield Request("GET", f"/v1/approvals/{ticket}?wait={piece}", limit=self.monitor.limit + piece)))
            left -= piece
            if q.get("state") != "pending" or left <= 0:
                return Question(str(q.get("state")), str(q.get("note") or ""), bool(q.get("abandoned")))

    # A call that was let through runs.

    def execute(self, tool: str, args: Any, call_id: str, run: Callable[[], R], came: Came[R] | None = None) -> R:
        """Run what was decided, and tell what came back; came takes a result apart into what to tell and whether it is an error."""
        try:
            with self.inside(call_id, args, tool) as r:
                out = run()
            if r.broke is not None:
                raise r.broke
        except BaseException as e:
            self.report(tool, args, f"{type(e).__name__}: {text_of(e)}", call_id, error=True)
            raise
        result, error = (out, False) if came is None else came(out)
        self.report(tool, args, result, call_id, error=error)
        return out

    async def aexecute(self, tool: str, args: Any, call_id: str, run: Callable[[], Awaitable[R]], came: Came[R] | None = None) -> R:
        try:
            with self.inside(call_id, args, tool) as r:
                out = await run()
            if r.broke is not None:
                raise r.broke
        except BaseException as e:
            await self.areport(tool, args, f"{type(e).__name__}: {text_of(e)}", call_id, error=True)
            raise
        result, error = (out, False) if came is None else came(out)
        await self.areport(tool, args, result, call_id, error=error)
        return out

    def inside(self, call_id: str, args: Any = None, tool: str = "") -> _Running:
        """Round the execution of a call (`with`): an agent that is started inside is a child of this session."""
        return _Running(self, call_id, args, tool)

    def began(self, call_id: str, children: list[str]) -> None:
        """Remember the sessions that were begun inside a call, which come back with its result."""
        self._children.setdefault(call_id, []).extend(children)

    def child(self, name: str = "agent") -> Session:
        """The session of an agent that this one starts: it begins with this one's mark, and brings its own back."""
        key = f"{self.key}/{name}-{os.urandom(6).hex()}"
        return self.monitor.adopt(Session(self.monitor, key, None, self.key))

    # The wire.

    def _ctx(self) -> dict[str, Any]:
        # Any hook may be the first that a server hears of a turn, so each says whose tools they are.
        ctx: dict[str, Any] = {"sessionKey": self.key, "hostTools": self._host()}
        ctx["hello"] = {"version": 1, "agent": "sdk-python"} | ({"ticket": self._ticket} if self._ticket else {})
        control = dict.fromkeys((*self.monitor.control_tools, *self.control_tools))
        if control or self._steered:
            ctx["controlTools"] = list(control)
        if self.monitor.agent:
            ctx["agentId"] = self.monitor.agent
        return ctx

    def _host(self) -> list[str]:
        return list(dict.fromkeys((*self.monitor.host_tools, *self.host_tools)))

    def _hook(self, name: str, event: Mapping[str, Any], ctx: Mapping[str, Any], wait: int = 0) -> Request:
        body = canonical({"event": event, "ctx": ctx})
        if len(body) > MAX_BODY:
            raise UnsendableError(f"{len(body)} bytes are more than the server takes ({MAX_BODY})")
        return Request("POST", f"/v1/hooks/{name}", body, self.monitor.limit + wait)


def _declared(names: tuple[str, ...], strange: set[str], name: str, own: bool) -> tuple[str, ...]:
    if not own:
        strange.add(name)
    if name not in strange:
        return names if name in names else (*names, name)
    return tuple(n for n in names if n != name)


def current(name: str = "agent") -> Session | None:
    """A session for an agent that is started inside a call, as its child; None outside."""
    r = _running.get()
    if r is None:
        return None
    child = r.session.child(name)
    r.children.append(child.key)
    return child


def _undecided(e: Exception) -> Decision:
    if isinstance(e, RecursionError):
        e = UnsendableError("the arguments are nested too deeply, or inside themselves")
    return Decision(reason=f"Tidemark could not decide about this call, so it may not run: {e}")


def _fields(value: Any) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _object(answer: Answer) -> dict[str, Any]:
    import json

    try:
        body = _fields(json.loads(answer.body))
    except ValueError:
        body = None
    if answer.status != 200:
        detail = str((body or {}).get("detail") or "")
        raise TidemarkError(f"the server answered {answer.status}" + (f": {detail[:300]}" if detail else ""))
    if body is None:
        raise TidemarkError("the server's answer is no JSON object")
    return body


def _member(answer: Mapping[str, Any]) -> dict[str, Any]:
    note = _fields(answer.get("tidemark"))
    if note is None:
        raise TidemarkError("the answer is not Tidemark's")
    return note


def _note(answer: Answer) -> dict[str, Any]:
    return _member(_object(answer))


def _decision(answer: Mapping[str, Any]) -> Decision:
    """Only an answer that says yes in every part is one."""
    note = _member(answer)
    verdict, taint, rule = str(note.get("verdict") or ""), str(note.get("taint") or ""), str(note.get("rule") or "")
    block, params = answer.get("block", False), answer.get("params")
    if block is True:
        if answer_of_ours := _fields(note.get("answer")):
            verdict = "deny" if answer_of_ours.get("failed") else "answered"  # by the server: it runs nowhere
        asked = _fields(note.get("approval")) or {}
        reason = str(answer.get("blockReason") or "Blocked by security policy.")
        ticket, question = str(asked.get("ticket") or ""), str(asked.get("question") or "")
        return Decision(False, reason, verdict or "deny", rule, taint, ticket, question, note.get("timedOut") is True)
    if block is not False or verdict != "allow" or (params is not None and _fields(params) is None):
        raise TidemarkError("the server's answer is neither yes nor no")
    return Decision(True, "", verdict, rule, taint, args=_fields(params))
