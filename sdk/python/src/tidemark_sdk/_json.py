"""Arguments and results as they are sent.

An approval is for the bytes of a call's arguments, so there is one spelling of every value: RFC 8785 (sorted keys, no blanks,
numbers as JavaScript writes them). What cannot be spelled is refused as an argument, and becomes text as a result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from ._light import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 190  # the server takes 200, of which the envelope needs some
MAX_BODY = 7_500_000  # the server takes 8 MiB
MAX_TEXT = 1_000_000  # of a result that is too long; six bytes each at the worst


class UnsendableError(ValueError):
    """A value that JSON has no spelling for."""


def canonical(value: Any) -> bytes:
    """The one spelling of a value."""
    out: list[str] = []
    _write(value, out, "", 0)
    try:
        return "".join(out).encode()
    except UnicodeEncodeError:
        raise UnsendableError("a text holds half a character (a lone surrogate)") from None


def _write(value: Any, out: list[str], at: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise UnsendableError(f"{at[:60]}…: nested deeper than {MAX_DEPTH} levels, or inside itself")
    if value is None or value is True or value is False:
        out.append({None: "null", True: "true", False: "false"}[value])
    elif isinstance(value, str):
        out.append(_text(str(value)))
    elif isinstance(value, int):
        out.append(str(int(value)))
    elif isinstance(value, float):
        out.append(_number(float(value), at))
    elif isinstance(value, Mapping):
        _write_object(cast("Mapping[Any, Any]", value), out, at, depth)
    elif isinstance(value, (list, tuple)):
        for i, v in enumerate(cast("list[Any]", value)):
            out.append("," if i else "[")
            _write(v, out, f"{at}[{i}]", depth + 1)
        out.append("]" if value else "[]")
    else:
        raise UnsendableError(f"{at or 'the value'}: {type(value).__name__} is no JSON")


def _write_object(value: Mapping[Any, Any], out: list[str], at: str, depth: int) -> None:
    for k in value:
        if not isinstance(k, str):
            raise UnsendableError(f"{at or 'the value'}: a key is {type(k).__name__} and not text")
    out.append("{")
    for i, k in enumerate(sorted(value, key=_utf16)):
        if i:
            out.append(",")
        out.append(_text(k) + ":")
        _write(value[k], out, f"{at}.{k}" if at else k, depth + 1)
    out.append("}")


def _text(value: str) -> str:
    import json  # slow to import

    return json.dumps(value, ensure_ascii=False)


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _number(x: float, at: str) -> str:
    if not math.isfinite(x):
        raise UnsendableError(f"{at or 'the value'}: {x} is no JSON")
    if x == 0:
        return "0"
    from decimal import Decimal  # slow to import, and few numbers need it

    sign, digits, exponent = Decimal(repr(x)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    if 0 < point <= 21:
        text = text.ljust(point, "0")
        text = text[:point] + ("." + text[point:] if len(text) > point else "")
    elif -6 < point <= 0:
        text = "0." + "0" * -point + text
    else:
        text = text[0] + ("." + text[1:] if len(text) > 1 else "") + f"e{point - 1:+d}"
    return "-" * sign + text


def sendable(result: Any) -> Any:
    """A result as it is reported: itself, or its text. Nothing is ever left out because of its form."""
    if isinstance(result, str):
        return whole(result)
    if isinstance(result, bytes):
        return whole(result.decode("utf-8", "replace"))
    try:
        canonical(result)
    except (UnsendableError, RecursionError):
        return whole(text_of(result))
    return result


def text_of(value: Any) -> str:
    """The text of anything, also of what cannot say what it is."""
    try:
        return str(value)
    except Exception as e:
        return f"({type(value).__name__}, which has no text: {type(e).__name__})"


def whole(text: str) -> str:
    """A text without half characters."""
    return text.encode("utf-8", "replace").decode()


def cut(result: Any) -> str:
    """The beginning of a result that is too long to send."""
    text = result if isinstance(result, str) else canonical(result).decode()
    return f"{text[:MAX_TEXT]}\n[cut: the result has {len(text)} characters]"
