"""A reader with an encoder of its own, as a part of a bundle: the crisis screen.

Its encoder began as the bundle's own, so only what changed since is stored, at a low rank.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import ModelProto, TensorProto, numpy_helper
from onnxruntime import InferenceSession
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.models.reader.reader import Reader
from allears.models.reader.saved import TorchReader
from allears.nn.inputs import Inputs
from allears.nn.low_rank import low_rank
from allears.nn.pooling import pool
from allears.nn.stored_matrices import in_float, layer_of
from allears.runtime import onnx_weights
from allears.runtime.answering import AnsweringReader
from allears.runtime.bundle import ENCODER_FILE, BundleCard
from allears.runtime.changed_weights import (
    CHANGE_FILE,
    Changing,
    WeightPlace,
    change_file,
    changed_weights,
    write_changes,
)
from allears.runtime.onnx_encoder import open_graph
from allears.runtime.reader_card import BundledReaderCard, logits_output
from allears.text.reading import Reading
from allears.text.tokenizer import WordPiece
from allears.training.export.adding import put_files
from allears.training.export.ranker import LARGEST_FILE, encoder_inputs, exportable, trace

RANK = 16
CLOSE = 0.15  # how far the exported probabilities may be off on average; a lost layer is off by far more


@dataclass(frozen=True, slots=True)
class OwnEncoderPart:
    """Which part it is, and what it is tried with when it is exported."""

    name: str  # "screen"
    heads: tuple[str, ...]
    graph_file: str
    card_file: str
    recipe: str
    tried_with: tuple[Reading, ...]
    open: Callable[[BundledReaderCard, WordPiece, InferenceSession], AnsweringReader]


class ScreenGraph(nn.Module):
    """ids, mask and segments [B, L] to the logits [B, labels] of some heads, in their order."""

    def __init__(self, reader: Reader, heads: tuple[str, ...]):
        super().__init__()
        self.encoder, self.pooling = reader.encoder, reader.pooling
        self.heads = nn.ModuleList([reader.heads[name] for name in heads])

    def forward(self, ids: Tensor, mask: Tensor, segments: Tensor) -> tuple[Tensor, ...]:
        states = self.encoder(Inputs(ids, mask, segments))
        pooled = pool(states, mask, self.pooling)
        return tuple(head(pooled) for head in self.heads)


def add_own_encoder(
    folder: Path | str, reader: TorchReader, part: OwnEncoderPart, *, rank: int = RANK
) -> BundleCard:
    """Write such a part into an int8 bundle and return its new card; one that was there is replaced.

    The reader's encoder must have begun as the bundle's own: what changed since is stored at this `rank`.
    """
    folder = Path(folder)
    card = BundleCard.read(folder)
    _check_run(folder, card, reader, part)
    graph = exportable(ScreenGraph(reader.model, part.heads))
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.resolve().parent) as scratch:
        new = Path(scratch)
        _card(reader, part).write(new, part.card_file)
        names = [part.card_file, *_write_graph(graph, folder, new, part, rank)]
        _check_parity(reader, folder, new, part)
        old = [name for name in card.files if name.startswith(f"{part.name}.")]
        return put_files(folder, card, new, names, old=old)


def _check_run(folder: Path, card: BundleCard, reader: TorchReader, part: OwnEncoderPart) -> None:
    missing = [name for name in part.heads if name not in reader.card.heads]
    if missing:
        raise AllearsError(
            f"this reader has no {missing[0]} head, it has {', '.join(reader.card.heads)}; "
            f"train one with {part.recipe}"
        )
    if card.precision != "int8":
        raise AllearsError(
            f"{folder}: a {part.name} shares the encoder's int8 weights, and this bundle is {card.precision}; "
            "export it in int8"
        )
    if WordPiece(folder).backend.to_str() != reader.tokenizer.backend.to_str():
        raise AllearsError(
            f"the {part.name} cuts text into other tokens than {folder}; train it from that encoder"
        )


def _card(reader: TorchReader, part: OwnEncoderPart) -> BundledReaderCard:
    return BundledReaderCard(
        heads={name: tuple(reader.card.heads[name]) for name in part.heads},
        limits=reader.card.limits,
        size=reader.model.encoder.size,
        pooling=reader.model.pooling,
        temperatures={name: reader.card.temperatures.get(name, 1.0) for name in part.heads},
    )


def _write_graph(graph: ScreenGraph, folder: Path, new: Path, part: OwnEncoderPart, rank: int) -> list[str]:
    """The graph with every weight that the encoder has already read from the encoder's files."""
    path = new / part.graph_file
    inputs = encoder_inputs()
    outputs = [logits_output(name) for name in part.heads]
    axes = {name: {0: "batch", 1: "length"} for name in inputs} | {name: {0: "batch"} for name in outputs}
    trace(graph, inputs, outputs, path, axes)
    model = onnx.load(path)
    onnx_weights.quantize(model)
    theirs = onnx.load(folder / ENCODER_FILE).graph
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in theirs.initializer}
    places = onnx_weights.weight_places(folder / ENCODER_FILE)
    changes = _changes(graph, model, weights, places, changed_weights(folder), part, rank)
    for tensor in model.graph.initializer:
        shared = weights.get(tensor.name)
        if shared is not None and (
            _is_changed(tensor.name, changes) or np.array_equal(shared, numpy_helper.to_array(tensor))
        ):
            _take(tensor, shared, places.get(tensor.name))
    names = onnx_weights.save(model, path, largest_file=LARGEST_FILE)
    upon = CHANGE_FILE if (folder / CHANGE_FILE).is_file() else ""
    return names + write_changes(new, changes, change_file(part.graph_file), upon=upon)


def _is_changed(name: str, changes: Mapping[str, Changing]) -> bool:
    """Whether this is a matrix that will be changed, or its scales: the change is one of the encoder's steps."""
    return name in changes or name.removesuffix(".scales") + ".int8" in changes


def _take(tensor: TensorProto, shared: npt.NDArray[Any], place: WeightPlace | None) -> None:
    """Let a weight of the graph be the encoder's own."""
    tensor.CopyFrom(numpy_helper.from_array(shared, tensor.name))
    if place is not None:
        onnx_weights.point(tensor, shared.tobytes(), place)


def _changes(
    graph: ScreenGraph,
    model: ModelProto,
    weights: Mapping[str, npt.NDArray[Any]],
    places: Mapping[str, WeightPlace],
    changed: Mapping[str, npt.NDArray[np.uint8]],
    part: OwnEncoderPart,
    rank: int,
) -> dict[str, Changing]:
    """How each matrix differs from what the encoder has there, after the encoder's own change."""
    layers = dict(graph.encoder.named_modules())
    found: dict[str, Changing] = {}
    for node in model.graph.node:
        if node.op_type != "MatMulNBits" or node.input[1] not in weights:
            continue
        stored, scales = node.input[1], node.input[2]
        layer: Any = layers[layer_of(node)]
        now = changed.get(stored, weights[stored])
        own = in_float(now, weights[scales])
        tuned = np.zeros_like(own)
        tuned[:, : layer.in_features] = layer.weight.detach().numpy()
        change = low_rank(torch.from_numpy(tuned - own), rank)
        found[stored] = Changing(
            now.shape,
            places.get(stored, weights[stored].tobytes()),
            places.get(scales, weights[scales].tobytes()),
            change.up.half().numpy(),
            change.down.half().numpy(),
        )
    if not found:
        raise AllearsError(
            f"the {part.name}'s encoder has no matrix in common with the bundle's; train it from that one"
        )
    return found


def _check_parity(reader: TorchReader, folder: Path, new: Path, part: OwnEncoderPart) -> None:
    """The part, opened beside the encoder's files, says what the run says; or it began as another encoder."""
    with tempfile.TemporaryDirectory(dir=new) as scratch:
        whole = Path(scratch)
        for file in (*folder.glob("encoder.*"), *(path for path in new.iterdir() if path.is_file())):
            shutil.copyfile(file, whole / file.name)
        opened = part.open(_card(reader, part), reader.tokenizer, open_graph(whole / part.graph_file, 1))
        exported, wanted = opened.answers(part.tried_with), reader.answers(part.tried_with)
    off = max(float(np.abs(exported[name] - wanted[name]).sum(-1).mean() / 2) for name in part.heads)
    if not off < CLOSE:
        raise AllearsError(
            f"the exported {part.name} does not say what the run says (off by {off:.2f}); it must have begun as the "
            f"encoder of {folder}, or needs a higher rank"
        )
