"""`allears evaluate generation` through `main`: what it prints, and its one sentence when it cannot."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.append(str(Path(__file__).parents[1] / "generation"))

from generator_models import small_generator, write_support_corpora

from allears.conversation import Conversation
from allears.listener.contract import Reply, Why
from allears.listener.listener import Listener
from allears.models.generation import saved
from allears.training.export.bundle import export_together
from tiny_models import tiny_selector, tiny_voice


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora, an untrained PAL and an untrained Joint."""
    root = tmp_path_factory.mktemp("made-up")
    write_support_corpora(root)
    for name in ("pal", "joint"):
        generator = small_generator(root / f"{name}-tokenizer", name)
        saved.save(root / name, generator.module, generator.card, generator.tokenizer)
    return root


@pytest.fixture
def evaluate(run, made_up):
    """With word vectors of two dimensions, to compare by."""
    vectors = made_up / "vectors.txt"
    vectors.write_text("boat 1 0\ncat 0 1\nsorry 1 1\n")
    return lambda model, *more: run(
        "evaluate", "generation", made_up / model, "--corpus", "pesconv", "--split", "valid", "--root", made_up,
        "--encoder", vectors, *more,
    )  # fmt: skip


def test_json_has_every_measure_by_its_name(evaluate):
    answer = evaluate("pal", "--limit", 6, "--json")
    assert answer.code == 0, answer.err
    names = (
        "ppl ppl_word bleu_1 bleu_2 bleu_3 bleu_4 avg_bleu distinct_1 distinct_2 ead_1 ead_2 rouge_l meteor cos_sim "
        "strategy_accuracy strategy_top_2 strategy_top_8 sentiment_gain repetition length examples ppl_examples"
    )
    assert set(names.split()) <= set(answer.json)
    assert all(isinstance(answer.json[name], float) for name in names.split())
    assert answer.json["strategy_top_8"] == 100.0
    assert answer.json["examples"] == 6
    assert (answer.json["corpus"], answer.json["split"], answer.json["alpha"]) == (
        "pesconv",
        "valid",
        "table",
    )


def test_the_same_command_prints_the_same_and_alpha_changes_it(evaluate):
    first, again, plain = (evaluate("pal", "--alpha", alpha, "--json").out for alpha in ("0.75", "0.75", "0"))
    assert first == again
    measures, other = json.loads(first), json.loads(plain)
    assert measures["ppl"] == other["ppl"]
    assert measures["length"] != other["length"] or measures["distinct_2"] != other["distinct_2"]


def test_the_table_and_the_replies_are_for_people(evaluate, tmp_path):
    answer = evaluate("joint", "--limit", 3, "--decoding", "greedy", "--replies", tmp_path / "replies.jsonl")
    assert answer.code == 0, answer.err
    assert "joint on pesconv valid, greedy, alpha table" in " ".join(answer.out.split())
    assert "perplexity per word" in answer.out
    lines = [json.loads(line) for line in (tmp_path / "replies.jsonl").read_text().splitlines()]
    assert len(lines) == 3
    names = {"turns", "persona", "own_persona", "emotion", "strategy", "reply", "gold_strategy", "gold"}
    assert set(lines[0]) == names


def test_personas_are_left_alone_when_nothing_compares_them(evaluate):
    assert "cos_sim" not in evaluate("pal", "--limit", 2, "--encoder", "none", "--json").json


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--alpha", "much"], "--alpha takes `table` or a number such as 0 or 0.75; got 'much'"),
        (["--alpha", "9"], "must lie between 0 and 5"),
        (["--alpha", "nan"], "must lie between 0 and 5"),
        (["--decoding", "guess"], "--decoding takes sample, greedy, beam, beam-5; got 'guess'"),
        (["--replies", "replies.txt"], "replies are written as .jsonl"),
        (["--corpus", "nothing"], "unknown corpus 'nothing'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(evaluate, more, sentence):
    answer = evaluate("pal", *more)
    assert answer.code == 2
    assert sentence in answer.err
    assert answer.out == ""


def test_a_generator_without_persona_has_no_alpha(evaluate):
    answer = evaluate("joint", "--alpha", "0.5", "--limit", 2)
    assert answer.code == 2
    assert "has no branch without persona" in answer.err


@pytest.fixture(scope="module")
def bundles(made_up: Path) -> Path:
    """One with a voice, one without."""
    ranker = tiny_selector(made_up / "ranker")
    export_together(ranker, made_up / "speaking", voice=tiny_voice(ranker))
    export_together(ranker, made_up / "silent")
    return made_up


@pytest.mark.usefixtures("bundles")
def test_the_voice_of_a_bundle_is_measured_as_a_run_is(evaluate):
    answer = evaluate("speaking", "--limit", 4, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["examples"] == answer.json["ppl_examples"] == 4
    assert answer.json["ppl"] > 1
    assert answer.json["strategy_top_8"] == 100.0


@pytest.mark.usefixtures("bundles")
def test_a_bundle_without_a_voice_is_one_sentence(evaluate):
    answer = evaluate("silent")
    assert answer.code == 2
    assert "this bundle carries no generator" in answer.err


def test_a_whole_listener_is_measured_by_its_replies(run, made_up, monkeypatch):
    opened = []

    class Echo:
        def respond_many(self, messages, conversations, *, seeds):
            return [Reply(f"You said: {message}", Why("reply"), Conversation("", ())) for message in messages]

    monkeypatch.setattr(Listener, "from_bundle", lambda **options: opened.append(options["voice"]) or Echo())
    for name in ("listener", "listener:chosen"):
        answer = run(
            "evaluate", "generation", name, "--root", made_up, "--limit", 3, "--encoder", "none", "--json"
        )
        assert answer.code == 0, answer.err
        assert answer.json["length"] > 3
        assert "ppl" not in answer.json
    assert opened == ["default", "chosen"]
