"""What a frozen encoder says of a context: features that a generator gets beside its own reading (`ensemble.py`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from allears.conversation import Role, Turn
from allears.models.generation.empathetic_data import Features
from allears.runtime.generator import Prompt
from allears.runtime.onnx_reader import OnnxReader
from allears.text.reading import Reading
from allears.text.reading_layout import ReadingTokens

HEAD = "ed-emotion-turns"
BATCH = 32


class FrozenReader:
    """A bundle's encoder and emotion head, in DeepMoji's place: the mean of the token states of what the seeker said,
    and how likely each of 32 emotions is."""

    def __init__(self, bundle: str = "default"):
        self.reader = OnnxReader.from_bundle(bundle)
        self.reader.needs(HEAD)
        self.size = self.reader.card.size + len(self.reader.card.heads[HEAD])

    def features(self, prompts: Sequence[Prompt]) -> Features:
        """[N, size], float32."""
        readings = [Reading(_seeker_turns(prompt)) for prompt in prompts]
        data = ReadingTokens(readings, self.reader.tokenizer, self.reader.card.limits)
        found = np.zeros((len(readings), self.size), np.float32)
        for rows in data.parts(BATCH):
            tokens = data.tokens(rows)
            states = self.reader.encoder.run(tokens.ids, tokens.mask, tokens.segments).states
            assert states is not None  # they are what it gives by default
            real = tokens.mask[:, :, None].astype(np.float32)
            mean = (states * real).sum(1) / real.sum(1)
            likely = self.reader.from_states(states, tokens.mask)[HEAD]
            found[rows] = np.concatenate([mean, likely], 1)
        return found


def _seeker_turns(prompt: Prompt) -> tuple[Turn, ...]:
    said = tuple(Turn(Role.SEEKER, turn.text) for turn in prompt.turns if turn.speaker is Role.SEEKER)
    return said or prompt.turns
