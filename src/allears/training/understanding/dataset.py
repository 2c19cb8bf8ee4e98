"""Readings with their gold labels, as batches of tensors to learn from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from allears.nn.inputs import Inputs
from allears.text.conversation_facts import facts_of
from allears.text.layout import Ids, Limits
from allears.text.reading import Reading, gold_mask
from allears.text.reading_layout import NOT_ASKED, ReadingTokens
from allears.text.tokenizer import Tokenizer


class ReadingDataset(ReadingTokens):
    """Random access to tokenized readings, their gold labels [N, labels], and their rationales' marks.

    For an informed head what was done so far is no part of the words but of the facts.
    """

    def __init__(
        self,
        readings: Sequence[Reading],
        labels: Sequence[str],
        tokenizer: Tokenizer,
        limits: Limits,
        *,
        rationales: bool = False,
        informed: bool = False,
    ):
        shown = [reading.bare for reading in readings] if informed else readings
        super().__init__(shown, tokenizer, limits, rationales=rationales)
        self.readings = list(readings)
        self.facts = torch.from_numpy(facts_of(readings)) if informed else None
        self.gold = gold_mask(self.readings, labels)
        self._wanted = self.gold

    @property
    def fingerprint(self) -> str:
        """Changes when any text, label or rationale of the data does."""
        digest = hashlib.sha256()
        for reading in self.readings:
            shown = (turn.text for turn in reading.shown_turns)
            for text in (reading.so_far or "", *shown, *reading.labels, *reading.rationales):
                digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()[:16]

    def inputs(self, rows: Sequence[int]) -> Inputs:
        return Inputs.from_tokens(self.tokens(rows))

    def facts_of(self, rows: Sequence[int]) -> Tensor | None:
        """[B, FACTS]; None for a head that is not informed."""
        return None if self.facts is None else self.facts[list(rows)]

    def targets(self, rows: Sequence[int]) -> Tensor:
        """[B, labels]: 1 for the true ones, or what `answer_with` has put in their place."""
        return torch.from_numpy(self._wanted[list(rows)]).float()

    def answer_with(self, wanted: np.ndarray) -> None:
        """Learn these answers [N, labels] instead of the gold labels; what is measured stays."""
        self._wanted = wanted

    def marks_of(self, rows: Sequence[int]) -> Tensor:
        """[B, L]: which tokens belong to a rationale; see `padded_marks`."""
        return torch.from_numpy(self.padded_marks(rows))

    def asked(self, row: int) -> slice:
        """Where the response's tokens stand in a row: those that may belong to a rationale."""
        marks = np.array(self.marks[row])
        places = np.flatnonzero(marks != NOT_ASKED)
        return slice(int(places[0]), int(places[-1]) + 1) if len(places) else slice(0, 0)

    def asked_marks(self, row: int) -> Ids:
        """[tokens]: 1 for those of the response that belong to a rationale, 0 for its others."""
        return np.array(self.marks[row][self.asked(row)], np.int64)
