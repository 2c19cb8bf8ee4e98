"""Dually interactive matching (Gu et al. 2019, sections 3.3 to 3.5): what DIM and BERT+DIM share.

The response is matched with the context and with the persona, each time in the same way:

    e_ij = a_i · b_j                             word-word similarity, over all sentences of a side at once
    a~_i = Σ_j softmax_j(e_ij) b_j               what the other side says about word i, and b~_j likewise
    [a ; a~ ; a - a~ ; a * a~]                   enhancement: how a word and its counterpart differ and agree

A BiLSTM reads the enhanced words of each sentence into one vector (maximum and last state); another BiLSTM
reads the utterance vectors in order, while persona sentences, which have none, are pooled by attention. The
four vectors (context, response to it, persona, response to it) go through a small MLP to a score.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from allears.nn.coattention import co_attend
from allears.nn.inputs import Encoded
from allears.nn.pooling import masked_max, masked_softmax
from allears.nn.recurrent import BiLSTM
from allears.nn.similarity import LinearScore


class InteractiveMatching(nn.Module):
    """Token states of that size, sentence by sentence (`Encoded.states`, `mask`), to scores [B, C]."""

    def __init__(self, size: int, *, hidden_size: int, mlp_size: int = 256, dropout: float = 0.0):
        super().__init__()
        self.sentence = BiLSTM(4 * size, hidden_size)
        self.context = BiLSTM(4 * hidden_size, hidden_size)
        # The authors cut these weights off at zero before the softmax; a start below zero would never learn.
        self.persona_weight = nn.Linear(4 * hidden_size, 1, bias=False)
        self.hidden = nn.Linear(16 * hidden_size, mlp_size)
        self.output = LinearScore(mlp_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, context: Encoded, persona: Encoded | None, response: Encoded) -> Tensor:
        utterances, answer = self._match(context, response)  # [B, C, U, 4h], [B, C, 4h]
        real = context.mask.any(-1)[:, None].expand(utterances.shape[:-1])  # [B, C, U]
        parts = [self._summary(self.context, utterances, real), answer]
        if persona is None:
            parts += [torch.zeros_like(answer), torch.zeros_like(answer)]
        else:
            sentences, answer = self._match(persona, response)  # [B, C, S, 4h], [B, C, 4h]
            real = persona.mask.any(-1)[:, None]  # [B, 1, S]
            weights = masked_softmax(self.persona_weight(sentences).squeeze(-1), real)  # [B, C, S]
            known = real.any(-1, keepdim=True).to(answer.dtype)  # [B, 1, 1]: an empty persona says nothing
            parts += [torch.einsum("bcs,bcsh->bch", weights, sentences), answer * known]
        features = self.dropout(torch.cat(parts, -1))  # [B, C, 16h]
        scores: Tensor = self.output(self.dropout(self.hidden(features).relu()))
        return scores

    def _match(self, side: Encoded, response: Encoded) -> tuple[Tensor, Tensor]:
        """Context or persona [B, S, m, d] against responses [B or 1, C, n, d].

        One vector per sentence and candidate, [B, C, S, 4h], and one per response, [B, C, 4h].
        """
        batch, sentences, length = side.mask.shape
        candidates = response.mask.shape[1]
        left, left_mask = side.states.flatten(1, 2), side.mask.flatten(1, 2)  # [B, S·m, d]
        right = response.states.expand(batch, -1, -1, -1)  # [B, C, n, d]
        to_right, to_left = co_attend(left, left_mask, right, response.mask)  # [B, C, S·m, n] and transposed
        enhanced_left = _enhance(left[:, None].expand(-1, candidates, -1, -1), to_right @ right)
        enhanced_right = _enhance(right, to_left @ left[:, None])
        rows = enhanced_left.reshape(batch, candidates, sentences, length, -1)
        rows_mask = side.mask[:, None].expand(-1, candidates, -1, -1)
        return (
            self._summary(self.sentence, rows, rows_mask),
            self._summary(self.sentence, enhanced_right, response.mask.expand(batch, -1, -1)),
        )

    def _summary(self, lstm: BiLSTM, inputs: Tensor, mask: Tensor) -> Tensor:
        """[..., L, d] to [..., 4h]: the maximum over the BiLSTM's states, and its last state."""
        states, last = lstm(self.dropout(inputs), mask)
        return torch.cat([masked_max(states, mask), last], -1)


def _enhance(words: Tensor, attended: Tensor) -> Tensor:
    return torch.cat([words, attended, words - attended, words * attended], -1)
