"""A generator answers a corpus, and a smaller one learns from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from generator_models import learn, save_talk_encoder, small_generator, talks, write_support_corpora

from allears.conversation import Role
from allears.corpora import read
from allears.decoding import Settings
from allears.evaluation.annotation_file import annotate_to
from allears.evaluation.written import WriteResponses, contexts
from allears.models.generation import saved
from allears.models.generation.examples import read_examples
from allears.training.recipe import read_recipe
from allears.training.tasks import make_task

RECIPES = Path(__file__).parents[2] / "recipes"
GREEDY = Settings(method="greedy")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_support_corpora(tmp_path / "data", talks=6)


def test_every_answer_becomes_a_conversation_of_its_own(root):
    found = list(contexts("pesconv-train.jsonl", "train", root))
    examples = [each for each in read_examples("pesconv-train.jsonl", "train", root) if each.answers]
    assert len(found) == len(examples) == len({each.id for each in found})
    for conversation, example in zip(found, examples, strict=True):
        assert [turn.text for turn in conversation.turns[:-1]] == [turn.text for turn in example.prompt.turns]
        known = conversation.personas.get("seeker")
        assert (known.texts if known else ()) == example.prompt.persona


def test_a_smaller_one_reads_the_same_prompts_with_the_teachers_words(root, tmp_path):
    teacher = learn(small_generator(tmp_path / "teacher"), talks(8), steps=20)
    out = root / "written.jsonl"
    annotate_to(out, contexts("pesconv-train.jsonl", "train", root), WriteResponses(teacher, "teacher"), {})
    before = [each for each in read_examples("pesconv-train.jsonl", "train", root) if each.answers]
    after = read_examples("written.jsonl", "train", root)
    assert [each.prompt for each in after] == [each.prompt for each in before]  # strategies stay people's
    assert [each.response for each in after] != [each.response for each in before]
    last = next(iter(read(out, "all"))).turns[-1]
    assert last.speaker is Role.SUPPORTER
    assert next(iter(read(out, "all"))).labels["annotated_by"] == {"response": "teacher"}


def test_where_people_named_no_strategy_the_teachers_is_kept(root, tmp_path):
    from dataclasses import replace

    teacher = small_generator(tmp_path / "teacher")
    plain = [
        replace(each, turns=tuple(replace(turn, strategy=None) for turn in each.turns))
        for each in contexts("esconv", "train", root)
    ][:3]
    chosen = [each[0][0] for each in teacher.strategies([_prompt(each) for each in plain])]
    written = WriteResponses(teacher, "teacher", settings=GREEDY)(plain)
    assert [each.turns[-1].strategy for each in written] == chosen


def _prompt(conversation):
    from allears.models.generation.examples import OWN_CORPUS_RULE, conversation_examples

    return next(conversation_examples(conversation, OWN_CORPUS_RULE)).prompt


def test_what_is_written_depends_on_the_seed_and_not_on_its_mates(root, tmp_path):
    teacher, bold = small_generator(tmp_path / "teacher"), Settings(temperature=2.0)
    asked = list(contexts("pesconv-train.jsonl", "train", root))[:6]
    first = WriteResponses(teacher, "teacher", settings=bold, seed=1)
    assert first(asked) == [*first(asked[:2]), *first(asked[2:])]
    assert first(asked) != WriteResponses(teacher, "teacher", settings=bold, seed=2)(asked)


def test_the_recipe_of_distillation_learns_from_the_file(root, tmp_path):
    teacher = small_generator(tmp_path / "teacher")
    for name in ("esconv-written.jsonl", "ed-written.jsonl"):
        write = WriteResponses(teacher, "teacher", settings=GREEDY)
        annotate_to(root / name, contexts("pesconv-train.jsonl", "train", root), write, {})
    save_talk_encoder(tmp_path / "encoder")
    small = (
        f'data.root="{root}"', "model.start=", f'model.encoder="{tmp_path / "encoder"}"', "model.layers=1",
        "model.heads=4", "limits.context_tokens=48", "limits.response_tokens=12", "limits.persona_sentences=2",
        "training.batch=8",
    )  # fmt: skip
    task = make_task(read_recipe(RECIPES / "esconv-distilled.toml", small), tmp_path)
    assert len(task.batches(0)) > 3
    task.save(tmp_path / "run")
    assert saved.is_generator(tmp_path / "run")
