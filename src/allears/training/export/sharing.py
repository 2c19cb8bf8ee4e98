"""What the parts with a decoder have in common: their graphs share the encoder's word table and are tried word by word.

That table is a third of the encoder's weights, so it is not stored again: the graphs read it from the encoder's files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.runtime import onnx_weights
from allears.runtime.bundle import ENCODER_FILE
from allears.runtime.onnx_tables import SharedTable, find_table, use_table

TABLE = "table"  # what the traced graphs call the word table, before they share the encoder's
TRIED_WORDS = 3
# How far the exported decoder's next word may be from the model's, as total variation (half the sum of what the
# probabilities differ by), before we call the export broken. A wrong mask or a lost layer is off by far more.
TOLERANCE = {"float32": 1e-3, "float16": 1e-2, "int8": 0.2}

Stepping = Callable[[Any, Any], tuple[Any, Any]]
"""A token [B] and a state to log P [B, V] of the next word, and the next state."""


def table_of(bundle: Path, encoder: nn.Module, words: Tensor) -> SharedTable:
    """Where a bundle's encoder has its word table; `words` is that of the encoder it was exported from."""
    name = next(f"encoder.{name}" for name, weight in encoder.named_parameters() if weight is words)
    rows, width = words.shape
    return find_table(bundle / ENCODER_FILE, name, rows=rows, width=width)


def store(
    path: Path,
    table: SharedTable,
    precision: str,
    largest_file: int,
    *,
    keep_float: Sequence[str],
    many_rows: bool = False,
) -> list[str]:
    """The traced graph with its own weights in the bundle's precision, and with the encoder's table."""
    graph = onnx.load(path)
    if precision == "int8":
        onnx_weights.quantize(graph, keep_float=keep_float)
    elif precision == "float16":
        onnx_weights.halve(graph)
    use_table(graph, table, instead_of=TABLE, many_rows=many_rows)
    return onnx_weights.save(graph, path, largest_file=largest_file)


@torch.inference_mode()
def words_off(bundled: Stepping, found: Any, model: Stepping, expected: Any, tokens: Tensor) -> float:
    """How far the bundled decoder is from the model at most, over a few of the model's likeliest words."""
    off = 0.0
    for _ in range(TRIED_WORDS):
        given, found = bundled(tokens.numpy(), found)
        wanted, expected = model(tokens, expected)
        apart = (wanted.exp() - torch.from_numpy(np.array(given)).exp()).abs().sum(-1) / 2
        off = max(off, float(apart.max()))
        tokens = wanted.argmax(-1)
    return off


def check_writes(name: str, off: float, precision: str) -> None:
    if not off < TOLERANCE[precision]:
        raise AllearsError(
            f"the exported {name} does not write as the model does (off by {off:.2f}); "
            "export with another --precision"
        )
