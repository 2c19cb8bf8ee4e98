"""From a trained Bi-encoder or CoBERT to a bundle that needs no torch (see `bundle.py` for its files)."""

from __future__ import annotations

import copy
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.models.selection.bi_encoder import BiEncoder
from allears.models.selection.cobert import CoBERT
from allears.models.selection.ranker import Ranker, side_weights, temperature
from allears.models.selection.saved import TorchSelector
from allears.nn.inputs import Inputs
from allears.nn.low_rank import LowRankChange, back_to_base
from allears.nn.pooling import pool
from allears.nn.stored_matrices import layer_of
from allears.nn.weights import weights_digest
from allears.runtime import onnx_weights
from allears.runtime.bundle import (
    CARD_FILE,
    ENCODER_FILE,
    RANKER_FILE,
    TOKENIZER_FILE,
    BundleCard,
    BundleFile,
    fingerprint,
)
from allears.runtime.changed_weights import Changing, WeightPlace, write_changes
from allears.runtime.onnx_selector import OnnxSelector
from allears.text.tokenizer import WordPiece

Module = TypeVar("Module", bound=nn.Module)
PRECISIONS = ("int8", "float16", "float32")
LARGEST_FILE = 20 * 2**20  # bytes; many hosts refuse larger files
OPSET = 17
# How far the exported vectors may be from the model's own, as 1 - cosine, before we call the export broken.
# A wrong mask or a lost layer is off by far more than rounding.
TOLERANCE = {"float32": 1e-4, "float16": 1e-3, "int8": 0.05}


class EncoderGraph(nn.Module):
    """ids, mask and segments [B, L] to token states [B, L, d] and one vector [B, d]."""

    def __init__(self, model: BiEncoder | CoBERT):
        super().__init__()
        self.encoder = model.encoder
        # CoBERT's vector is the direction of the mean, whether its own score reads it (`pooled`) or not:
        # the first stage of the index always does.
        self.pooling, self.normalised = "mean", True
        if isinstance(model, BiEncoder):
            self.pooling, self.normalised = model.pooling, model.similarity == "cosine"

    def forward(self, ids: Tensor, mask: Tensor, segments: Tensor) -> tuple[Tensor, Tensor]:
        states = self.encoder(Inputs(ids, mask, segments))
        vector = pool(states, mask, self.pooling)
        return states, F.normalize(vector, dim=-1) if self.normalised else vector


def export(
    selector: TorchSelector,
    out: Path | str,
    *,
    precision: str = "int8",
    metrics: Mapping[str, Any] | None = None,
    keep_float: Sequence[str] = (),
    largest_file: int = LARGEST_FILE,
    base: TorchSelector | None = None,
    rank: int = 32,
) -> BundleCard:
    """Write the bundle `out` and return its card. A bundle that was there is replaced as a whole.

    With a `base` (what this model was fine-tuned from) the encoder is stored as the base's weights and a change of
    `rank` (`changed_weights.py`). Files of the bundle that was there stay as they are if they hold the base's weights.

    `metrics` are noted in the card. `keep_float` names parts of the graph that int8 leaves in float32, by a
    piece of their nodes' names (`layer.11.`, `attention/output`).
    """
    out = Path(out)
    model, tokenizer = selector.model, selector.tokenizer
    if not isinstance(model, BiEncoder | CoBERT) or not isinstance(tokenizer, WordPiece):
        raise AllearsError(f"a {selector.card.name} cannot be exported; export a bi_encoder or a cobert")
    if selector.prepend is not None:
        raise AllearsError(
            "a model that reads labels in front of its texts cannot be exported: a bundle has no classifier for them"
        )
    if precision not in PRECISIONS:
        raise AllearsError(f"unknown precision {precision!r}; use one of {', '.join(PRECISIONS)}")
    if out.exists() and not (out / CARD_FILE).is_file() and (out.is_file() or any(out.iterdir())):
        raise AllearsError(f"{out}: exists and is not a bundle; give a new folder")
    digest = weights_digest(model.encoder)
    model = exportable(model)
    stored_model, changes = model, {}
    if base is not None:
        stored_model = copy.deepcopy(model)
        changes = _back_to_base(stored_model, base, rank, precision)

    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        folder = Path(scratch) / "bundle"
        folder.mkdir()
        tokenizer.backend.save(str(folder / TOKENIZER_FILE))
        names = [TOKENIZER_FILE]
        stored = _stored(out) if base is not None else {}
        needed = _write_encoder(
            stored_model, folder / ENCODER_FILE, precision, keep_float, largest_file, stored
        )
        for name in needed:
            if not (folder / name).exists():  # the bundle that was there has it already
                shutil.copyfile(out / name, folder / name)
        names += needed
        if changes:
            names += _write_changes(changes, folder)
        if isinstance(model, CoBERT):
            names += _write_ranker(model, folder / RANKER_FILE)
        files = {name: BundleFile.of(folder / name) for name in names}
        weights = side_weights(model)
        card = BundleCard(
            name=selector.card.name,
            options=dict(selector.card.options),
            limits=selector.card.limits,
            weights=weights,
            temperature=temperature(model) if isinstance(model, CoBERT) else 1.0,
            size=model.encoder.size,
            precision=precision,
            fingerprint=fingerprint(files, weights),
            files=files,
            metrics=dict(metrics or {}),
            encoder_digest=digest,
            encoder=model.encoder.config,
        )
        card.write(folder)
        _check(model, folder, tokenizer.size, precision)
        _put_in_place(folder, out, Path(scratch) / "old")
    return card


def exportable(model: Module) -> Module:
    """A float32 copy on the CPU, of a model with an `encoder`, whose attention is spelled out in plain operations."""
    plain: Any = copy.deepcopy(model).cpu().float().eval()  # nn.Module does not know transformers' methods
    plain.encoder.model.set_attn_implementation("eager")
    found: Module = plain
    return found


def encoder_inputs() -> dict[str, Tensor]:
    """What an encoder's graph is traced with: two texts, of which one has padding."""
    ids = torch.ones(2, 3, dtype=torch.int64)
    return {"ids": ids, "mask": torch.tensor([[1, 1, 1], [1, 1, 0]]), "segments": torch.zeros_like(ids)}


def _back_to_base(
    model: BiEncoder | CoBERT, base: TorchSelector, rank: int, precision: str
) -> dict[str, LowRankChange]:
    start = getattr(base.model, "encoder", None)
    if start is None or start.config != model.encoder.config:
        raise AllearsError("the base has another encoder than the model; give the run that it started from")
    if precision != "int8":
        raise AllearsError(f"a base's weights are shared in int8; export in {precision} without a base")
    return back_to_base(model.encoder, copy.deepcopy(start).cpu().float(), rank)


def _write_changes(changes: Mapping[str, LowRankChange], folder: Path) -> list[str]:
    graph = onnx.load(folder / ENCODER_FILE, load_external_data=False).graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    places = onnx_weights.weight_places(folder / ENCODER_FILE)

    def place(name: str) -> WeightPlace | bytes:
        return places.get(name) or numpy_helper.to_array(weights[name]).tobytes()

    matrices = {}
    for node in graph.node:
        layer = layer_of(node)
        if node.op_type == "MatMulNBits" and layer in changes:
            stored, scales = node.input[1], node.input[2]
            outputs, blocks, block = weights[stored].dims
            up, down = changes[layer].up.half().numpy(), changes[layer].down.half().numpy()
            matrices[stored] = Changing((outputs, blocks, block), place(stored), place(scales), up, down)
    if len(matrices) < len(changes):
        raise AllearsError(
            "some layers of this encoder cannot be told apart in its graph; export without a base"
        )
    return write_changes(folder, matrices)


def _stored(bundle: Path) -> onnx_weights.Stored:
    """The weights that the files of a bundle hold, if there is one."""
    path = bundle / ENCODER_FILE
    return onnx_weights.stored_weights(path) if path.is_file() else {}


def _write_encoder(
    model: BiEncoder | CoBERT,
    path: Path,
    precision: str,
    keep_float: Sequence[str],
    largest_file: int,
    stored: onnx_weights.Stored,
) -> list[str]:
    inputs = encoder_inputs()
    tokens = {0: "batch", 1: "length"}
    trace(
        EncoderGraph(model),
        inputs,
        ["states", "vector"],
        path,
        dict.fromkeys((*inputs, "states"), tokens) | {"vector": {0: "batch"}},
    )
    graph = onnx.load(path)
    if precision == "int8":
        onnx_weights.quantize(graph, keep_float=keep_float)
    elif precision == "float16":
        onnx_weights.halve(graph)
    return onnx_weights.save(graph, path, largest_file=largest_file, stored=stored)


def _write_ranker(model: CoBERT, path: Path) -> list[str]:
    size = model.encoder.size
    inputs = {
        "states": torch.randn(5, size),
        "vector": torch.randn(size),
        "weights": torch.ones(len(model.hops) + 1),
        "candidates": torch.randn(3, 4, size),
        "mask": torch.ones(3, 4, dtype=torch.int64),
        "vectors": torch.randn(3, size),
    }
    axes = {
        "states": {0: "left"},
        "candidates": {0: "candidates", 1: "right"},
        "mask": {0: "candidates", 1: "right"},
        "vectors": {0: "candidates"},
        "scores": {0: "candidates"},
    }
    trace(Ranker(model), inputs, ["scores"], path, axes)
    return [path.name]


def trace(
    module: nn.Module,
    inputs: dict[str, Tensor],
    outputs: list[str],
    path: Path,
    axes: dict[str, dict[int, str]],
) -> None:
    """Write a module as an ONNX graph; `axes` names the dimensions that may have any size."""
    with torch.no_grad(), warnings.catch_warnings():
        # The tracing exporter is called deprecated, but its successor asks for a package (onnxscript) more;
        # and it warns of every shape the tracer may have frozen, which `_check` looks at.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(),
            tuple(inputs.values()),
            str(path),
            input_names=list(inputs),
            output_names=outputs,
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )


def _check(model: BiEncoder | CoBERT, folder: Path, vocabulary: int, precision: str) -> None:
    """The bundle, opened as a user will, against the model: in another shape than traced, with padding."""
    encoder = OnnxSelector.from_bundle(folder).encoder
    generator = torch.Generator().manual_seed(0)
    shape = (4, 7)
    mask = torch.ones(shape, dtype=torch.int64)
    mask[1, 4:] = 0
    ids = torch.randint(vocabulary, shape, generator=generator)
    segments = torch.randint(2, shape, generator=generator)
    with torch.inference_mode():
        _, vector = EncoderGraph(model)(ids, mask, segments)
    exported = encoder.run(ids.numpy(), mask.numpy(), segments.numpy()).vectors
    agreement = F.cosine_similarity(vector, torch.from_numpy(np.array(exported)))
    if not bool((agreement > 1 - TOLERANCE[precision]).all()):
        raise AllearsError(
            f"the exported encoder does not give the model's vectors (cosine {float(agreement.min()):.4f}); "
            "this encoder family may need another precision or cannot be exported"
        )


def _put_in_place(folder: Path, out: Path, old: Path) -> None:
    if out.exists():
        out.rename(old)
    try:
        folder.rename(out)
    except OSError:
        if old.exists():
            shutil.move(old, out)
        raise
