"""How much of an utterance is read and how much is written, and how it is laid out. No torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from allears.errors import AllearsError
from allears.text.layout import Row, flatten, plain_rows
from allears.text.tokenizer import WordPiece


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """How many tokens of an utterance are read at once, and how many are written at most (end included)."""

    utterance_tokens: int = 96
    persona_tokens: int = 48

    def __post_init__(self) -> None:
        if min(self.utterance_tokens, self.persona_tokens) < 1:
            raise AllearsError("limits: utterance_tokens and persona_tokens must be at least 1")


def utterance_rows(utterances: Sequence[str], tokenizer: WordPiece, lengths: Lengths) -> list[Row]:
    """`[CLS] utterance [SEP]`, each cut to its limit."""
    pieces = tokenizer.encode_many(utterances)
    return [flatten(plain_rows([ids], lengths.utterance_tokens), tokenizer) for ids in pieces]
