"""A screen in a bundle: `screen.onnx`, the first layers of its encoder that learned danger and nothing else.

The bundle's encoder was trained to rank replies and to read feelings; what it keeps of a message says little about
danger. So the screen reads the message once more. It costs few megabytes: its matrices are the encoder's and a low-rank
change (`changed_weights.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnxruntime

from allears.runtime.answering import AnsweringReader, Answers
from allears.runtime.opened_bundle import Bundle
from allears.runtime.reader_card import BundledReaderCard
from allears.safety.dangers import ALL_CLEAR, HEAD, WHOSE
from allears.text.conversation_facts import Facts
from allears.text.layout import Tokens
from allears.text.tokenizer import WordPiece

SCREEN_FILE = "screen.onnx"
SCREEN_CARD_FILE = "screen.json"
SCREEN_HEADS = (HEAD, WHOSE, ALL_CLEAR)


def has_screen(path: Path | str) -> bool:
    """Whether a bundle carries a screen of its own."""
    files = Bundle(path).card.files
    return SCREEN_FILE in files and SCREEN_CARD_FILE in files


class OnnxScreen(AnsweringReader):
    """A reader of danger alone, from token ids to the logits of its heads in one graph."""

    card: BundledReaderCard

    def __init__(self, card: BundledReaderCard, tokenizer: WordPiece, graph: onnxruntime.InferenceSession):
        self.card, self.tokenizer, self.graph = card, tokenizer, graph
        self.inputs = {item.name for item in graph.get_inputs()}
        for name in SCREEN_HEADS:
            self.needs(name)

    @classmethod
    def from_bundle(cls, path: Path | str, tokenizer: WordPiece | None = None) -> OnnxScreen:
        bundle = Bundle(path, tokenizer=tokenizer, verify=True)
        bundle.part("screen", (SCREEN_FILE, SCREEN_CARD_FILE), "--screen RUN")
        card = BundledReaderCard.read(bundle.folder, SCREEN_CARD_FILE)
        return cls(card, bundle.tokenizer, bundle.graph(SCREEN_FILE, threads=2))

    def answer(
        self, tokens: Tokens, heads: Sequence[str] | None = None, facts: Facts | None = None
    ) -> Answers:
        feed = {"ids": tokens.ids, "mask": tokens.mask, "segments": tokens.segments}
        found = self.graph.run(None, {name: feed[name] for name in feed if name in self.inputs})
        return Answers(dict(zip(self.card.heads, found, strict=True)), {})
