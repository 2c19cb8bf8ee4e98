"""Whether two sentences about a person say the same, by the rules of persona extraction."""

from __future__ import annotations

from allears.conversation import Persona, PersonaSentence
from allears.personas.memory import merge
from allears.personas.plain import plain_words


def alike(first: str, second: str) -> bool:
    if first == second:
        return True
    if not plain_words(first) or not plain_words(second):
        return False
    merged = merge(Persona((PersonaSentence(first),)), [PersonaSentence(second)])
    return len(merged.persona.sentences) == 1 and not merged.changes
