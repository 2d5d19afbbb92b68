"""What can go wrong."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .session import Decision


class TidemarkError(Exception):
    """The monitor could not be asked or told. Nothing may run."""


class RefusedError(TidemarkError):
    """A call may not run. The text is for the model to read."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.reason)
        self.decision = decision


class UndecidedError(TidemarkError):
    """A tool was about to run that the monitor was not asked about."""
