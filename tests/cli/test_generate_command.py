"""`allears generate` through `main`: a corpus answered by a generator, and its one sentence when it cannot be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.append(str(Path(__file__).parents[1] / "generation"))

from generator_models import small_generator, write_support_corpora

from allears.corpora import read
from allears.evaluation.annotation_file import part_of
from allears.models.generation import saved


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora and an untrained PAL."""
    root = tmp_path_factory.mktemp("made-up")
    write_support_corpora(root, talks=4)
    generator = small_generator(root / "tokenizer")
    saved.save(root / "pal", generator.module, generator.card, generator.tokenizer)
    return root


@pytest.fixture
def generate(run, made_up):
    def ask(out, *more, model="pal", corpus="pesconv-train.jsonl"):
        return run("generate", made_up / model, "--corpus", corpus, "--root", made_up, "--out", out, *more)

    return ask


def test_every_context_is_answered_by_the_generator(generate, tmp_path):
    out = tmp_path / "written.jsonl"
    answer = generate(out, "--decoding", "greedy", "--alpha", "0")
    assert answer.code == 0, answer.err
    assert f"wrote 16 replies to {out}" in answer.err
    talks = list(read(out, "all"))
    assert len(talks) == 16
    assert all(talk.labels["annotated_by"]["response"].endswith("pal") for talk in talks)
    assert all(talk.turns[-1].strategy for talk in talks)


def test_a_killed_run_goes_on_and_ends_the_same(generate, tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    assert generate(whole, "--seed", 3).code == 0
    monkeypatch.setattr("allears.evaluation.written.AT_ONCE", 5)
    from allears.evaluation.written import WriteResponses

    write, calls = WriteResponses.__call__, 0

    def killed(self, conversations):
        nonlocal calls
        calls += 1
        if calls == 3:
            raise MemoryError
        return write(self, conversations)

    monkeypatch.setattr(WriteResponses, "__call__", killed)
    with pytest.raises(MemoryError):
        generate(parts, "--seed", 3)
    assert len(part_of(parts).read_text().splitlines()) == 10
    answer = generate(parts, "--seed", 3)
    assert "wrote 16 replies" in answer.err
    assert "10 of them from an earlier run" in answer.err
    assert parts.read_text() == whole.read_text()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--decoding", "magic"), "--decoding takes sample, greedy, beam"),
        (("--alpha", "much"), "--alpha takes `table` or a number"),
        (("--alpha", "9"), "must lie between 0 and 5"),
        (("--split", "valid+nothing"), "nothing"),
    ],
)
def test_a_wrong_option_is_one_sentence(generate, tmp_path, more, sentence):
    answer = generate(tmp_path / "out.jsonl", *more)
    assert answer.code == 2
    assert sentence in answer.err
    assert not list(tmp_path.iterdir())


def test_what_is_not_there_is_one_sentence(generate, tmp_path):
    assert "no such generator" in generate(tmp_path / "out.jsonl", model="gone").err
    assert "gone" in generate(tmp_path / "out.jsonl", corpus="gone").err
    (tmp_path / "out.jsonl").write_text("")
    assert "is there already" in generate(tmp_path / "out.jsonl").err
