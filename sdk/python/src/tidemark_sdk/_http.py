"""Requests over connections that are kept, to a server that has proven itself.

What is said on a connection is written once, as generators that ask for bytes; sockets and asyncio streams drive them. Modules
of the network are imported where they are first used.
"""

from __future__ import annotations

import os
import threading
import time

from ._errors import TidemarkError
from ._find import NOT_RUNNING, Place
from ._light import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    import socket
    import weakref
    from collections.abc import Callable, Generator
    from typing import Any

    # Yields what to write, or how much to read (0: a line); returns what it found.
    Talk = Generator[bytes | int, bytes, Any]
    _Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

MAX_ANSWER = 4 << 20
MAX_HEAD = 32 << 10
KEPT = 16  # idle connections; how many are in use at once has no limit


class Request(Value):
    __slots__ = ("method", "target", "body", "limit")  # noqa: RUF023
    method: str
    target: str
    body: bytes
    limit: float  # seconds for all of it

    def __init__(self, method: str, target: str, body: bytes = b"", limit: float = 10.0) -> None:
        self._set(method, target, body, limit)


class Answer(Value):
    __slots__ = ("status", "body")  # noqa: RUF023
    status: int
    body: bytes

    def __init__(self, status: int, body: bytes) -> None:
        self._set(status, body)


class _Gone(Exception):
    """The server closed the connection before it said anything."""


def _ask(place: Place, request: Request, headers: str) -> Talk:
    head = f"{request.method} {request.target} HTTP/1.1\r\nHost: {place.netloc}\r\n{headers}"
    if request.body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(request.body)}\r\n"
    yield head.encode("latin-1") + b"\r\n" + request.body
    first = yield 0
    if not first:
        raise _Gone
    spoken, _, rest = first.partition(b" ")
    if spoken != b"HTTP/1.1" or not rest[:3].isdigit() or rest[3:4] != b" " or not rest.endswith(b"\r\n"):
        raise TidemarkError("what listens there does not speak HTTP")
    length, chunked, size = -1, False, len(first)
    while (line := (yield 0)) != b"\r\n":
        size += len(line)
        if size > MAX_HEAD or not line.endswith(b"\r\n"):
            raise TidemarkError("the server's answer broke off, or its head is too long")
        name, _, value = line.decode("latin-1").partition(":")
        if name.lower() == "content-length" and value.strip().isdigit():
            length = int(value)
        chunked = chunked or (name.lower() == "transfer-encoding" and value.strip().lower() == "chunked")
    if chunked:
        body = yield from _chunks()
    elif 0 <= length <= MAX_ANSWER:
        body = (yield length) if length else b""
    else:
        raise TidemarkError("the server's answer is too large, or does not say how large it is")
    return Answer(int(rest[:3]), body)


def _chunks() -> Talk:
    out = b""
    while True:
        try:
            size = int((yield 0).split(b";")[0], 16)
        except ValueError:
            raise TidemarkError("the server's answer broke off") from None
        if len(out) + size > MAX_ANSWER:
            raise TidemarkError("the server's answer is too large")
        out += (yield size) if size else b""
        yield 0
        if not size:
            return out


def _prove(place: Place) -> Talk:
    """Before anything is told, the server shows that it has the same token: a port that it left can be anybody's."""
    nonce = os.urandom(32).hex()
    answer = yield from _ask(place, Request("GET", "/v1/proof"), f"X-Tidemark-Nonce: {nonce}\r\nX-Tidemark-Key: {_key_name(place)}\r\n")
    if not _proven(place, nonce, answer):
        raise TidemarkError(
            f"what listens at {place.url} could not show that it is the Tidemark server, so nothing was told to it "
            "(it is another program, a server of an earlier version, or one with another token). Check TIDEMARK_TOKEN against what "
            "`tidemark token agent` prints on the server's machine, and TIDEMARK_URL against `tidemark status`"
        )


def _key_name(place: Place) -> str:
    """Which token it is that both have, where there are several: nobody finds it by this."""
    import hashlib

    return hashlib.sha256(hashlib.sha256(place.token.encode()).digest()).hexdigest()[:16]


def _proven(place: Place, nonce: str, answer: Answer) -> bool:
    import json
    from urllib.parse import urlsplit

    try:
        said = json.loads(answer.body)
        own, at, proof = str(said["nonce"]), str(said["at"]), str(said["proof"])
        fits = at == place.url if place.exact else (urlsplit(at).port or 80) == place.port
    except (ValueError, KeyError, TypeError):
        return False
    import hashlib  # these bring OpenSSL, which is slow to import
    import hmac

    key = hashlib.sha256(place.token.encode()).digest()
    want = hmac.new(key, f"tidemark server proof 1\n{nonce}{own}{at}".encode(), "sha256").hexdigest()
    return answer.status == 200 and fits and len(own) == 64 and hmac.compare_digest(want, proof)


def _failure(e: BaseException, place: Place, limit: float) -> TidemarkError:
    if isinstance(e, TidemarkError):
        return e
    if isinstance(e, ConnectionRefusedError):
        return TidemarkError(NOT_RUNNING)
    if isinstance(e, TimeoutError):
        return TidemarkError(f"the server at {place.url} did not answer within {limit:g} s")
    if isinstance(e, (_Gone, EOFError)):
        return TidemarkError("the server closed the connection before its answer was whole")
    return TidemarkError(f"the server at {place.url} cannot be reached: {e}")


class Wire:
    """Sends requests from threads. Connections are kept and never shared."""

    def __init__(self, find: Callable[[], Place]) -> None:
        self._find = find
        self._idle: list[_Line] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    def send(self, request: Request) -> Answer:
        place = self._find()
        until = time.monotonic() + request.limit
        while True:
            with self._lock:
                self._forked()
                line = self._idle.pop() if self._idle else None
            used = line is not None
            try:
                if line is None:
                    line = _Line(place, until)
                answer = line.send(request, until)
            except _Gone:
                if line is not None:
                    line.close()
                if used:
                    continue  # it was closed while nobody used it
                raise _failure(EOFError(), place, request.limit) from None
            except (OSError, EOFError, TidemarkError) as e:
                if line is not None:
                    line.close()
                raise _failure(e, place, request.limit) from None
            except BaseException:
                if line is not None:
                    line.close()
                raise
            with self._lock:
                keep = len(self._idle) < KEPT
                if keep:
                    self._idle.append(line)
            if not keep:
                line.close()
            return answer

    def _forked(self) -> None:
        """Web servers load a program once and fork it: what was open then is the other process's too, and one of the two would read the
        answers of both."""
        if self._process == os.getpid():
            return
        for line in self._idle:
            line.close()
        self._idle, self._process = [], os.getpid()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for line in idle:
            line.close()


def _authorized(place: Place) -> str:
    return f"Authorization: Bearer {place.token}\r\n"


class _Line:
    """One connection of a thread."""

    def __init__(self, place: Place, until: float) -> None:
        import socket

        self._place = place
        self._buffer = bytearray()
        self._socket: socket.socket = socket.create_connection((place.host, place.port), timeout=_left(until))
        try:
            if place.secure:
                import ssl

                trusted = ssl.create_default_context(cafile=place.ca or None)
                self._socket = trusted.wrap_socket(self._socket, server_hostname=place.host)
            else:
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._drive(_prove(place), until)
        except BaseException:
            self._socket.close()
            raise

    def send(self, request: Request, until: float) -> Answer:
        return self._drive(_ask(self._place, request, _authorized(self._place)), until)

    def _drive(self, talk: Talk, until: float) -> Any:
        got = b""
        try:
            wish = next(talk)
            while True:
                if isinstance(wish, bytes):
                    self._write(wish, until)
                    got = b""
                else:
                    got = self._read(wish, until)
                wish = talk.send(got)
        except StopIteration as e:
            return e.value

    def _write(self, data: bytes, until: float) -> None:
        self._socket.settimeout(_left(until))
        try:
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            raise _Gone from None

    def _read(self, size: int, until: float) -> bytes:
        while True:
            end = size if size else self._buffer.find(b"\n") + 1
            if end and len(self._buffer) >= end:
                out = bytes(self._buffer[:end])
                del self._buffer[:end]
                return out
            if not size and len(self._buffer) > MAX_HEAD:
                raise TidemarkError("the server's answer has a line that is too long")
            self._socket.settimeout(_left(until))
            try:
                more = self._socket.recv(65536)
            except ConnectionResetError:
                more = b""
            if not more:
                if size or self._buffer:
                    raise EOFError
                return b""
            self._buffer += more

    def close(self) -> None:
        self._socket.close()


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class AsyncWire:
    """Sends requests from tasks. Each event loop has its own connections."""

    def __init__(self, find: Callable[[], Place]) -> None:
        import weakref

        self._find = find
        self._idle: weakref.WeakKeyDictionary[Any, list[_Streams]] = weakref.WeakKeyDictionary()

    async def send(self, request: Request) -> Answer:
        import asyncio

        place = self._find()
        try:
            return await asyncio.wait_for(self._send(place, request), request.limit)
        except asyncio.TimeoutError:
            raise _failure(TimeoutError(), place, request.limit) from None
        except (OSError, EOFError, _Gone, TidemarkError) as e:
            raise _failure(e, place, request.limit) from None

    async def _send(self, place: Place, request: Request) -> Answer:
        import asyncio

        idle = self._idle.setdefault(asyncio.get_running_loop(), [])
        while True:
            used = bool(idle)
            streams = idle.pop() if idle else await self._connect(place)
            try:
                answer: Answer = await _converse(_ask(place, request, _authorized(place)), streams)
            except BaseException as e:
                streams[1].close()
                if used and isinstance(e, _Gone):
                    continue  # it was closed while nobody used it
                raise
            if len(idle) < KEPT:
                idle.append(streams)
            else:
                streams[1].close()
            return answer

    async def _connect(self, place: Place) -> _Streams:
        import asyncio

        tls: dict[str, Any] = {}
        if place.secure:
            import ssl

            tls = {"ssl": ssl.create_default_context(cafile=place.ca or None), "server_hostname": place.host}
        streams = await asyncio.open_connection(place.host, place.port, limit=MAX_HEAD, **tls)
        try:
            if not place.secure:
                await _converse(_prove(place), streams)
        except BaseException:
            streams[1].close()
            raise
        return streams

    async def close(self) -> None:
        import asyncio

        for _, writer in self._idle.pop(asyncio.get_running_loop(), []):
            writer.close()


async def _converse(talk: Talk, streams: _Streams) -> Any:
    reader, writer = streams
    got = b""
    try:
        wish = next(talk)
        while True:
            try:
                if isinstance(wish, bytes):
                    writer.write(wish)
                    await writer.drain()
                    got = b""
                elif wish:
                    got = await reader.readexactly(wish)
                else:
                    got = await reader.readline()
            except (BrokenPipeError, ConnectionResetError):
                raise _Gone from None
            except ValueError:
                raise TidemarkError("the server's answer has a line that is too long") from None
            if wish == 0 and got and not got.endswith(b"\n"):
                raise EOFError
            wish = talk.send(got)
    except StopIteration as e:
        return e.value
