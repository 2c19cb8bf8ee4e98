"""A bundle's crisis screen back in torch, so that it can go on learning: `load_screen("default")`.

Its matrices are those that the bundle computes with, after its change; everything else is as it was exported.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from allears.errors import AllearsError
from allears.models.reader.saved import ReaderCard, TorchReader, build
from allears.nn.encoder import encoder_tokenizer
from allears.nn.pretrained import load_encoder
from allears.nn.stored_matrices import in_float, layer_of
from allears.runtime.bundle import folder_of
from allears.runtime.changed_weights import change_file, changed_weights
from allears.runtime.reader_card import BundledReaderCard
from allears.safety.bundled_screen import SCREEN_CARD_FILE, SCREEN_FILE, has_screen


def load_screen(bundle: Path | str) -> TorchReader:
    """The screen of an int8 bundle, by its folder or name."""
    folder = folder_of(bundle)
    if not has_screen(folder):
        raise AllearsError(f"{folder}: this bundle carries no screen; export one with --screen RUN")
    card = BundledReaderCard.read(folder, SCREEN_CARD_FILE)
    graph = onnx.load(folder / SCREEN_FILE).graph
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    weights |= {  # tensors that are alike are stored once
        node.output[0]: weights[node.input[0]]
        for node in graph.node
        if node.op_type == "Identity" and node.input[0] in weights
    }
    changed = changed_weights(folder, change_file(SCREEN_FILE))
    matrices = {
        layer_of(node): in_float(changed.get(node.input[1], weights[node.input[1]]), weights[node.input[2]])
        for node in graph.node
        if node.op_type == "MatMulNBits"
    }
    encoder = load_encoder(str(bundle)).first_layers(_depth(matrices))
    tokenizer = encoder_tokenizer(str(bundle))
    reader_card = ReaderCard(
        dict(card.heads),
        card.limits,
        encoder.config,
        {"pooling": card.pooling},
        temperatures=dict(card.temperatures),
    )
    model = build(reader_card, encoder)
    with torch.no_grad():
        for name, layer in encoder.named_modules():
            if isinstance(layer, nn.Linear):
                layer.weight.copy_(_tensor(matrices[name][:, : layer.in_features]))
        for name, value in encoder.named_parameters():
            if value.dim() == 1:
                value.copy_(_tensor(weights[f"encoder.{name}"]))
        for place, name in enumerate(card.heads):
            for part, value in model.heads[name].named_parameters():
                value.copy_(_tensor(weights[f"heads.{place}.{part}"]).reshape(value.shape))
    return TorchReader(model, reader_card, tokenizer)


def _depth(matrices: dict[str, np.ndarray]) -> int:
    """How many layers of the encoder it has: "model.encoder.layer.5.output.dense" is of the sixth."""
    numbers = [int(part) for name in matrices for part in name.split(".") if part.isdigit()]
    return 1 + max(numbers)


def _tensor(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.array(values, np.float32))
