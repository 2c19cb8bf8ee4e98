"""What was trained on one encoder as one bundle: a ranker, a reader's heads, a persona extractor, a voice.

An encoder costs millions of weights, a head thousands. So a bundle has one encoder, and a part can only be added if
it was trained on those very weights.
"""

from __future__ import annotations

import copy
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx
import torch
from torch import Tensor, nn

from allears.errors import AllearsError
from allears.models.extractor.saved import TorchExtractor, is_extractor
from allears.models.generation.torch_generator import TorchGenerator
from allears.models.reader.reader import Reader
from allears.models.reader.saved import TorchReader, is_reader
from allears.models.selection.saved import TorchSelector
from allears.nn.weights import weights_digest
from allears.runtime import onnx_weights
from allears.runtime.bundle import BundleCard
from allears.runtime.onnx_encoder import open_graph
from allears.runtime.reader_card import PLAIN_FILE, READER_CARD_FILE, READER_FILE, BundledReaderCard
from allears.runtime.runs import joint_parts
from allears.text.conversation_facts import FACTS
from allears.training.export import ranker as selection
from allears.training.export.adding import Host, check_belongs, put_files, scratch_beside
from allears.training.export.extractor import add_extractor, check_extractor
from allears.training.export.voice import add_voice, check_voice

# How far the exported logits may be off, relative to the largest; rounding is far below, also that of halves.
TOLERANCE = 2e-3
FURTHER_TOLERANCE = 0.1  # where layers were rounded to int8; a lost layer is off by far more


class HeadsGraph(nn.Module):
    """states [B, L, d] and mask [B, L] to the heads' logits [B, labels], then the pointing ones' [B, L].

    With `facts` [B, FACTS] as a third input where a head is informed.
    """

    def __init__(self, reader: Reader, heads: Sequence[str]):
        super().__init__()
        self.reader, self.heads = copy.deepcopy(reader), heads
        self.reader.add_module("encoder", nn.Identity())  # the bundle has it

    def forward(self, states: Tensor, mask: Tensor, facts: Tensor | None = None) -> tuple[Tensor, ...]:
        found = self.reader.from_states(states, mask, self.heads, facts)
        pointed = [found.rationales[name] for name in self.reader.pointers if name in found.rationales]
        return (*found.logits.values(), *pointed)


def export_with_reader(
    selector: TorchSelector, reader: TorchReader, out: Path | str, **options: Any
) -> BundleCard:
    """A ranker and a reader on the same encoder as one bundle; `options` are those of `selection.export.export`.

    Nothing is written if the two do not belong together.
    """
    return export_together(selector, out, reader=reader, **options)


def export_together(
    selector: TorchSelector,
    out: Path | str,
    *,
    reader: TorchReader | None = None,
    extractor: TorchExtractor | None = None,
    voice: TorchGenerator | None = None,
    screen: TorchReader | None = None,
    largest_file: int = selection.LARGEST_FILE,
    **options: Any,
) -> BundleCard:
    """A ranker and what else was trained on its encoder as one bundle.

    Nothing is written if they do not belong together. `options` are those of `selection.export.export`.
    """
    encoder: Any = getattr(selector.model, "encoder", None)
    if encoder is not None:  # without one, the ranker itself is refused below
        host = Host("the ranker", [weights_digest(encoder)], selector.tokenizer)
        if reader is not None:
            _check_reader(host, reader)
        if extractor is not None:
            check_extractor(host, extractor)
        if voice is not None:
            check_voice(host, voice)
    selection.export(selector, out, largest_file=largest_file, **options)
    return add_parts(
        out,
        reader=reader,
        extractor=extractor,
        voice=voice,
        screen=screen,
        largest_file=largest_file,
    )


def add_parts(
    folder: Path | str,
    *,
    reader: TorchReader | None = None,
    extractor: TorchExtractor | None = None,
    voice: TorchGenerator | None = None,
    screen: TorchReader | None = None,
    largest_file: int = selection.LARGEST_FILE,
) -> BundleCard:
    """Write what was trained on a bundle's encoder into it, and return its new card; what was there is replaced."""
    if reader is not None:
        add_reader(folder, reader)
    if extractor is not None:
        add_extractor(folder, extractor, largest_file=largest_file)
    if voice is not None:
        add_voice(folder, voice, largest_file=largest_file)
    if screen is not None:
        from allears.training.export.screen import add_screen

        add_screen(folder, screen)
    return BundleCard.read(Path(folder))


def add_to_copy(bundle: Path, out: Path, **parts: Any) -> BundleCard:
    """A bundle with further parts as `out`, which may be the bundle itself; `parts` are those of `add_parts`."""
    if not any(parts.values()):
        raise AllearsError(f"{bundle}: this is a bundle already; name what to add to it, such as --voice RUN")
    if out.resolve() != bundle.resolve():
        if out.exists() and (out.is_file() or any(out.iterdir())):
            raise AllearsError(f"{out}: exists already; give a new folder, or the bundle itself to change it")
        shutil.copytree(bundle, out, dirs_exist_ok=True)
    return add_parts(out, **parts)


def parts_of(run: Path | str) -> dict[str, Path]:
    """The folders of what a joint run has trained: its `ranker`, `reader` and `extractor`, those there are.

    Any other run is a ranker's, or will be refused when it is opened as one.
    """
    joint = joint_parts(run)
    if not joint:
        return {"ranker": Path(run)}
    found: dict[str, Path] = {}
    for name, folder in joint.items():
        kind = "reader" if is_reader(folder) else "extractor" if is_extractor(folder) else "ranker"
        if kind in found:
            raise AllearsError(
                f"{run}: this joint run has trained two parts of one kind, {found[kind].name} and {name}; "
                f"export them by their own folders, such as {folder}"
            )
        found[kind] = folder
    if "ranker" not in found:
        raise AllearsError(
            f"{run}: this joint run has trained no ranker, and a bundle is made around one; "
            f"it has {', '.join(joint)}"
        )
    return found


def add_reader(folder: Path | str, reader: TorchReader) -> BundleCard:
    """Write a reader's heads into a bundle and return its new card; a reader that was there is replaced.

    The bundle is whole at every moment, with the old reader, with none, or with the new one. Its fingerprint stays,
    so no index needs to be built again.
    """
    folder = Path(folder)
    card = BundleCard.read(folder)
    _check_reader(Host.of(folder, card, "a reader"), reader)
    with scratch_beside(folder) as new:
        reader_card = _card(reader)
        reader_card.write(new)
        for file, heads in reader_card.graphs.items():
            graph = HeadsGraph(reader.model, heads).cpu().float().eval()
            _write_graph(graph, reader_card, new / file, card.precision)
        names = (*reader_card.graphs, READER_CARD_FILE)
        return put_files(folder, card, new, names, old=(READER_FILE, PLAIN_FILE, READER_CARD_FILE))


def _check_reader(host: Host, reader: TorchReader) -> None:
    advice = (
        "train the two together, or the reader with model.start = the ranker's run and model.frozen = true"
    )
    check_belongs("the reader", reader, host, advice)


def _card(reader: TorchReader) -> BundledReaderCard:
    return BundledReaderCard(
        heads={name: tuple(labels) for name, labels in reader.card.heads.items()},
        limits=reader.card.limits,
        size=reader.model.encoder.size,
        pooling=reader.model.pooling,
        multi_label=tuple(reader.card.multi_label),
        pointing=tuple(reader.card.pointing),
        informed=tuple(reader.card.informed),
        temperatures=dict(reader.card.temperatures),
        window=reader.card.window,
        further=int(reader.card.options.get("further", 0)),
        plain=tuple(reader.card.options.get("plain", ())),
    )


def _write_graph(graph: HeadsGraph, card: BundledReaderCard, path: Path, precision: str) -> None:
    """Further layers are stored as the encoder is, heads in float16: they are small, but git keeps every version."""
    rows = {0: "batch", 1: "length"}
    axes = {"states": rows, "mask": rows}
    outputs = card.outputs(graph.heads)
    axes |= {name: {0: "batch"} if place < len(graph.heads) else rows for place, name in enumerate(outputs)}
    inputs = {"states": torch.randn(2, 3, card.size), "mask": torch.tensor([[1, 1, 1], [1, 1, 0]])}
    informed = "facts" in card.inputs(graph.heads)
    if informed:
        axes["facts"] = {0: "batch"}
        inputs["facts"] = torch.rand(2, FACTS)
    selection.trace(graph, inputs, outputs, path, axes)
    if precision != "float32":
        stored = onnx.load(path)
        if precision == "int8":
            onnx_weights.quantize(stored, keep_float=[f"/{name}/" for name in card.pointing])
        onnx_weights.halve(stored)
        onnx.save(stored, path)
    tolerance = FURTHER_TOLERANCE if card.is_deep(path.name) and precision == "int8" else TOLERANCE

    # opened as a user will, in another shape than traced
    states = torch.randn(4, 7, card.size, generator=torch.Generator().manual_seed(0))
    mask = (torch.arange(7) < torch.tensor([[7], [4], [1], [6]])).long()
    asked = {"states": states, "mask": mask}
    if informed:
        asked["facts"] = torch.rand(4, FACTS, generator=torch.Generator().manual_seed(1))
    found = open_graph(path, 1).run(outputs, {name: value.numpy() for name, value in asked.items()})
    with torch.inference_mode():
        for name, expected, given in zip(outputs, graph(**asked), found, strict=True):
            off = (expected - torch.from_numpy(given)).abs().max() / expected.abs().max().clamp(min=1)
            if not float(off) < tolerance:
                raise AllearsError(f"the exported reader does not give the model's {name} (off by {off:.1e})")
