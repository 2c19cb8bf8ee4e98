"""The light runtime's reader: the heads of a bundle on onnxruntime, tokenizers and NumPy, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from allears.errors import AllearsError
from allears.selection.bundle import ENCODER_FILE, BundleCard, check_files
from allears.selection.runtime import OnnxEncoder, open_graph
from allears.text.layout import Tokens
from allears.text.tokenizer import WordPiece
from allears.understanding.answering import AnsweringReader, Answers
from allears.understanding.bundled import (
    READER_CARD_FILE,
    READER_FILE,
    BundledReaderCard,
    logits_output,
    tokens_output,
)
from allears.understanding.classifier import Probabilities
from allears.understanding.conversation_facts import FACTS, Facts, no_facts


class OnnxReader(AnsweringReader):
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
        heads: onnxruntime.InferenceSession,
    ):
        self.card, self.tokenizer, self.encoder, self.heads = card, tokenizer, encoder, heads

    @classmethod
    def from_bundle(
        cls,
        path: Path | str = "default",
        encoder: OnnxEncoder | None = None,
        tokenizer: WordPiece | None = None,
        *,
        threads: int | None = None,
        verify: bool = False,
    ) -> OnnxReader:
        """Open a bundle folder, or the one that ships with allears ("default").

        `threads`, of an encoder that is opened here, defaults to the number of physical cores. `verify` also
        compares every file's SHA-256.
        """
        if str(path) == "default":
            from allears.selection.loading import default_bundle

            path = default_bundle()
        folder = Path(path)
        bundle = BundleCard.read(folder)
        if READER_CARD_FILE not in bundle.files or READER_FILE not in bundle.files:
            raise AllearsError(
                f"{folder}: this bundle carries no reader; export it again with "
                "`allears export RUN --reader READER_RUN --out FOLDER`"
            )
        check_files(folder, bundle, verify=verify)
        card = BundledReaderCard.read(folder)
        heads = open_graph(folder / READER_FILE, threads=1)  # too little work to be shared out
        _check_graph(folder / READER_FILE, heads, card)
        if card.size != bundle.size:
            raise AllearsError(
                f"{folder}: its reader is for states of {card.size} numbers, its encoder makes {bundle.size}; "
                "export the bundle again"
            )
        return cls(
            card,
            tokenizer or WordPiece(folder),
            encoder or OnnxEncoder(open_graph(folder / ENCODER_FILE, threads)),
            heads,
        )

    def answer(
        self, tokens: Tokens, heads: Sequence[str] | None = None, facts: Facts | None = None
    ) -> Answers:
        states = self.encoder.run(tokens.ids, tokens.mask, tokens.segments).states
        assert states is not None  # they are the default
        return self._answer(
            states, tokens.mask, facts, [name for name in heads or () if name in self.card.pointing]
        )

    def from_states(
        self, states: npt.ArrayLike, mask: npt.ArrayLike, facts: Facts | None = None
    ) -> dict[str, Probabilities]:
        """Every head's probabilities [B, labels] from token states [B, L, d] that the bundle's encoder made already.

        `mask` [B, L] is 1 on real tokens. What was encoded decides what is answered: the ranker may have read less
        of a long conversation than `card.limits` allow. `facts` [B, FACTS] (`conversation_facts.py`) are for informed
        heads; without them nothing is known of the conversation.
        """
        answers = self._answer(np.asarray(states, np.float32), np.asarray(mask, np.int64), facts)
        return {name: self.calibrated(name, logits) for name, logits in answers.logits.items()}

    def _answer(
        self,
        states: npt.NDArray[np.float32],
        mask: npt.NDArray[np.int64],
        facts: Facts | None = None,
        pointing: Sequence[str] = (),
    ) -> Answers:
        """Where a response shows it is only handed out for the heads of `pointing`; a listener never asks."""
        if states.ndim != 3 or states.shape[-1] != self.card.size or mask.shape != states.shape[:2]:
            raise AllearsError(
                f"this reader takes token states [texts, tokens, {self.card.size}] and their mask [texts, tokens]; "
                f"got {list(states.shape)} and {list(mask.shape)}"
            )
        feed: dict[str, npt.NDArray[Any]] = {"states": states, "mask": mask}
        if self.card.informed:
            feed["facts"] = no_facts(len(states)) if facts is None else facts
        outputs = [*map(logits_output, self.card.heads), *map(tokens_output, pointing)]
        named = dict(zip(outputs, self.heads.run(outputs, feed), strict=True))
        return Answers(
            {name: named[logits_output(name)] for name in self.card.heads},
            {name: named[tokens_output(name)] for name in pointing},
        )


def _check_graph(path: Path, graph: onnxruntime.InferenceSession, card: BundledReaderCard) -> None:
    """The graph has what its card promises; else the first reading would be a riddle."""
    takes = {item.name: item.shape for item in graph.get_inputs()}
    gives = {item.name: item.shape for item in graph.get_outputs()}
    columns = {logits_output(name): len(labels) for name, labels in card.heads.items()}
    fits = (
        set(takes) == set(card.inputs)
        and takes["states"][-1] == card.size
        and (not card.informed or takes["facts"][-1] == FACTS)
        and set(gives) == set(card.outputs)
        and all(gives[name][-1] == count for name, count in columns.items())
    )
    if not fits:
        raise AllearsError(
            f"{path}: the graph has other heads than {READER_CARD_FILE} says; export the bundle again"
        )
