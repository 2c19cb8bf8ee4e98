"""`allears annotate` through `main`: a corpus in, the corpus with more out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allears.corpora import read
from allears.evaluation.annotation_file import card_of, part_of
from command_line import Run
from made_up_corpora import ED_INTENTS, EPITOME, ESCONV, PEC
from training_fixtures import corpus_root  # noqa: F401 - fixture


def test_esconv_with_personas_is_a_pesconv(run: Run, tmp_path: Path):
    root, out = ESCONV.write(tmp_path), tmp_path / "pesconv.jsonl"
    answer = run("annotate", "esconv", "--add", "persona", "--model", "copy", "--root", root, "--out", out)
    assert (answer.code, answer.out) == (0, "")
    assert f"wrote 3 conversations to {out}" in answer.err
    talks = list(read(out, "all"))
    assert [(each.text, each.source) for each in talks[0].personas["seeker"].sentences] == [
        ("I lost my umbrella.", "turn 1")
    ]
    assert talks[0].labels["persona_by_turn"] == [["I lost my umbrella."]]
    assert (talks[0].source, talks[0].survey["seeker_empathy"]) == ("esconv", 4)


def test_emotions_are_added_to_a_pec_by_a_baseline_that_learns_from_ed(
    run: Run,
    corpus_root: Path,  # noqa: F811
):
    pytest.importorskip("fasttext")
    root, out = PEC.write(corpus_root), corpus_root / "pec.jsonl"
    answer = run(
        "annotate", "pec", "--split", "train", "--add", "emotion", "--model", "fasttext", "--root", root,
        "--out", out, "--limit", 2,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    talks = list(read(out, "all"))
    assert len(talks) == 2
    assert talks[0].emotion == "proud"  # "i passed": the exam
    assert talks[0].labels["annotated_by"] == {"emotion": "fasttext"}


def test_intents_and_mechanisms_are_added_one_after_the_other(run: Run, tmp_path: Path):
    pytest.importorskip("fasttext")
    ED_INTENTS.write(tmp_path)
    root = EPITOME.write(PEC.write(tmp_path))
    first, second = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    more = ("--model", "fasttext", "--root", root)
    assert run("annotate", "pec", "--split", "train", "--add", "intent", "--out", first, *more).code == 0
    answer = run("annotate", first, "--add", "mechanisms", "--out", second, *more)
    assert answer.code == 0, answer.err
    talk, longer, _ = read(second, "all")
    assert talk.turns[1].intent in ("questioning", "consoling", "encouraging")
    assert talk.labels["explorations"]["level"] in (0, 1, 2)
    assert len(longer.labels["mechanisms_by_turn"]) == len(longer.turns)


def test_a_bundle_annotates_and_another_one_does_not_finish_its_file(run: Run, tmp_path: Path):
    from allears import __version__
    from allears.training.export.bundle import export_with_reader
    from tiny_models import tiny_reader, tiny_selector

    selector = tiny_selector(tmp_path / "run")
    root, out, bundle = PEC.write(tmp_path), tmp_path / "out.jsonl", tmp_path / "bundle"
    export_with_reader(selector, tiny_reader(selector), bundle)
    command = ("annotate", "pec", "--split", "train", "--add", "emotion", "--head", "ed-emotion")
    command += ("--model", bundle, "--root", root, "--out", out)
    assert run(*command).code == 0
    assert next(iter(read(out, "all"))).emotion is not None
    out.rename(part_of(out))
    card = {"corpus": "pec", "split": "train", "add": "emotion", "model": str(bundle), "head": "ed-emotion"}
    card |= {"encoder": None, "replace": False, "limit": None, "allears": __version__}
    card_of(out).write_text(json.dumps(card | {"model_digest": "of another"}))
    assert "begun with other settings (model_digest: 'of another', now '" in run(*command).err


def test_a_begun_file_is_finished_and_other_settings_are_refused(run: Run, tmp_path: Path):
    root, out = ESCONV.write(tmp_path), tmp_path / "out.jsonl"
    command = ("annotate", "esconv", "--add", "persona", "--model", "copy", "--root", root, "--out", out)
    assert run(*command).code == 0
    whole = out.read_bytes()
    assert "is there already" in run(*command).err
    # as a kill after the first conversation would have left it
    part_of(out).write_bytes(whole.splitlines(keepends=True)[0] + b'{"id": "cut')
    card = {"corpus": "esconv", "split": "train", "add": "persona", "model": "copy", "model_digest": None}
    card |= {"head": None, "encoder": None, "replace": False, "limit": None, "allears": "0.0.0"}
    card_of(out).write_text(json.dumps(card))
    out.unlink()
    assert "begun with other settings (allears: '0.0.0'" in run(*command).err
    from allears import __version__

    card_of(out).write_text(json.dumps(card | {"allears": __version__}))
    refused = run(*command, "--limit", 2)
    assert (refused.code, "limit: None, now 2" in refused.err) == (2, True)
    answer = run(*command)
    assert "wrote 3 conversations" in answer.err
    assert "1 of them from an earlier run" in answer.err
    assert out.read_bytes() == whole


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["esconv", "--add", "joy", "--out", "o.jsonl"], "--add takes persona, emotion, intent, mechanisms"),
        (["esconv", "--add", "persona", "--out", "o.json"], "written as .jsonl"),
        (["nothing", "--add", "persona", "--out", "o.jsonl"], "unknown corpus 'nothing'"),
        (
            ["esconv", "--add", "emotion", "--head", "topic", "--out", "o.jsonl"],
            "--head takes ed-emotion-turns",
        ),
        (
            ["esconv", "--add", "intent", "--encoder", "x", "--out", "o.jsonl"],
            "--encoder joins persona sentences",
        ),
        (
            ["ed", "--add", "persona", "--model", "copy", "--out", "o.jsonl"],
            "EmpatheticDialogues is not under",
        ),
        (
            ["esconv", "--add", "emotion", "--model", "{reader}", "--out", "o.jsonl"],
            "'esconv-train-0' has an emotion already; pass --replace",
        ),
    ],
)
def test_what_cannot_be_annotated_is_one_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
):
    root = ESCONV.write(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    if "{reader}" in arguments:
        from allears.labels import ED_EMOTIONS
        from allears.models.reader import saved
        from allears.text.layout import Limits
        from tiny_models import tiny_encoder, tiny_tokenizer

        encoder = tiny_encoder()
        card = saved.ReaderCard({"ed-emotion-turns": ED_EMOTIONS}, Limits(), encoder.config)
        saved.save(tmp_path / "reader", saved.build(card, encoder), card, tiny_tokenizer(tmp_path / "reader"))
        arguments = [argument.format(reader=tmp_path / "reader") for argument in arguments]
    answer = run("annotate", *arguments, "--root", root)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
    assert not list(tmp_path.glob("o.json*"))


def test_the_default_extractor_needs_no_training(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = ESCONV.write(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    answer = run(
        "annotate", "esconv", "--add", "persona", "--model", "default", "--out", "o.jsonl", "--root", root
    )
    assert answer.code == 0, answer.err
    assert (tmp_path / "o.jsonl").is_file()
