"""The matrices that an int8 bundle's encoder computes with, in float: `stored_matrices`, `begin_as_stored`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import NodeProto, numpy_helper
from torch import nn

from allears.errors import AllearsError
from allears.nn.encoder import Encoder
from allears.runtime.bundle import ENCODER_FILE
from allears.runtime.changed_weights import changed_weights

Matrix = npt.NDArray[np.float32]


def layer_of(node: NodeProto) -> str:
    """Which layer of the encoder a matrix product is: /encoder/model/layer.0/MatMul is `model.layer.0`."""
    return node.name.replace("/", ".").removeprefix(".encoder.").removesuffix(".MatMul")


def in_float(stored: npt.NDArray[np.uint8], scales: npt.NDArray[Any]) -> Matrix:
    """A matrix of `MatMulNBits`, [outputs, blocks, block] in int8 around 128, as [outputs, inputs, and padding]."""
    outputs, blocks, _ = stored.shape
    found: Matrix = (stored.astype(np.float32) - 128) * scales.reshape(outputs, blocks, 1)
    return found.reshape(outputs, -1)


def stored_matrices(folder: Path) -> dict[str, Matrix]:
    """By layer, after the bundle's own change. The last columns may be padding."""
    graph = onnx.load(folder / ENCODER_FILE).graph
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    changed = changed_weights(folder)
    return {
        layer_of(node): in_float(changed.get(node.input[1], weights[node.input[1]]), weights[node.input[2]])
        for node in graph.node
        if node.op_type == "MatMulNBits" and node.input[1] in weights
    }


def begin_as_stored(encoder: Encoder, folder: Path | str) -> None:
    """Give an encoder, or its first layers, the matrices of the int8 bundle that was exported from it.

    A bundle rounds, and cuts what it stores as a change. Whoever trains something that is a change of the bundle's
    matrices must not spend it on undoing that.
    """
    if not (Path(folder) / ENCODER_FILE).is_file():
        raise AllearsError(f"{folder}: no such bundle; give a folder made by `allears export`")
    matrices = stored_matrices(Path(folder))
    for name, module in encoder.named_modules():
        if isinstance(module, nn.Linear):
            found = matrices.get(name)
            if found is None or found.shape[0] != module.out_features or found.shape[1] < module.in_features:
                raise AllearsError(
                    f"{folder}: this bundle's encoder has no int8 matrix for {name}; "
                    "give one that was exported in int8 from the encoder the run starts with"
                )
            module.weight.data.copy_(torch.from_numpy(found[:, : module.in_features]))
