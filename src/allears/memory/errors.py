"""What can go wrong with a memory. Each is one sentence that says how to mend it."""

from __future__ import annotations

from allears.errors import AllearsError


class NotFoundError(AllearsError):
    """There is no such thing, for this person. Another person's things are told apart from nothing by nobody."""


class ConflictError(AllearsError):
    """Somebody else wrote to the conversation since it was loaded. Nothing was stored; load it again."""


class NothingToUndoError(AllearsError):
    """There is no such message of the person's to take back."""


class UnavailableError(AllearsError):
    """The database cannot be used now: stopped, full, locked, moved away. What was stored before is untouched."""
