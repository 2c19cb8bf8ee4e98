"""What the empathetic generators share: the batch they learn from, and the face they all have.

`transformer.py`, `multitask.py`, `prepend.py`, `ensemble.py`, `moel.py`, `modmoel.py` and `mime.py` are each one file,
and none hides its forward pass behind another. What training, decoding and evaluation ask of them is `EmpatheticModel`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.nn.inputs import Inputs, _TensorGroup
from allears.nn.transformer import State, WordOutput

NOT_KNOWN = -1  # a label that an example does not have; no loss is computed for it
MECHANISMS_KNOWN = 3  # EPITOME's emotional reactions, interpretations, explorations


@dataclass(frozen=True, slots=True)
class EmpatheticBatch(_TensorGroup):
    """B examples. `context.ids[:, 0]` is the start token: MoEL's QRY, MIME's CTX.

    - `context`: [start] turn [end] turn [end] ...; `segments` 0 for the one who is answered, 1 for the one who answers
    - `persona`: the responder's sentences, [start] sentence [end] sentence [end] ...; all padding where none is known
    - `targets` [B, T]: the response and its end; `mask` [B, T] is true on them
    - `emotion` [B]; `act` [B], of the turn before; `intent` [B] and `mechanisms` [B, 3] (levels 0 to 2), of the
      response: numbers of labels, or `NOT_KNOWN`
    - `beside` [B, f]: what a frozen encoder says of the context (`ensemble.py`); f is 0 where nobody asks
    - `noise` [B, `model.noise`]: standard normal numbers that a stochastic model writes with; a prompt's own, drawn
      from its seed. In training it is zeros and not to be used: a model then draws its own.
    """

    context: Inputs
    persona: Inputs
    targets: Tensor
    mask: Tensor
    emotion: Tensor
    act: Tensor
    intent: Tensor
    mechanisms: Tensor
    beside: Tensor
    noise: Tensor


class Learning(NamedTuple):
    """How a step learns: label smoothing, the chance that gold labels are shown in place of the model's own guesses
    (early training), and how far training is, from 0 to 1 (for annealing)."""

    smoothing: float = 0.0
    gold: float = 0.0
    done: float = 1.0


class EmpatheticModel(Protocol):
    """An nn.Module. Built as `Model(vocabulary, emotions=32, encoder=None, **options)`.

    In training: `losses(batch, learning)`. For writing: `read` once, then `begin`, then `write` token by token, or all
    tokens of a gold response at once.
    """

    noise: int  # numbers of `batch.noise` that it wants; 0 for a model without chance
    beside: int  # numbers of `batch.beside` that it wants; 0 for none
    words: nn.Embedding  # [V, d], shared by encoder and decoder: `WordEmbedding`
    output: WordOutput  # states to logits

    def read(self, batch: EmpatheticBatch) -> Read:
        """What was said, understood."""
        ...

    def begin(self, read: Read) -> State:
        """The state before anything is written: tensors, batch first, so that a search can pick rows."""
        ...

    def write(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits [B, T, V] after each of `tokens` [B, T] (the first is the start token), and the grown state."""
        ...

    def losses(self, batch: EmpatheticBatch, learning: Learning) -> dict[str, Tensor]:
        """By name: "response" (always), "emotion", ...; a recipe's [loss] weights say what each counts (default 1)."""
        ...


class Read(NamedTuple):
    """What every model's `read` gives: states [B, S, d] and their mask [B, S], logits of the emotions [B, n] (or none),
    and whatever else the model's `begin` needs, batch first."""

    states: Tensor
    mask: Tensor
    emotions: Tensor | None = None
    more: tuple[Tensor, ...] = ()


def before(batch: EmpatheticBatch) -> Tensor:
    """[B, T]: what a decoder has seen when it writes each target: the start token, then the targets but the last."""
    return torch.cat([batch.context.ids[:, :1], batch.targets[:, :-1]], 1)


def response_loss(logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float = 0.0) -> Tensor:
    """Mean over the real tokens of -log P(target), with label smoothing (MIME's equation 31). In float32."""
    wanted = targets.masked_fill(~mask.bool(), NOT_KNOWN)  # choosing the real ones would wait for the GPU
    return F.cross_entropy(
        logits.flatten(0, 1).float(), wanted.flatten(), ignore_index=NOT_KNOWN, label_smoothing=smoothing
    )


def label_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy over the labels that are known; zero where none is."""
    total = F.cross_entropy(logits.float(), labels, ignore_index=NOT_KNOWN, reduction="sum")
    return total / (labels != NOT_KNOWN).sum().clamp(min=1)


def likelihoods(logits: Tensor, targets: Tensor) -> Tensor:
    """log P [B, T] of each target."""
    return logits.float().log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)


def parameter_count(module: nn.Module, *, vocabulary: int | None = None) -> int:
    """Trained numbers; with `vocabulary`, as many as a vocabulary of that size would have.

    A tensor that has one row for each word grows with it.
    """
    words: int = module.words.num_embeddings  # type: ignore[union-attr, assignment]
    total = 0
    for parameter in module.parameters():
        size = parameter.numel()
        if vocabulary is not None and parameter.dim() and parameter.shape[0] == words:
            size = size // words * vocabulary
        total += size
    return total
