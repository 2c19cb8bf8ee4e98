"""The scorer of a bundle: `scorer.onnx`, the encoder's first layers with a low-rank change and the fit head.

It reads the latest turns of a conversation, what is known of the person, and a reply, all in one text, and says how
likely the reply is good, plain or off the point there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnxruntime

from allears.conversation import Turn
from allears.corpora.heads import fit_reading
from allears.runtime.answering import AnsweringReader, Answers
from allears.runtime.bundle import BundleCard
from allears.runtime.opened_bundle import Bundle
from allears.runtime.reader_card import BundledReaderCard
from allears.text.conversation_facts import Facts
from allears.text.layout import Tokens
from allears.text.tokenizer import WordPiece

SCORER_FILE = "scorer.onnx"
SCORER_CARD_FILE = "scorer.json"
FIT = "fit"


@dataclass(frozen=True, slots=True)
class Fit:
    """How likely a reply is good, and how likely off the point, at its place; what is left is plain."""

    good: float
    off: float

    @property
    def worth(self) -> float:
        """What replies are compared by."""
        return self.good - self.off


class OnnxScorer(AnsweringReader):
    """From token ids to the fit head's logits in one graph."""

    card: BundledReaderCard

    def __init__(self, card: BundledReaderCard, tokenizer: WordPiece, graph: onnxruntime.InferenceSession):
        self.card, self.tokenizer, self.graph = card, tokenizer, graph
        self.inputs = {item.name for item in graph.get_inputs()}

    @classmethod
    def from_bundle(
        cls, path: Path | str, tokenizer: WordPiece | None = None, *, threads: int | None = None
    ) -> OnnxScorer:
        bundle = Bundle(path, tokenizer=tokenizer)
        bundle.part("scorer", (SCORER_FILE, SCORER_CARD_FILE), "--scorer RUN")
        card = BundledReaderCard.read(bundle.folder, SCORER_CARD_FILE)
        return cls(card, bundle.tokenizer, bundle.graph(SCORER_FILE, threads=threads))

    def answer(
        self, tokens: Tokens, heads: Sequence[str] | None = None, facts: Facts | None = None
    ) -> Answers:
        feed = {"ids": tokens.ids, "mask": tokens.mask, "segments": tokens.segments}
        (logits,) = self.graph.run(None, {name: feed[name] for name in feed if name in self.inputs})
        return Answers({FIT: logits}, {})

    def score(self, turns: Sequence[Turn], known: Sequence[str], replies: Sequence[str]) -> list[Fit]:
        """Each reply at the end of `turns`; `known` is what is known of the person from before them."""
        readings = [fit_reading(turns, known, reply) for reply in replies]
        good, off = (self.card.heads[FIT].index(mark) for mark in ("good", "off"))
        return [Fit(float(row[good]), float(row[off])) for row in self.answers(readings)[FIT]]


def has_scorer(bundle: BundleCard) -> bool:
    return SCORER_FILE in bundle.files and SCORER_CARD_FILE in bundle.files


def bundled_scorer(
    path: Path | str, tokenizer: WordPiece | None = None, *, threads: int | None = None
) -> OnnxScorer | None:
    """A bundle's scorer, if it has one."""
    return OnnxScorer.from_bundle(path, tokenizer, threads=threads) if has_scorer(Bundle(path).card) else None
