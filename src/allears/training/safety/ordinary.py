"""Ordinary talk, for the crisis screen to know what most messages are like: turns of published conversations.

The written cases are half danger and half what sounds like it. A screen that has seen nothing else takes "Maybe I'll
keep the collar" for a farewell. So its heads also learn from everyday turns, as harmless, and its layers are weighed
so that hardly any of them raises an alarm. Needs EmpatheticDialogues and DailyDialog in ALLEARS_DATA, which do not
ship. The talks do, our own corpus, whose people often sound as if they were in danger and never are; and so do the
examples on the listener's cards.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from allears.conversation import Role
from allears.corpora import corpus, data_root
from allears.listener.cards import shipped_cards

CORPORA = ("ed", "dailydialog", "talks")


def ordinary_turns(split: str, count: int, seed: int = 0, *, root: Path | str | None = None) -> list[str]:
    """Different turns of these corpora, the seekers' only where there is one; a seeded sample."""
    turns = sorted(set(_turns(split, data_root(root))))
    return random.Random(seed).sample(turns, min(count, len(turns)))


def answered_messages() -> list[str]:
    """Everyday messages written for this project: the examples on the cards, in their order."""
    return [example for card in shipped_cards() for example in card.examples]


def _turns(split: str, root: Path) -> Iterator[str]:
    for name in CORPORA:
        for conversation in corpus(name).read(split, root):
            for turn in conversation.turns:
                if name == "dailydialog" or turn.speaker is Role.SEEKER:
                    yield turn.text
