"""What is known about a person, as it grows: duplicates are joined, a contradiction replaces what was said before.

Pure functions: a persona and new sentences in, a new persona and what changed out. Sentences keep their order; what
replaces an older sentence takes its place. What the person wrote themselves (source `EDITED`) is never overwritten by
what was extracted from their words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from allears.conversation import Persona, PersonaSentence
from allears.personas.contradiction import Meaning, meaning, opposition
from allears.personas.plain import plain_words

EDITED = "edited"
# The cosine from which two sentences say the same. With gte-small, paraphrases lie from 0.94 to 0.99, and sentences
# that differ in one thing ("my mother", "my father") from 0.88 to 0.96; `_may_join` keeps the latter apart.
ALIKE = 0.955

Similarity = Callable[[str, Sequence[str]], Sequence[float]]
"""How alike a sentence is to each of some others: 1 is the same. An embedder's cosine, for instance."""


@dataclass(frozen=True, slots=True)
class PersonaChange:
    """A sentence that took the place of an older one, and why both could not stand."""

    old: PersonaSentence
    new: PersonaSentence
    reason: str

    @property
    def source(self) -> str:
        """What brought the change: "turn 7", "edited"."""
        return self.new.source

    def to_dict(self) -> dict[str, str]:
        return {"old": self.old.text, "new": self.new.text, "source": self.source, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Merged:
    """A persona after a merge. `refused` are changes that a person's own edit stood against."""

    persona: Persona
    changes: tuple[PersonaChange, ...] = ()
    refused: tuple[PersonaChange, ...] = ()


def merge(
    known: Persona,
    new: Iterable[PersonaSentence],
    *,
    similarity: Similarity | None = None,
    threshold: float = ALIKE,
) -> Merged:
    """`known` with the new sentences, in the order they were said."""
    kept = [_Entry(sentence, meaning(sentence.text)) for sentence in known.sentences]
    changes: list[PersonaChange] = []
    refused: list[PersonaChange] = []
    for sentence in new:
        if not plain_words(sentence.text):
            continue
        entry = _Entry(sentence, meaning(sentence.text))
        against = {
            position: PersonaChange(old.sentence, sentence, reason)
            for position, old in enumerate(kept)
            if (reason := opposition(old.meaning, entry.meaning)) is not None
        }
        edits = [change for change in against.values() if change.old.source == EDITED != sentence.source]
        if edits:
            refused += edits
            continue
        changes += against.values()
        place = min(against, default=len(kept))
        kept = [old for position, old in enumerate(kept) if position not in against]
        twin = _twin(kept, entry, similarity, threshold)
        if twin is None:
            kept.insert(place, entry)
        elif sentence.source == EDITED:
            kept[twin] = entry  # the person's own wording
    return Merged(Persona(tuple(entry.sentence for entry in kept)), tuple(changes), tuple(refused))


@dataclass(frozen=True, slots=True)
class _Entry:
    sentence: PersonaSentence
    meaning: Meaning


def _twin(
    kept: Sequence[_Entry], entry: _Entry, similarity: Similarity | None, threshold: float
) -> int | None:
    """Which known sentence says the same already."""
    for position, old in enumerate(kept):
        if _same(old.meaning, entry.meaning):
            return position
    if similarity is None or not kept:
        return None
    scores = similarity(entry.sentence.text, [old.sentence.text for old in kept])
    for position in sorted(range(len(kept)), key=lambda place: -scores[place]):
        if scores[position] < threshold:
            break
        if _may_join(kept[position], entry):
            return position
    return None


def _same(first: Meaning, second: Meaning) -> bool:
    """The same is stated in the same words, whatever the grammar around them."""
    one, other = first.statement, second.statement
    if one == other:
        return bool(one.about)
    return first.attitude is not None and first.attitude == second.attitude and one.former == other.former


def _may_join(first: _Entry, second: _Entry) -> bool:
    """An embedder hardly tells yes from no, two from three, or a mother from a father; what decides must be equal."""
    one, other = first.meaning.statement, second.meaning.statement
    mine, theirs = first.meaning.claims, second.meaning.claims
    return (
        (one.affirmed, one.past, one.former) == (other.affirmed, other.past, other.former)
        and _numbers(first) == _numbers(second)
        and (mine == theirs or not (mine and theirs))
        and not _differ_in_one_word(one.about, other.about)
    )


def _differ_in_one_word(first: Sequence[str], second: Sequence[str]) -> bool:
    if len(first) != len(second):
        return False
    return sum(mine != theirs for mine, theirs in zip(first, second, strict=True)) == 1


def _numbers(entry: _Entry) -> list[str]:
    return [word for word in plain_words(entry.sentence.text) if word.isdigit()]
