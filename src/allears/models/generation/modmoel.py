"""ModMoEL ("Improving Empathetic Response Generation"): MoEL that knows who answers, and what to do next.

H = Enc([QRY] x_1 ... x_m),  q = H_0,  p = softmax(q K^T)       as in MoEL, over 32 emotions or 16 groups
S = Enc_S(s_1 ... s_k)                                          the responder's persona sentences
V_i = Listener_i(y_<t, H, S),   V = V_0 + sum_i p_i V_i
c = sum_l P(l | q) E_l                                          for each label set that conditions (below)
P(y_t | ...) = softmax(W Meta(V + sum c, H, S))

*Persona*: in every decoder layer (each listener, the shared one, the meta listener) a third attention, the running
state the query, the encoded persona keys and values: after the context ("last"), before it ("primary"), or "none".
(The persona as the query collapsed to ends of sentences, the authors say; it is left out.)

*Conditions* of the meta listener, each switchable, which the authors planned and left undone: the dialogue act of the
turn before (`act`: 4), the intent of the response (`intent`: 9) and EPITOME's three mechanisms (`mechanisms`: 3 levels
each). Like the emotion they are guessed from q, learned from labels where an example has them, and shown as they are
with the falling chance `Learning.gold`.
"""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor, nn

from allears.models.generation.empathetic import EmpatheticBatch, Learning, Read, label_loss
from allears.models.generation.moel import ListenerOptions, ListeningModel, mixture, together, with_gold
from allears.nn.transformer import ContextEncoder, LayerShape, State

PERSONA = ("last", "primary", "none")
# condition -> how many labels each of its columns has: DailyDialog's acts, EmpatheticIntents' intents, EPITOME's levels
CONDITIONS = {"act": (4,), "intent": (9,), "mechanisms": (3, 3, 3)}


class Condition(nn.Module):
    """P(l | q) for one label set, and the mean of its labels' vectors under it."""

    def __init__(self, size: int, labels: int):
        super().__init__()
        self.guess = nn.Linear(size, labels)
        self.vectors = nn.Parameter(0.1 * torch.randn(labels, size))  # E

    def forward(self, query: Tensor) -> Tensor:
        shares: Tensor = self.guess(query).float().softmax(-1)
        return shares

    def mean(self, shares: Tensor) -> Tensor:
        return shares.to(self.vectors.dtype) @ self.vectors  # sum_l P(l | q) E_l


class ModMoEL(ListeningModel):
    reads_persona = True

    def __init__(
        self,
        vocabulary: int,
        *,
        persona: str = "last",
        conditions: list[str] | tuple[str, ...] = (),
        **options: Unpack[ListenerOptions],
    ):
        if persona not in PERSONA:
            raise ValueError(f"persona is one of {', '.join(PERSONA)}, not {persona!r}")
        unknown = sorted(set(conditions) - set(CONDITIONS))
        if unknown:
            raise ValueError(f"conditions are some of {', '.join(CONDITIONS)}, not {unknown[0]!r}")
        # before all parts, which need them
        self.persona, self.sources = persona, 1 if persona == "none" else 2
        self._conditions = [name for name in CONDITIONS if name in conditions]
        super().__init__(vocabulary, **options)

    def _add_reading(self, vocabulary: int, size: int, shape: LayerShape, encoder: nn.Module | None) -> None:
        super()._add_reading(vocabulary, size, shape, encoder)
        self.persona_encoder = None if self.persona == "none" else ContextEncoder(size, **shape)

    def _add_own(self, size: int) -> None:
        self.conditions = nn.ModuleDict(
            {
                f"{name}_{column}": Condition(size, labels)
                for name in self._conditions
                for column, labels in enumerate(CONDITIONS[name])
            }
        )

    def read(self, batch: EmpatheticBatch) -> Read:
        states = self.encoder(self.words, batch.context)
        query = states[:, 0]  # q
        logits = self.keys(query)
        shares = [condition(query) for condition in self.conditions.values()]
        persona: tuple[Tensor, ...] = ()
        if self.persona_encoder is not None:
            persona = (self.persona_encoder(self.words, batch.persona), batch.persona.mask)  # S
        return Read(states, batch.context.mask, logits, (mixture(logits, self.top), *shares, *persona))

    def begin(self, read: Read) -> State:
        count = len(self.conditions)
        weights, shares, persona = read.more[0], read.more[1 : 1 + count], read.more[1 + count :]
        condition = torch.zeros_like(read.states[:, 0])
        for each, share in zip(self.conditions.values(), shares, strict=True):
            assert isinstance(each, Condition)  # for the type checker
            condition = condition + each.mean(share).to(condition.dtype)  # c
        sources, masks = [read.states, *persona[:1]], [read.mask, *persona[1:]]
        if self.persona == "primary":
            sources, masks = sources[::-1], masks[::-1]
        return (*masks, weights, condition, *self.listeners.begin(sources), *self.meta.begin(sources))

    def write(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        count, listening = self.listeners.sources, self.listeners.state_size
        masks, (weights, condition, *layers) = state[:count], state[count:]
        heard = self.input(self.words, tokens, seen=layers[0].shape[3])
        voices, own = self.listeners(heard, tuple(layers[:listening]), masks)  # V_0 ... V_n [B, 1 + n, T, d]
        mixed = together(voices, weights) + condition[:, None, :]  # V + sum c
        final, meta = self.meta(mixed, tuple(layers[listening:]), masks)
        return self.output(self.words, self.norm(final.squeeze(1))), (*masks, weights, condition, *own, *meta)

    def losses(self, batch: EmpatheticBatch, learning: Learning) -> dict[str, Tensor]:
        read = self.read(batch)
        labels = [batch.emotion, *(_column(batch, name) for name in self.conditions)]
        shares, persona = read.more[: len(labels)], read.more[len(labels) :]
        shown = [with_gold(each, label, learning.gold) for each, label in zip(shares, labels, strict=True)]
        losses = self._losses_of(read._replace(more=(*shown, *persona)), batch, learning)
        for name, share, label in zip(self.conditions, shares[1:], labels[1:], strict=True):
            kind = name.rpartition("_")[0]
            losses[kind] = label_loss(share.clamp(min=1e-9).log(), label) + losses.get(kind, 0.0)
        return losses

    def taken(self, start: dict[str, Tensor]) -> dict[str, Tensor]:
        """A MoEL's weights. The persona is read as the context was, and begins without a say: what it tells is learned
        on top of what the start could do."""
        start = super().taken(start)
        if self.persona_encoder is None or "meta.reads.1.query.weight" in start:
            return start
        context, persona = (1, 0) if self.persona == "primary" else (0, 1)
        found: dict[str, Tensor] = {}
        for name, value in start.items():
            layer, _, rest = name.partition(".")
            if layer == "encoder":
                found |= {name: value, f"persona_{name}": value}
            elif rest.startswith("reads.0."):
                part = rest.removeprefix("reads.0.")
                found[f"{layer}.reads.{context}.{part}"] = value
                found[f"{layer}.reads.{persona}.{part}"] = (
                    torch.zeros_like(value) if part.startswith("output.") else value
                )
            elif rest.startswith("norms.1."):
                part = rest.removeprefix("norms.1.")
                found |= {f"{layer}.norms.{1 + source}.{part}": value for source in (context, persona)}
            elif rest.startswith("norms.2."):
                found[f"{layer}.norms.3.{rest.removeprefix('norms.2.')}"] = value
            else:
                found[name] = value
        return found


def _column(batch: EmpatheticBatch, name: str) -> Tensor:
    """The labels [B] of a condition's column, such as `mechanisms_2`."""
    kind, _, column = name.rpartition("_")
    labels: Tensor = getattr(batch, kind)
    return labels[:, int(column)] if labels.dim() == 2 else labels
