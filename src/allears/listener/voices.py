"""Whose words a listener has beside its pool: the bundle's small voice, a language model, an endpoint, or nobody's.

Listing voices loads no model, and this file imports none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from allears.decoding import PAL_ALPHAS, AlphaTable, Settings
from allears.errors import AllearsError
from allears.runtime.generator import Generator

if TYPE_CHECKING:
    from allears.runtime.onnx_selector import OnnxSelector

DEFAULT, RETRIEVAL, SMOLLM2, REMOTE = "default", "retrieval", "smollm2", "remote"
VOICES = (DEFAULT, RETRIEVAL, SMOLLM2, REMOTE)

# PAL's own (section 4.3), and no three words twice: a reply is short.
SMALL_SETTINGS = Settings(
    temperature=0.5, top_k=10, top_p=0.9, repetition_penalty=1.03, no_repeated_ngrams=3, shortest=4
)
LARGE_SETTINGS = Settings(temperature=0.5, top_p=0.9, repetition_penalty=1.03, longest=60, shortest=4)
# PAL's table makes a short reply say over what is known of a person ("Vegetarian. That sounds like a great idea.").
SMALL_ALPHAS = AlphaTable(
    {strategy: 0.3 * alpha for strategy, alpha in PAL_ALPHAS.by_strategy.items()},
    f"0.3 times {PAL_ALPHAS.source}",
)
TITLES = {
    DEFAULT: "Small voice",
    RETRIEVAL: "Chosen replies",
    SMOLLM2: "SmolLM2",
    REMOTE: "Your endpoint",
}
DESCRIPTIONS = {
    DEFAULT: "Writes a few replies of its own for each turn, and says one of them where it fits better than the "
    "replies that were written for everybody. Runs on this machine.",
    RETRIEVAL: "Chooses among thousands of replies that people wrote and read. It never says anything new.",
    SMOLLM2: "A small language model that learned to support. Its replies are freer, and it takes a few seconds "
    "for each. Runs on this machine.",
    REMOTE: "A language model behind an address of yours. What you say is sent there.",
}


@dataclass(frozen=True, slots=True)
class VoiceInfo:
    """A voice as people see it in a list. `why_not`: where it cannot be had here, one sentence with the way to it."""

    name: str
    title: str
    description: str
    available: bool
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Voice:
    """An opened voice: who writes (nobody: the pool alone), how many replies a turn, and how."""

    name: str
    generator: Generator | None = None
    count: int = 3
    settings: Settings = SMALL_SETTINGS
    alphas: AlphaTable | None = None  # None: the generator's own
    questions: int | None = None  # of its replies to one turn at most; None: as many as fit


def list_voices(bundle: Path | str = DEFAULT) -> list[VoiceInfo]:
    """All that can be named without a folder, in the order they are offered."""
    return [
        VoiceInfo(name, TITLES[name], DESCRIPTIONS[name], not reason, reason)
        for name in VOICES
        for reason in [_missing(name, bundle)]
    ]


def open_voice(
    name: str,
    bundle: Path | str = DEFAULT,
    *,
    selector: OnnxSelector | None = None,
    threads: int | None = None,
) -> Voice:
    """A voice by name, or the run folder of a generator.

    `default` is the bundle's own voice, and of a bundle without one the pool alone. With the `selector` of that bundle
    its encoder is not opened a second time.
    """
    name = str(name)
    if name == RETRIEVAL or (name == DEFAULT and _missing(name, bundle)):
        return Voice(RETRIEVAL)
    if name in VOICES and (reason := _missing(name, bundle)):
        raise AllearsError(reason)
    if name == DEFAULT:
        from allears.runtime.onnx_generator import OnnxGenerator

        shared = (selector.encoder, selector.tokenizer) if selector is not None else ()
        return Voice(
            name, OnnxGenerator.from_bundle(_folder(bundle), *shared, threads=threads), alphas=SMALL_ALPHAS
        )
    if name == SMOLLM2:
        from allears.runtime.smollm2 import open_smollm2

        # what it asks misses the point more often than what it says
        return Voice(name, open_smollm2(threads=threads), count=2, settings=LARGE_SETTINGS, questions=1)
    if name == REMOTE:
        from allears.runtime.remote import open_remote

        return Voice(name, open_remote(), count=2, settings=LARGE_SETTINGS)
    from allears.models.generation.loading import load_generator

    if not Path(name).is_dir():
        raise AllearsError(
            f"there is no voice {name!r}; there are {', '.join(VOICES)}, or give the run folder of a generator"
        )
    return Voice(Path(name).resolve().name, load_generator(name), alphas=SMALL_ALPHAS)


def _missing(name: str, bundle: Path | str) -> str:
    """Why a voice cannot be opened here, or nothing."""
    if name == DEFAULT:
        from allears.runtime.bundle import BundleCard
        from allears.runtime.voice_card import has_voice

        folder = _folder(bundle)
        if has_voice(BundleCard.read(folder)):
            return ""
        return (
            f"{folder}: this bundle carries no voice; export it again with "
            "`allears export RUN --voice GENERATOR_RUN --out FOLDER`"
        )
    if name == SMOLLM2:
        from allears.runtime.smollm2 import smollm2_missing

        return smollm2_missing()
    if name == REMOTE:
        from allears.runtime.remote import remote_missing

        return remote_missing()
    return ""


def _folder(bundle: Path | str) -> Path:
    from allears.runtime.bundle import folder_of

    return folder_of(bundle)
