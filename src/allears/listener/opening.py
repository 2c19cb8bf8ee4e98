"""What a listener is made of, opened from a bundle, the pools and a voice."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from allears.errors import AllearsError
from allears.listener.answered import Answered, read_answered, shipped_answered
from allears.listener.answered.proposer import AnsweredProposer, open_vectors
from allears.listener.making import MakingProposer
from allears.listener.occasions import read_ahead
from allears.listener.personas.proposer import PersonaProposer
from allears.listener.pool import Line, open_index, read_pool, shipped_pool
from allears.listener.proposers import PoolProposer
from allears.listener.senses import Senses
from allears.listener.voices import open_voice
from allears.personas.contract import PersonaExtractor
from allears.personas.noting import NotingExtractor
from allears.progress import Watch
from allears.runtime.onnx_extractor import OnnxExtractor
from allears.runtime.onnx_reader import OnnxReader
from allears.runtime.onnx_selector import OnnxSelector
from allears.safety.bundled_screen import bundled_head
from allears.safety.patterns import pattern_table
from allears.safety.screen import CrisisScreen

PERSONA = ("said", "written")  # how what a person says of themselves is noted


def open_parts(
    bundle: Path | str,
    pools: Sequence[Path | str],
    *,
    shipped: bool,
    threads: int | None,
    cache: Path | None,
    persona: str,
    watch: Watch,
    voice: str,
) -> dict[str, Any]:
    """The arguments of `Listener`, see `Listener.from_bundle`."""
    with ThreadPoolExecutor(1) as beside:  # tables are read while the graphs are loaded
        tables = beside.submit(pattern_table)
        if shipped:
            beside.submit(read_ahead)
        selector = OnnxSelector.from_bundle(bundle, threads=threads)
        tables.result()
    reader = OnnxReader.from_bundle(bundle, selector.encoder, selector.tokenizer)
    if persona not in PERSONA:
        raise AllearsError(f"persona must be one of {', '.join(PERSONA)}, got {persona!r}")
    extractor: PersonaExtractor = NotingExtractor()
    if persona == "written":
        extractor = OnnxExtractor.from_bundle(bundle, selector.encoder, selector.tokenizer)
    lines: list[Line] = shipped_pool() if shipped else []
    groups: list[Answered] = [*shipped_answered()] if shipped else []
    for pool in pools:
        groups += (own := read_answered(pool))
        lines += read_pool(pool, or_answered=bool(own))
    if not lines:
        raise AllearsError("there is nothing to answer with; name a pool, or leave shipped=False out")
    spoken = open_voice(voice, bundle, selector=selector, threads=threads)
    index = open_index(lines, selector, folder=cache, watch=watch)
    answered = None
    if groups:
        vectors = open_vectors(groups, selector, folder=cache, watch=watch)
        answered = AnsweredProposer(groups, vectors)
    head = bundled_head(bundle, reader, selector.tokenizer)
    own_screen = head is not None and head.reader is not reader
    return {
        "selector": selector,
        "senses": Senses(reader, selector.card.limits, risk=not own_screen),
        "proposers": [PoolProposer(index), PersonaProposer(selector, cache)],
        "screen": CrisisScreen(head),
        "extractor": extractor,
        "making": MakingProposer(selector, occasions=shipped, answered=answered),
        "voice": spoken,
    }
