"""Blenderbot-Joint (Liu et al. 2021): the strategy is the first word of the reply, and nothing is known of the person.

H_D = Enc(u_1, SEP, u_2, ..., u_n)
P(s + r | d) = decoder(H_D)

PAL without persona, on any encoder and decoder of `writer.py` or `seq2seq.py`.
"""

from __future__ import annotations

from allears.models.generation.writer import EncoderMemory, GenerationModel
from allears.nn.inputs import Inputs
from allears.runtime.prompt_layout import PersonaPlace


class Joint(GenerationModel):
    place = PersonaPlace.NOWHERE

    def read(self, context: Inputs, persona: Inputs | None = None) -> EncoderMemory:
        return self._read_context(context)
