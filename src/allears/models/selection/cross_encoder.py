"""Cross-encoder (Humeau et al. 2020, section 4.3): context, persona and response read together.

Every token of the candidate sees every token of the context, layer by layer. That is the strongest way to
compare two texts and the slowest: nothing can be encoded ahead, so `encode_*` only keep the tokens and
`score` runs the encoder once per pair. Use it as a teacher for the fast models and as an upper bound.

    [CLS] context [SEP] persona [SEP] response [SEP]  →  encoder  →  pooled state · w
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from allears.models.selection.contract import SelectionModel
from allears.nn.chunks import score_in_chunks
from allears.nn.encoder import Encoder
from allears.nn.inputs import Encoded, Inputs
from allears.nn.pooling import pool
from allears.nn.similarity import LinearScore


class CrossEncoder(SelectionModel):
    nested_context = False
    nested_persona = False

    def __init__(
        self,
        encoder: Encoder,
        *,
        pooling: str = "mean",
        dropout: float = 0.1,
        maximum_tokens: int = 512,
        chunk_pairs: int = 256,
    ):
        super().__init__()
        self.encoder = encoder
        self.pooling, self.chunk_pairs = pooling, chunk_pairs
        self.maximum_tokens = maximum_tokens  # what the encoder's position embeddings reach to
        self.dropout = nn.Dropout(dropout)
        self.output = LinearScore(encoder.size)

    def _keep(self, inputs: Inputs) -> Encoded:
        return Encoded(inputs=inputs)

    encode_context = encode_persona = encode_response = _keep

    def score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        return score_in_chunks(self._score, context, persona, response, pairs=self.chunk_pairs)

    def _score(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        known = None if persona is None else persona.inputs
        pairs = join(context.inputs, known, response.inputs, maximum=self.maximum_tokens)
        state = pool(self.encoder(pairs), pairs.mask, self.pooling)  # [B, C, d]
        scores: Tensor = self.output(self.dropout(state))  # [B, C]
        return scores


def join(context: Inputs, persona: Inputs | None, response: Inputs, *, maximum: int) -> Inputs:
    """Every context with every one of its candidates as one sequence: [B, C, L], padding at the end.

    Too long a pair loses the end of its persona, then the oldest words of its context; never the response.
    Segments stay as they came: by speaker in the context, 1 for persona and response.
    """
    batch, candidates = len(context.ids), response.ids.shape[1]

    def each(inputs: Inputs) -> Inputs:
        return inputs.map(lambda tensor: tensor.expand(batch, candidates, -1))

    # one [CLS] in front is enough: the persona and the response come without theirs
    end = each(response[..., 1:])
    front = each(context[:, None])
    room = maximum - end.mask.sum(-1, keepdim=True)  # [B, C, 1]
    latest = front.mask.flip(-1).cumsum(-1).flip(-1) < room  # counted from the end, one place left for [CLS]
    latest[..., 0] = True
    front = Inputs(front.ids, front.mask * latest, front.segments)
    parts = [front, end]
    if persona is not None:
        middle = each(persona[:, None, 1:])
        room = room - front.mask.sum(-1, keepdim=True)
        fits = middle.mask.cumsum(-1) <= room
        parts.insert(1, Inputs(middle.ids, middle.mask * fits, middle.segments))

    ids, mask, segments = (
        torch.cat(group, -1) for group in zip(*(part.tensors() for part in parts), strict=True)
    )
    # Close the gaps that padding left between the parts, so that positions do not depend on batch mates.
    order = mask.argsort(stable=True, dim=-1, descending=True)
    longest = int(mask.sum(-1).max())
    return Inputs(*(tensor.gather(-1, order)[..., :longest] for tensor in (ids, mask, segments)))
