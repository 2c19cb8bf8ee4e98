"""allears: conversation that understands how a person feels, remembers who they are, and answers with care."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from allears.conversation import Conversation, Example, Persona, PersonaSentence, Role, Turn
from allears.errors import AllearsError

if TYPE_CHECKING:
    from allears.api import RankedReply, emotions, evaluate, generate, persona, rank, read, train
    from allears.listener.listener import Listener

__version__ = "0.1.0"

__all__ = [
    "AllearsError",
    "Conversation",
    "Example",
    "Listener",
    "Persona",
    "PersonaSentence",
    "RankedReply",
    "Role",
    "Turn",
    "__version__",
    "emotions",
    "evaluate",
    "generate",
    "persona",
    "rank",
    "read",
    "train",
]

# `import allears` stays light: what needs a model is imported when it is first used
_LAZY = dict.fromkeys(
    ("RankedReply", "emotions", "evaluate", "generate", "persona", "rank", "read", "train"), "allears.api"
) | {"Listener": "allears.listener.listener"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
