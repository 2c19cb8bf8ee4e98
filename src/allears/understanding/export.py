"""A trained reader's heads into a bundle, on the encoder that is there already.

An encoder costs millions of weights, a head thousands. So a bundle has one encoder, and a reader can only be added if
its heads were trained on those very weights.
"""

from __future__ import annotations

import copy
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.nn.pooling import pool
from allears.nn.weights import weights_digest
from allears.selection import export as selection
from allears.selection.bundle import BundleCard, BundleFile
from allears.selection.runtime import open_graph
from allears.selection.saved import TorchSelector
from allears.text.tokenizer import Tokenizer, WordPiece
from allears.understanding.bundled import READER_CARD_FILE, READER_FILE, BundledReaderCard
from allears.understanding.reader import Reader
from allears.understanding.saved import TorchReader

TOLERANCE = 1e-4  # of the exported logits, relative to the largest; rounding is far below


class HeadsGraph(nn.Module):
    """states [B, L, d] and mask [B, L] to every head's logits [B, labels], then the pointing heads' [B, L]."""

    def __init__(self, reader: Reader):
        super().__init__()
        self.heads, self.pointers = reader.heads, reader.pointers
        self.pooling = reader.pooling

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        text = pool(states, mask, self.pooling)
        logits = [head(text) for head in self.heads.values()]
        return (*logits, *(pointer(states).squeeze(-1) for pointer in self.pointers.values()))


def export_with_reader(
    selector: TorchSelector, reader: TorchReader, out: Path | str, **options: Any
) -> BundleCard:
    """A ranker and a reader on the same encoder as one bundle; `options` are those of `selection.export.export`.

    Nothing is written if the two do not belong together.
    """
    encoder: Any = getattr(selector.model, "encoder", None)
    if encoder is not None:  # without one, the ranker itself is refused below
        _check_same("the ranker", weights_digest(encoder), selector.tokenizer, reader)
    selection.export(selector, out, **options)
    return add_reader(out, reader)


def add_reader(folder: Path | str, reader: TorchReader) -> BundleCard:
    """Write a reader's heads into a bundle and return its new card; a reader that was there is replaced.

    The bundle is whole at every moment, with the old reader, with none, or with the new one. Its fingerprint stays,
    so no index needs to be built again.
    """
    folder = Path(folder)
    card = BundleCard.read(folder)
    if not card.encoder_digest:
        raise AllearsError(
            f"{folder}: this bundle does not say which weights its encoder has, as it is from an older version; "
            "export it again before a reader is added"
        )
    _check_same(str(folder), card.encoder_digest, WordPiece(folder), reader)
    graph = copy.deepcopy(HeadsGraph(reader.model)).cpu().float().eval()
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.resolve().parent) as scratch:
        new = Path(scratch)
        reader_card = _card(reader)
        reader_card.write(new)
        _write_graph(graph, reader_card, new / READER_FILE)
        names = (READER_FILE, READER_CARD_FILE)
        files = {name: BundleFile.of(new / name) for name in names}
        others = {name: facts for name, facts in card.files.items() if name not in names}
        if len(others) < len(card.files):
            replace(card, files=others).write(folder)
        for name in names:
            (new / name).replace(folder / name)
        card = replace(card, files=others | files)
        card.write(folder)
    return card


def _check_same(what: str, digest: str, tokenizer: Tokenizer, reader: TorchReader) -> None:
    if weights_digest(reader.model.encoder) != digest:
        raise AllearsError(
            f"the reader's encoder has other weights than that of {what}, so its heads would misread its states; "
            "train the two together, or the reader with model.start = the ranker's run and model.frozen = true"
        )
    if (
        not isinstance(tokenizer, WordPiece)
        or tokenizer.backend.to_str() != reader.tokenizer.backend.to_str()
    ):
        raise AllearsError(
            f"the reader cuts text into other tokens than {what}; train both with one tokenizer"
        )


def _card(reader: TorchReader) -> BundledReaderCard:
    return BundledReaderCard(
        heads={name: tuple(labels) for name, labels in reader.card.heads.items()},
        limits=reader.card.limits,
        size=reader.model.encoder.size,
        pooling=reader.model.pooling,
        multi_label=tuple(reader.card.multi_label),
        pointing=tuple(reader.card.pointing),
        temperatures=dict(reader.card.temperatures),
    )


def _write_graph(graph: HeadsGraph, card: BundledReaderCard, path: Path) -> None:
    rows = {0: "batch", 1: "length"}
    axes = {"states": rows, "mask": rows}
    axes |= {
        name: {0: "batch"} if place < len(card.heads) else rows for place, name in enumerate(card.outputs)
    }
    inputs = {"states": torch.randn(2, 3, card.size), "mask": torch.tensor([[1, 1, 1], [1, 1, 0]])}
    selection.trace(graph, inputs, card.outputs, path, axes)

    # opened as a user will, in another shape than traced
    states = torch.randn(4, 7, card.size, generator=torch.Generator().manual_seed(0))
    mask = (torch.arange(7) < torch.tensor([[7], [4], [1], [6]])).long()
    found = open_graph(path, 1).run(card.outputs, {"states": states.numpy(), "mask": mask.numpy()})
    with torch.inference_mode():
        for name, expected, given in zip(card.outputs, graph(states, mask), found, strict=True):
            off = (expected - torch.from_numpy(given)).abs().max() / expected.abs().max().clamp(min=1)
            if not float(off) < TOLERANCE:
                raise AllearsError(f"the exported reader does not give the model's {name} (off by {off:.1e})")
