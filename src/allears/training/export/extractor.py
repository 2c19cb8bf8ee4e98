"""A trained persona extractor's gate and decoder into a bundle, on the encoder that is there already.

The decoder reads and writes with the encoder's word table. That is a third of the encoder's weights, so it is not
stored again: the decoder's graphs read it from the encoder's files.
"""

from __future__ import annotations

import copy
import shutil
import tempfile
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.models.extractor.model import Extractor
from allears.models.extractor.saved import TorchExtractor
from allears.nn.decoder import Decoder, DecoderState
from allears.nn.pooling import masked_mean
from allears.runtime import onnx_weights
from allears.runtime.bundle import ENCODER_FILE, BundleCard, BundleFile
from allears.runtime.extractor_card import (
    EXTRACTOR_CARD_FILE,
    GATE_FILE,
    MEMORY_FILE,
    STEP_FILE,
    BundledExtractorCard,
    extractor_files,
)
from allears.runtime.onnx_encoder import EncodedText
from allears.runtime.onnx_extractor import OnnxExtractor
from allears.runtime.onnx_tables import SharedTable, find_table, use_table
from allears.text.tokenizer import Tokenizer, WordPiece
from allears.training.export.adding import check_belongs, encoder_digests, put_files
from allears.training.export.ranker import LARGEST_FILE, trace

TABLE = "table"  # what the traced graphs call the word table, before they share the encoder's
# How far the exported decoder's next word may be from the model's, as total variation (half the sum of what the
# probabilities differ by), before we call the export broken. A wrong mask or a lost layer is off by far more.
TOLERANCE = {"float32": 1e-3, "float16": 1e-2, "int8": 0.2}


class GateGraph(nn.Module):
    """states [B, S, d] and mask [B, S] to the gate's logits [B]."""

    def __init__(self, model: Extractor):
        super().__init__()
        self.gate = model.gate

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        logits: Tensor = self.gate(masked_mean(states, mask)).squeeze(-1)
        return logits


class ExtractorMemoryGraph(nn.Module):
    """States and ids to what every step reads of them; the mask of padding is the step's business."""

    def __init__(self, decoder: Decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, states: Tensor, ids: Tensor, table: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        state = self.decoder.start(states, ids, torch.ones_like(ids), table)
        return state.memory_keys, state.memory_values, state.memory


class ExtractorStepGraph(nn.Module):
    """One more token [B] and the state to log P [B, V] of the next word, and the longer cache."""

    def __init__(self, decoder: Decoder):
        super().__init__()
        self.decoder = decoder

    def forward(
        self,
        tokens: Tensor,
        keys: Tensor,
        values: Tensor,
        memory_keys: Tensor,
        memory_values: Tensor,
        memory: Tensor,
        mask: Tensor,
        ids: Tensor,
        table: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        state = DecoderState(keys, values, memory_keys, memory_values, memory, mask, ids)
        logits, state = self.decoder.step(tokens, state, table)
        return logits, state.keys, state.values


def check_extractor(
    what: str, digests: Collection[str], tokenizer: Tokenizer, extractor: TorchExtractor
) -> None:
    """An extractor was trained on the encoder of `what`, whose weights have one of these digests."""
    check_belongs(
        "the persona extractor",
        extractor.model.encoder,
        extractor.tokenizer,
        to=what,
        digests=digests,
        its=tokenizer,
        advice="train the two together, as recipes/default.toml does, or the extractor with model.start = the ranker's "
        "run and training.learning_rate = 0.0",
    )


def add_extractor(
    folder: Path | str, extractor: TorchExtractor, *, largest_file: int = LARGEST_FILE
) -> BundleCard:
    """Write an extractor into a bundle and return its new card; an extractor that was there is replaced.

    Its weights get the precision of the bundle. The bundle is whole at every moment, with the old extractor, with
    none, or with the new one.
    """
    folder = Path(folder)
    bundle = BundleCard.read(folder)
    digests = encoder_digests(folder, bundle, "a persona extractor")
    check_extractor(str(folder), digests, WordPiece(folder), extractor)
    model = copy.deepcopy(extractor.model).cpu().float().eval()
    rows, width = model.table.shape
    table = find_table(folder / ENCODER_FILE, _table_name(model), rows=rows, width=width)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.resolve().parent) as scratch:
        new = Path(scratch) / "bundle"
        shutil.copytree(folder, new)  # the graphs can only be tried beside the encoder's files
        _card(extractor).write(new)
        names = [EXTRACTOR_CARD_FILE]
        names += _write_gate(model, new / GATE_FILE)
        names += _write_memory(model, new / MEMORY_FILE, table, bundle.precision, largest_file)
        names += _write_step(model, new / STEP_FILE, table, bundle.precision, largest_file)
        own = {name: BundleFile.of(new / name) for name in names}
        replace(bundle, files={**bundle.files, **own}).write(new)
        _check(model, OnnxExtractor.from_bundle(new), bundle.precision)
        return put_files(folder, bundle, new, names, old=extractor_files(bundle))


def _table_name(model: Extractor) -> str:
    """What the exported encoder calls its word table."""
    return next(
        f"encoder.{name}" for name, weight in model.encoder.named_parameters() if weight is model.table
    )


def _card(extractor: TorchExtractor) -> BundledExtractorCard:
    decoder = extractor.model.decoder
    return BundledExtractorCard(
        lengths=extractor.card.lengths,
        size=decoder.size,
        vocabulary=decoder.vocabulary,
        start=decoder.task_token("persona"),
        layers=len(decoder.blocks),
        heads=decoder.heads,
        threshold=extractor.card.threshold,
        framing_price=extractor.card.framing_price,
    )


def _write_gate(model: Extractor, path: Path) -> list[str]:
    text = {0: "batch", 1: "length"}
    inputs = {
        "states": torch.randn(2, 3, model.decoder.size),
        "mask": torch.tensor([[1, 1, 1], [1, 1, 0]]),
    }
    trace(GateGraph(model), inputs, ["gate"], path, {"states": text, "mask": text, "gate": {0: "batch"}})
    return [path.name]


def _write_memory(
    model: Extractor, path: Path, table: SharedTable, precision: str, largest_file: int
) -> list[str]:
    text, cache = {0: "batch", 1: "length"}, {0: "batch", 3: "length"}
    inputs = {
        "states": torch.randn(2, 3, model.decoder.size),
        "ids": torch.ones(2, 3, dtype=torch.int64),
        TABLE: model.table.detach(),
    }
    axes = {"states": text, "ids": text, "memory": text, "memory_keys": cache, "memory_values": cache}
    trace(ExtractorMemoryGraph(model.decoder), inputs, ["memory_keys", "memory_values", "memory"], path, axes)
    return _stored(path, table, precision, largest_file)


def _write_step(
    model: Extractor, path: Path, table: SharedTable, precision: str, largest_file: int
) -> list[str]:
    decoder = model.decoder
    each = (2, len(decoder.blocks), decoder.heads)
    width = decoder.size // decoder.heads
    inputs = {
        "tokens": torch.ones(2, dtype=torch.int64),
        "keys": torch.randn(*each, 4, width),
        "values": torch.randn(*each, 4, width),
        "memory_keys": torch.randn(*each, 3, width),
        "memory_values": torch.randn(*each, 3, width),
        "memory": torch.randn(2, 3, decoder.size),
        "mask": torch.tensor([[1, 1, 1], [1, 1, 0]]),
        "ids": torch.ones(2, 3, dtype=torch.int64),
        TABLE: model.table.detach(),
    }
    text, cache = {0: "batch", 1: "length"}, {0: "batch", 3: "length"}
    before, after = {0: "batch", 3: "written"}, {0: "batch", 3: "written_now"}
    axes: dict[str, dict[int, str]] = {
        "tokens": {0: "batch"},
        **dict.fromkeys(("keys", "values"), before),
        **dict.fromkeys(("new_keys", "new_values"), after),
        **dict.fromkeys(("memory_keys", "memory_values"), cache),
        **dict.fromkeys(("memory", "mask", "ids"), text),
        "logits": {0: "batch"},
    }
    trace(ExtractorStepGraph(decoder), inputs, ["logits", "new_keys", "new_values"], path, axes)
    return _stored(path, table, precision, largest_file)


def _stored(path: Path, table: SharedTable, precision: str, largest_file: int) -> list[str]:
    """The traced graph with its own weights in the bundle's precision, and with the encoder's table."""
    graph = onnx.load(path)
    if precision == "int8":
        onnx_weights.quantize(graph, keep_float=("switch",))  # one number that decides about a whole word
    elif precision == "float16":
        onnx_weights.halve(graph)
    use_table(graph, table, instead_of=TABLE)
    return onnx_weights.save(graph, path, largest_file=largest_file)


def _check(model: Extractor, bundled: OnnxExtractor, precision: str) -> None:
    """What a user will open against the model: in other shapes than traced, with padding."""
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(4, 7, model.decoder.size, generator=generator)
    ids = torch.randint(bundled.tokenizer.size, (4, 7), generator=generator)
    lengths = [7, 4, 2, 6]
    mask = (torch.arange(7) < torch.tensor(lengths)[:, None]).long()
    nothing = np.zeros(0, np.float32)
    texts = [
        EncodedText(ids[row, :length].numpy(), states[row, :length].numpy(), nothing)
        for row, length in enumerate(lengths)
    ]
    off = 0.0
    with torch.inference_mode():
        found: Any = bundled.start(texts)
        expected: Any = model.decoder.start(states, ids, mask, model.table)
        tokens = torch.full((4,), model.decoder.task_token("persona"))
        for _ in range(3):
            given, found = bundled.step(tokens.numpy(), found)
            wanted, expected = model.decoder.step(tokens, expected, model.table)
            apart = (wanted.exp() - torch.from_numpy(given).exp()).abs().sum(-1) / 2
            off = max(off, float(apart.max()))
            tokens = wanted.argmax(-1)
    if not off < TOLERANCE[precision]:
        raise AllearsError(
            f"the exported persona extractor does not write as the model does (off by {off:.2f}); "
            "export with another --precision"
        )
