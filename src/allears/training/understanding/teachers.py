"""Other readers' doubts to learn from: they say more of a text than its one label (Hinton et al. 2015; many heads from
many teachers: Clark et al. 2019).

target = (1 - taught) gold + taught P(label | reading)          P: the mean over the teachers that have the head

A teacher has no doubts where it knows a reading by heart. So teachers learn with a part of the readings left out
(`data.left_out = "1/3"`: the first of three), and each speaks only about those that it has not learned.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from allears.corpora.heads import Head
from allears.errors import AllearsError
from allears.models.reader import saved
from allears.text.reading import Reading
from allears.training.understanding.dataset import ReadingDataset

BATCH = 256

Targets = npt.NDArray[np.float32]


def is_left_out(reading: Reading, part: str) -> bool:
    """Whether a reading belongs to the part "k/n". All readings of one conversation do, whatever the head."""
    if not part:
        return False
    number, parts = _numbers(part)
    key = reading.conversation or reading.text
    return crc32(key.encode("utf-8", "surrogatepass")) % parts == number - 1


@cache
def _numbers(part: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", part)
    number, parts = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= parts:
        raise AllearsError(f'recipe: data.left_out is a part such as "1/3", the first of three; got {part!r}')
    return number, parts


class Teachers:
    """Trained readers, each of which teaches the heads that it has."""

    def __init__(self, runs: Sequence[str], share: float, *, device: str = "cpu"):
        if not 0 <= share <= 1:
            raise AllearsError(f"recipe: heads.taught is a share between 0 and 1, got {share}")
        self.share = share
        self.readers = [saved.load(run, device) for run in runs]

    def targets(self, each: Head, data: ReadingDataset) -> Targets:
        """[N, labels]: what a head learns; the gold labels alone for readings that no teacher can speak about."""
        gold = data.gold.astype(np.float32)
        said, count = np.zeros(gold.shape), np.zeros((len(gold), 1))
        for reader in self.readers:
            if each.name not in reader.card.heads:
                continue
            part = reader.card.left_out
            rows = [
                row for row, reading in enumerate(data.readings) if not part or is_left_out(reading, part)
            ]
            if rows:
                said[rows] += reader.probabilities(each, [data.readings[row] for row in rows], batch=BATCH)
                count[rows] += 1
        mixed = (1 - self.share) * gold + self.share * said / np.maximum(count, 1)
        return np.where(count > 0, mixed, gold).astype(np.float32)


def teach(
    runs: Sequence[str],
    share: float,
    heads: Sequence[Head],
    parts: Sequence[ReadingDataset],
    kept: Path,
    *,
    device: str = "cpu",
) -> None:
    """Sets what the readings of each part are to be answered with.

    What the teachers said is kept in the run folder, so that a resumed run need not ask them again.
    """
    asked = " ".join([*runs, str(share), *(data.fingerprint for data in parts)])
    targets: list[Targets] = []
    if kept.is_file():
        with np.load(kept) as file:
            if str(file["asked"]) == asked:
                targets = [file[str(number)] for number in range(len(parts))]
    if not targets:
        teachers = Teachers(runs, share, device=device)
        targets = [teachers.targets(each, data) for each, data in zip(heads, parts, strict=True)]
        kept.parent.mkdir(parents=True, exist_ok=True)
        temporary = kept.with_name("taught.part.npz")
        arrays: dict[str, Any] = {str(number): each for number, each in enumerate(targets)}
        np.savez(temporary, asked=np.array(asked), **arrays)
        temporary.rename(kept)
    for data, wanted in zip(parts, targets, strict=True):
        data.answer_with(wanted)
