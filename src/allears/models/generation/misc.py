"""MISC (Tu et al. 2022), a baseline of PAL's: what the person may feel and want, and a mixture of strategies.

C = Enc(u_1, SEP, u_2, ..., u_n),     B = Enc(what may go on in the person)
Z = softmax(B C^T) C,     H = LN(B + Z)                 mental states, as far as the dialogue bears them out
p = softmax(W c_1),     g = p T                         T: a row for each strategy; g is a mixture of them
O = O + attention(O, C) + attention(O, H) + attention(O, g)

What may go on in the person comes from a commonsense source (`mental_states.py`): COMET in the paper. Here the decoder
has one attention, over the tokens of C and H together, and g is added to all that it attends to. That is the last
term: attention to a single vector is that vector, whatever is asked, and shares that add up to one carry it through.

Beside the loss of equation 5, p learns which strategy people chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.models.generation.mental_states import mental_source
from allears.models.generation.pal import attended
from allears.models.generation.writer import EncoderMemory, GenerationModel, Writes
from allears.nn.inputs import Inputs
from allears.runtime.generator import STRATEGIES, Prompt
from allears.runtime.prompt_layout import PersonaPlace


class MISC(GenerationModel):
    place = PersonaPlace.BESIDE  # but it is not a persona that stands there: see `prepared`

    def __init__(self, encoder: Any, decoder: Writes, *, source: str = "lexicon"):
        super().__init__(encoder, decoder)
        self.mental_norm = nn.LayerNorm(encoder.size)
        self.choice = nn.Linear(encoder.size, len(STRATEGIES))  # W
        self.codebook = nn.Embedding(len(STRATEGIES), encoder.size)  # T
        nn.init.normal_(self.codebook.weight, std=0.02)
        self.source = mental_source(source)

    def prepared(self, prompts: Sequence[Prompt]) -> list[Prompt]:
        """Prompts with what may go on in the person, in place of what is known of them."""
        found = self.source(prompts)
        return [replace(prompt, persona=states) for prompt, states in zip(prompts, found, strict=True)]

    def read(self, context: Inputs, persona: Inputs | None = None) -> EncoderMemory:
        return self.read_choosing(context, persona)[0]

    def read_choosing(self, context: Inputs, persona: Inputs | None = None) -> tuple[EncoderMemory, Tensor]:
        """What the decoder reads, and the logits [B, 8] of the strategies that are mixed into it."""
        dialogue = self.encoder(context)
        choice = self.choice(dialogue[:, 0])
        mixture = (choice.softmax(-1) @ self.codebook.weight).unsqueeze(1)  # g [B, 1, d]
        ids = context.ids * context.mask
        if persona is None:
            return EncoderMemory(dialogue + mixture, ids, context.mask), choice
        states = self._encode_some(persona)  # B [B, m, d]
        mental = self.mental_norm(states + attended(states, dialogue, context.mask))
        memory = EncoderMemory(
            torch.cat([F.pad(dialogue, (0, 0, 0, 1)), mental * persona.mask.unsqueeze(-1)], 1) + mixture,
            torch.cat([F.pad(ids, (0, 1)), persona.ids * persona.mask], 1),
            # an empty place between the two, as in PAL
            torch.cat([F.pad(context.mask, (0, 1)), persona.mask], 1),
        )
        return memory, choice
