"""Batches and personas as training sees them, and the negatives mined for them."""

from __future__ import annotations

import numpy as np
import pytest

from allears.conversation import Example, Persona, PersonaSentence, Role, Turn
from allears.errors import AllearsError
from allears.text.layout import Limits
from allears.training.selection.dataset import SelectionDataset, SelectionLayout
from allears.training.selection.mining import mine_negatives, teacher_scores
from tiny_models import tiny_selector, tiny_tokenizer


def example(text: str, answer: str, *persona: str) -> Example:
    return Example(
        context=(Turn(Role.SEEKER, text),),
        response=Turn(Role.SUPPORTER, answer),
        persona=Persona(tuple(PersonaSentence(sentence) for sentence in persona)),
    )


def dataset(tmp_path, examples, **options) -> SelectionDataset:
    return SelectionDataset(
        examples, tiny_tokenizer(tmp_path), Limits(persona_sentences=2), SelectionLayout(), **options
    )


WORDS = ["cat", "dog", "boat", "house", "job", "friend"]


@pytest.fixture
def many(tmp_path) -> SelectionDataset:
    examples = [
        example(
            f"my {WORDS[i % 6]} is " + "so " * (i % 9) + "sad", f"sorry your {WORDS[i % 6]} " + "a " * (i % 7)
        )
        for i in range(50)
    ]
    return dataset(tmp_path, examples, groups=[0] * 30 + [1] * 20)


def test_batches_are_random_whole_sorted_and_of_one_corpus(many):
    batches = many.batches(8, epoch=0)
    assert sorted(map(len, batches)) == [8] * 5  # 3 of 30, 2 of 20; the rest is left out
    assert len({row for batch in batches for row in batch}) == 40
    assert all(len({many.groups[row] for row in batch}) == 1 for batch in batches)
    assert all(np.all(np.diff(many.lengths[batch]) >= 0) for batch in batches)
    assert batches == many.batches(8, epoch=0)
    assert batches != many.batches(8, epoch=1)


def test_a_corpus_smaller_than_a_batch_is_one_batch(tmp_path):
    data = dataset(tmp_path, [example("my cat", "so sad"), example("my dog", "great")])
    assert sorted(data.batches(8, 0)[0]) == [0, 1]


def test_persona_sentences_in_the_response_are_dropped_and_the_rest_drawn_anew_each_epoch(tmp_path):
    persona = ["my cat", "my dog", "my boat", "my house", "my job"]
    data = dataset(tmp_path, [example("great news", "tell me of my cat is great", *persona)])
    assert len(data.personas[0]) == 4
    drawn = {tuple(data.personas_of([0], epoch).ids[0].tolist()) for epoch in range(20)}
    assert len(drawn) > 3  # two of four, in any order
    assert data.personas_of([0], 1).ids.tolist() == data.personas_of([0], 1).ids.tolist()


def test_without_persona_none_is_read(tmp_path):
    data = dataset(tmp_path, [example("great", "sorry", "my cat")], use_persona=False)
    assert not data.has_persona


def test_the_fingerprint_follows_the_texts(tmp_path):
    one = dataset(tmp_path, [example("great", "sorry", "my cat")])
    assert one.fingerprint == dataset(tmp_path, [example("great", "sorry", "my cat")]).fingerprint
    assert one.fingerprint != dataset(tmp_path, [example("great", "sorry", "my dog")]).fingerprint


def test_responses_come_in_parts_of_similar_length_and_find_back(many):
    rows = [5, 3, 40, 12, 7]
    parts, places = many.responses_of(rows, 2)
    assert [len(part.ids) for part in parts] == [2, 2, 1]
    flat = [ids for part in parts for ids in part.ids.tolist()]
    for row, place in zip(rows, places, strict=True):
        wanted = many.responses[row][0]
        assert flat[place][: len(wanted)] == wanted


def test_mined_negatives_are_near_never_the_truth_and_the_same_for_a_seed(many, tmp_path):
    miner = tiny_selector(tmp_path / "run", "bi_encoder")
    mined = mine_negatives(miner, many, 4, skip=1, depth=10, seed=1)
    assert mined.shape == (50, 4)
    assert (many.response_numbers[mined] != many.response_numbers[:, None]).all()
    assert (mined == mine_negatives(miner, many, 4, skip=1, depth=10, seed=1)).all()
    mixed = mine_negatives(miner, many, 4, random=2, skip=1, depth=10, seed=1)
    assert (mixed[:, 2:] == mined[:, 2:]).all()
    assert (mixed[:, :2] != mined[:, :2]).any()
    assert (many.response_numbers[mixed] != many.response_numbers[:, None]).all()


def test_mining_deeper_than_the_data_or_without_vectors_is_refused(many, tmp_path):
    with pytest.raises(AllearsError, match=r"negatives\.depth is 100 but there are only 50"):
        mine_negatives(tiny_selector(tmp_path / "run", "bi_encoder"), many, 4, skip=1, depth=100, seed=1)
    with pytest.raises(AllearsError, match="must be a bi_encoder"):
        mine_negatives(tiny_selector(tmp_path / "other", "cobert"), many, 4, skip=1, depth=10, seed=1)


def test_a_teacher_scores_the_truth_first_and_then_the_mined(many, tmp_path):
    teacher = tiny_selector(tmp_path / "run", "cobert")
    mined = np.arange(100).reshape(50, 2) % 50
    scores = teacher_scores(teacher, many, mined)
    assert scores.shape == (50, 3)
    from allears.runtime.selector import Query

    texts = [many.examples[i].response.text for i in (7, *mined[7])]
    alone = teacher.score(
        [Query(many.examples[7].context)], teacher.encode_responses(texts), np.array([[0, 1, 2]])
    )
    assert scores[7] == pytest.approx(alone[0], abs=1e-4)
