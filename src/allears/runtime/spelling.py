"""From a vocabulary's tokens to a text as people write it. No torch here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from allears.personas.wording import spell
from allears.text.tokenizer import WordPiece

_SENTENCE_START = re.compile(r"(^|[.!?]\s+)([\"'(]?[a-z])")
_INSIDE_NUMBERS = re.compile(r"(?<=\d)([.,:]) (?=\d)")
_OPENING = re.compile(r"([(\[$£€#]) (?=\w)")
_QUOTED = re.compile(r'" ([^"]+?) ?"')


def written_text(tokenizer: WordPiece, tokens: Sequence[int], source: str) -> str:
    """Word pieces as text: names look as they do in the source, sentences begin with a capital."""
    words = spell([tokenizer.backend.id_to_token(token) or "" for token in tokens], source)
    words = _QUOTED.sub(r'"\1"', _OPENING.sub(r"\1", _INSIDE_NUMBERS.sub(r"\1", words)))
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), words)
