"""A trained persona extractor's gate and decoder into a bundle, on the encoder that is there already.

The decoder reads and writes with the encoder's word table, which its graphs read from the encoder's files.
"""

from __future__ import annotations

import copy
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from allears.models.extractor.model import Extractor
from allears.models.extractor.saved import TorchExtractor
from allears.nn.decoder import Decoder, DecoderState
from allears.nn.pooling import masked_mean
from allears.runtime.bundle import BundleCard, BundleFile
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
from allears.runtime.onnx_tables import SharedTable
from allears.training.export.adding import Host, check_belongs, put_files, scratch_beside
from allears.training.export.ranker import LARGEST_FILE, trace
from allears.training.export.sharing import TABLE, check_writes, store, table_of, words_off

_KEPT_FLOAT = ("switch",)  # one number that decides about a whole word


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


def check_extractor(host: Host, extractor: TorchExtractor) -> None:
    """An extractor was trained on the encoder of its host."""
    advice = (
        "train the two together, as recipes/default.toml does, or the extractor with model.start = the ranker's run "
        "and training.learning_rate = 0.0"
    )
    check_belongs("the persona extractor", extractor, host, advice)


def add_extractor(
    folder: Path | str, extractor: TorchExtractor, *, largest_file: int = LARGEST_FILE
) -> BundleCard:
    """Write an extractor into a bundle and return its new card; an extractor that was there is replaced.

    Its weights get the precision of the bundle. The bundle is whole at every moment, with the old extractor, with
    none, or with the new one.
    """
    folder = Path(folder)
    bundle = BundleCard.read(folder)
    check_extractor(Host.of(folder, bundle, "a persona extractor"), extractor)
    model = copy.deepcopy(extractor.model).cpu().float().eval()
    table = table_of(folder, model.encoder, model.table)
    with scratch_beside(folder) as scratch:
        new = scratch / "bundle"
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
    return store(path, table, precision, largest_file, keep_float=_KEPT_FLOAT)


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
    return store(path, table, precision, largest_file, keep_float=_KEPT_FLOAT)


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
    with torch.inference_mode():
        expected = model.decoder.start(states, ids, mask, model.table)

    def step(tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        return model.decoder.step(tokens, state, model.table)

    tokens = torch.full((4,), model.decoder.task_token("persona"))
    off = words_off(bundled.step, bundled.start(texts), step, expected, tokens)
    check_writes("persona extractor", off, precision)
