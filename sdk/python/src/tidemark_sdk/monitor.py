"""The monitor as a program reaches it."""

from __future__ import annotations

import os
import threading
import warnings

from ._errors import TidemarkError
from ._find import Place, find
from ._http import Answer, AsyncWire, Request, Wire
from ._ticket import checked, differs, ticket
from .session import Look, Session, User, _object, a_user, current  # pyright: ignore[reportPrivateUsage]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from .reader import Model, Reader
    from .session import Steps

    T = TypeVar("T")

API = (1, 1)  # what this package speaks; a server may know more of the same first number
MAX_SESSIONS = 10_000


class Monitor:
    """Speaks to a Tidemark server: the one at url, else TIDEMARK_URL, else the one that runs on this machine.

    wait is how many seconds a held call waits for a person to answer, limit how many an answer of the server itself may take.
    host_tools names the tools that work where this program runs (a shell, its files), as calls name them. Those are the workspace;
    a tool that is not named here is anybody's, whatever it is called.
    control_tools names those by which the framework steers itself (plans, to-dos, hand-offs, the final answer): neither acts nor reads.
    model is a function from a prompt to what this program's own model says: it reads for Tidemark what users ask for. The server must
    want it (agents.ID.reader: host, and a token of that agent's own), and does not where the agent has a shell.
    lookups are functions by the names of the tools they are (`search_contacts`), called with the tool's arguments: Tidemark looks up with
    them whom and what the user names, before the model has read anything. No model is shown what they return.
    secret is of this application alone, 32 characters or more by chance, which neither agents nor their tools can read: with it what users
    say in a session that was begun before counts after a restart too, and in every process that has the same secret. Without one a session
    is of the process that began it.
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, *, wait: float = 120, limit: float = 10, agent: str = "",
        host_tools: Sequence[str] = (),
        control_tools: Sequence[str] = (),
        model: Model | None = None,
        lookups: Mapping[str, Callable[..., Any]] | None = None,
        secret: str | bytes | None = None,
    ) -> None:  # fmt: skip
        if isinstance(host_tools, str):
            raise TypeError(f"host_tools is a list of names: host_tools=[{host_tools!r}]")
        if isinstance(control_tools, str):
            raise TypeError(f"control_tools is a list of names: control_tools=[{control_tools!r}]")
        self.wait, self.limit, self.agent, self.host_tools = wait, limit, agent, tuple(host_tools)
        self.control_tools, self.lookups = tuple(control_tools), dict(lookups or {})
        self._url, self._token, self._secret = url, token, checked(secret)
        self._wire, self._async = Wire(self._find), AsyncWire(self._find)
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}
        self._agreed = False
        self.reader: Reader | None = None
        self._begun = model is None
        if model is not None:
            from .reader import Reader  # whoever lends no model does not pay for it

            self.reader = Reader(self._wire, model, limit)

    def _find(self) -> Place:
        place = find(self._url, self._token)
        differs(self._secret, place.token)
        return place

    def own_ticket(self, key: str) -> str:
        """The ticket of the session of this name, made of the application's secret; "" without one."""
        return ticket(self._secret, key) if self._secret else ""

    def session(self, key: str | None, user: User | None) -> Session:
        """The conversation of this name. The application says who the user is.

        Inside a call that runs it is a new session, a child of the caller's: what it is asked is not the user's word.
        """
        if user is not None:
            a_user(user)
        inner = current()
        if inner is not None:
            return inner
        if key is None:
            warnings.warn(
                "this conversation has no name (thread id), so every run is a new session for Tidemark, and forgets what the "
                "last one read: give it one",
                stacklevel=3,
            )
            key = f"run-{os.urandom(16).hex()}"
        with self._lock:
            known = self._sessions.get(key)
        if known is not None:
            if user is not None:
                known.user = user
            return known
        return self.adopt(Session(self, key, user))

    def adopt(self, session: Session) -> Session:
        """Remember a session: what it owes must be asked for at its next call."""
        with self._lock:
            known = self._sessions.setdefault(session.key, session)
            if len(self._sessions) > MAX_SESSIONS:
                for key in [k for k, s in self._sessions.items() if not s.owes and s is not known][: MAX_SESSIONS // 2]:
                    del self._sessions[key]
        return known

    def known(self, key: str) -> Session:
        """The conversation of this name as a hook in the middle of a run meets it: also one that another process began."""
        with self._lock:
            known = self._sessions.get(key)
        return known if known is not None else self.adopt(Session(self, key, None))

    # The two ways to carry out steps.

    def run(self, steps: Steps[T]) -> T:
        try:
            request = next(steps)
            while True:
                try:
                    if not self._agreed:
                        self._agree(self._wire.send(Request("GET", "/v1/version", limit=self.limit)))
                    if not self._begun and self.reader is not None:
                        self._begin(self._wire.send(self.reader.request(0, self.limit)))
                    answer = request.run() if isinstance(request, Look) else self._wire.send(request)
                except TidemarkError as e:
                    request = steps.throw(e)
                else:
                    request = steps.send(answer)
        except StopIteration as e:
            return e.value

    async def arun(self, steps: Steps[T]) -> T:
        try:
            request = next(steps)
            while True:
                try:
                    if not self._agreed:
                        self._agree(await self._async.send(Request("GET", "/v1/version", limit=self.limit)))
                    if not self._begun and self.reader is not None:
                        self._begin(await self._async.send(self.reader.request(0, self.limit)))
                    answer = await request.arun() if isinstance(request, Look) else await self._async.send(request)
                except TidemarkError as e:
                    request = steps.throw(e)
                else:
                    request = steps.send(answer)
        except StopIteration as e:
            return e.value

    def _agree(self, answer: Answer) -> None:
        """The server must speak what this package does."""
        ours = f"{API[0]}.{API[1]}"
        if answer.status == 404:
            raise TidemarkError(f"the Tidemark server is too old for this package (API {ours}): update the server")
        said = str(_object(answer).get("api"))
        try:
            major, minor = (int(n) for n in said.split("."))
        except ValueError:
            raise TidemarkError("the server does not say which API it speaks") from None
        if major > API[0]:
            raise TidemarkError(f"the Tidemark server is too new (API {said}) for this package (API {ours}): update tidemark-sdk")
        if (major, minor) < API:
            raise TidemarkError(f"the Tidemark server is too old (API {said}) for this package (API {ours}): update the server")
        self._agreed = True

    def _begin(self, answer: Answer) -> None:
        """Lend the server this program's model, once."""
        with self._lock:
            if not self._begun and self.reader is not None:
                self.reader.begin(answer)
                self._begun = True

    def close(self) -> None:
        if self.reader is not None:
            self.reader.close()
        self._wire.close()

    async def aclose(self) -> None:
        if self.reader is not None:
            self.reader.close()
        await self._async.close()
        self._wire.close()
