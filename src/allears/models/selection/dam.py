"""BERT+DAM (PEC section 5.4): the Deep Attention Matching network (Zhou et al. 2018) on a pretrained encoder.

DAM compares each utterance with the response at several granularities, from single words to the meaning of
whole segments. Here the granularities are layers of the encoder. For every chosen layer l (section 3.4):

    M_self  = U_l R_lᵀ                           the layer's own states
    M_cross = U~_l R~_lᵀ                         the utterance attending to the response, and back

These word-word matrices are the channels of a three-dimensional image, utterances × words × response words,
from which two 3-D convolutions with max-pooling extract what matches where (section 3.5); a linear layer
turns it into a score. Persona sentences form an image of their own, read by the same convolutions.

Two changes make the score independent of padding. The authors pad every image to one size; we convolve only
what the batch needs and pad the small result, which is the same since masked places are kept at zero. And the
activation is ReLU instead of ELU: never below the zero of padding, so padding cannot win a maximum.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.models.selection.on_encoders import OnEncoders
from allears.nn.chunks import score_in_chunks
from allears.nn.encoder import Encoder
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pooling import masked_softmax
from allears.nn.rows import encode_rows
from allears.nn.similarity import LinearScore


class DAM(OnEncoders):
    nested_context = True
    nested_persona = True

    def __init__(
        self,
        encoder: Encoder,
        *,
        separate: bool = False,
        layers: tuple[int, ...] | None = None,
        channels: tuple[int, int] = (32, 16),
        cells: tuple[int, int, int] = (3, 11, 4),
        chunk_pairs: int = 128,
    ):
        """`layers`: which of the encoder's layers (0: its embeddings). By default 0, the middle and the last.

        `cells`: how much of the twice pooled image is read, in cells of 9 utterances × 9 words × 9 response
        words. The default covers 27 utterances of 99 words and a response of 36; what lies beyond is ignored.
        """
        super().__init__(encoder, separate=separate)
        self.layers = tuple(layers or sorted({0, encoder.depth // 2, encoder.depth}))
        if max(self.layers) > encoder.depth:
            raise AllearsError(
                f"the encoder has layers 0 to {encoder.depth}, but {max(self.layers)} is asked for"
            )
        self.cells, self.chunk_pairs = tuple(cells), chunk_pairs
        self.utterance_attends = nn.ModuleList(Attentive(encoder.size) for _ in self.layers)
        self.response_attends = nn.ModuleList(Attentive(encoder.size) for _ in self.layers)
        first, second = channels
        self.convolutions = nn.ModuleList(
            [
                nn.Conv3d(2 * len(self.layers), first, 3, padding=1),
                nn.Conv3d(first, second, 3, padding=1),
            ]
        )
        features = second * math.prod(self.cells)
        self.context_output, self.persona_output = LinearScore(features), LinearScore(features)

    def _encode(self, encoder: Encoder, inputs: Inputs) -> Encoded:
        states = encode_rows(encoder, inputs, all_layers=True)[..., list(self.layers), :, :]
        return Encoded(states=states, mask=inputs.mask)  # [..., K, L, d]

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        return score_in_chunks(self._score, context, persona, response, pairs=self.chunk_pairs)

    def _score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        scores: Tensor = self.context_output(self._features(context, response))
        if persona is not None:
            # an empty persona has an empty image: all its features are zero
            scores = scores + self.persona_output(self._features(persona, response))
        return scores  # [B, C]

    def _features(self, side: Encoded, response: Encoded) -> Tensor:
        """Utterances [B, U, K, m, d] against responses [B or 1, C, K, n, d]: [B, C, features]."""
        batch, candidates = len(side.mask), response.mask.shape[1]
        left_mask = side.mask[:, None]  # [B, 1, U, m]
        right_mask = response.mask.expand(batch, -1, -1)[:, :, None]  # [B, C, 1, n]
        channels = []
        for position in range(len(self.layers)):
            left = side.states[:, None, :, position]  # [B, 1, U, m, d]
            right = response.states[:, :, None, position]  # [B or 1, C, 1, n, d]
            channels.append(left @ right.transpose(-1, -2))  # M_self: [B, C, U, m, n]
            attended_left = self.utterance_attends[position](left, right, right_mask)  # U~
            attended_right = self.response_attends[position](right, left, left_mask)  # R~
            channels.append(attended_left @ attended_right.transpose(-1, -2))  # M_cross
        image = torch.stack(channels, 2).flatten(0, 1) / math.sqrt(self.encoder.size)  # [B·C, 2K, U, m, n]
        real = left_mask[..., None] * right_mask[..., None, :]  # [B, C, U, m, n]
        return self._convolve(image, real.flatten(0, 1)).reshape(batch, candidates, -1)

    def _convolve(self, image: Tensor, real: Tensor) -> Tensor:
        """[N, 2K, U, m, n] to [N, channels, *cells]."""
        real = real[:, None].to(image.dtype)
        image = image * real
        for convolution in self.convolutions:
            image = convolution(image).relu() * real  # the bias must not wake up masked places
            image, real = (F.max_pool3d(tensor, 3, ceil_mode=True) for tensor in (image, real))
        missing = [wanted - there for wanted, there in zip(self.cells, image.shape[2:], strict=True)]
        utterances, words, response_words = missing  # negative where there is more than we read
        return F.pad(image, (0, response_words, 0, words, 0, utterances))


class Attentive(nn.Module):
    """DAM's Attentive Module (section 3.2): one head of attention, a feed-forward layer, residuals."""

    def __init__(self, size: int):
        super().__init__()
        self.attended = nn.LayerNorm(size)
        self.first, self.second = nn.Linear(size, size), nn.Linear(size, size)
        self.output = nn.LayerNorm(size)

    def forward(self, query: Tensor, keys: Tensor, keys_mask: Tensor) -> Tensor:
        """query [..., m, d], keys [..., n, d] with mask [..., n]: [..., m, d]; leading dims broadcast."""
        affinity = query @ keys.transpose(-1, -2) / math.sqrt(query.shape[-1])  # [..., m, n]
        weights = masked_softmax(affinity, keys_mask[..., None, :])
        attended = self.attended(query + weights @ keys)
        states: Tensor = self.output(attended + self.second(self.first(attended).relu()))
        return states
