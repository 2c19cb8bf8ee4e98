"""Which prompts and responses a generator learns from, and how they are laid out and batched."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from generator_models import (
    LIMITS,
    dataset_for,
    small_generator,
    talk_tokenizer,
    talks,
    write_support_corpora,
)

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora import ExampleRule
from allears.errors import AllearsError
from allears.models.generation.examples import conversation_examples, known_persona, read_examples
from allears.models.generation.filtering import fit_to_learn, reader_filter
from allears.runtime.generator import Prompt
from allears.runtime.prompt_layout import PersonaPlace, prompt_rows

SEEKER, SUPPORTER = Role.SEEKER, Role.SUPPORTER
ALL = ExampleRule(context_turns=None, respondent=None)


def test_supporter_turns_are_responses_with_their_strategy(tmp_path):
    root = write_support_corpora(tmp_path)
    found = read_examples("esconv", "train", root)
    assert len(found) == 24 * 4
    assert all(example.prompt.strategy and example.answers for example in found)
    assert all(example.prompt.turns[-1].speaker is SEEKER for example in found)
    assert found[0].response == "so sorry about your boat."
    assert not any(example.prompt.persona for example in found)


def test_a_persona_is_only_what_was_known_by_then(tmp_path):
    root = write_support_corpora(tmp_path)
    for name, split in (("pesconv", "valid"), ("pesconv-train.jsonl", "train")):
        found = read_examples(name, split, root)[:4]
        assert [example.prompt.persona for example in found] == [
            (),
            (),
            ("I have a boat.",),
            ("I have a boat.", "I am from oslo."),
        ]


def test_sentences_are_known_from_the_turn_that_said_them():
    told = Persona((PersonaSentence("I sail.", "turn 3"), PersonaSentence("I am tall.", "profile")))
    turns = tuple(Turn(SUPPORTER if number % 2 else SEEKER, "hm") for number in range(6))
    conversation = Conversation("1", turns, {"seeker": told})
    assert known_persona(conversation, 1) == ("I am tall.",)
    assert known_persona(conversation, 3) == ("I sail.", "I am tall.")
    assert known_persona(conversation, 2) == ()  # the supporter's, of whom nothing is known


def test_the_persona_is_that_of_the_person_who_is_answered():
    turns = (
        Turn(SEEKER, "hi", author="ann"),
        Turn(SUPPORTER, "hello", author="bob"),
        Turn(SEEKER, "so", author="ann"),
    )
    personas = {
        "ann": Persona((PersonaSentence("I am ann."),)),
        "bob": Persona((PersonaSentence("I am bob."),)),
    }
    found = list(conversation_examples(Conversation("1", turns, personas), ALL))
    assert [example.prompt.persona for example in found] == [("I am ann.",), ("I am bob.",)]


def test_whoever_answers_is_the_supporter():
    turns = (Turn(SEEKER, "hi"), Turn(SUPPORTER, "hello", strategy="Others"), Turn(SEEKER, "so"))
    _, found = conversation_examples(Conversation("1", turns), ALL)
    assert found.prompt.turns == (Turn(SUPPORTER, "hi"), Turn(SEEKER, "hello"))
    assert found.prompt.strategy is None


def test_a_second_message_in_a_row_is_learned_but_answers_nobody():
    turns = (Turn(SEEKER, "hi"), Turn(SUPPORTER, "hello"), Turn(SUPPORTER, "what happened?"))
    found = list(conversation_examples(Conversation("1", turns), ExampleRule(context_turns=None)))
    assert [example.answers for example in found] == [True, False]


@pytest.mark.parametrize(
    ("turns", "response", "fine"),
    [
        ("my cat is lost", "oh no, i hope you find her soon", True),
        ("my cat is lost", "what the hell, you moron", False),
        ("my cat is lost", "you are just so stupid", False),
        ("i feel so stupid and useless", "you are not alone in that", True),
        ("my cat is lost", "shut up already", False),
        ("she sent me nudes", "that sounds strange", False),
        ("my class went well", "a classic assessment, well done", True),  # words within words are no words
        ("my cat is lost", "so sorry _name_", False),
        ("my cat is lost", "see r/cats for more", False),
        ("my cat is lost", ":) :) :) !!!", False),
    ],
)
def test_toxic_and_sexual_pairs_are_not_learned(turns, response, fine):
    assert fit_to_learn([Turn(SEEKER, turns)], response) is fine


def test_only_what_nobody_has_looked_through_is_filtered(tmp_path):
    def talk(source, text):
        return Conversation("1", (Turn(SEEKER, "hi"), Turn(SUPPORTER, text)), source=source)

    lines = [talk("reddit", "what the hell"), talk("reddit", "so sorry"), talk("mine", "what the hell")]
    (tmp_path / "talks.jsonl").write_text("\n".join(each.to_json() for each in lines))
    found = read_examples("talks.jsonl", "train", tmp_path)
    assert sorted(example.response for example in found) == ["so sorry", "what the hell"]


def test_a_reader_sorts_out_what_sounds_hostile():
    class Reader:
        def probabilities(self, head, readings):
            found = np.zeros((len(readings), len(head.labels)))
            for row, reading in enumerate(readings):
                found[row, head.labels.index("anger")] = 0.9 if "lost" in reading.turns[-1].text else 0.1
            return found

    examples = [replace(talks(1)[0], response=text) for text in ("so sorry", "get lost", "tell me")]
    assert [example.response for example in reader_filter(Reader())(examples)] == ["so sorry", "tell me"]


def test_a_corpus_without_answers_is_one_sentence(tmp_path):
    (tmp_path / "talks.jsonl").write_text(Conversation("1", (Turn(SEEKER, "hi"),)).to_json())
    with pytest.raises(AllearsError, match="no turn in it answers another"):
        read_examples("talks.jsonl", "train", tmp_path)


@pytest.mark.parametrize("place", list(PersonaPlace))
@pytest.mark.parametrize("room", [3, 5, 9, 12, 20, 48])
def test_no_row_is_longer_than_its_limit(tmp_path, place, room):
    tokenizer = talk_tokenizer(tmp_path)
    limits = replace(LIMITS, context_tokens=room)
    turns = tuple(
        Turn(
            SUPPORTER if number % 2 else SEEKER,
            "i lost my cat " * 9,
            strategy="Question" if number % 2 else None,
        )
        for number in range(9)
    )
    prompt = Prompt(turns, ("i have a cat in oslo with my dog",) * 9)
    for prompts in ([prompt], [Prompt(())], [prompt, Prompt(turns[:1])]):
        for row in prompt_rows(prompts, tokenizer, limits, place, turns=4):
            assert 1 <= len(row.context[0]) <= room
            assert len(row.context[0]) == len(row.context[1])
            assert len(row.persona[0]) <= 1 + 4 * 9


def test_hard_prompt_puts_the_persona_in_front(tmp_path):
    tokenizer = talk_tokenizer(tmp_path)
    (row,) = prompt_rows([talks(1)[0].prompt], tokenizer, LIMITS, PersonaPlace.IN_FRONT, turns=4)
    text = " ".join(tokenizer.backend.id_to_token(token) for token in row.context[0])
    assert text.startswith(
        "[CLS] persona : i have a boat . i am from oslo . [SEP] dialogue history : [SEP] 3 turns : question [SEP]"
    )
    assert row.persona == ([], [])


def test_past_strategies_are_read(tmp_path):
    tokenizer = talk_tokenizer(tmp_path)
    (row,) = prompt_rows([talks(1)[0].prompt], tokenizer, LIMITS, PersonaPlace.BESIDE, turns=4)
    text = " ".join(tokenizer.backend.id_to_token(token) for token in row.context[0])
    assert "[SEP] [ question ] so sorry" in text
    assert tokenizer.backend.id_to_token(row.persona[0][1]) == "i"


def test_batches_follow_from_seed_and_epoch_and_weights(tmp_path):
    data = dataset_for(small_generator(tmp_path), talks(64))
    data.groups = np.array([0] * 32 + [1] * 32)
    epochs = [data.batches(8, epoch, seed=1, weights=(1.0, 0.5)) for epoch in range(4)]
    assert epochs[1] == data.batches(8, 1, seed=1, weights=(1.0, 0.5))
    assert epochs[0] != epochs[1]
    seen = Counter(row for batches in epochs for batch in batches for row in batch)
    assert {seen[row] for row in range(32)} == {4}
    assert {seen[row] for row in range(32, 64)} == {2}
    assert all(len(batch) == 8 for batches in epochs for batch in batches)
    for batch in epochs[0]:
        lengths = data.context_lengths[batch].tolist()
        assert lengths == sorted(lengths, reverse=True)


def test_a_response_that_is_cut_has_no_end(tmp_path):
    generator = small_generator(tmp_path)
    long, short = replace(talks(1)[0], response="so sorry " * 20), talks(1)[0]
    data = dataset_for(generator, [long, short])
    assert len(data.targets[0]) == 1 + LIMITS.response_tokens
    assert data.targets[0][-1] != generator.tokenizer.end == data.targets[1][-1]
    assert data.fingerprint != dataset_for(generator, [short, long]).fingerprint
