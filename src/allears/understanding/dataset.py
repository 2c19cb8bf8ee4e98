"""Readings, tokenized once and cut into padded batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from allears.nn.inputs import Inputs
from allears.text.layout import Limits, Row, context_rows, flatten, pad_flat
from allears.text.tokenizer import Tokenizer, WordPiece
from allears.understanding.reading import Reading, gold_mask

NOT_ASKED = -1  # the mark of a token that is no part of the response


class ReadingDataset:
    """Random access to tokenized readings, their gold labels [N, labels], and their rationales' marks."""

    def __init__(
        self,
        readings: Sequence[Reading],
        labels: Sequence[str],
        tokenizer: Tokenizer,
        limits: Limits,
        *,
        rationales: bool = False,
    ):
        self.readings, self.tokenizer = list(readings), tokenizer
        self.gold = gold_mask(self.readings, labels)
        self.rows: list[Row] = []
        self.marks: list[list[int]] = []
        shown = [reading.shown_turns for reading in self.readings]
        texts = {turn.text: 0 for turns in shown for turn in turns}
        pieces = dict(zip(texts, tokenizer.encode_many(list(texts)), strict=True))
        for reading, turns in zip(self.readings, shown, strict=True):
            rows = context_rows(turns, [pieces[turn.text] for turn in turns], limits)
            self.rows.append(flatten(rows, tokenizer))
            if rationales:
                marks = rationale_marks(tokenizer, turns[-1].text, reading.rationales)
                limit = limits.first_turn_tokens if len(turns) == 1 else limits.turn_tokens
                kept = len(rows[-1][0])
                marks = marks[:limit]
                marks = marks[len(marks) - kept :]
                before = len(self.rows[-1][0]) - kept - 1
                self.marks.append([NOT_ASKED] * before + marks + [NOT_ASKED])
        self.lengths = np.array([len(ids) for ids, _ in self.rows], np.int64)

    def __len__(self) -> int:
        return len(self.readings)

    @property
    def fingerprint(self) -> str:
        """Changes when any text, label or rationale of the data does."""
        digest = hashlib.sha256()
        for reading in self.readings:
            for text in (*(turn.text for turn in reading.shown_turns), *reading.labels, *reading.rationales):
                digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
        return digest.hexdigest()[:16]

    def inputs(self, rows: Sequence[int]) -> Inputs:
        return Inputs.from_tokens(pad_flat([self.rows[row] for row in rows], self.tokenizer.pad))

    def targets(self, rows: Sequence[int]) -> Tensor:
        """[B, labels]: 1 for the true ones."""
        return torch.from_numpy(self.gold[list(rows)]).float()

    def marks_of(self, rows: Sequence[int]) -> Tensor:
        """[B, L]: 1 for tokens of a rationale, 0 for the response's others, -1 for all that is not asked about."""
        longest = max(len(self.marks[row]) for row in rows)
        padded = [self.marks[row] + [NOT_ASKED] * (longest - len(self.marks[row])) for row in rows]
        return torch.tensor(padded)

    def parts(self, size: int) -> Iterator[list[int]]:
        """All rows, shortest first, so that a part needs hardly any padding."""
        order = np.argsort(self.lengths, kind="stable").tolist()
        for start in range(0, len(order), size):
            yield order[start : start + size]


def rationale_marks(tokenizer: Tokenizer, text: str, rationales: Sequence[str]) -> list[int]:
    """1 for every token of `text` that lies in one of the rationales (looked for as they are written), else 0."""
    if not isinstance(tokenizer, WordPiece):
        raise TypeError("rationales need a tokenizer that knows where its tokens stand")
    spans = []
    for part in rationales:
        begin = text.find(part)
        if begin >= 0:  # a few published rationales are not the response's exact words
            spans.append((begin, begin + len(part)))
    return [
        int(any(begin < end_of_span and end > start for start, end_of_span in spans))
        for begin, end in tokenizer.offsets(text)
    ]
