"""Empathetic generators on the command line: emotions, both polarities, seeds, listeners."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.append(str(Path(__file__).parents[1] / "generation"))

from empathetic_models import small_empathetic

from allears.labels import ED_EMOTIONS
from allears.models.generation.empathetic_saved import save_empathetic
from command_line import Run
from made_up_corpora import ED_HEADER, write_bytes


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """EmpatheticDialogues with a conversation for every emotion, an untrained MoEL and an untrained Transformer."""
    root = tmp_path_factory.mktemp("made-up")
    rows = [
        f"c{number},{turn},{emotion},i felt {emotion},{turn},{text},,\n"
        for number, emotion in enumerate(ED_EMOTIONS)
        for turn, text in ((1, f"I feel {emotion} about my garden"), (2, "tell me more"))
    ]
    write_bytes(root / "empatheticdialogues" / "valid.csv", (ED_HEADER + "".join(rows)).encode())
    for name in ("moel", "transformer"):
        generator = small_empathetic(name)
        save_empathetic(root / name, generator.module, generator.card, generator.tokenizer)
    return root


@pytest.fixture
def evaluate(run: Run, made_up: Path):
    return lambda model, *more: run(
        "evaluate", "generation", made_up / model, "--corpus", "ed", "--root", made_up, "--encoder", "none",
        "--decoding", "beam-5", *more,
    )  # fmt: skip


def test_emotions_and_polarities_are_measured_where_the_corpus_has_them(evaluate) -> None:
    answer = evaluate("moel", "--json")
    assert answer.code == 0, answer.err
    names = (
        "emotion_accuracy emotion_top_2 emotion_top_5 moses_bleu ppl_positive ppl_negative bleu_4_negative"
    )
    assert set(names.split()) <= set(answer.json)
    assert (answer.json["examples_positive"], answer.json["examples_negative"]) == (13, 19)
    assert "emotion_accuracy" not in evaluate("transformer", "--limit", 4, "--json").json


def test_several_seeds_show_how_far_replies_differ(evaluate) -> None:
    found = evaluate("moel", "--limit", 4, "--seeds", 2, "--json").json
    assert found["spread_seeds"] == 2
    assert found["spread_different"] == 0  # nothing in MoEL is left to chance
    shown = evaluate("moel", "--limit", 4, "--seeds", 2).out
    assert "other replies with another seed" in shown
    assert "by what the person felt" in shown


def test_listeners_are_looked_at_one_by_one(run: Run, made_up: Path, tmp_path: Path) -> None:
    command = ("analyse", "listeners", made_up / "moel", "--root", made_up, "--each", 1)
    answer = run(*command, "--json", "--plot", tmp_path / "listeners.png")
    assert answer.code == 0, answer.err
    assert set(answer.json["gain"]) == set(ED_EMOTIONS)
    assert (tmp_path / "listeners.png").stat().st_size > 5000
    assert "an emotion's own listener is the best of 32" in " ".join(run(*command).out.split())


def test_a_model_without_listeners_is_one_sentence(run: Run, made_up: Path) -> None:
    answer = run("analyse", "listeners", made_up / "transformer", "--root", made_up)
    assert (answer.code, answer.out) == (2, "")
    assert "only MoEL and ModMoEL have listeners" in answer.err
