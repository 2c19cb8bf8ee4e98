"""One way to open a generator: a run folder, a bundle, or the one that ships with allears."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from allears.decoding import CONSENSUS_SETTINGS, Settings
from allears.errors import AllearsError
from allears.models.runs import load_run
from allears.models.selection.loading import load_selector
from allears.runtime.bundle import CARD_FILE, BundleCard, default_bundle, folder_of
from allears.runtime.causal import KIND as LANGUAGE_MODEL
from allears.runtime.generator import Generator
from allears.runtime.language_models import SMOLLM2
from allears.runtime.reader_card import READER_CARD_FILE
from allears.runtime.runs import is_kind
from allears.runtime.smollm2 import SMOLLM2_FOLDER, open_smollm2
from allears.runtime.voice_card import has_voice

if TYPE_CHECKING:
    from allears.runtime.onnx_encoder import OnnxEncoder
    from allears.text.tokenizer import WordPiece

DEFAULT = "default"
_TRAIN = "`allears train recipes/generator-pretrain.toml recipes/esconv-pal.toml`"


def load_generator(name: str | Path, device: str = "cpu") -> Generator:
    """`default` (the bundle that ships with allears), `smollm2` (our language model; int8 on a CPU), a bundle folder,
    or a run folder with a trained generator. The first three have a reader beside them, which chooses strategies.

    Nothing else is put in the place of what was asked for.
    """
    if str(name) == SMOLLM2:
        voice = open_smollm2() if device == "cpu" else load_generator(SMOLLM2_FOLDER, device)
        return _with_reader(voice, default_bundle(), settings=CONSENSUS_SETTINGS)
    folder = folder_of(name)
    if not folder.is_dir():
        raise AllearsError(f"{name}: no such generator; give a run folder of {_TRAIN}, or a bundle")
    if (folder / CARD_FILE).is_file():
        return _bundled(folder, device)
    module = "causal_model" if is_kind(folder, LANGUAGE_MODEL) else "saved"
    generator: Generator = load_run(folder, device, f"allears.models.generation.{module}")
    return generator


def _bundled(folder: Path, device: str) -> Generator:
    if not has_voice(BundleCard.read(folder)):
        raise AllearsError(f"{folder}: this bundle carries no generator; name a run folder of {_TRAIN}")
    if device != "cpu":
        raise AllearsError(f"{folder}: an ONNX bundle runs on the CPU; leave out --device {device}")
    from allears.runtime.onnx_generator import OnnxGenerator

    voice = OnnxGenerator.from_bundle(folder)
    return _with_reader(voice, folder, voice.encoder, voice.tokenizer)


def _with_reader(
    generator: Generator,
    bundle: Path,
    encoder: OnnxEncoder | None = None,
    tokenizer: WordPiece | None = None,
    settings: Settings | None = None,
) -> Generator:
    """With the bundle's reader to choose strategies, where it has one that can; by the encoder that is open already.
    Its ranker has a say in a consensus."""
    if READER_CARD_FILE not in BundleCard.read(bundle).files:
        return generator
    from allears.models.generation.reader_chooses import STRATEGY, ReaderChooses
    from allears.runtime.onnx_reader import OnnxReader

    reader = OnnxReader.from_bundle(bundle, encoder, tokenizer)
    if STRATEGY.name not in reader.card.heads:
        return generator
    return ReaderChooses(generator, reader, settings, ranker=partial(load_selector, bundle))
