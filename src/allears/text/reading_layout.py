"""Readings as token ids: what a reader sees of what was said, and where the rationales of a response lie in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from allears.text.layout import Ids, Limits, Row, Tokens, context_rows, flatten, pad_flat
from allears.text.reading import Reading
from allears.text.tokenizer import Tokenizer, WordPiece

NOT_ASKED = -1  # the mark of a token that is no part of the response

Span = tuple[int, int]  # a token's first character, and the one after its last


class ReadingTokens:
    """Readings tokenized once, for random access in padded batches.

    With `rationales`, `spans` says where the tokens that are read of the last turn stand in its shown text, and
    `marks` which tokens of the whole row belong to a rationale.
    """

    def __init__(
        self, readings: Sequence[Reading], tokenizer: Tokenizer, limits: Limits, *, rationales: bool = False
    ):
        self.tokenizer = tokenizer
        self.rows: list[Row] = []
        self.marks: list[list[int]] = []
        self.spans: list[list[Span]] = []
        shown = [reading.shown_turns for reading in readings]
        texts = {turn.text: 0 for turns in shown for turn in turns}
        texts |= {reading.so_far: 0 for reading in readings if reading.so_far is not None}
        pieces = dict(zip(texts, tokenizer.encode_many(list(texts)), strict=True))
        for reading, turns in zip(readings, shown, strict=True):
            first = [] if reading.so_far is None else summary_row(pieces[reading.so_far], limits)
            left = replace(
                limits, context_tokens=limits.context_tokens - sum(len(ids) + 1 for ids, _ in first)
            )
            rows = first + context_rows(turns, [pieces[turn.text] for turn in turns], left)
            self.rows.append(flatten(rows, tokenizer))
            if rationales:
                text = turns[-1].text if turns else ""
                limit = limits.first_turn_tokens if len(turns) == 1 else limits.turn_tokens
                spans = token_spans(tokenizer, text)[:limit]
                spans = spans[len(spans) - (len(rows[-1][0]) if rows else 0) :]
                before = len(self.rows[-1][0]) - len(spans) - 1
                marks = rationale_marks(spans, text, reading.rationales)
                self.spans.append(spans)
                self.marks.append([NOT_ASKED] * before + marks + [NOT_ASKED])
        self.lengths = np.array([len(ids) for ids, _ in self.rows], np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    def tokens(self, rows: Sequence[int]) -> Tokens:
        """[B, L]: padded no further than the longest of these rows needs."""
        return pad_flat([self.rows[row] for row in rows], self.tokenizer.pad)

    def padded_marks(self, rows: Sequence[int]) -> Ids:
        """[B, L]: 1 for tokens of a rationale, 0 for the response's others, -1 for all that is not asked about."""
        longest = max(len(self.marks[row]) for row in rows)
        padded = np.full((len(rows), longest), NOT_ASKED, np.int64)
        for place, row in enumerate(rows):
            padded[place, : len(self.marks[row])] = self.marks[row]
        return padded

    def parts(self, size: int) -> Iterator[list[int]]:
        """All rows, shortest first, so that a part needs hardly any padding."""
        order = np.argsort(self.lengths, kind="stable").tolist()
        for start in range(0, len(order), size):
            yield order[start : start + size]


def summary_row(pieces: Sequence[int], limits: Limits) -> list[Row]:
    """What is told of a conversation before its turns: never dropped for them, yet at most half of the room.

    It is the supporter's (segment 1). A context too small for both a summary and a turn has none.
    """
    kept = list(pieces[: min(limits.turn_tokens, limits.context_tokens // 2 - 1)])
    return [(kept, [1] * len(kept))] if kept and limits.context_tokens >= 5 else []


def token_spans(tokenizer: Tokenizer, text: str) -> list[Span]:
    """Where each token of a text stands in it."""
    if not isinstance(tokenizer, WordPiece):
        raise TypeError("rationales need a tokenizer that knows where its tokens stand")
    return tokenizer.offsets(text)


def rationale_marks(spans: Sequence[Span], text: str, rationales: Sequence[str]) -> list[int]:
    """1 for every token of `text` that lies in one of the rationales (looked for as they are written), else 0."""
    found = []
    for part in rationales:
        begin = text.find(part)
        if begin >= 0:  # a few published rationales are not the response's exact words
            found.append((begin, begin + len(part)))
    return [int(any(begin < last and end > first for first, last in found)) for begin, end in spans]
