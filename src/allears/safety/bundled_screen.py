"""A screen of its own in a bundle: `screen.onnx`, a short encoder with the risk head, and `screen.json`.

The bundle's encoder was trained to rank replies and to read feelings; what it keeps of a message says little about
danger. So the screen reads the message once more, with the encoder's first layers as they are after learning danger and
nothing else. It costs megabytes no more: its matrices are the encoder's and a low-rank change (`changed_weights.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnxruntime

from allears.runtime.answering import AnsweringReader, Answers
from allears.runtime.bundle import BundleCard
from allears.runtime.onnx_reader import OnnxReader
from allears.runtime.opened_bundle import Bundle
from allears.runtime.reader_card import BundledReaderCard
from allears.safety.reader_head import RISK, ReaderHead
from allears.text.conversation_facts import Facts
from allears.text.layout import Tokens
from allears.text.tokenizer import WordPiece

SCREEN_FILE = "screen.onnx"
SCREEN_CARD_FILE = "screen.json"


class OnnxScreen(AnsweringReader):
    """A reader of danger alone, from token ids to the risk head's logits in one graph."""

    card: BundledReaderCard

    def __init__(self, card: BundledReaderCard, tokenizer: WordPiece, graph: onnxruntime.InferenceSession):
        self.card, self.tokenizer, self.graph = card, tokenizer, graph
        self.inputs = {item.name for item in graph.get_inputs()}

    @classmethod
    def from_bundle(cls, path: Path | str, tokenizer: WordPiece | None = None) -> OnnxScreen:
        bundle = Bundle(path, tokenizer=tokenizer)
        bundle.part("screen", (SCREEN_FILE, SCREEN_CARD_FILE), "--screen RUN")
        card = BundledReaderCard.read(bundle.folder, SCREEN_CARD_FILE)
        return cls(card, bundle.tokenizer, bundle.graph(SCREEN_FILE, threads=1))  # a message is short

    def answer(
        self, tokens: Tokens, heads: Sequence[str] | None = None, facts: Facts | None = None
    ) -> Answers:
        feed = {"ids": tokens.ids, "mask": tokens.mask, "segments": tokens.segments}
        (logits,) = self.graph.run(None, {name: feed[name] for name in feed if name in self.inputs})
        return Answers({RISK: logits}, {})


def has_screen(bundle: BundleCard) -> bool:
    return SCREEN_FILE in bundle.files and SCREEN_CARD_FILE in bundle.files


def bundled_head(
    path: Path | str, reader: OnnxReader | None = None, tokenizer: WordPiece | None = None
) -> ReaderHead | None:
    """What reads danger in a bundle: its screen; else its reader's risk head (`reader`, if it is open already)."""
    if has_screen(Bundle(path).card):
        return ReaderHead(OnnxScreen.from_bundle(path, tokenizer))
    reader = reader or OnnxReader.from_bundle(path)
    return ReaderHead(reader) if RISK in reader.card.heads else None
