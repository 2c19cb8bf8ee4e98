"""PAL (Cheng et al. 2023), section 3.3: a generator that reads the seeker's persona beside the dialogue.

H_D = Enc(u_1, SEP, u_2, ..., u_n)                                             (1)
H_P = Enc(p_1, SEP, p_2, ..., p_m)
Z_D = softmax(H_D H_P^T) H_P,     ^H_D = LN(H_D + Z_D)                         (2)
Z_P = softmax(H_P H_D^T) H_D,     ^H_P = LN(H_P + Z_P)                         (3)
H_final = l_1 ^H_D + l_2 ^H_P + l_3 H_D,     l = softmax(w)                    (4)
L = -1/N sum_t log P(r_t | d, p, r_<t),     r = strategy + response            (5)

Where nothing is known of the person, H_final = H_D: that is P(r | d) of equation 6, which is decoding
(`decoding/two_branches.py`).

Equation 4 adds sequences of different lengths. The paper does not say how; the authors' code pads both and adds token
i of the persona to token i of the dialogue ("aligned"; what is longer than the dialogue is lost). Here the three are
by default laid out over the tokens of both, each zero where it has no token ("joined"): H_final is then
[l_1 ^H_D + l_3 H_D ; l_2 ^H_P], and the decoder can look at, and copy from, every persona word.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.models.generation.writer import EncoderMemory, GenerationModel, Writes
from allears.nn.inputs import Inputs
from allears.nn.pooling import masked_softmax
from allears.runtime.prompt_layout import PersonaPlace

MIXTURES = ("joined", "aligned")


class PAL(GenerationModel):
    place = PersonaPlace.BESIDE

    def __init__(self, encoder: Any, decoder: Writes, *, mixture: str = "joined"):
        super().__init__(encoder, decoder)
        if mixture not in MIXTURES:
            raise AllearsError(f"PAL's mixture is one of {', '.join(MIXTURES)}; got {mixture!r}")
        self.mixture = mixture
        self.dialogue_norm, self.persona_norm = nn.LayerNorm(encoder.size), nn.LayerNorm(encoder.size)
        self.weights = nn.Parameter(torch.zeros(3))  # w

    def read(self, context: Inputs, persona: Inputs | None = None) -> EncoderMemory:
        if persona is None:
            return self._read_context(context)
        dialogue, known = self.encoder(context), self._encode_some(persona)  # H_D, H_P (1)
        return self.mix(dialogue, known, context, persona)

    def branches(self, context: Inputs, persona: Inputs) -> tuple[EncoderMemory, EncoderMemory]:
        """What the decoder reads with the persona and without, of the same shape; everything is encoded once."""
        dialogue, known = self.encoder(context), self._encode_some(persona)
        nobody = Inputs(persona.ids, torch.zeros_like(persona.mask), persona.segments)
        return self.mix(dialogue, known, context, persona), self.mix(dialogue, known, context, nobody)

    def mix(self, dialogue: Tensor, known: Tensor, context: Inputs, persona: Inputs) -> EncoderMemory:
        """H_final of states [B, n, d] and [B, m, d]. A row whose persona is all padding is not changed by it."""
        hat_d = self.dialogue_norm(dialogue + attended(dialogue, known, persona.mask))  # (2)
        hat_p = self.persona_norm(known + attended(known, dialogue, context.mask))  # (3)
        first, second, third = self.weights.softmax(0)  # l, (4)
        has_persona = persona.mask.any(-1)[:, None, None]
        of_dialogue = torch.where(has_persona, first * hat_d + third * dialogue, dialogue.to(hat_d.dtype))
        of_persona = second * hat_p * persona.mask.unsqueeze(-1)
        ids, persona_ids = context.ids * context.mask, persona.ids * persona.mask
        if self.mixture == "aligned":
            longer = context.mask.shape[1] - persona.mask.shape[1]  # a negative padding cuts
            return EncoderMemory(of_dialogue + F.pad(of_persona, (0, 0, 0, longer)), ids, context.mask)
        # an empty place between the two: what stands before the first persona token is the same with every padding
        return EncoderMemory(
            torch.cat([F.pad(of_dialogue, (0, 0, 0, 1)), of_persona], 1),
            torch.cat([F.pad(ids, (0, 1)), persona_ids], 1),
            torch.cat([F.pad(context.mask, (0, 1)), persona.mask], 1),
        )


def attended(queries: Tensor, states: Tensor, mask: Tensor) -> Tensor:
    """softmax(Q S^T) S [B, n, d] over the real states; zeros where none is real.

    In float32: the paper does not scale these products, and what bfloat16 rounds off one of 300 decides a softmax.
    """
    with torch.autocast(queries.device.type, enabled=False):
        wide, read = queries.float(), states.float()
        shares = masked_softmax(wide @ read.transpose(1, 2), mask[:, None, :].expand(-1, wide.shape[1], -1))
        return shares @ read
