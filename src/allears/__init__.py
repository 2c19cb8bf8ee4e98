"""allears: conversation that understands how a person feels, remembers who they are, and answers with care."""

from allears.conversation import Conversation, Example, Persona, PersonaSentence, Role, Turn
from allears.errors import AllearsError

__version__ = "0.1.0"

__all__ = [
    "AllearsError",
    "Conversation",
    "Example",
    "Persona",
    "PersonaSentence",
    "Role",
    "Turn",
    "__version__",
]
