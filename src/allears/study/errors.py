"""What can go wrong for a participant. Each is one sentence that the page shows as it is."""

from __future__ import annotations

from allears.errors import AllearsError


class NotKnownError(AllearsError):
    """There is no such participant, or no such unit of theirs: nobody can tell which."""


class OutOfStepError(AllearsError):
    """It does not go with how things stand now; asking for the next step helps."""


class NotAnsweredError(AllearsError):
    """An answer is missing, or is none of those that were offered."""


class TooQuickError(AllearsError):
    """Nobody reads that fast. `seconds`: how much longer to wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__("That was very quick; please take a moment to read before you answer.")
        self.seconds = seconds
