"""Tickets of sessions, made of a secret of the application's.

A ticket that the server draws is in the memory of one process. One that is made of the session's name and a secret can be made again: after
a restart, and by every process of the same application. Nothing is stored, so there is nothing to read but the secret itself.
"""

from __future__ import annotations

from ._errors import TidemarkError

SHORTEST = 32  # characters: with 16 signs 128 bits
MAKE = "python -c 'import secrets; print(secrets.token_hex(32))'"


def checked(secret: str | bytes | None) -> bytes:
    """The secret as it is used; empty without one."""
    if secret is None:
        return b""
    if not isinstance(secret, (str, bytes)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"secret is {type(secret).__name__}: give a str or bytes")
    raw = secret.encode() if isinstance(secret, str) else secret
    if len(raw) < SHORTEST:
        raise ValueError(
            f"secret has {len(raw)} characters, and whoever guesses it speaks for the user: give {SHORTEST} or more by chance ({MAKE})"
        )
    return raw


def ticket(secret: bytes, session: str) -> str:
    """The ticket of the session of this name: whoever has it, and not the secret, has that of no other."""
    import hashlib  # these bring OpenSSL, which is slow to import
    import hmac

    said = b"tidemark sdk session ticket 1\n" + session.encode("utf-8", "surrogatepass")
    return "tms-" + hmac.new(secret, said, hashlib.sha256).hexdigest()[:48]


def differs(secret: bytes, token: str) -> None:
    """The agents' token lies where programs that agents start can read it."""
    if secret and secret == token.encode():
        raise TidemarkError(f"secret is the agents' token, which others can read: give one of its own ({MAKE})")
