"""What a listener is made of, opened from a bundle, the cards and a voice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.listener.cards import Card, read_cards, shipped_cards
from allears.listener.finding import Finder
from allears.listener.fitting import CobertScorer
from allears.listener.senses import Senses
from allears.listener.voices import open_voice
from allears.personas.contract import PersonaExtractor
from allears.personas.lasting import Floats, LastingExtractor, LastingWeights
from allears.personas.noting import NotingExtractor
from allears.progress import Watch
from allears.runtime.bundle import DEFAULT as DEFAULT_BUNDLE
from allears.runtime.onnx_extractor import OnnxExtractor
from allears.runtime.onnx_reader import OnnxReader
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import Query
from allears.safety.bundled_screen import has_screen
from allears.safety.screen import CrisisScreen

PERSONA = ("said", "written")  # how what a person says of themselves is noted


def open_parts(
    bundle: Path | str,
    cards: Sequence[Path | str],
    *,
    shipped: bool,
    threads: int | None,
    cache: Path | None,
    persona: str,
    watch: Watch,
    voice: str,
    drafts: int | None,
) -> dict[str, Any]:
    """The arguments of `Listener`, see `Listener.from_bundle`."""
    if persona not in PERSONA:
        raise AllearsError(f"persona must be one of {', '.join(PERSONA)}, got {persona!r}")
    selector = OnnxSelector.from_bundle(bundle, threads=threads)
    known: list[Card] = [*shipped_cards()] if shipped else []
    for path in cards:
        known += read_cards(path)
    if not known:
        raise AllearsError(
            "there is nothing to answer with; name a file of replies, or leave shipped=False out"
        )
    reader = OnnxReader.from_bundle(bundle, selector.encoder, selector.tokenizer)
    extractor: PersonaExtractor = _notes(selector)
    if persona == "written":
        extractor = OnnxExtractor.from_bundle(bundle, selector.encoder, selector.tokenizer)
    return {
        "selector": selector,
        "senses": Senses(reader),
        "finder": Finder(known, selector, folder=cache, watch=watch),
        # what was learned of danger does not hang on who ranks replies, so a bundle without a screen uses ours
        "screen": CrisisScreen.from_bundle(bundle if has_screen(bundle) else DEFAULT_BUNDLE),
        "extractor": extractor,
        "scorer": CobertScorer(selector),
        "voice": open_voice(voice, threads=threads, drafts=drafts),
    }


def _notes(selector: OnnxSelector) -> PersonaExtractor:
    """What lasts, as it was said: by the learned classifier where it belongs to this encoder, else by rules."""
    weights = LastingWeights.read()
    if weights.fingerprint != selector.fingerprint:
        return NotingExtractor()

    def vectors(texts: Sequence[str]) -> Floats:
        asked = [Query((Turn(Role.SEEKER, text),)) for text in texts]
        return np.array([text.vector for text in selector.encode_contexts(asked)], np.float32)

    return LastingExtractor(vectors, weights)
