"""Answers to what is said to the listener itself: "you're not listening", "what would you do?", "wish me luck".

No reply that was written for somebody's troubles fits these, and to say them back would be mockery. A message is
answered only if it is nothing else (`answering.toml` has the messages and the answers).
"""

from __future__ import annotations

import random
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from allears.listener.contract import TO_US, Proposal

_BEFORE = r"(?:(?:but|and|so|well|ok|okay|hey|no|oh|please|sorry|then|wow|ugh|honestly|look) )*"
_AFTER = r"(?: (?:please|you know|then|though|anyway|really|now|ok|okay|thanks))*"


@dataclass(frozen=True, slots=True)
class AnswerToUs:
    said: re.Pattern[str]
    strategy: str
    texts: tuple[str, ...]


def answers(message: str, seed: int = 0, place: int = 0) -> list[Proposal]:
    """What may be answered, in an order of chance: the same for the same seed and place."""
    said = " ".join(re.sub(r"[^\w\s']", " ", message.replace("\u2019", "'").lower()).split())
    for answer in _answers():
        if answer.said.fullmatch(said):
            texts = list(answer.texts)
            random.Random(f"{seed} {place}").shuffle(texts)
            return [Proposal(text, TO_US, strategy=answer.strategy) for text in texts]
    return []


@cache
def _answers() -> tuple[AnswerToUs, ...]:
    found = tomllib.loads(Path(__file__).with_name("answering.toml").read_text(encoding="utf-8"))["answer"]
    return tuple(
        AnswerToUs(
            re.compile(f"{_BEFORE}(?:{'|'.join(each['says'])}){_AFTER}"),
            each["strategy"],
            tuple(each["texts"]),
        )
        for each in found
    )
