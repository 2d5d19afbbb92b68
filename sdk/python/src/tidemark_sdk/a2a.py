"""A2A: agents of others, as a client meets them.

    from tidemark_sdk.a2a import Tidemark
    tidemark = Tidemark(User("web", "anna", owner=True))
    async with tidemark.turn("thread-1", words):
        card = await tidemark.card(A2ACardResolver(http, "https://agent.example"))
        client = tidemark.guard(factory.create(card))
        async for event in client.send_message(request): ...

Whatever such an agent says is a stranger's word: its card, messages, artifacts, the state of a task, errors. Whatever is sent to it is a
call that is decided, by the address of the agent and all that is sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar
from uuid import uuid4

try:
    from a2a.client import A2ACardResolver, Client
    from a2a.types.a2a_pb2 import AgentCard, Role
    from google.protobuf.json_format import MessageToDict
except ImportError as e:  # pragma: no cover
    raise ImportError(f"{e}. Install it with: pip install 'tidemark-sdk[a2a]'") from e

from ._errors import TidemarkError
from ._turns import Turns, here
from .session import Session

CARD = "a2a_get_agent_card"
R = TypeVar("R")


class Tidemark(Turns):
    """Guards clients of A2A."""

    async def card(self, resolver: A2ACardResolver, **options: Any) -> AgentCard:
        """The card of an agent, which says of itself what it likes: fetching it is a call, and what it says a result."""
        asked, get = {"url": str(resolver.base_url)}, resolver.get_agent_card
        return await _call(here(), CARD, asked, lambda: get(**options))

    def guard(self, client: Client, *, session: Session | Callable[[], Session] | None = None, known: bool = False) -> Client:
        """The same client, whose requests ask.

        session is that of an adapter which has turns of its own; else it is that of the turn that runs. known says that whoever runs this
        program has read the agent's card and stands for it: then the card is nobody's word.
        """
        return client if isinstance(client, Guarded) else Guarded(client, session or here, known)


class Guarded(Client):
    """A client whose requests ask."""

    def __init__(self, client: Client, session: Session | Callable[[], Session], known: bool = False) -> None:
        super().__init__()
        self._inner, self._of, self._known = client, session, known
        card = getattr(client, "_card", None)
        if not isinstance(card, AgentCard):
            raise TidemarkError("this client does not say which agent it speaks to, so nothing can be decided about it")
        self._card = card
        self._address = _address(card)
        self._told: set[str] = set()

    async def _session(self) -> Session:
        """The session, which has heard what the agent says of itself."""
        s = self._of if isinstance(self._of, Session) else self._of()
        if not self._known and s.key not in self._told:
            self._told.add(s.key)
            await s.areport(CARD, {"url": self._address}, _plain(self._card), uuid4().hex)
        return s

    async def _ask(self, verb: str, request: Any, run: Callable[[], Awaitable[R]]) -> R:
        return await _call(await self._session(), f"a2a_{verb}", {**_plain(request), "to": self._address}, run)

    async def _stream(self, verb: str, request: dict[str, Any], run: Callable[[], AsyncIterator[Any]]) -> AsyncIterator[Any]:
        """Each event is told before it is handed on."""
        s, tool, args, call = await self._session(), f"a2a_{verb}", {**request, "to": self._address}, uuid4().hex
        (await s.adecide(tool, args, call)).check()
        said = False
        try:
            async for event in run():
                await s.areport(tool, args, _plain(event), call)
                said = True
                yield event
        except Exception as e:
            await s.areport(tool, args, f"{type(e).__name__}: {e}", call, error=True)
            raise
        if not said:
            await s.areport(tool, args, "", call)

    async def send_message(self, request: Any, *, context: Any = None) -> AsyncIterator[Any]:
        # It is sent under an id of ours, which is new each time and so no part of what is decided: nobody else may choose it.
        request.message.message_id, request.message.role = uuid4().hex, Role.ROLE_USER
        async for event in self._stream("send_message", _sent(request), lambda: self._inner.send_message(request, context=context)):
            yield event

    async def subscribe(self, request: Any, *, context: Any = None) -> AsyncIterator[Any]:
        async for event in self._stream("subscribe", _plain(request), lambda: self._inner.subscribe(request, context=context)):
            yield event

    async def get_task(self, request: Any, *, context: Any = None) -> Any:
        return await self._ask("get_task", request, lambda: self._inner.get_task(request, context=context))

    async def list_tasks(self, request: Any, *, context: Any = None) -> Any:
        return await self._ask("list_tasks", request, lambda: self._inner.list_tasks(request, context=context))

    async def cancel_task(self, request: Any, *, context: Any = None) -> Any:
        return await self._ask("cancel_task", request, lambda: self._inner.cancel_task(request, context=context))

    async def create_task_push_notification_config(self, request: Any, *, context: Any = None) -> Any:
        run = self._inner.create_task_push_notification_config
        return await self._ask("create_task_push_notification_config", request, lambda: run(request, context=context))

    async def get_task_push_notification_config(self, request: Any, *, context: Any = None) -> Any:
        run = self._inner.get_task_push_notification_config
        return await self._ask("get_task_push_notification_config", request, lambda: run(request, context=context))

    async def list_task_push_notification_configs(self, request: Any, *, context: Any = None) -> Any:
        run = self._inner.list_task_push_notification_configs
        return await self._ask("list_task_push_notification_configs", request, lambda: run(request, context=context))

    async def delete_task_push_notification_config(self, request: Any, *, context: Any = None) -> None:
        run = self._inner.delete_task_push_notification_config
        await self._ask("delete_task_push_notification_config", request, lambda: run(request, context=context))

    async def get_extended_agent_card(self, request: Any, *, context: Any = None, signature_verifier: Any = None) -> Any:
        run = self._inner.get_extended_agent_card
        got = await self._ask(
            "get_extended_agent_card", request, lambda: run(request, context=context, signature_verifier=signature_verifier)
        )
        self._address = _address(got)  # the inner client speaks to that one from now on
        return got

    async def add_interceptor(self, interceptor: Any) -> None:
        raise TidemarkError("an interceptor would change what was decided: give it to the client that is guarded")

    async def close(self) -> None:
        await self._inner.close()


def _address(card: AgentCard) -> str | list[str]:
    """Where an agent is reached, by its card: every place, as each may be taken."""
    places = list(dict.fromkeys(i.url for i in card.supported_interfaces))
    return places[0] if len(places) == 1 else places


def _sent(request: Any) -> dict[str, Any]:
    """All that is sent, as a call: the message by its text where it is nothing else, and whatever stands beside it."""
    beside = _plain(request)
    message = beside.pop("message", {})
    parts = message.pop("parts", [])
    del message["messageId"], message["role"]
    if any(set(p) != {"text"} for p in parts):
        said: Any = parts
    else:
        said = parts[0]["text"] if len(parts) == 1 else [p["text"] for p in parts]
    return {**beside, **message, "message": said}


def _plain(message: Any) -> Any:
    return MessageToDict(message) if message is not None else None


async def _call(session: Session, tool: str, args: dict[str, Any], run: Callable[[], Awaitable[R]]) -> R:
    call = uuid4().hex
    (await session.adecide(tool, args, call)).check()
    return await session.aexecute(tool, args, call, run, lambda out: (_plain(out) if hasattr(out, "DESCRIPTOR") else "", False))
