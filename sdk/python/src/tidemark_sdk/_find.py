"""Where the server is, and the token of agents."""

from __future__ import annotations

import ipaddress
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from ._errors import TidemarkError

NOT_RUNNING = "no Tidemark server is running (start it: tidemark serve)"


@dataclass(frozen=True)
class Place:
    """A server's address. exact: the server itself wrote it down, so it must say the same."""

    url: str
    token: str
    exact: bool = False

    @property
    def secure(self) -> bool:
        return urlsplit(self.url).scheme == "https"

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or (443 if self.secure else 80)


def find(url: str | None, token: str | None) -> Place:
    """The server: as given, else TIDEMARK_URL, else what it left in its data folder."""
    url = url or os.environ.get("TIDEMARK_URL")
    token = token or os.environ.get("TIDEMARK_TOKEN")
    data = _data_folder()
    exact = url is None
    if url is None:
        url = _word(_read(data / "server.json", 0o022), "url", data / "server.json")
    if token is None:
        token = _word(_read(data / "tokens.json", 0o077), "agent", data / "tokens.json")
    place = Place(url.rstrip("/"), token, exact)
    _check(place)
    return place


def _check(place: Place) -> None:
    parts = urlsplit(place.url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.username:
        raise TidemarkError(f"{place.url!r} is no address of a server (http://HOST:PORT)")
    if place.secure or parts.hostname == "localhost":
        return
    try:
        local = ipaddress.ip_address(parts.hostname).is_loopback
    except ValueError:
        local = False
    if not local:
        raise TidemarkError(f"{place.url} is not on this machine: use https, or the token and all calls travel for everybody to read")


def _data_folder() -> Path:
    if data := os.environ.get("TIDEMARK_DATA"):
        return Path(data)
    if share := os.environ.get("XDG_DATA_HOME"):
        return Path(share) / "tidemark"
    return Path.home() / ".local" / "share" / "tidemark"


def _read(file: Path, forbidden: int) -> Any:
    try:
        with file.open("rb") as f:
            if os.name == "posix" and os.fstat(f.fileno()).st_mode & forbidden:
                raise TidemarkError(f"{file} is open to others (run: chmod 600 {file})")
            return json.loads(f.read(64 << 10))
    except FileNotFoundError:
        raise TidemarkError(NOT_RUNNING) from None
    except (OSError, ValueError) as e:
        raise TidemarkError(f"{file} cannot be read: {e}") from None


def _word(value: Any, key: str, file: Path) -> str:
    word: object = cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None
    if not isinstance(word, str) or not word:
        raise TidemarkError(f"{file} has no {key!r}")
    return word
