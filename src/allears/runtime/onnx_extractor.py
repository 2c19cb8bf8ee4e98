"""The light runtime's persona extractor: a bundle's gate and decoder on onnxruntime and NumPy, without torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import onnxruntime

from allears.decoding import State
from allears.errors import AllearsError
from allears.personas.constraint import Lexicon
from allears.personas.contract import PersonaExtractor
from allears.personas.lengths import utterance_rows
from allears.personas.writing import WritingExtractor
from allears.runtime.bundle import DEFAULT
from allears.runtime.extractor_card import (
    EXTRACTOR_FILES,
    GATE_FILE,
    MEMORY_FILE,
    STEP_FILE,
    BundledExtractorCard,
)
from allears.runtime.onnx_encoder import EncodedText, OnnxEncoder
from allears.runtime.opened_bundle import Bundle, BundlePart
from allears.text.layout import Ids, pad_flat
from allears.text.tokenizer import WordPiece

Floats = npt.NDArray[np.float32]

BATCH = 32  # texts that are written for at once
_STATE = ("keys", "values", "memory_keys", "memory_values", "memory", "mask", "ids")


class OnnxExtractor(WritingExtractor, BundlePart):
    """A bundle as a persona extractor: `OnnxExtractor.from_bundle("default")`.

    It reads with the bundle's one encoder, which a ranker of the same bundle may have opened already; what that has
    encoded need not be read again: `extractor.knowing(texts).extract([message])`.
    """

    card: BundledExtractorCard

    def __init__(
        self,
        card: BundledExtractorCard,
        tokenizer: WordPiece,
        encoder: OnnxEncoder,
        gate: onnxruntime.InferenceSession,
        memory: onnxruntime.InferenceSession,
        step: onnxruntime.InferenceSession,
        *,
        beam: int = 1,
    ):
        self.card, self.tokenizer, self.encoder, self.beam = card, tokenizer, encoder, beam
        self.gate, self.memory, self.decoder = gate, memory, step

    @classmethod
    def from_bundle(
        cls,
        path: Path | str = DEFAULT,
        encoder: OnnxEncoder | None = None,
        tokenizer: WordPiece | None = None,
        *,
        beam: int = 1,
        threads: int | None = None,
        verify: bool = False,
    ) -> Self:
        """As `BundlePart.from_bundle`; a `beam` of 1 is greedy."""
        found = super().from_bundle(path, encoder, tokenizer, threads=threads, verify=verify)
        found.beam = beam
        return found

    @classmethod
    def of(cls, bundle: Bundle) -> Self:
        bundle.part("persona extractor", EXTRACTOR_FILES, "--extractor EXTRACTOR_RUN")
        card = BundledExtractorCard.read(bundle.folder)
        bundle.fits("extractor", card.size)
        # one thread each: one vector at a time is too little work to be shared out
        graphs = [bundle.graph(name, threads=1) for name in (GATE_FILE, MEMORY_FILE, STEP_FILE)]
        _check_step(bundle.folder / STEP_FILE, graphs[-1], card)
        return cls(card, bundle.tokenizer, bundle.encoder, *graphs)

    @cached_property
    def lexicon(self) -> Lexicon:
        """Made when something is first written: most of it is a look at every word of the tokenizer."""
        return Lexicon(self.tokenizer, self.card.vocabulary)

    def knowing(self, texts: Iterable[EncodedText]) -> PersonaExtractor:
        """The same extractor, which need not encode these texts once more.

        A text counts as known if its tokens are the very same: a message that a ranker read whole, say.
        """
        return _Knowing(self, {text.ids.tobytes(): text for text in texts})

    def told(self, parts: Sequence[str]) -> list[str]:
        return self.told_from(self.encoded(parts), parts)

    def told_from(self, texts: Sequence[EncodedText], parts: Sequence[str]) -> list[str]:
        """What each part tells, from what the encoder made of it."""
        chosen = np.flatnonzero(self._likely(texts) >= self.card.threshold).tolist()
        found = [""] * len(parts)
        written = self._written([texts[place] for place in chosen], [parts[place] for place in chosen])
        for place, text in zip(chosen, written, strict=True):
            found[place] = text
        return found

    def tells(self, utterances: Sequence[str]) -> npt.NDArray[np.float64]:
        """[N]: how likely each utterance tells something about the person who said it."""
        return self._likely(self.encoded(utterances))

    def write(self, utterances: Sequence[str]) -> list[str]:
        """What each utterance tells, as one text, taking for granted that it tells something."""
        return self._written(self.encoded(utterances), utterances)

    def encoded(
        self, parts: Sequence[str], known: Mapping[bytes, EncodedText] = MappingProxyType({})
    ) -> list[EncodedText]:
        """What the encoder makes of each part; those in `known`, by the bytes of their ids, it has read already."""
        rows = utterance_rows(parts, self.tokenizer, self.card.lengths)
        keys = [np.array(ids, np.int64).tobytes() for ids, _ in rows]
        found = dict(known)
        new = [place for place, key in enumerate(keys) if key not in found]
        if new:
            tokens = pad_flat([rows[place] for place in new], self.tokenizer.pad)
            found |= zip((keys[place] for place in new), self.encoder.texts(tokens), strict=True)
        return [found[key] for key in keys]

    def _likely(self, texts: Sequence[EncodedText]) -> npt.NDArray[np.float64]:
        found = np.zeros(len(texts))
        for rows in _similar(texts):
            states, mask, _ = self._padded([texts[row] for row in rows])
            logits = self.gate.run(["gate"], {"states": states, "mask": mask})[0].astype(np.float64)
            found[rows] = 1 / (1 + np.exp(-logits))
        return found

    def _written(self, texts: Sequence[EncodedText], parts: Sequence[str]) -> list[str]:
        found = [""] * len(texts)
        for rows in _similar(texts):
            state = self.start([texts[row] for row in rows])
            start = np.full(len(rows), self.card.start, np.int64)
            written = self.search(self.step, state, start, [parts[row] for row in rows], self.lexicon)
            for row, text in zip(rows, written, strict=True):
                found[row] = text
        return found

    def start(self, texts: Sequence[EncodedText]) -> State:
        """The decoder's state before anything is written."""
        states, mask, ids = self._padded(texts)
        keys, values, memory = self.memory.run(
            ["memory_keys", "memory_values", "memory"], {"states": states, "ids": ids}
        )
        nothing = keys[..., :0, :]
        return (nothing, nothing, keys, values, memory, mask, ids)

    def step(self, tokens: Any, state: State) -> tuple[Floats, State]:
        """log P [B, V] of the next word after one more token [B]."""
        feed = {"tokens": tokens} | dict(zip(_STATE, state, strict=True))
        logits, keys, values = self.decoder.run(["logits", "new_keys", "new_values"], feed)
        return logits, (keys, values, *state[2:])

    def _padded(self, texts: Sequence[EncodedText]) -> tuple[Floats, Ids, Ids]:
        """States [B, S, d], mask and ids [B, S]."""
        width = max(len(text.ids) for text in texts)
        states = np.zeros((len(texts), width, self.card.size), np.float32)
        mask = np.zeros((len(texts), width), np.int64)
        ids = np.full((len(texts), width), self.tokenizer.pad, np.int64)
        for row, text in enumerate(texts):
            length = len(text.ids)
            states[row, :length], mask[row, :length], ids[row, :length] = text.states, 1, text.ids
        return states, mask, ids


class _Knowing(WritingExtractor):
    """An extractor, and what its encoder has made of some texts already."""

    def __init__(self, whole: OnnxExtractor, known: Mapping[bytes, EncodedText]):
        self.whole, self.known = whole, known
        self.card, self.tokenizer, self.beam = whole.card, whole.tokenizer, whole.beam

    def told(self, parts: Sequence[str]) -> list[str]:
        return self.whole.told_from(self.whole.encoded(parts, self.known), parts)


def _similar(texts: Sequence[EncodedText]) -> list[list[int]]:
    """All texts, shortest first, in batches that need hardly any padding."""
    order = sorted(range(len(texts)), key=lambda row: len(texts[row].ids))
    return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]


def _check_step(path: Path, graph: onnxruntime.InferenceSession, card: BundledExtractorCard) -> None:
    """The graph has what its card promises; else the first word would be a riddle."""
    takes = {item.name: item.shape for item in graph.get_inputs()}
    gives = {item.name: item.shape for item in graph.get_outputs()}
    cache = [card.layers, card.heads]
    fits = (
        set(takes) == {"tokens", *_STATE}
        and takes["keys"][1:3] == cache
        and takes["memory"][-1] == card.size
        and set(gives) == {"logits", "new_keys", "new_values"}
        and gives["logits"][-1] == card.vocabulary
    )
    if not fits:
        raise AllearsError(
            f"{path}: the graph is of another decoder than extractor.json says; export the bundle again"
        )
