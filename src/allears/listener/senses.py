"""How the listener reads a turn: what the person feels, and what a supporter would do next.

The ranker has encoded the conversation and the last message already, with the same encoder. The heads answer from
those states, so reading costs no encoder pass of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from allears.conversation import Turn
from allears.corpora.heads import HEADS
from allears.listener.contract import Likely
from allears.runtime.onnx_encoder import EncodedText
from allears.runtime.onnx_reader import OnnxReader
from allears.text.conversation_facts import conversation_facts

EMOTION, STRATEGY = "ed-emotion-turns", "strategy"
NOW = 0.4  # of a mood is what was read in this turn, if it was a turn of some length
LENGTH = 10  # words; shorter messages ("yes, he did") say less about a mood


class Sensed(NamedTuple):
    """What was read in one turn."""

    emotions: Likely = ()  # 32, of the message
    strategies: Likely = ()  # 8, by the conversation


class Senses:
    """The reader's answers, as the listener wants them."""

    def __init__(self, reader: OnnxReader):
        self.reader = reader
        for name in (EMOTION, STRATEGY):
            reader.needs(name)

    def read(
        self,
        conversations: Sequence[EncodedText],
        messages: Sequence[EncodedText],
        turns: Sequence[Sequence[Turn]] | None = None,
    ) -> list[Sensed]:
        """`turns` are all of each conversation, for heads that ask what was done in it; its words are in `Text`."""
        facts = None
        if turns is not None and self.reader.card.informed:
            facts = np.array([conversation_facts(each) for each in turns], np.float32)
        strategies = self.reader.from_states(*_padded(conversations), facts, [STRATEGY])[STRATEGY]
        emotions = self.reader.from_states(*_padded(messages), heads=[EMOTION])[EMOTION]
        return [
            Sensed(likely(EMOTION, emotions[row]), likely(STRATEGY, strategies[row]))
            for row in range(len(messages))
        ]


def _padded(texts: Sequence[EncodedText]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Their states [B, L, d] and which tokens are real [B, L]."""
    width = max(len(text.ids) for text in texts)
    states = np.zeros((len(texts), width, texts[0].states.shape[-1]), np.float32)
    mask = np.zeros((len(texts), width), np.int64)
    for row, text in enumerate(texts):
        states[row, : len(text.ids)], mask[row, : len(text.ids)] = text.states, 1
    return states, mask


def mood(read: Likely, before: Mapping[str, float], message: str) -> Likely:
    """What was read now, together with the mood so far: tears at the finish line are no grief.

    What the mood before did not keep counts as nothing.
    """
    if not before:
        return read
    now = NOW * min(1.0, (1 + len(message.split())) / LENGTH)
    joined = {name: now * chance + (1 - now) * before.get(name, 0.0) for name, chance in read}
    total = sum(joined.values())
    return tuple(sorted(((name, value / total) for name, value in joined.items()), key=lambda item: -item[1]))


def likely(head: str, chances: np.ndarray) -> Likely:
    order = np.argsort(-chances, kind="stable")
    return tuple((HEADS[head].labels[column], float(chances[column])) for column in order)
