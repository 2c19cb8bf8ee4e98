"""What is kept about people: their conversations and, if they agreed, who they are.

Stored in a SQLite file by default, in PostgreSQL by URL; `Memory` is all that other rooms need.
"""

from allears.memory.choices import Choices
from allears.memory.errors import ConflictError, NotFoundError, NothingToUndoError, UnavailableError
from allears.memory.records import Counts, EarlierWording, StoredSentence, Summary
from allears.memory.store import Memory

__all__ = [
    "Choices",
    "ConflictError",
    "Counts",
    "EarlierWording",
    "Memory",
    "NotFoundError",
    "NothingToUndoError",
    "StoredSentence",
    "Summary",
    "UnavailableError",
]
