"""A trained generator into a bundle, on the encoder that is there already: the listener's voice.

As of a persona extractor, the decoder's word table is the encoder's, and its graphs read it from the encoder's files.
"""

from __future__ import annotations

import copy
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from allears.errors import AllearsError
from allears.models.generation.pal import PAL
from allears.models.generation.torch_generator import TorchGenerator
from allears.models.generation.writer import EncoderMemory, SmallDecoder, encoder_words
from allears.nn.inputs import Inputs
from allears.runtime.bundle import BundleCard, BundleFile
from allears.runtime.onnx_encoder import EncodedText
from allears.runtime.onnx_generator import OnnxGenerator, SourceStates
from allears.runtime.voice_card import (
    MEMORY_FILE,
    MIX,
    MIX_FILE,
    STEP_FILE,
    VOICE_CARD_FILE,
    BundledVoiceCard,
    state_names,
    voice_files,
)
from allears.training.export.adding import Host, check_belongs, put_files, scratch_beside
from allears.training.export.ranker import LARGEST_FILE, trace
from allears.training.export.sharing import TABLE, check_writes, store, table_of, words_off
from allears.training.export.voice_graphs import MemoryGraph, MixGraph, StepGraph

_SMALL = (
    "switch",
    "strategy_output",
)  # a few numbers each that decide about a whole word, or about all words


def check_voice(host: Host, voice: TorchGenerator) -> None:
    """A generator that can go into a bundle, trained on the encoder of its host."""
    decoder = voice.model.decoder
    if voice.card.pretrained or not isinstance(decoder, SmallDecoder):
        raise AllearsError(
            "a generator with a pretrained decoder has an encoder of its own, so it cannot go into a bundle; "
            "export one that was trained with recipes/generator-pretrain.toml"
        )
    if decoder.own is not None:
        raise AllearsError(
            "this generator has a word table of its own, and a bundle has one for all; "
            "train it with model.own_words = false"
        )
    advice = "train it with model.start = the ranker's run and training.learning_rate = 0.0, all the way"
    check_belongs("the voice", voice, host, advice)


def add_voice(folder: Path | str, voice: TorchGenerator, *, largest_file: int = LARGEST_FILE) -> BundleCard:
    """Write a generator into a bundle and return its new card; one that was there is replaced.

    Its weights get the precision of the bundle. The bundle is whole at every moment, with the old generator, with
    none, or with the new one.
    """
    folder = Path(folder)
    bundle = BundleCard.read(folder)
    check_voice(Host.of(folder, bundle, "a voice"), voice)
    model: Any = copy.deepcopy(voice.module).cpu().float().eval()
    table = table_of(folder, model.encoder, encoder_words(model.encoder))
    card = _card(voice)
    with scratch_beside(folder) as scratch:
        new = scratch / "bundle"
        shutil.copytree(folder, new)  # the graphs can only be tried beside the encoder's files
        card.write(new)
        names = [VOICE_CARD_FILE]
        if isinstance(model, PAL):
            names += _write_mix(model, new / MIX_FILE)
        for path, graph in ((new / MEMORY_FILE, _trace_memory), (new / STEP_FILE, _trace_step)):
            graph(model, card, path)
            names += store(path, table, bundle.precision, largest_file, keep_float=_SMALL, many_rows=True)
        own = {name: BundleFile.of(new / name) for name in names}
        others = {name: facts for name, facts in bundle.files.items() if name not in voice_files(bundle)}
        replace(bundle, files=others | own).write(new)
        _check(model, OnnxGenerator.from_bundle(new), bundle.precision)
        return put_files(folder, bundle, new, names, old=voice_files(bundle))


def _card(voice: TorchGenerator) -> BundledVoiceCard:
    decoder = voice.model.decoder
    assert isinstance(decoder, SmallDecoder)
    return BundledVoiceCard(
        name=voice.card.name,
        limits=voice.card.limits,
        context_turns=voice.card.context_turns,
        strategy_first=voice.card.strategy_first,
        size=decoder.decoder.size,
        words=decoder.words,
        start=decoder.start,
        layers=len(decoder.decoder.blocks),
        heads=decoder.decoder.heads,
    )


def _write_mix(model: PAL, path: Path) -> list[str]:
    size = model.encoder.size
    inputs = {
        "dialogue": torch.randn(2, 5, size),
        "dialogue_ids": torch.ones(2, 5, dtype=torch.int64),
        "dialogue_mask": torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 1, 0]]),
        "persona": torch.randn(2, 3, size),
        "persona_ids": torch.ones(2, 3, dtype=torch.int64),
        "persona_mask": torch.tensor([[1, 1, 1], [0, 0, 0]]),
    }
    axes = {name: {0: "sources", 1: name.split("_")[0]} for name in inputs}
    axes |= {name: {0: "sources", 1: "length"} for name in ("states", "ids", "mask")}
    trace(MixGraph(model), inputs, ["states", "ids", "mask"], path, axes)
    return [path.name]


def _trace_memory(model: Any, card: BundledVoiceCard, path: Path) -> None:
    inputs = {
        "states": torch.randn(2, 5, card.size),
        "ids": torch.ones(2, 5, dtype=torch.int64),
        "mask": torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 1, 0]]),
        TABLE: encoder_words(model.encoder).detach(),
    }
    source, _ = state_names(card)
    axes = {name: {0: "sources", 1: "length"} for name in ("states", "ids", "mask")}
    trace(MemoryGraph(model.decoder), inputs, source, path, axes | _source_axes(source))


def _trace_step(model: Any, card: BundledVoiceCard, path: Path) -> None:
    rows, sources, length, written = 6, 2, 5, 4
    width = card.size // card.heads
    shapes = {
        "alike": (sources, length, length),
        "padding": (sources, 1, 1, length),
        "memory": (sources, length, card.size),
        "source_keys": (sources, card.heads, length, width),
        "source_values": (sources, card.heads, length, width),
        "keys": (rows, card.heads, written, width),
        "values": (rows, card.heads, written, width),
    }
    source, cache = state_names(card)
    inputs = {
        "tokens": torch.ones(rows, dtype=torch.int64),
        MIX: torch.randn(3, rows),
        "ids": torch.ones(sources, length, dtype=torch.int64),
        **{name: torch.randn(shapes[name]) for name in source[:3]},
        TABLE: encoder_words(model.encoder).detach(),
    }
    for layer in range(card.layers):
        of_layer = (*source[3 + 2 * layer : 5 + 2 * layer], *cache[2 * layer : 2 * layer + 2])
        inputs |= {name: torch.randn(shapes[name.rpartition("_")[0]]) for name in of_layer}
    axes = {"tokens": {0: "rows"}, "ids": {0: "sources", 1: "length"}}
    axes |= {MIX: {0: "outputs", 1: "rows"}, "logits": {0: "outputs"}}
    axes |= _source_axes(source)
    axes |= {name: {0: "rows", 2: "written"} for name in cache}
    axes |= {f"new_{name}": {0: "rows", 2: "written_now"} for name in cache}
    outputs = ["logits", *(f"new_{name}" for name in cache)]
    trace(StepGraph(model.decoder), inputs, outputs, path, axes)


def _source_axes(names: list[str]) -> dict[str, dict[int, str]]:
    """Which dimensions of what is read of a source may have any size."""
    places = {"alike": (1, 2), "padding": (3,), "memory": (1,), "source_keys": (2,), "source_values": (2,)}
    found = {}
    for name in names:
        kind = name if name in places else name.rpartition("_")[0]
        found[name] = {0: "sources"} | dict.fromkeys(places[kind], "length")
    return found


def _check(model: Any, bundled: OnnxGenerator, precision: str) -> None:
    """What a user will open against the model: in other shapes than traced, with padding and words said twice."""
    generator = torch.Generator().manual_seed(0)
    decoder, table = model.decoder, model.decoder.table(model.encoder)
    mask = (torch.arange(9) < torch.tensor([[9], [4], [6]])).long()
    ids = torch.randint(5, bundled.tokenizer.size, (3, 9), generator=generator) * mask
    ids[:, 3] = ids[:, 0]
    memory = EncoderMemory(torch.randn(3, 9, bundled.card.size, generator=generator), ids, mask)
    off = _mixing_off(model, bundled, generator) if isinstance(model, PAL) else 0.0
    found = bundled.begin(SourceStates(*(part.numpy() for part in memory)))
    with torch.inference_mode():
        expected = decoder.begin(memory, table)

    def step(tokens: Tensor, state: Any) -> Any:
        return decoder.step(tokens, state, table)

    words = words_off(bundled.step, found, step, expected, torch.full((3,), decoder.start))
    check_writes("voice", max(off, words), precision)


def _mixing_off(model: PAL, bundled: OnnxGenerator, generator: torch.Generator) -> float:
    """How far what the decoder would read is from the model's own; with more persona than dialogue, too."""
    off = 0.0
    for lengths in ((7, 4), (3, 6)):
        states = [torch.randn(length, bundled.card.size, generator=generator) for length in lengths]
        ids = [torch.arange(5, 5 + length) for length in lengths]
        nothing = np.zeros(0, np.float32)
        texts = [
            EncodedText(own.numpy(), each.numpy(), nothing) for own, each in zip(ids, states, strict=True)
        ]
        found = bundled.mixed(texts[0], texts[1], without=True)
        for row, known in enumerate((1, 0)):  # with the persona and without
            context, persona = (
                Inputs(own[None], torch.full_like(own, real)[None], torch.zeros_like(own)[None])
                for own, real in zip(ids, (1, known), strict=True)
            )
            with torch.inference_mode():
                wanted = model.mix(states[0][None], states[1][None], context, persona)
            apart = (wanted.states[0] - torch.from_numpy(found.states[row])) * wanted.mask[0, :, None]
            same = bool((wanted.mask[0].numpy() == found.mask[row]).all())
            off = max(off, float(apart.abs().max()) if same else 1.0)
    return off
