"""The wall clock. Times are kept to be shown; no order and no id depends on them, so the clock may jump."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """The present in UTC, without a zone, which is how times are stored."""
    return datetime.now(UTC).replace(tzinfo=None)


def shown(stored: datetime) -> datetime:
    """A stored time with its zone."""
    return stored.replace(tzinfo=UTC)
