"""MIME (Majumder et al. 2020), section 3: an answer that mimics the emotion of the person, to a degree.

E_C(C) = E_W(C) + E_P(C) + E_S(C)                           words, places and speakers              (1)
H = TR_enc(E_C([CTX] + C)),   c = H_0                                                               (2, 3)
s = E_E W_E c,   P = softmax(s),   L_cls = -log P[e]        E_E: one vector for each emotion        (4, 5, 6)

z_g ~ P(z_g | C) = N(mu_g(C), sigma_g(C)),   g in {positive, negative}                              (7, 8)
d_g = softmax(FC_d(z_g)),   e_g = d_g E_E_g                 what the answer is to feel              (9, 10)
c' = ReLU(FC_sample(c)),   mu_g = FC_mu(c'),   sigma_g = exp(0.5 FC_sigma(c'))                      (11, 12, 13)
r ~ N(0, I),   z_g = mu_g + r * sigma_g                                                             (14, 15)
L_g = KL[Q(z_g | e_g, C) || P(z_g | C)] - E_Q[log P(e_g | z_g, C)]                                  (16)
Q(z_g | e_g, C): like P, with e_g beside c; drawn from in training only                             (17)

m = e_pos, ~m = e_neg if e is positive, else the other way round                                    (18, 19)
M = TR_resp([H_i; m]),   ~M = TR_resp([H_i; ~m])            i = 1 ... k                             (20 to 23)
M' = [M_i; ~M_i],   M_fused = FC_fused(sigmoid(FC_contrib(M')) * M')                                (24 to 27)
O = TR_dec(E_W(R), M_fused),   P_resp = softmax(FC_decode(O)),   L_resp = -log p(R | C)             (28 to 31)
L = alpha L_cls + beta (L_pos + L_neg) + gamma L_resp                                               (32)

Equation 17 needs an e_g that is known before z_g is drawn, and equation 10 makes it of z_g; the paper does not say
where it is from. Here (`posterior = "response"`) it is read off the gold response, as the classifier reads emotions:
with r, the response's encoding, in the place of c, d_g is the softmax of E_E W_E r within the group. Then 16 is the
bound that it is called: the posterior knows something of the response, the prior has to foresee it, and
log P(e_g | z_g, C) is the likelihood of that d_g under equation 9. `posterior = "prior"` is near to the authors' code:
e_g is the mixture of a draw from the prior, there is nothing to foresee, and the second half of 16 is left to L_resp.

In training e (18, 19) is the label; in writing it is the classifier's: positive where the positive emotions have more
than half of P (section 4). L_resp is a mean over tokens; 16, which belongs to a whole response, is divided by the
tokens of one, so that their ratio is that of 32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.labels import ED_EMOTIONS, NEGATIVE, POSITIVE
from allears.models.generation.empathetic import (
    NOT_KNOWN,
    DecodesStates,
    EmpatheticBatch,
    Learning,
    Read,
)
from allears.nn.inputs import Inputs
from allears.nn.transformer import EncoderStack, LayerShape

POSTERIORS = ("response", "prior")


class MIME(DecodesStates):
    """The paper's ablations: `mimicry`, `grouping` (without groups there is nothing to mimic) and `stochastic`. The
    decoder's logits are those of equations 28 to 30; their softmax is in `response_loss` and in the searches."""

    def __init__(
        self,
        vocabulary: int,
        *,
        emotions: int = len(ED_EMOTIONS),
        encoder: nn.Module | None = None,  # a pretrained one, in the place of equations 1 and 2
        size: int = 300,  # D_emb and D_h
        layers: int = 1,
        response_layers: int = 1,
        decoder_layers: int = 1,
        heads: int = 2,
        inner: int = 600,
        dropout: float = 0.1,
        tied: bool = False,  # whether FC_decode shares the words' vectors
        mimicry: bool = True,
        grouping: bool = True,
        stochastic: bool = True,
        posterior: str = "response",
        anneal: float = 0.0,  # share of training in which the divergence of 16 comes in
    ):
        super().__init__()
        if emotions != len(ED_EMOTIONS):
            raise AllearsError(f"MIME groups the 32 emotions of its Table 1; it cannot learn {emotions}")
        if posterior not in POSTERIORS:
            raise AllearsError(f"MIME's posterior is one of {', '.join(POSTERIORS)}; got {posterior!r}")
        shape: LayerShape = {"layers": layers, "heads": heads, "inner": inner, "dropout": dropout}
        groups = (POSITIVE, NEGATIVE) if grouping else (ED_EMOTIONS,)
        self.mimicry, self.posterior, self.anneal = mimicry and grouping, posterior, anneal
        self.noise = size * len(groups) if stochastic else 0
        self._add_reading(vocabulary, size, shape, encoder)  # E_W, TR_enc
        self.emotions = nn.Embedding(emotions, size)  # E_E: of the classifier and of the decoder
        self.classifier = nn.Linear(size, size, bias=False)  # W_E
        self.response_emotions = ResponseEmotions(groups, size, stochastic=stochastic)
        responding: LayerShape = {**shape, "layers": response_layers}
        self.response_encoder = EncoderStack(size, wide=2 * size, **responding)  # TR_resp
        wide = size * len(groups)
        self.contribution, self.fused = nn.Linear(wide, wide), nn.Linear(wide, size)  # FC_contrib, FC_fused
        decoding: LayerShape = {**shape, "layers": decoder_layers}
        self._add_writing(vocabulary, size, decoding, tied=tied)  # TR_dec, FC_decode
        # scores that begin near 0, and emotions that are seen beside states as large as 1
        nn.init.normal_(self.emotions.weight, std=0.2)
        nn.init.normal_(self.classifier.weight, std=0.3 * size**-0.5)
        if encoder is not None:
            self._words_of(encoder)

    def read(self, batch: EmpatheticBatch) -> Read:
        """For writing: the prior and the classifier's emotion alone, and no chance but the batch's own."""
        states, scores = self.understand(batch.context)
        noise = torch.randn(len(states), self.noise).to(scores) if self.training else batch.noise
        felt, _ = self.response_emotions.foreseen(states[:, 0], self.emotions.weight, noise)
        return self.fuse(states, batch.context, scores, felt, self._sounds_positive(scores))

    def losses(self, batch: EmpatheticBatch, learning: Learning) -> dict[str, Tensor]:
        """The parts of equation 32, for a recipe to weigh: "emotion" by alpha, "response" by gamma, "divergence" and
        "reconstruction", the two halves of 16, by beta."""
        states, scores = self.understand(batch.context)
        felt, bound = self._felt(batch, states[:, 0])
        named = batch.emotion != NOT_KNOWN
        positive = torch.where(named, self._is_positive(batch.emotion), self._sounds_positive(scores))
        read = self.fuse(states, batch.context, scores, felt, positive)
        losses = self._losses_of(read, batch, learning)  # (31), and of the emotion (5, 6)
        tokens = batch.mask.sum() / len(states)
        if "divergence" in bound:
            bound["divergence"] = bound["divergence"] * _grown(learning.done, self.anneal)
        return losses | {name: each.mean() / tokens for name, each in bound.items()}

    def understand(self, context: Inputs) -> tuple[Tensor, Tensor]:
        """H [B, k + 1, D], CTX first, and s [B, emotions]."""
        states = self.encoder(self.words, context)  # (1, 2)
        asked = self.classifier(states[:, 0])  # (3)
        return states, asked @ self.emotions.weight.T.to(asked.dtype)  # (4)

    def _felt(self, batch: EmpatheticBatch, context: Tensor) -> tuple[list[Tensor], dict[str, Tensor]]:
        """e_g of each group as training sees it, and the halves of 16 [B]."""
        noise = torch.randn(2, len(context), self.noise, device=context.device)
        foreseen = self.response_emotions.foreseen(context, self.emotions.weight, noise[0])
        if not self.noise:
            return foreseen[0], {}
        response = None
        if self.posterior == "response":
            start = batch.context.ids[:, :1]
            real = torch.cat([torch.ones_like(start), batch.mask.to(start.dtype)], 1)
            said = Inputs(
                torch.cat([start, batch.targets], 1), real, real
            )  # segment 1: whoever answers says it
            _, response = self.understand(said)
        return self.response_emotions.learned(context, self.emotions.weight, noise[1], foreseen, response)

    def fuse(
        self, states: Tensor, context: Inputs, scores: Tensor, felt: Sequence[Tensor], positive: Tensor
    ) -> Read:
        """M_fused [B, k, D], from H and e_g of each group. Mimicking and not: as one batch."""
        if self.mimicry:
            pos, neg = felt
            swapped = ~positive.unsqueeze(-1)
            felt = [torch.where(swapped, neg, pos), torch.where(swapped, pos, neg)]  # m, ~m (18, 19)
        said = states[:, 1:].repeat(len(felt), 1, 1)  # H_1 ... H_k [2B, k, D]
        cues = torch.cat([each.to(said.dtype) for each in felt]).unsqueeze(1)
        mask = context.mask[:, 1:]
        joined = torch.cat([said, cues.expand_as(said)], -1)  # (20, 21)
        refined = self.response_encoder(joined, mask.repeat(len(felt), 1))  # M, ~M (22, 23)
        both = torch.cat(refined.chunk(len(felt)), -1)  # M' (24)
        adjusted = self.contribution(both).sigmoid() * both  # M_adjust (25, 26)
        return Read(self.fused(adjusted), mask, scores)  # (27)

    def _is_positive(self, emotion: Tensor) -> Tensor:
        return (emotion.unsqueeze(-1) == self.response_emotions.groups[0].members).any(-1)

    def _sounds_positive(self, scores: Tensor) -> Tensor:
        """[B], by the classifier's own P (section 4)."""
        chances = scores.float().softmax(-1)  # (5)
        return chances[:, self.response_emotions.groups[0].members].sum(-1) > 0.5

    def _words_of(self, encoder: Any) -> None:
        """Words as a pretrained encoder has them, as large as those of `WordEmbedding`."""
        vectors = encoder.model.get_input_embeddings().weight
        if vectors.shape == self.words.weight.shape:
            with torch.no_grad():
                self.words.weight.copy_(vectors * (self.words.weight.std() / vectors.std()))


class ResponseEmotions(nn.Module):
    """What the answer is to feel, within each group of emotions: equations 7 to 17."""

    groups: Any  # nn.ModuleList of EmotionGroup

    def __init__(self, groups: Sequence[Sequence[str]], size: int, *, stochastic: bool):
        super().__init__()
        self.stochastic = stochastic
        self.sampled = nn.Linear(size, size)  # FC_sample
        self.groups = nn.ModuleList([EmotionGroup(names, size, stochastic=stochastic) for names in groups])

    def foreseen(self, context: Tensor, emotions: Tensor, noise: Tensor) -> tuple[list[Tensor], list[Normal]]:
        """e_g [B, D] of each group from c [B, D] alone, E_E [emotions, D] and r [B, groups * D]; and its prior."""
        sampled = self.sampled(context).relu()  # c' (11)
        priors = [group.prior(sampled) for group in self.groups]  # (7)
        drawn = [prior.draw(part) for prior, part in zip(priors, self._parts(noise), strict=True)]  # (8)
        felt = [group.mixture(z, emotions)[1] for group, z in zip(self.groups, drawn, strict=True)]
        return felt, priors

    def learned(
        self,
        context: Tensor,
        emotions: Tensor,
        noise: Tensor,
        foreseen: tuple[list[Tensor], list[Normal]],
        response: Tensor | None,
    ) -> tuple[list[Tensor], dict[str, Tensor]]:
        """e_g of each group, drawn from the posterior, and the halves of 16 [B], summed over the groups.

        `response` [B, emotions]: scores of the emotions in the gold response; without them the posterior sees e_g as
        foreseen.
        """
        felt: list[Tensor] = []
        divergences: list[Tensor] = []
        unlikely: list[Tensor] = []
        for group, part, expected, prior in zip(self.groups, self._parts(noise), *foreseen, strict=True):
            shares, known = (None, expected) if response is None else group.among(response, emotions)
            posterior = group.posterior(context, known)  # (17)
            logs, drawn = group.mixture(posterior.draw(part), emotions)
            felt.append(drawn)
            divergences.append(divergence(posterior, prior))
            if shares is not None:
                unlikely.append(-(shares.detach() * logs).sum(-1))
        bound = {"divergence": torch.stack(divergences).sum(0)}  # (16)
        if unlikely:
            bound["reconstruction"] = torch.stack(unlikely).sum(0)
        return felt, bound

    def _parts(self, noise: Tensor) -> list[Tensor | None]:
        """r of each group (14)."""
        return list(noise.chunk(len(self.groups), 1)) if self.stochastic else [None] * len(self.groups)


class EmotionGroup(nn.Module):
    members: Tensor  # numbers of its emotions

    def __init__(self, names: Sequence[str], size: int, *, stochastic: bool):
        super().__init__()
        numbers = torch.tensor([ED_EMOTIONS.index(name) for name in names])
        self.register_buffer("members", numbers, persistent=False)
        self.mean = nn.Linear(size, size)  # FC_mu
        self.log_variance = nn.Linear(size, size) if stochastic else None  # FC_sigma
        self.shares = nn.Linear(size, len(names))  # FC_d
        if stochastic:
            self.posterior_sampled = nn.Linear(2 * size, size)
            self.posterior_mean = nn.Linear(size, size)
            self.posterior_log_variance = nn.Linear(size, size)

    def prior(self, sampled: Tensor) -> Normal:
        """From c' [B, D]. In float32: an exponential of what bfloat16 leaves is too coarse."""
        mean = self.mean(sampled).float()  # (12)
        return Normal(mean, None if self.log_variance is None else self.log_variance(sampled).float())

    def posterior(self, context: Tensor, felt: Tensor) -> Normal:
        """From c and e_g [B, D]."""
        sampled = self.posterior_sampled(torch.cat([context, felt.to(context.dtype)], -1)).relu()
        return Normal(self.posterior_mean(sampled).float(), self.posterior_log_variance(sampled).float())

    def mixture(self, z: Tensor, emotions: Tensor) -> tuple[Tensor, Tensor]:
        """log d_g [B, n_g] and e_g [B, D] of z_g [B, D]."""
        logs = self.shares(z).float().log_softmax(-1)  # (9)
        return logs, logs.exp() @ emotions[self.members]  # (10)

    def among(self, scores: Tensor, emotions: Tensor) -> tuple[Tensor, Tensor]:
        """d_g [B, n_g] and e_g [B, D] of a text whose emotions have these scores [B, emotions]."""
        shares = scores[:, self.members].float().softmax(-1)
        return shares, shares @ emotions[self.members]


class Normal(NamedTuple):
    """A normal distribution [B, D], independent in each number; without `log_variance` all of it is at its mean."""

    mean: Tensor
    log_variance: Tensor | None

    def draw(self, noise: Tensor | None) -> Tensor:
        if self.log_variance is None or noise is None:
            return self.mean
        return self.mean + noise * (0.5 * self.log_variance).exp()  # (13, 15)


def divergence(of: Normal, against: Normal) -> Tensor:
    """KL[of || against] [B]."""
    if of.log_variance is None or against.log_variance is None:
        raise ValueError("a distribution without variance has no divergence")
    apart = of.log_variance.exp() + (of.mean - against.mean).square()
    each = against.log_variance - of.log_variance + apart * (-against.log_variance).exp() - 1
    return 0.5 * each.sum(-1)


def _grown(done: float, anneal: float) -> float:
    """What the divergence counts when training is so far."""
    return min(1.0, done / anneal) if anneal else 1.0
