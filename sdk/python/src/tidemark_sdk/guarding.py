"""Plain functions, guarded."""

from __future__ import annotations

import os

from ._light import cast
from .session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable  # noqa: F401 (one is in the text of a cast)
    from typing import Any, Literal, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")


def guard(
    function: Callable[P, R], session: Session | Callable[[], Session], *, name: str = "", refused: Literal["raise", "return"] = "raise"
) -> Callable[P, R]:
    """A function that asks before it runs and tells what came back. It raises RefusedError where it may not run.

    session may be a function that returns it, for functions that are made before the conversation is known. refused="return" gives the
    words of a refusal as the result instead, for frameworks that hide from the model what a tool raised; the function must then be one
    whose result may be text.
    """
    if refused not in ("raise", "return"):
        raise ValueError('refused is "raise" or "return"')
    import functools
    import inspect  # slow to import

    signature = inspect.signature(function)
    tool = name or function.__name__

    def bound(*args: Any, **kwargs: Any) -> dict[str, Any]:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        return dict(given.arguments)

    def found() -> Session:
        return session if isinstance(session, Session) else session()

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def later(*args: P.args, **kwargs: P.kwargs) -> Any:
            s, asked, call = found(), bound(*args, **kwargs), os.urandom(16).hex()
            d = await s.adecide(tool, asked, call)
            if not d and refused == "return":
                return d.reason
            d.check()
            return await s.aexecute(tool, asked, call, lambda: cast("Awaitable[Any]", function(*args, **kwargs)))

        return cast("Callable[P, R]", later)

    @functools.wraps(function)
    def now(*args: P.args, **kwargs: P.kwargs) -> R:
        s, asked, call = found(), bound(*args, **kwargs), os.urandom(16).hex()
        d = s.decide(tool, asked, call)
        if not d and refused == "return":
            return cast("R", d.reason)
        d.check()
        return s.execute(tool, asked, call, lambda: function(*args, **kwargs))

    return now
