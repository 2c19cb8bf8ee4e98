"""Conversations as rows of tokens, each with which of them are learned."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from allears.conversation import Conversation, Role
from allears.corpora.talks import KNOWN_BEFORE
from allears.runtime.talk_layout import Segment, conversation_segments, system_text

Row = tuple[list[int], list[bool]]


@dataclass(frozen=True, slots=True)
class TalkRows:
    """Lays conversations out and cuts them into tokens.

    `retold`: the share of conversations that are shown from the middle on, with what the person said of themselves
    before it as what is known: so a voice learns to use a persona.
    """

    tokenizer: Any  # of transformers
    longest: int
    retold: float = 0.0

    def row(self, talk: Conversation, seed: int) -> Row:
        """One conversation as (tokens, whether each is learned); the same for the same seed."""
        return self.tokens(self._segments(talk, random.Random(f"{seed} {talk.id}")))

    def _segments(self, talk: Conversation, chance: random.Random) -> list[Segment]:
        persona = talk.personas.get(Role.SEEKER.value)
        sentences = persona.sentences if persona else ()
        known = [each.text for each in sentences if each.source == KNOWN_BEFORE]
        days = talk.labels.get("days_since")
        missed = talk.labels.get("misses", ())
        start = 0
        if chance.random() < self.retold and len(talk.turns) >= 6:
            start = 2 * chance.randrange(1, len(talk.turns) // 2 - 1)
            known += [each.text for each in sentences if _turn_of(each.source) in range(1, start + 1)]
        shown = [number - start for number in missed]
        return conversation_segments(talk.turns[start:], system_text(known, days_since=days), missed=shown)

    def tokens(self, segments: Sequence[Segment]) -> Row:
        pieces = self.tokenizer([each.text for each in segments], add_special_tokens=False)["input_ids"]
        ids = [token for piece in pieces for token in piece]
        learn = [each.learn for each, piece in zip(segments, pieces, strict=True) for _ in piece]
        return ids[-self.longest :], learn[-self.longest :]  # what is too long loses its beginning


def _turn_of(source: str) -> int:
    return int(source.removeprefix("turn ")) if source.startswith("turn ") else 0


def fingerprint(talks: Sequence[Conversation]) -> str:
    digest = hashlib.sha256()
    for talk in talks:
        digest.update(talk.to_json().encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()[:16]
