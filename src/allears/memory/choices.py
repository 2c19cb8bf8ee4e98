"""What a person chose for one conversation: its title, who answers, with which persona, and where they are.

Choices are no turn, so undo leaves them as they are. A loaded conversation shows them where the listener looks: the
listener's own persona in `personas["supporter"]`, the voice and the country in `labels`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from allears.conversation import Conversation, Persona, PersonaSentence, Role

VOICE_LABEL, COUNTRY_LABEL = "voice", "country"
CHOSEN = "chosen"  # the source of the listener's own persona sentences
_SUPPORTER = Role.SUPPORTER.value
_LABELS = (VOICE_LABEL, COUNTRY_LABEL)


@dataclass(frozen=True, slots=True)
class Choices:
    """None where nothing was chosen. `listener` is the persona that the listener itself speaks with."""

    title: str | None = None
    voice: str | None = None
    listener: tuple[str, ...] | None = None
    country: str | None = None

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Choices:
        """`record` as it was stored."""
        listener = record.get("listener")
        return cls(
            record.get("title"),
            record.get("voice"),
            None if listener is None else tuple(listener),
            record.get("country"),
        )

    def shown_in(self, conversation: Conversation) -> Conversation:
        """The conversation as the listener is to see it."""
        labels = {name: value for name, value in conversation.labels.items() if name not in _LABELS}
        labels |= {name: value for name in _LABELS if (value := getattr(self, name)) is not None}
        personas = dict(conversation.personas)
        if self.listener is not None:
            personas.pop(_SUPPORTER, None)
            if self.listener:
                personas[_SUPPORTER] = Persona(tuple(PersonaSentence(text, CHOSEN) for text in self.listener))
        return replace(conversation, labels=labels, personas=personas)
