"""How a context, a persona and a response are laid out as token ids.

*Flat*: one sequence, `[CLS] turn [SEP] turn [SEP] ...`, segment 0 for the seeker and 1 for the supporter, as
the BERT models read a context (PEC section 4.2); persona sentences follow one another the same way.
*Nested*: one row per utterance or persona sentence, for models that look at each of them (HLSTM, DIM, MemNet).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.text.tokenizer import Tokenizer

Ids = npt.NDArray[np.int64]
Row = tuple[list[int], list[int]]  # token ids and their segments, special tokens included


# The limits whose least value is not 1: a context needs a word between [CLS] and [SEP], a persona is optional.
_LEAST = {"context_tokens": 3, "persona_sentences": 0}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of each input is read. The defaults are those of CoBERT's authors."""

    context_tokens: int = 256
    first_turn_tokens: int = 90
    turn_tokens: int = 30
    response_tokens: int = 30
    persona_sentences: int = 10
    persona_sentence_tokens: int = 22

    def __post_init__(self) -> None:
        for item in fields(self):
            least = _LEAST.get(item.name, 1)
            if getattr(self, item.name) < least:
                raise AllearsError(
                    f"limits: {item.name} must be at least {least}, got {getattr(self, item.name)}"
                )


@dataclass(frozen=True, slots=True)
class Tokens:
    """A padded batch: arrays [batch, length], or [batch, rows, length] when nested. Mask is 1 on real tokens.

    Arrays are NumPy here; the training side moves them to torch, the runtime feeds them to ONNX.
    """

    ids: Ids
    mask: Ids
    segments: Ids


def context_rows(turns: Sequence[Turn], pieces: Sequence[Sequence[int]], limits: Limits) -> list[Row]:
    """Each turn cut to its limit, oldest turns dropped until the whole fits; without special tokens.

    The latest words matter most, so it is the oldest that go. A lone turn that is too long keeps its end.
    """
    rows: list[Row] = []
    room = limits.context_tokens - 1  # [CLS]
    for position in range(len(turns) - 1, -1, -1):
        limit = limits.first_turn_tokens if position == 0 else limits.turn_tokens
        kept = list(pieces[position][:limit])
        if len(kept) + 1 > room:
            if rows:
                break
            kept = kept[len(kept) + 1 - room :]
        room -= len(kept) + 1
        segment = 1 if turns[position].speaker is Role.SUPPORTER else 0
        rows.append((kept, [segment] * len(kept)))
    return rows[::-1]


def plain_rows(pieces: Sequence[Sequence[int]], limit: int, segment: int = 0) -> list[Row]:
    """Persona sentences or a response: each cut to `limit` tokens."""
    return [(list(piece[:limit]), [segment] * min(len(piece), limit)) for piece in pieces]


def flatten(rows: Sequence[Row], tokenizer: Tokenizer) -> Row:
    """One sequence: start token, then each row closed by an end token."""
    ids, segments = [tokenizer.start], [rows[0][1][0] if rows and rows[0][1] else 0]
    for row_ids, row_segments in rows:
        ids += [*row_ids, tokenizer.end]
        segments += [*row_segments, row_segments[-1] if row_segments else 0]
    return ids, segments


def pad_flat(rows: Sequence[Row], pad: int) -> Tokens:
    """[batch, longest]: no longer than the longest row needs."""
    longest = max((len(ids) for ids, _ in rows), default=0) or 1
    shape = (len(rows), longest)
    ids, mask, segments = np.full(shape, pad, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for position, (row_ids, row_segments) in enumerate(rows):
        ids[position, : len(row_ids)] = row_ids
        mask[position, : len(row_ids)] = 1
        segments[position, : len(row_ids)] = row_segments
    return Tokens(ids, mask, segments)


def pad_nested(groups: Sequence[Sequence[Row]], tokenizer: Tokenizer) -> Tokens:
    """[batch, most rows, longest row]; each row is `[CLS] ... [SEP]`. A missing row has an all-zero mask."""
    most = max((len(group) for group in groups), default=0) or 1
    flat = [flatten([row], tokenizer) for group in groups for row in group]
    longest = max((len(ids) for ids, _ in flat), default=0) or 1
    shape = (len(groups), most, longest)
    ids = np.full(shape, tokenizer.pad, np.int64)
    mask, segments = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    rows = iter(flat)
    for batch, group in enumerate(groups):
        for position in range(len(group)):
            row_ids, row_segments = next(rows)
            ids[batch, position, : len(row_ids)] = row_ids
            mask[batch, position, : len(row_ids)] = 1
            segments[batch, position, : len(row_ids)] = row_segments
    return Tokens(ids, mask, segments)
