"""Where the server is, and the token of agents."""

from __future__ import annotations

import os

from ._errors import TidemarkError
from ._light import Value, cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NOT_RUNNING = "no Tidemark server is running (start it: tidemark serve)"


class Place(Value):
    """A server's address. exact: the server itself wrote it down, so it must say the same. ca: the one certificate that it is known by."""

    __slots__ = ("ca", "exact", "token", "url")
    url: str
    token: str
    exact: bool
    ca: str

    def __init__(self, exact: bool, token: str, url: str, ca: str = "") -> None:
        self._set(ca, exact, token, url)

    def __repr__(self) -> str:
        return f"Place({self.url})"

    @property
    def secure(self) -> bool:
        return self.url.startswith("https://")

    @property
    def netloc(self) -> str:
        return self.url.partition("://")[2]

    @property
    def host(self) -> str:
        from urllib.parse import urlsplit

        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        from urllib.parse import urlsplit

        return urlsplit(self.url).port or (443 if self.secure else 80)


def find(url: str | None, token: str | None) -> Place:
    """The server: as given, else TIDEMARK_URL, else the one that this machine has joined, else what it left in its data folder."""
    url = url or os.environ.get("TIDEMARK_URL")
    token = token or os.environ.get("TIDEMARK_TOKEN")
    data = _data_folder()
    if url is None and os.path.exists(os.path.join(data, "elsewhere.json")):
        return _joined(data, token)
    exact = url is None
    if token is None and not exact and not os.path.exists(os.path.join(data, "tokens.json")):
        raise TidemarkError(f"there is no token for {url}: set TIDEMARK_TOKEN to what `tidemark token agent` prints where the server runs")
    if url is None:
        file = os.path.join(data, "server.json")
        url = _word(_read(file, 0o022), "url", file)
    if token is None:
        file = os.path.join(data, "tokens.json")
        token = _word(_read(file, 0o077), "agent", file)
    place = Place(exact, token, url.rstrip("/"))
    _check(place)
    return place


def _joined(data: str, token: str | None) -> Place:
    """The server elsewhere that this machine has joined (tidemark join), known by the key that joining left here."""
    file = os.path.join(data, "elsewhere.json")
    known = _read(file, 0o077)
    ca = os.path.join(data, "server.crt") if isinstance(known, dict) and cast("dict[str, object]", known).get("pin") else ""
    if ca and not os.path.exists(ca):
        raise TidemarkError(f"{ca} is not there: join again (tidemark leave, then tidemark join)")
    if token is None:
        token = _text(os.path.join(data, "machine.token"), 0o077)
    place = Place(False, token, _word(known, "url", file).rstrip("/"), ca)
    if not place.secure:
        raise TidemarkError(f"{place.url} is not https")
    _check(place)
    return place


def _check(place: Place) -> None:
    from urllib.parse import urlsplit

    parts = urlsplit(place.url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.username:
        raise TidemarkError(f"{place.url!r} is no address of a server (http://HOST:PORT)")
    if place.secure or parts.hostname == "localhost":
        return
    import ipaddress

    try:
        local = ipaddress.ip_address(parts.hostname).is_loopback
    except ValueError:
        local = False
    if not local:
        raise TidemarkError(f"{place.url} is not on this machine: use https, or the token and all calls travel for everybody to read")


def _data_folder() -> str:
    if data := os.environ.get("TIDEMARK_DATA"):
        return data
    if share := os.environ.get("XDG_DATA_HOME"):
        return os.path.join(share, "tidemark")
    return os.path.join(os.path.expanduser("~"), ".local", "share", "tidemark")


def _read(file: str, forbidden: int) -> Any:
    import json

    try:
        with open(file, "rb") as f:
            if os.name == "posix" and os.fstat(f.fileno()).st_mode & forbidden:
                raise TidemarkError(f"{file} is open to others (run: chmod 600 {file})")
            return json.loads(f.read(64 << 10))
    except FileNotFoundError:
        raise TidemarkError(NOT_RUNNING) from None
    except (OSError, ValueError) as e:
        raise TidemarkError(f"{file} cannot be read: {e}") from None


def _text(file: str, forbidden: int) -> str:
    try:
        with open(file, encoding="utf-8") as f:
            if os.name == "posix" and os.fstat(f.fileno()).st_mode & forbidden:
                raise TidemarkError(f"{file} is open to others (run: chmod 600 {file})")
            return f.read(64 << 10).strip()
    except OSError as e:
        raise TidemarkError(f"{file} cannot be read: {e} (tidemark leave, then tidemark join)") from None


def _word(value: Any, key: str, file: str) -> str:
    word: object = cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None
    if not isinstance(word, str) or not word:
        raise TidemarkError(f"{file} has no {key!r}")
    return word
