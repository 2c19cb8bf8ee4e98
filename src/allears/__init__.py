"""allears: conversation that understands how a person feels, remembers who they are, and answers with care."""

from typing import TYPE_CHECKING, Any

from allears.conversation import Conversation, Example, Persona, PersonaSentence, Role, Turn
from allears.errors import AllearsError

if TYPE_CHECKING:
    from allears.listener.listener import Listener

__version__ = "0.1.0"

__all__ = [
    "AllearsError",
    "Conversation",
    "Example",
    "Listener",
    "Persona",
    "PersonaSentence",
    "Role",
    "Turn",
    "__version__",
]


def __getattr__(name: str) -> Any:
    # `import allears` stays light: the models are only imported when somebody wants to talk
    if name == "Listener":
        from allears.listener.listener import Listener

        return Listener
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
