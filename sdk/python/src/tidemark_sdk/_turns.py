"""What adapters share whose application says where a turn begins: `with tidemark.turn(conversation, words): ...`.

One turn runs in a context (of asyncio, of a thread), whichever adapter began it. Inside it the nets of all of them know that a tool which
nobody decided about must not run.
"""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Any

from ._errors import TidemarkError
from .monitor import Monitor
from .session import Session, User, inside, undecided

_session: ContextVar[Session | None] = ContextVar("tidemark_turn", default=None)


def in_turn() -> bool:
    return _session.get() is not None


def here() -> Session:
    """The session of the turn that runs here."""
    session = _session.get()
    if session is None:
        raise TidemarkError("no turn was begun: async with tidemark.turn(conversation, words): ...")
    return session


def unlawful(call_id: str, args: Any) -> str:
    """For a net below the tools of a framework: why a call that a model made must not run here, "" where it may or is none of ours."""
    if inside():
        return undecided(call_id, args)
    return "nobody asked Tidemark about it" if in_turn() else ""


class Turns:
    """An adapter: who speaks, and the monitor."""

    def __init__(self, user: User, monitor: Monitor | None = None) -> None:
        self.monitor, self.user = monitor or Monitor(), user

    def turn(self, conversation: str | None, words: str | None = None) -> Turn:
        """Around the runs of one turn; words are the user's, None where a run goes on that was begun before."""
        return Turn(self, conversation, words)


class Turn:
    """The session that runs inside belong to. `with` is for what is synchronous, `async with` for the rest."""

    def __init__(self, of: Turns, conversation: str | None, words: str | None) -> None:
        m = of.monitor
        self.session = m.known(conversation) if words is None and conversation else m.session(conversation, of.user)
        self._words = words
        self._token: Token[Session | None] | None = None

    def __enter__(self) -> Session:
        if self._words is not None:
            self.session.begin(self._words)
        self._token = _session.set(self.session)
        return self.session

    async def __aenter__(self) -> Session:
        if self._words is not None:
            await self.session.abegin(self._words)
        self._token = _session.set(self.session)
        return self.session

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _session.reset(self._token)

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()
