"""What every generator of ours writes with: the house's small decoder, and eight strategies beside its words.

A model is an encoder and a decoder, and a `read` that says what the decoder gets to see (`pal.py`, `joint.py`,
`hard_prompt.py`). The decoder is this one, or a pretrained one (`seq2seq.py`); both have the same methods (`Writes`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allears.nn.decoder import Decoder, DecoderState
from allears.nn.inputs import Inputs
from allears.nn.rows import spread
from allears.runtime.generator import STRATEGIES, Prompt
from allears.runtime.prompt_layout import PersonaPlace


class EncoderMemory(NamedTuple):
    """What a decoder reads: states [B, S, d], the tokens that they stand for and their mask [B, S]."""

    states: Tensor
    ids: Tensor
    mask: Tensor


class Scored(NamedTuple):
    """log P [B, T] of the targets, and the mean of log P over all words there: what label smoothing pulls at."""

    targets: Tensor
    all_words: Tensor


class Writes(nn.Module, ABC):
    """A decoder. Its vocabulary ends with the strategies, in the order of `STRATEGIES`."""

    start: int  # the first input
    first_strategy: int

    @abstractmethod
    def table(self, encoder: nn.Module) -> Tensor:
        """The words' vectors, made once for many steps; whatever the other methods want of them."""

    @abstractmethod
    def begin(self, memory: EncoderMemory, table: Tensor) -> tuple[Tensor, ...]:
        """The state before anything is written: tensors, batch first."""

    @abstractmethod
    def step(
        self, tokens: Tensor, state: tuple[Tensor, ...], table: Tensor
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """log P [B, V] after one more token [B]."""

    @abstractmethod
    def likelihood(self, targets: Tensor, memory: EncoderMemory, table: Tensor) -> Scored:
        """Of targets [B, T], each after those before it (eq. 5: the strategy first, where there is one)."""

    @property
    def strategy_tokens(self) -> dict[str, int]:
        return {name: self.first_strategy + place for place, name in enumerate(STRATEGIES)}


class GenerationModel(nn.Module, ABC):
    """A model as training and searching see it: `place` says where its layout puts the persona."""

    place: PersonaPlace
    encoder: Any
    decoder: Writes

    def __init__(self, encoder: Any, decoder: Writes):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    @abstractmethod
    def read(self, context: Inputs, persona: Inputs | None = None) -> EncoderMemory:
        """What the decoder gets to see."""

    def read_choosing(
        self, context: Inputs, persona: Inputs | None = None
    ) -> tuple[EncoderMemory, Tensor | None]:
        """The same, and the logits [B, 8] of the strategies, of a model that chooses one while it reads (`misc.py`)."""
        return self.read(context, persona), None

    def prepared(self, prompts: Sequence[Prompt]) -> list[Prompt]:
        """Prompts as the model wants them."""
        return list(prompts)

    def _read_context(self, context: Inputs) -> EncoderMemory:
        """The dialogue alone."""
        return EncoderMemory(self.encoder(context), context.ids * context.mask, context.mask)

    def _encode_some(self, texts: Inputs) -> Tensor:
        """States [B, m, d]; zeros where there is no text, on which no encoder shall spend time."""
        real = texts.mask.any(-1)
        # encoders refuse an empty batch: when nothing is real, one row goes in and none comes out
        states = self.encoder(texts[real] if real.any() else texts[:1])
        return spread(states[: int(real.sum())], real)


@runtime_checkable
class ReadsTwice(Protocol):
    """A model that can read with the persona and without: what equation 6 needs (`pal.py`)."""

    def branches(self, context: Inputs, persona: Inputs) -> tuple[EncoderMemory, EncoderMemory]:
        """Both readings, of the same shape."""
        ...


class SmallDecoder(Writes):
    """`nn.decoder.Decoder` with a table of V words and eight strategies.

    `own_words`: whether the words' vectors are the decoder's own (they begin as the encoder's), or the encoder's
    own table, which then costs nothing but is not trained from here.
    """

    def __init__(
        self,
        encoder: Any,
        *,
        layers: int = 6,
        heads: int = 6,
        inner: int = 4,
        longest: int = 64,  # words of a reply, in tokens, its end included
        dropout: float = 0.1,
        own_words: bool = False,
    ):
        super().__init__()
        words = encoder_words(encoder)
        self.words, size = words.shape
        self.decoder = Decoder(
            size,
            self.words + len(STRATEGIES),
            layers=layers,
            heads=heads,
            inner=inner,
            longest=longest + 1,  # and the strategy
            dropout=dropout,
            learns_words=True,  # the strategies do; what is the encoder's is cut off in `table`
        )
        self.first_strategy, self.start = self.words, self.decoder.task_token("reply")
        self.strategies = nn.Embedding(len(STRATEGIES), size)
        nn.init.normal_(self.strategies.weight, std=float(words.detach().std()))
        self.own = nn.Embedding.from_pretrained(words.detach().clone(), freeze=False) if own_words else None

    def table(self, encoder: nn.Module) -> Tensor:
        words = encoder_words(encoder).detach() if self.own is None else self.own.weight
        return torch.cat([words, self.strategies.weight])

    def begin(self, memory: EncoderMemory, table: Tensor) -> DecoderState:
        return self.decoder.start(*memory, table)

    def step(
        self, tokens: Tensor, state: tuple[Tensor, ...], table: Tensor
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        return self.decoder.step(tokens, DecoderState(*state), table)

    def likelihood(self, targets: Tensor, memory: EncoderMemory, table: Tensor) -> Scored:
        before = F.pad(targets[:, :-1], (1, 0), value=self.start)
        found, _ = self.decoder.distribution(before, self.begin(memory, table), table)
        return Scored(self.decoder.chosen(found, targets, memory.ids), found.words.mean(-1))


def encoder_words(encoder: Any) -> Tensor:
    """An encoder's word embeddings [V, d]."""
    embeddings: nn.Embedding = encoder.model.get_input_embeddings()
    return embeddings.weight
