"""Who the people in some conversations are, by an extractor by its name: what `allears persona extract` does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from allears.conversation import Conversation, Persona
from allears.models.extractor.loading import load_extractor
from allears.models.reader.sentence_loading import load_similarity
from allears.personas.memory import Merged, merge
from allears.personas.provenance import Extraction, extract_persona, turns_by_person


@dataclass(frozen=True, slots=True)
class PersonLearned:
    """What one person's own turns tell about them."""

    conversation: Conversation
    name: str
    turns: int
    found: Extraction
    known: Merged
    is_one_of_several: bool

    def record(self) -> dict[str, Any]:
        """As `--json` prints it."""
        sentences = self.known.persona.sentences
        return {
            "id": self.conversation.id,
            "person": self.name,
            "turns": self.turns,
            "persona": [{"text": sentence.text, "source": sentence.source} for sentence in sentences],
            "changes": [change.to_dict() for change in self.known.changes],
            "dropped": dict(self.found.doubts),
            "unread": list(self.found.unread),
        }


def learn_people(
    conversations: Sequence[Conversation], model: str, encoder: str | None = None, device: str = "cpu"
) -> Iterator[PersonLearned]:
    """Each seeker of each conversation, as soon as they are read; `encoder` joins what is said in other words."""
    extractor, similarity = load_extractor(model, device), load_similarity(encoder, device)
    for conversation in conversations:
        people = turns_by_person(conversation)
        several = len(conversations) > 1 or len(people) > 1
        for name, turns in people.items():
            found = extract_persona(extractor, turns)
            known = merge(Persona(), found.kept, similarity=similarity)
            yield PersonLearned(conversation, name, len(turns), found, known, several)
