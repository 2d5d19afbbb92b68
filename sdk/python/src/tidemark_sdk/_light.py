"""What the core needs of typing and dataclasses while a program runs. To import those two takes longer than all the rest of it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from typing import cast as cast
else:

    def cast(_, value):
        return value


class Value:
    """Equal to another of its kind by its parts, which are its slots and its constructor's arguments, and not to be changed."""

    __slots__ = ()

    def _set(self, *parts: Any) -> None:
        for name, part in zip(type(self).__slots__, parts, strict=True):
            object.__setattr__(self, name, part)

    def _parts(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in type(self).__slots__)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and type(other) is type(self) and other._parts() == self._parts()

    def __hash__(self) -> int:
        return hash((type(self), self._parts()))

    def __repr__(self) -> str:
        named = ", ".join(f"{name}={part!r}" for name, part in zip(type(self).__slots__, self._parts(), strict=True))
        return f"{type(self).__name__}({named})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._parts()
