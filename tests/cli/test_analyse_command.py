"""`allears analyse` through `main`: numbers, pictures, and one sentence when it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from allears.labels import ED_EMOTIONS
from command_line import Run
from made_up_corpora import ED_HEADER, ESCONV, PESCONV, asks, helps, json_array, support_talk, write_bytes
from training_fixtures import tiny_encoder  # noqa: F401 - fixture


def test_the_strategy_curve_of_several_models_is_printed_and_drawn(run: Run, tmp_path: Path):
    pytest.importorskip("fasttext")
    root, picture = ESCONV.write(tmp_path), tmp_path / "curve.png"
    command = ("analyse", "strategy-curve", "fasttext", "frequency", "--root", root, "--split", "train")
    found = run(*command, "--json", "--plot", picture).json
    assert list(found["models"]) == ["fasttext", "frequency"]
    assert found["models"]["frequency"]["top_8"] == 100
    assert found["examples"] == 5
    assert picture.stat().st_size > 5000
    assert "top-7" in run(*command, "--past", "predicted").out


def test_similarity_to_the_persona_is_held_against_the_survey(run: Run, tmp_path: Path):
    talks = [
        support_talk(
            asks("Hello."),
            helps(reply, "Others"),
            persona=["i like tea"],
            persona_by_turn=[],
            survey_score={
                "seeker": {
                    "empathy": mark, "relevance": mark, "initial_emotion_intensity": 5,
                    "final_emotion_intensity": 6 - mark,
                }
            },
        )
        for reply, mark in (("tea", 5), ("tea rain", 4), ("rain", 2), ("rain", 3))
    ]  # fmt: skip
    write_bytes(tmp_path / "pesconv" / "valid.json", json_array(*talks).encode())
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("tea 1 0\nrain 0 1\n")
    picture = tmp_path / "persona.png"
    command = ("analyse", "persona-empathy", "--encoder", vectors, "--root", tmp_path)
    found = run(*command, "--json", "--plot", picture).json
    assert found["empathy_means"] == pytest.approx({"2": 0, "3": 0, "4": 0.5**0.5, "5": 1}, abs=1e-6)
    assert found["empathy_slope"] > 0
    assert found["intensity_drop_r2"] == pytest.approx(found["empathy_r2"])
    assert picture.stat().st_size > 5000
    assert "R² of means" in run(*command).out


@pytest.fixture
def all_emotions(tmp_path: Path) -> Path:
    rows = [
        f"hit:{n}_conv:{n},{turn},{emotion},i feel {emotion},{turn},so {emotion},,\n"
        for n, emotion in enumerate(ED_EMOTIONS)
        for turn in (1, 2)
    ]
    for split in ("train", "valid"):
        write_bytes(tmp_path / "empatheticdialogues" / f"{split}.csv", (ED_HEADER + "".join(rows)).encode())
    return tmp_path


def test_the_emotions_are_mapped_from_a_classifier_or_an_encoder(
    run: Run,
    all_emotions: Path,
    tiny_encoder: Path,  # noqa: F811
):
    pytest.importorskip("fasttext")
    picture = all_emotions / "map.png"
    found = run(
        "analyse", "emotion-map", "fasttext", "--root", all_emotions, "--plot", picture, "--json"
    ).json
    assert set(found["points"]) == set(ED_EMOTIONS)
    assert picture.stat().st_size > 10_000
    answer = run("analyse", "emotion-map", "--encoder", tiny_encoder, "--root", all_emotions)
    assert answer.code == 0
    assert "of the variance" in answer.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["strategy-curve", "fasttext", "--past", "future"], "--past takes gold or predicted"),
        (["strategy-curve", "nowhere"], "nowhere: no such model"),
        (["strategy-curve", "fasttext", "--plot", "c.bmp"], "a picture ends in"),
        (["persona-empathy", "--encoder", "nowhere.txt"], "nowhere.txt"),
        (["persona-empathy", "--corpus", "esconv"], "none of the expected files is here"),
        (["emotion-map"], "name either a model"),
        (["emotion-map", "fasttext", "--encoder", "x"], "name either a model"),
        (["emotion-map", "fasttext", "--head", "strategy"], "the head strategy gives others"),
    ],
)
def test_what_cannot_be_analysed_is_one_sentence(
    run: Run, tmp_path: Path, arguments: list[str], sentence: str
):
    answer = run("analyse", *arguments, "--root", PESCONV.write(tmp_path))
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
