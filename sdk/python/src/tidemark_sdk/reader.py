"""A program's own model, which reads for Tidemark what users ask for, where the server's policy says so.

The server asks over the connection that this program has: a thread waits for questions and answers them with the model. What is
asked are words of users and names of tools and parameters, never what was read; every answer is checked by the server.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
import warnings

from ._errors import TidemarkError
from ._http import Answer, Request
from ._light import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from ._http import Wire

    Model = Callable[["Prompt"], "str | Awaitable[str]"]

WAIT = 10  # seconds of one request that waits for a question
AT_ONCE = 8  # questions that are answered at the same time
MAX_ANSWER = 32 << 10


class Prompt(str):
    """What a model is asked: the whole text, and its parts for models that take them apart."""

    system: str  # the instructions
    user: str  # what is to be read
    schema: str  # of the answer, as JSON Schema; may be empty

    def __new__(cls, system: str, user: str, schema: str = "") -> Prompt:
        out = super().__new__(cls, f"{system}\n\n{user}")
        out.system, out.user, out.schema = system, user, schema
        return out


def openai(client: Any, model: str) -> Model:
    """A client of the package openai as a model."""

    def ask(prompt: Prompt) -> str:
        said = client.chat.completions.create(
            model=model,
            messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
        )
        return str(said.choices[0].message.content or "")

    return ask


def anthropic(client: Any, model: str) -> Model:
    """A client of the package anthropic as a model."""

    def ask(prompt: Prompt) -> str:
        said = client.messages.create(
            model=model, max_tokens=2048, system=prompt.system, messages=[{"role": "user", "content": prompt.user}]
        )
        return "".join(part.text for part in said.content if part.type == "text")

    return ask


class Reader:
    """Waits for questions and has them answered. The zero answer is none: then the server asks a person."""

    def __init__(self, wire: Wire, model: Model, limit: float) -> None:
        if not callable(model):
            raise TypeError("model is a function from a prompt to the text that the model says (see tidemark_sdk.reader)")
        self.fault = ""  # why it does not read any more
        self._wire, self._model, self._limit = wire, model, limit
        self._free = threading.BoundedSemaphore(AT_ONCE)
        self._stop = threading.Event()

    @staticmethod
    def request(wait: int, limit: float) -> Request:
        return Request("POST", "/v1/readings/next", json.dumps({"wait": wait}).encode(), limit + wait)

    def begin(self, answer: Answer) -> None:
        """Start with the answer to a first request, which says whether the server wants this model at all."""
        try:
            first = self._question(answer)
        except _Again:
            first = None
        threading.Thread(target=self._run, args=(first,), daemon=True, name="tidemark-reader").start()

    def close(self) -> None:
        self._stop.set()

    def _question(self, answer: Answer) -> dict[str, Any] | None:
        try:
            body: Any = json.loads(answer.body)
        except ValueError:
            body = None
        if answer.status == 404:
            raise _Unwanted("the Tidemark server is too old to be lent a model: update the server, or leave model out")
        if answer.status in (401, 403) and isinstance(body, dict):
            raise _Unwanted(str(cast("dict[str, Any]", body).get("detail", "the server does not want this model")))
        if answer.status != 200 or not isinstance(body, dict):
            raise _Again
        found: Any = cast("dict[str, Any]", body).get("reading")
        return found if isinstance(found, dict) else None

    def _run(self, first: dict[str, Any] | None) -> None:
        question, pause = first, 1.0
        while not self._stop.is_set():
            if question is not None:
                self._free.acquire()
                threading.Thread(target=self._answer, args=(question,), daemon=True, name="tidemark-reading").start()
                question = None
            try:
                question = self._question(self._wire.send(self.request(WAIT, self._limit)))
                pause = 1.0
            except _Unwanted as e:  # it stands, and is told once
                self.fault = str(e)
                warnings.warn(f"Tidemark does not ask this program's model: {e}", stacklevel=1)
                return
            except (_Again, TidemarkError):
                self._stop.wait(pause)
                pause = min(2 * pause, 30.0)
        if question is not None:  # it came while this was closed
            self._reply(question, {"back": True})

    def _answer(self, question: dict[str, Any]) -> None:
        try:
            prompt = Prompt(str(question["system"]), str(question["user"]), str(question.get("schema") or ""))
            said = self._model(prompt)
            if inspect.isawaitable(said):
                said = asyncio.run(_wait(said))
            body = {"text": said} if isinstance(said, str) and 0 < len(said.encode()) <= MAX_ANSWER else {"fault": "no text"}
        except Exception:  # what a model raises is its own: the server needs to know only that there is no answer
            body = {"fault": "the model raised an error"}
        finally:
            self._free.release()
        self._reply(question, body)

    def _reply(self, question: dict[str, Any], body: dict[str, Any]) -> None:
        try:
            target = f"/v1/readings/{question.get('id')}"
            self._wire.send(Request("POST", target, json.dumps(body, ensure_ascii=False).encode(), self._limit))
        except TidemarkError:
            pass  # nobody waits for it any more, or will


async def _wait(said: Awaitable[str]) -> str:
    return await said


class _Unwanted(TidemarkError):
    """The server does not want this model."""


class _Again(Exception):
    """No question, and no reason to stop asking."""
