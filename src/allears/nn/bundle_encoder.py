"""The encoder of a bundle, in torch: whoever has the bundle can train on what it learned, without the run it came from.

An int8 bundle gives back its weights as it computes with them: rounded, and with its change added. What is trained on
that encoder while it stays as it is can be added to the very bundle (`selection.adding`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import GraphProto, numpy_helper
from torch import Tensor

from allears.errors import AllearsError
from allears.nn.encoder import Encoder
from allears.nn.stored_matrices import stored_matrices
from allears.runtime.bundle import CARD_FILE, ENCODER_FILE, BundleCard
from allears.runtime.onnx_weights import int8_name, scales_name

_PREFIX = "encoder."  # of the encoder's weights in its graph


def bundle_encoder(folder: Path | str) -> Encoder:
    """The encoder of a bundle, with the weights that its graph computes with."""
    folder = Path(folder)
    card = BundleCard.read(folder)
    if card.precision != "int8":
        raise AllearsError(
            f"{folder}: only an int8 bundle can be trained on; name the run it was exported from"
        )
    if not card.encoder:
        raise AllearsError(
            f"{folder}: this bundle does not say what shape its encoder has, as it is from an older version; "
            "export it again, or name an encoder"
        )
    encoder = Encoder.from_config(dict(card.encoder))
    found = _weights(folder, encoder)
    missing = [name for name, value in encoder.state_dict().items() if _shape(found, name) != value.shape]
    if missing:
        raise AllearsError(
            f"{folder}: its encoder's graph has no weight {missing[0]} of the shape that {CARD_FILE} says; "
            "export the bundle again"
        )
    encoder.load_state_dict({name: found[name] for name in encoder.state_dict()})
    return encoder


def _shape(weights: dict[str, Tensor], name: str) -> torch.Size | None:
    return weights[name].shape if name in weights else None


def _weights(folder: Path, encoder: Encoder) -> dict[str, Tensor]:
    """By name, as the encoder's state has them."""
    values = _Values(onnx.load(folder / ENCODER_FILE).graph)
    found: dict[str, Tensor] = {}
    for name in encoder.state_dict():
        plain = values.get(_PREFIX + name)
        rows, scales = values.get(int8_name(_PREFIX + name)), values.get(scales_name(_PREFIX + name))
        if rows is not None and scales is not None:  # a table that is kept row by row
            plain = rows.astype(np.float32) * scales
        if plain is not None:
            found[name] = torch.from_numpy(np.array(plain, np.float32))
    for layer, matrix in stored_matrices(folder).items():
        columns = encoder.get_submodule(layer).in_features
        found[f"{layer}.weight"] = torch.from_numpy(np.array(matrix[:, :columns]))
    return found


class _Values:
    """The weights of a graph by name: also those that are equal to another one, and have only a node that says so, and
    those that were too large for a file, and are put together when the graph is loaded."""

    def __init__(self, graph: GraphProto):
        self.stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        self.made = {
            node.output[0]: list(node.input) for node in graph.node if node.op_type in ("Identity", "Concat")
        }

    def get(self, name: str) -> np.ndarray | None:
        if name in self.stored:
            return self.stored[name]
        pieces = [self.get(piece) for piece in self.made.get(name, ())]
        known = [piece for piece in pieces if piece is not None]
        return np.concatenate(known) if known and len(known) == len(pieces) else None
