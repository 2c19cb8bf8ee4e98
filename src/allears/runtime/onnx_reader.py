"""The light runtime's reader: the heads of a bundle on onnxruntime, tokenizers and NumPy, without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import onnxruntime

from allears.errors import AllearsError
from allears.runtime.answering import AnsweringReader, Answers
from allears.runtime.classifier import Probabilities
from allears.runtime.onnx_encoder import OnnxEncoder, cut, rounded
from allears.runtime.opened_bundle import Bundle, BundlePart
from allears.runtime.reader_card import (
    READER_CARD_FILE,
    READER_FILE,
    BundledReaderCard,
    logits_output,
    tokens_output,
)
from allears.text.conversation_facts import FACTS, Facts, no_facts
from allears.text.layout import Tokens
from allears.text.tokenizer import WordPiece


class OnnxReader(AnsweringReader, BundlePart):
    """A bundle as a reader: `OnnxReader.from_bundle("default")`.

    It reads with the bundle's one encoder, which a ranker of the same bundle may have opened already:
    `OnnxReader.from_bundle(path, encoder=selector.encoder, tokenizer=selector.tokenizer)`.
    """

    card: BundledReaderCard

    def __init__(
        self,
        card: BundledReaderCard,
        tokenizer: WordPiece,
        encoder: OnnxEncoder,
        graphs: Mapping[str, onnxruntime.InferenceSession],  # by file, as the card names them
    ):
        self.card, self.tokenizer, self.encoder, self.graphs = card, tokenizer, encoder, graphs

    @classmethod
    def of(cls, bundle: Bundle) -> Self:
        bundle.part("reader", (READER_CARD_FILE, READER_FILE), "--reader READER_RUN")
        card = BundledReaderCard.read(bundle.folder)
        graphs = {}
        for name, heads in card.graphs.items():
            deep = card.is_deep(name)  # heads alone are too little work to be shared out
            graphs[name] = bundle.graph(name, bundle.threads if deep else 1, many_small_runs=deep)
            _check_graph(bundle.folder / name, graphs[name], card, heads)
        bundle.fits("reader", card.size)
        return cls(card, bundle.tokenizer, bundle.encoder, graphs)

    def answer(
        self, tokens: Tokens, heads: Sequence[str] | None = None, facts: Facts | None = None
    ) -> Answers:
        states = self.encoder.run(tokens.ids, tokens.mask, tokens.segments).states
        assert states is not None  # they are the default
        pointing = [name for name in heads or () if name in self.card.pointing]
        return self._answer(states, tokens.mask, facts, pointing, heads)

    def from_states(
        self,
        states: npt.ArrayLike,
        mask: npt.ArrayLike,
        facts: Facts | None = None,
        heads: Sequence[str] | None = None,
    ) -> dict[str, Probabilities]:
        """Every head's probabilities [B, labels] from token states [B, L, d] that the bundle's encoder made already.

        Those of `heads` alone cost less: where none of them asks for them, further layers are left out.

        `mask` [B, L] is 1 on real tokens. What was encoded decides what is answered: the ranker may have read less
        of a long conversation than `card.limits` allow. `facts` [B, FACTS] (`conversation_facts.py`) are for informed
        heads; without them nothing is known of the conversation.
        """
        given, real = np.asarray(states, np.float32), np.asarray(mask, np.int64)
        self._check_states(given, real)
        # One text after the other: in company a product of rows is summed in another order than alone, and people must
        # not hear something else because others talk at the same time.
        rows = [
            self._answer(
                cut(given[row : row + 1], width),
                cut(real[row : row + 1], width),
                None if facts is None else facts[row : row + 1],
                heads=heads,
            )
            for row, width in enumerate(rounded(real.sum(-1)).tolist())
        ]
        wanted = list(self.card.heads if heads is None else heads)
        return {
            name: self.calibrated(name, np.concatenate([answers.logits[name] for answers in rows]))
            for name in wanted
        }

    def _answer(
        self,
        states: npt.NDArray[np.float32],
        mask: npt.NDArray[np.int64],
        facts: Facts | None = None,
        pointing: Sequence[str] = (),
        heads: Sequence[str] | None = None,
    ) -> Answers:
        """Where a response shows it is only handed out for the heads of `pointing`; a listener never asks."""
        wanted = list(self.card.heads if heads is None else heads)
        found: dict[str, npt.NDArray[Any]] = {}
        for file, known in self.card.graphs.items():
            asked = [name for name in known if name in wanted]
            outputs = [
                *map(logits_output, asked),
                *(tokens_output(name) for name in pointing if name in known),
            ]
            if outputs:
                feed: dict[str, npt.NDArray[Any]] = {"states": states, "mask": mask}
                if "facts" in self.card.inputs(known):
                    feed["facts"] = no_facts(len(states)) if facts is None else facts
                found |= zip(outputs, self.graphs[file].run(outputs, feed), strict=True)
        return Answers(
            {name: found[logits_output(name)] for name in wanted},
            {name: found[tokens_output(name)] for name in pointing},
        )

    def _check_states(self, states: npt.NDArray[np.float32], mask: npt.NDArray[np.int64]) -> None:
        if states.ndim != 3 or states.shape[-1] != self.card.size or mask.shape != states.shape[:2]:
            raise AllearsError(
                f"this reader takes token states [texts, tokens, {self.card.size}] and their mask [texts, tokens]; "
                f"got {list(states.shape)} and {list(mask.shape)}"
            )


def _check_graph(
    path: Path, graph: onnxruntime.InferenceSession, card: BundledReaderCard, heads: Sequence[str]
) -> None:
    """The graph has what its card promises; else the first reading would be a riddle."""
    takes = {item.name: item.shape for item in graph.get_inputs()}
    gives = {item.name: item.shape for item in graph.get_outputs()}
    columns = {logits_output(name): len(card.heads[name]) for name in heads}
    fits = (
        set(takes) == set(card.inputs(heads))
        and takes["states"][-1] == card.size
        and ("facts" not in takes or takes["facts"][-1] == FACTS)
        and set(gives) == set(card.outputs(heads))
        and all(gives[name][-1] == count for name, count in columns.items())
    )
    if not fits:
        raise AllearsError(
            f"{path}: the graph has other heads than {READER_CARD_FILE} says; export the bundle again"
        )
