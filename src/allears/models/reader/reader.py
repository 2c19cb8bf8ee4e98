"""The reader: one encoder pass over what was said, and every head's answer from it.

states = encoder(tokens)            one vector per token
       = further layers(states)     where the encoder is a ranker's and stays as it is: what reading needs beside
text   = mean of the states         one vector for all that was said
head k: logits_k = W_k text         what the text shows
        + g_k(facts)                and, for informed heads, what is known of the conversation beside its words
rationales: r_i = w_k states_i      which tokens show it (EPITOME's mechanisms)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from allears.nn.encoder import Encoder
from allears.nn.further_layers import FurtherLayers
from allears.nn.inputs import Inputs
from allears.nn.pooling import pool
from allears.text.conversation_facts import FACTS, no_facts

# Of an informed head. What was done says more than the words, which are soon learned by heart.
WORDS_DROPOUT, FACTS_DROPOUT, FACTS_HIDDEN = 0.8, 0.5, 256


@dataclass(frozen=True, slots=True)
class ReaderOutput:
    """By head: logits [B, labels], and for the heads that point at tokens, logits [B, L]."""

    logits: dict[str, Tensor] = field(default_factory=dict)
    rationales: dict[str, Tensor] = field(default_factory=dict)


class Reader(nn.Module):
    def __init__(
        self,
        encoder: Encoder,
        heads: Mapping[str, int],  # name -> how many labels
        *,
        multi_label: Sequence[str] = (),  # heads whose labels do not exclude each other
        rationales: Sequence[str] = (),  # heads that also say where
        informed: Sequence[str] = (),  # heads that are also told the facts of a conversation
        plain: Sequence[str] = (),  # heads that read the encoder's own states, whatever lies upon them
        further: int = 0,  # layers upon the encoder's, shared by all heads; the encoder then does not learn
        further_inner: int = 0,  # how wide those are inside; 0: as the encoder's
        hidden: int = 0,  # of a hidden layer in every head; 0: none
        pooling: str = "mean",
        dropout: float = 0.1,
        uncertainty: bool = False,  # learn how much each head's loss counts
    ):
        super().__init__()
        self.encoder, self.pooling, self.plain = encoder, pooling, tuple(plain)
        self.further = None
        if further:
            shape = encoder.settings
            self.further = FurtherLayers(
                encoder.size,
                layers=further,
                heads=shape.num_attention_heads,
                inner=further_inner or shape.intermediate_size,
                dropout=dropout,
            )
            encoder.requires_grad_(False)
        self.heads = nn.ModuleDict(
            {
                name: _words_head(encoder.size, labels)
                if name in informed
                else _head(encoder.size, hidden, labels, dropout)
                for name, labels in heads.items()
            }
        )
        self.facts = nn.ModuleDict({name: _facts_head(heads[name]) for name in informed})
        self.pointers = nn.ModuleDict({name: nn.Linear(encoder.size, 1) for name in rationales})
        # s = log of a head's variance: its loss counts exp(-s), and s itself keeps that from vanishing
        self.log_variance = nn.Parameter(torch.zeros(len(heads))) if uncertainty else None
        with torch.no_grad():
            for name in multi_label:  # about one label in all at first, not half of them
                last: nn.Linear = self.heads[name][-1]  # type: ignore[index]
                last.bias.fill_(-math.log(max(1, heads[name] - 1)))

    def forward(
        self, inputs: Inputs, heads: Sequence[str] | None = None, facts: Tensor | None = None
    ) -> ReaderOutput:
        """Every head's answer, or only those of `heads`, from one pass of the encoder."""
        return self.from_states(self.encoder(inputs), inputs.mask, heads, facts)

    def from_states(
        self,
        states: Tensor,
        mask: Tensor,
        heads: Sequence[str] | None = None,
        facts: Tensor | None = None,
    ) -> ReaderOutput:
        """The same from the encoder's states [B, L, d]; `mask` [B, L] is 1 on real tokens."""
        wanted = list(self.heads) if heads is None else list(heads)
        own = [name for name in wanted if self.further is None or name in self.plain]
        deep = [name for name in wanted if name not in own]
        logits: dict[str, Tensor] = {}
        pointed: dict[str, Tensor] = {}
        for names in (own, deep):
            if names:
                read = self.further(states, mask) if self.further is not None and names is deep else states
                logits |= self.answer(pool(read, mask, self.pooling), names, facts).logits
                pointing = [name for name in names if name in self.pointers]
                pointed |= {name: self.pointers[name](read).squeeze(-1) for name in pointing}
        return ReaderOutput({name: logits[name] for name in wanted}, pointed)

    def train(self, mode: bool = True) -> Reader:
        """An encoder that does not learn is not shaken by dropout either: it says what the bundle's will say."""
        super().train(mode)
        if self.further is not None:
            self.encoder.eval()
        return self

    def text(self, states: Tensor, inputs: Inputs) -> Tensor:
        """One vector [B, d] for all that was said."""
        return pool(states, inputs.mask, self.pooling)

    def answer(
        self, text: Tensor, heads: Sequence[str] | None = None, facts: Tensor | None = None
    ) -> ReaderOutput:
        """The heads' answers from that vector; where they point is not asked.

        `facts` [B, FACTS] are for informed heads; without them nothing is known of the conversation.
        """
        wanted = list(self.heads) if heads is None else list(heads)
        logits = {name: self.heads[name](text) for name in wanted}
        informed = [name for name in wanted if name in self.facts]
        if informed and facts is None:
            facts = torch.from_numpy(no_facts(len(text))).to(text.device)
        for name in informed:
            logits[name] = logits[name] + self.facts[name](facts)
        return ReaderOutput(logits)

    def weighted(self, loss: Tensor, head: str) -> Tensor:
        """A head's loss with its learned weight (Kendall et al. 2018); the loss itself where none is learned."""
        if self.log_variance is None:
            return loss
        spread = self.log_variance[list(self.heads).index(head)]
        return torch.exp(-spread) * loss + spread / 2


def _head(size: int, hidden: int, labels: int, dropout: float) -> nn.Sequential:
    if not hidden:
        return nn.Sequential(nn.Dropout(dropout), nn.Linear(size, labels))
    return nn.Sequential(
        nn.Dropout(dropout),
        nn.Linear(size, hidden),
        nn.GELU(),
        nn.Dropout(dropout),
        nn.Linear(hidden, labels),
    )


def _words_head(size: int, labels: int) -> nn.Sequential:
    linear = nn.Linear(size, labels)
    nn.init.zeros_(linear.weight)
    return nn.Sequential(nn.LayerNorm(size, elementwise_affine=False), nn.Dropout(WORDS_DROPOUT), linear)


def _facts_head(labels: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Dropout(0.2),
        nn.Linear(FACTS, FACTS_HIDDEN),
        nn.GELU(),
        nn.Dropout(FACTS_DROPOUT),
        nn.Linear(FACTS_HIDDEN, labels),
    )
