"""`allears persona extract` and `allears evaluate understanding persona` through `main`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from allears.runtime.bundle import BundleCard, SideWeights
from allears.text.layout import Limits
from command_line import Run
from made_up_corpora import MSC
from training_fixtures import tiny_encoder  # noqa: F401 - fixture

TEXT = "Hello!\nI live in Ghent. My goat is ill.\n\nI just moved to Bruges.\nI live in Bruges.\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "said.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_sentences_are_shown_with_their_turn_and_changes_with_their_reason(run: Run, text: Path):
    answer = run("persona", "extract", text, "--model", "copy")
    assert answer.code == 0
    assert "turn 2  My goat is ill." in answer.out
    assert "turn 3  changed (another home): I live in Ghent. → I just moved to Bruges." in answer.out


def test_json_has_a_line_per_person(run: Run, tmp_path: Path):
    talks = tmp_path / "talks.jsonl"
    turns = [{"speaker": "seeker", "text": "I sing."}, {"speaker": "supporter", "text": "I dance."}]
    talks.write_text("\n".join(json.dumps({"id": name, "turns": turns}) for name in "ab"), encoding="utf-8")
    answer = run("persona", "extract", talks, "--model", "copy", "--json")
    found = [json.loads(line) for line in answer.out.splitlines()]
    assert [each["id"] for each in found] == ["a", "b"]
    assert found[0] == {
        "id": "a",
        "person": "seeker",
        "turns": 1,
        "persona": [{"text": "I sing.", "source": "turn 1"}],
        "changes": [],
        "dropped": {},
        "unread": [],
    }
    shown = run("persona", "extract", talks, "--model", "copy")
    assert "a, seeker" in shown.out
    assert "dance" not in shown.out


def test_standard_input_is_read(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    answer = run("persona", "extract", "-", "--model", "copy", "--json")
    assert [each["source"] for each in answer.json["persona"]] == ["turn 3", "turn 2", "turn 4"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("😀😀\n🙃", "nothing in 2 turns tells who this person is"),
        ("Я живу в Генте.", "1 turn not read: the extractor knows English only"),
        ("Nice weather today.", "nothing in 1 turn tells who this person is"),
        ("a" * 100_000, "nothing in 1 turn tells who this person is"),
    ],
)
def test_texts_that_tell_nothing_are_no_error(run: Run, tmp_path: Path, words: str, sentence: str):
    path = tmp_path / "said.txt"
    path.write_text(words, encoding="utf-8")
    answer = run("persona", "extract", path, "--model", "copy")
    assert (answer.code, answer.out) == (0, "")
    assert sentence in answer.err


def test_a_hundred_thousand_characters_are_read(run: Run, tmp_path: Path):
    path = tmp_path / "said.txt"
    path.write_text("I sing in the rain. " * 5000, encoding="utf-8")
    answer = run("persona", "extract", path, "--model", "copy", "--json")
    assert [each["text"] for each in answer.json["persona"]] == ["I sing in the rain."]


def test_an_encoder_joins_what_is_said_in_other_words(run: Run, tmp_path: Path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("boat 1 0\nrepair 0.99 0.01\nfixing 0.99 0.02\n", encoding="utf-8")
    path = tmp_path / "said.txt"
    path.write_text("I repair my boat.\nFixing that boat of mine keeps me busy.", encoding="utf-8")
    apart = run("persona", "extract", path, "--model", "copy", "--json")
    joined = run("persona", "extract", path, "--model", "copy", "--encoder", vectors, "--json")
    assert (len(apart.json["persona"]), len(joined.json["persona"])) == (2, 1)


@pytest.fixture
def bare_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A default bundle that carries no persona extractor."""
    folder = tmp_path / "bundle"
    folder.mkdir()
    BundleCard("cobert", {}, Limits(), SideWeights((), ()), 1.0, 8, "int8", "0").write(folder)
    monkeypatch.setattr("allears.runtime.bundle.default_bundle", lambda: folder)
    return folder


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.txt", "--model", "copy"], "nowhere.txt: no such file"),
        (["{empty}", "--model", "copy"], "there is nothing to read"),
        (["{text}"], "no default persona extractor"),
        (["{text}", "--model", "nowhere"], "nowhere: no such persona extractor"),
        (["{text}", "--model", "{folder}"], "no model.json here"),
        (["{text}", "--model", "{bundle}"], "this bundle carries no persona extractor"),
        (["{text}", "--model", "{folder}", "--device", "moon"], "unknown device 'moon'"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(
    run: Run, text: Path, tmp_path: Path, bare_default: Path, arguments: list[str], sentence: str
):
    places = {
        "text": text,
        "folder": tmp_path / "run",
        "bundle": bare_default,
        "empty": tmp_path / "empty.txt",
    }
    places["folder"].mkdir()
    places["empty"].write_text("\n \n")
    answer = run("persona", "extract", *(argument.format(**places) for argument in arguments))
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
    assert len(answer.err.strip().splitlines()) == 1


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    pytest.importorskip("rouge_score")
    return MSC.write(tmp_path)


def test_an_extractor_is_measured_on_gold_turns(run: Run, gold: Path, tmp_path: Path):
    answer = run(
        "evaluate", "understanding", "persona", "copy", "--root", gold, "--all-turns", "--json",
        "--judgement", tmp_path / "form.csv",
    )  # fmt: skip
    found = answer.json
    assert {"f1", "precision", "recall", "rouge_l", "unsupported", "contradictions"} <= set(found)
    assert (found["corpus"], found["split"], found["examples"], found["positives"]) == ("msc", "valid", 5, 2)
    assert found["f1"] == pytest.approx(100 * 2 / 3)  # "My goat is ill." is found, "A." is not
    assert found["precision"] == 100
    assert "similarity" not in found
    assert (tmp_path / "form.csv").read_text(encoding="utf-8").count("msc_0") == 1


def test_similarity_to_gold_needs_an_encoder(run: Run, gold: Path, tiny_encoder: Path):  # noqa: F811
    answer = run(
        "evaluate", "understanding", "persona", "copy", "--root", gold, "--all-turns", "--json",
        "--encoder", tiny_encoder,
    )  # fmt: skip
    assert 0 < answer.json["similarity"] <= 100


def test_the_table_names_the_measures(run: Run, gold: Path):
    answer = run("evaluate", "understanding", "persona", "copy", "--root", gold, "--all-turns", "--no-check")
    assert answer.code == 0
    assert "content words that were never said" in answer.out
    assert "5 turns, 2 of which tell something" in answer.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["persona"], "no default persona extractor"),
        (["persona", "copy", "--plot", "c.png"], "--plot says nothing about the head persona"),
        (["persona", "copy", "--judgement", "form.xls"], "a judgement form ends in .csv"),
        (["persona", "copy", "--corpus", "nothing"], "unknown corpus 'nothing'"),
        (["ed-emotion", "fasttext", "--all-turns"], "--all-turns says nothing about the head ed-emotion"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(
    run: Run, bare_default: Path, arguments: list[str], sentence: str
):
    answer = run("evaluate", "understanding", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err


def test_persona_is_among_the_heads_that_are_listed(run: Run):
    assert "persona" in run("evaluate", "understanding", "list").out
