"""What a frozen encoder makes of readings: asked once about every text, and never again while the heads learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.progress import track
from torch import Tensor

from allears.models.reader.reader import Reader
from allears.nn.inputs import Inputs
from allears.nn.pooling import pool
from allears.text.layout import Tokens, pad_flat
from allears.training.understanding.dataset import ReadingDataset

Read = Callable[[Tokens], tuple[Tensor, Tensor]]
"""Padded texts in; the states of their tokens [B, L, d] and one vector for each [B, d] out."""


@dataclass(frozen=True, slots=True)
class FrozenReadings:
    """Of N readings: one vector each [N, d], and where a head points, the states of its response's tokens."""

    texts: Tensor
    responses: list[Tensor] | None = None  # [tokens, d] each, in halves


def model_reading(model: Reader) -> Read:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model.to(device).eval()

    @torch.no_grad()
    def read(tokens: Tokens) -> tuple[Tensor, Tensor]:
        inputs = Inputs.from_tokens(tokens).to(device)
        states = model.encoder(inputs)
        return states.float().cpu(), model.text(states, inputs).float().cpu()

    return read


def bundle_reading(bundle: str) -> Read:
    from allears.runtime.onnx_selector import OnnxSelector

    encoder = OnnxSelector.from_bundle(bundle).encoder

    def read(tokens: Tokens) -> tuple[Tensor, Tensor]:
        states = torch.from_numpy(encoder.run(tokens.ids, tokens.mask, tokens.segments).states)
        return states, pool(states, torch.from_numpy(tokens.mask), "mean")

    return read


def read_once(
    read: Read, parts: Sequence[ReadingDataset], kept: Path, *, pointing: Sequence[bool] = ()
) -> list[FrozenReadings]:
    """The readings of each part, from one pass of the encoder over every different text.

    The vectors are kept in the run folder, so that a resumed run need not read everything again. The tokens of the
    parts that are `pointing` are not, for they are many times as large.
    """
    points = list(pointing) or [False] * len(parts)
    if kept.is_file() and not any(points):
        with np.load(kept) as file:
            return [
                FrozenReadings(torch.from_numpy(file[str(number)]).float()) for number in range(len(parts))
            ]
    places: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for number, data in enumerate(parts):
        for row, (ids, segments) in enumerate(data.rows):
            places.setdefault((*ids, *segments), []).append((number, row))
    different = sorted(places.values(), key=lambda same: parts[same[0][0]].lengths[same[0][1]])
    found: dict[tuple[int, int], Tensor] = {}
    responses: dict[tuple[int, int], Tensor] = {}
    for start in track(range(0, len(different), 64), description="reading everything once", transient=True):
        group = different[start : start + 64]
        tokens = pad_flat([parts[same[0][0]].rows[same[0][1]] for same in group], parts[0].tokenizer.pad)
        for same, states, vector in zip(group, *map(Tensor.half, read(tokens)), strict=True):
            found |= dict.fromkeys(same, vector)
            pointed = [place for place in same if points[place[0]]]
            if pointed:  # a text has one response, whichever head asks about it
                number, row = pointed[0]
                responses |= dict.fromkeys(pointed, states[parts[number].asked(row)].clone())
    arrays: dict[str, Any] = {
        str(number): torch.stack([found[number, row] for row in range(len(data))]).numpy()
        for number, data in enumerate(parts)
    }
    kept.parent.mkdir(parents=True, exist_ok=True)
    temporary = kept.with_name("readings.part.npz")
    np.savez(temporary, **arrays)
    temporary.rename(kept)
    return [
        FrozenReadings(
            torch.from_numpy(arrays[str(number)]).float(),
            [responses[number, row] for row in range(len(data))] if points[number] else None,
        )
        for number, data in enumerate(parts)
    ]
