"""The emotions that a generator keeps can be looked at: from its run folder, in a plane."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from allears.cli import app
from allears.conversation import Role, Turn
from allears.decoding import Settings
from allears.errors import AllearsError
from allears.evaluation.emotion_vectors import emotion_vectors
from allears.labels import ED_EMOTIONS
from allears.models.generation.empathetic_generator import EmpatheticGenerator
from allears.models.generation.empathetic_saved import (
    EmpatheticCard,
    build_empathetic,
    save_empathetic,
    word_vocabulary,
)
from allears.models.generation.saved import load
from allears.runtime.generator import Prompt
from allears.text.layout import Limits

SAID = "the rain came in through the roof again"
LIMITS = Limits(context_tokens=24, first_turn_tokens=20, turn_tokens=20, response_tokens=12)
SMALL: dict[str, Any] = {"size": 16, "heads": 2, "inner": 16, "dropout": 0.0}


def run_of(folder: Path, name: str) -> tuple[Path, EmpatheticGenerator]:
    vocabulary = word_vocabulary().fit([SAID, "oh no , not again !"])
    torch.manual_seed(3)
    card = EmpatheticCard(name, LIMITS, vocabulary.size, options=SMALL)
    model = build_empathetic(card)
    save_empathetic(folder / "best", model, card, vocabulary)
    return folder, EmpatheticGenerator(model, card, vocabulary)


@pytest.mark.parametrize(
    ("name", "kept"), [("mime", "emotions"), ("multitask", "emotions"), ("moel", "keys")]
)
def test_a_run_shows_the_vectors_that_it_was_saved_with(tmp_path: Path, name: str, kept: str) -> None:
    folder, generator = run_of(tmp_path, name)
    found = emotion_vectors(load(folder))
    assert found.shape == (len(ED_EMOTIONS), 16)
    weight = getattr(generator.module, kept).weight.detach().numpy()
    assert found == pytest.approx(weight, abs=1e-6)


def test_a_generator_without_emotions_says_which_have_them(tmp_path: Path) -> None:
    folder, _ = run_of(tmp_path, "transformer")
    with pytest.raises(AllearsError, match="keeps no vectors of the 32 emotions; mime, moel"):
        emotion_vectors(load(folder))


def test_a_saved_mime_writes_what_it_wrote_before_with_every_seed(tmp_path: Path) -> None:
    folder, generator = run_of(tmp_path, "mime")
    loaded = load(folder)
    prompts = [Prompt((Turn(Role.SEEKER, SAID),))] * 2
    settings = Settings(method="beam", width=3, longest=8)
    for seed in (0, 4):
        assert loaded.generate(prompts, settings, seed) == generator.generate(prompts, settings, seed)


def test_the_map_of_a_mime_run_is_drawn_by_one_command(tmp_path: Path) -> None:
    folder, _ = run_of(tmp_path / "run", "mime")
    picture = tmp_path / "emotions.png"
    answer = CliRunner().invoke(
        app, ["analyse", "emotion-map", str(folder), "--plot", str(picture), "--json"], catch_exceptions=False
    )
    assert answer.exit_code == 0
    assert set(json.loads(answer.stdout)["points"]) == set(ED_EMOTIONS)
    assert picture.stat().st_size > 10_000
