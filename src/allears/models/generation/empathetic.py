"""What the empathetic generators share: the batch they learn from, and the face they all have.

`transformer.py`, `multitask.py`, `prepend.py`, `ensemble.py`, `moel.py`, `modmoel.py` and `mime.py` are each one file
with the paper's equations. What training, decoding and evaluation ask of them is `EmpatheticModel`; those that write
with a stack of decoder layers are `StackModel`s.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.nn.inputs import Inputs, _TensorGroup
from allears.nn.transformer import ContextEncoder, DecoderStack, LayerShape, State, WordInput, WordOutput
from allears.nn.words import WordEmbedding

NOT_KNOWN = -1  # a label that an example does not have; no loss is computed for it


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


class Read(NamedTuple):
    """What every model's `read` gives: states [B, S, d] and their mask [B, S], logits of the emotions [B, n] (or none),
    and whatever else the model's `begin` needs, batch first."""

    states: Tensor
    mask: Tensor
    emotions: Tensor | None = None
    more: tuple[Tensor, ...] = ()


class StackOptions(TypedDict, total=False):
    """What a `StackModel` is built with, beside its vocabulary."""

    emotions: int
    encoder: nn.Module | None
    size: int
    layers: int
    heads: int
    inner: int
    dropout: float
    tied: bool


class EmpatheticModel(nn.Module, ABC):
    """Built as `Model(vocabulary, emotions=32, encoder=None, **options)`.

    In training: `losses(batch, learning)`. For writing: `read` once, then `begin`, then `write` token by token, or all
    tokens of a gold response at once.
    """

    noise: int = 0  # numbers of `batch.noise` that it wants; 0 for a model without chance
    beside: int = 0  # numbers of `batch.beside` that it wants; 0 for none
    names_emotions = True  # whether `read` gives logits of emotions
    reads_persona = False  # whether it can read the responder's persona
    words: WordEmbedding  # [V, d], shared by encoder and decoder
    encoder: ContextEncoder
    input: WordInput
    output: WordOutput  # states to logits

    def _add_reading(self, vocabulary: int, size: int, shape: LayerShape, encoder: nn.Module | None) -> None:
        """The words and the encoder of contexts; `encoder` is a pretrained one that reads in its place."""
        self.words = WordEmbedding(vocabulary, size)
        self.encoder = ContextEncoder(size, **shape, pretrained=encoder)

    @abstractmethod
    def read(self, batch: EmpatheticBatch) -> Read:
        """What was said, understood."""

    @abstractmethod
    def begin(self, read: Read) -> State:
        """The state before anything is written: tensors, batch first, so that a search can pick rows."""

    @abstractmethod
    def write(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """Logits [B, T, V] after each of `tokens` [B, T] (the first is the start token), and the grown state."""

    def losses(self, batch: EmpatheticBatch, learning: Learning) -> dict[str, Tensor]:
        """By name: "response" (always), "emotion", ...; a recipe's [loss] weights say what each counts (default 1)."""
        return self._losses_of(self.read(batch), batch, learning)

    def _losses_of(self, read: Read, batch: EmpatheticBatch, learning: Learning) -> dict[str, Tensor]:
        """-log P(y | x) of the response, and -log P(e | x) where emotions are named, from one reading."""
        logits, _ = self.write(before(batch), self.begin(read))
        losses = {"response": response_loss(logits, batch.targets, batch.mask, learning.smoothing)}
        if read.emotions is not None:
            losses["emotion"] = label_loss(read.emotions, batch.emotion)
        return losses


class DecodesStates(EmpatheticModel):
    """Writes with one stack of decoder layers over the states that were read: P(y_t | y_<t, x)."""

    decoder: DecoderStack

    def _add_writing(self, vocabulary: int, size: int, shape: LayerShape, *, tied: bool) -> None:
        self.input = WordInput(size, shape["dropout"])
        self.decoder = DecoderStack(size, **shape)
        self.output = WordOutput(size, vocabulary, tied=tied)

    def begin(self, read: Read) -> State:
        return (read.mask, *self.decoder.begin([read.states]))

    def write(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        mask, *layers = state
        states = self.input(self.words, tokens, seen=layers[0].shape[3])
        states, grown = self.decoder(states, tuple(layers), [mask])
        return self.output(self.words, states), (mask, *grown)


class StackModel(DecodesStates):
    """The generators of the EmpatheticDialogues paper: an encoder and a decoder of one shape."""

    def __init__(
        self,
        vocabulary: int,
        *,
        emotions: int = 32,
        encoder: nn.Module | None = None,
        size: int = 300,
        layers: int = 4,
        heads: int = 6,
        inner: int = 1200,
        dropout: float = 0.1,
        tied: bool = True,
    ):
        super().__init__()
        shape: LayerShape = {"layers": layers, "heads": heads, "inner": inner, "dropout": dropout}
        self._add_reading(vocabulary, size, shape, encoder)
        self._add_own(size, emotions)
        self._add_writing(vocabulary, size, shape, tied=tied)

    def _add_own(self, size: int, emotions: int) -> None:
        """What a model has between its encoder and its decoder; the plain Transformer has nothing."""


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
