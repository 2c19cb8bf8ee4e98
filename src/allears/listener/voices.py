"""Whose words a listener speaks with: a language model, a small one, an endpoint, a run of yours, or chosen replies.

Listing voices loads no model, and this file imports none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from allears.decoding import AlphaTable, Settings
from allears.errors import AllearsError
from allears.runtime.generating import SeededGenerator
from allears.runtime.generator import Generator
from allears.runtime.language_voices import is_language_voice, open_language_voice
from allears.runtime.voice_choice import has_adapter, named_voice
from allears.runtime.weights import installed

DEFAULT, SMALL, CHOSEN, REMOTE = "default", "small", "chosen", "remote"
VOICES = (DEFAULT, SMALL, CHOSEN, REMOTE)
ELSEWHERE = ("ollama:", "openai:", "hf:")  # how the names of your own models begin

SETTINGS = Settings(temperature=0.5, top_p=0.9, repetition_penalty=1.05, longest=72, shortest=4)
# PAL's own (section 4.3), and no three words twice: a reply is short.
SMALL_SETTINGS = Settings(
    temperature=0.5, top_k=10, top_p=0.9, repetition_penalty=1.03, no_repeated_ngrams=3, shortest=4
)
TITLES = {
    DEFAULT: "Language model",
    SMALL: "Small voice",
    CHOSEN: "Chosen replies",
    REMOTE: "Your endpoint",
}
DESCRIPTIONS = {
    DEFAULT: "A language model that learned to listen writes each reply for this very moment, in a second or three. "
    "Runs on this machine.",
    SMALL: "A very small language model that learned to support. Quick, and often off the point. Runs on this machine.",
    CHOSEN: "Chooses among thousands of replies that were written and read beforehand. It never says anything new.",
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
    """An opened voice.

    Args:
        generator: Who writes; nobody where replies are chosen.
        drafts: How many drafts it writes for a turn; the one that fits best is said.
        freer: How much warmer other answers and further drafts are drawn.
        alphas: How far each strategy leans on the persona (PAL); None is the generator's own table.
    """

    name: str
    generator: Generator | None = None
    drafts: int = 1
    settings: Settings = SETTINGS
    freer: float = 0.3
    alphas: AlphaTable | None = None

    @property
    def writes(self) -> bool:
        return self.generator is not None


def list_voices() -> list[VoiceInfo]:
    """All that can be named without a folder, in the order they are offered."""
    return [
        VoiceInfo(name, TITLES[name], DESCRIPTIONS[name], not reason, reason)
        for name in VOICES
        for reason in [missing(name)]
    ]


def open_voice(name: str, *, threads: int | None = None, drafts: int | None = None) -> Voice:
    """A voice by its name.

    Args:
        name: `default`, `small`, `chosen` or `remote`; `ollama:NAME`, `openai:URL#MODEL`, `hf:NAME`, a .gguf file; or
            the run folder of a generator. Where the weights of `default` are not on this machine, replies are chosen.
        drafts: How many drafts a turn may have, where not as many as the voice is used to.
    """
    name = str(name)
    if name == CHOSEN or (name == DEFAULT and missing(name)):
        return Voice(CHOSEN)
    if name in VOICES and (reason := missing(name)):
        raise AllearsError(reason)
    if name == SMALL:
        from allears.runtime.smollm2 import open_smollm2

        return Voice(name, open_smollm2(threads=threads), drafts=drafts or 1, settings=SMALL_SETTINGS)
    if name == REMOTE:
        from allears.runtime.remote import open_remote

        return Voice(name, open_remote(), drafts=drafts or 1)
    if is_language_voice(name):
        generator = cast(Generator, open_language_voice(name, threads=threads, open_hub=_open_hub))
        return Voice(name, generator, drafts=drafts or 1)
    from allears.models.generation.loading import load_generator

    if not Path(name).is_dir():
        raise AllearsError(
            f"there is no voice {name!r}; there are {', '.join(VOICES)}, ollama:NAME, openai:URL#MODEL, hf:NAME, a "
            ".gguf file, or the run folder of a generator"
        )
    return Voice(Path(name).resolve().name, load_generator(name), drafts=drafts or 1, settings=SMALL_SETTINGS)


def _open_hub(name: str) -> SeededGenerator:
    from allears.models.generation.hub_voice import open_hub_voice  # with torch

    return open_hub_voice(name)


def missing(name: str) -> str:
    """Why a voice cannot be opened here, with the way to it; or nothing."""
    if name == DEFAULT:
        voice = named_voice(DEFAULT)
        if not has_adapter(voice):
            return f"the voice {DEFAULT} has no adapter in this package; export one to {voice.adapter}"
        return "" if installed(voice.base) else f"its weights are not here; run: allears voice get {DEFAULT}"
    if name == SMALL:
        from allears.runtime.smollm2 import smollm2_missing

        return smollm2_missing()
    if name == REMOTE:
        from allears.runtime.remote import remote_missing

        return remote_missing()
    return ""
