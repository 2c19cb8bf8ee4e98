"""From the tokens a decoder wrote to sentences a person reads, in the case their own words had. No torch here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from allears.personas.support import content_words

_CONTINUES = "##"  # how WordPiece marks a piece that goes on with a word
_CLOSING = frozenset(".,!?;:%)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SOURCE_WORD = re.compile(r"[^\W_]+")


def spell(pieces: Sequence[str], source: str) -> str:
    """Word pieces as text: punctuation sits where it belongs, and words look as they do in the source."""
    words: list[str] = []
    for piece in pieces:
        if piece.startswith(_CONTINUES) and words:
            words[-1] += piece.removeprefix(_CONTINUES)
        else:
            words.append(piece)
    lower = source.lower().replace("’", "'")
    shown = _casing(source)
    text = ""
    for position, word in enumerate(words):
        text += "" if not text or _touches(words, position, lower) else " "
        text += shown.get(word, "I" if word == "i" else word)
    return text


def _touches(words: Sequence[str], position: int, source: str) -> bool:
    """Whether a word follows the one before it without a space."""
    word, before = words[position], words[position - 1]
    if word in _CLOSING or word == "'" or before == "'":
        return True
    if word.isalnum() and before.isalnum():
        return False
    return any(
        "".join(words[first : first + 3]) in source
        for first in (position - 2, position - 1)
        if first >= 0 and first + 3 <= len(words) and not words[first + 1].isalnum()
    )


def _casing(source: str) -> dict[str, str]:
    """Words that the source always writes with the same capitals, but for a capital at a sentence's start."""
    found: dict[str, set[str]] = {}
    for sentence in _SENTENCE_END.split(source):
        for number, match in enumerate(_SOURCE_WORD.finditer(sentence)):
            if number:
                found.setdefault(match[0].lower(), set()).add(match[0])
    mixed = {low: forms.pop() for low, forms in found.items() if len(forms) == 1}
    loud = sum(form.isupper() and len(form) > 1 for form in mixed.values()) * 2 > len(mixed)
    return {} if loud else {low: form for low, form in mixed.items() if form != low}


def sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE_END.split(text.strip()) if sentence]


def persona_sentences(text: str) -> tuple[str, ...]:
    """A written persona as sentences of their own: each says something, none twice."""
    return tuple(dict.fromkeys(_closed(each) for each in sentences(text) if content_words(each)))


def _closed(sentence: str) -> str:
    sentence = sentence.rstrip(" .,;:") if sentence[-1:] not in "!?" else sentence
    return sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith(("!", "?")) else ".")
