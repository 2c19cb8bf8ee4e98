"""What the empathetic generators read: labels, the responder's persona, labels in front, limits."""

from __future__ import annotations

import pytest
from empathetic_models import LIMITS, felt_talks

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora import ExampleRule
from allears.labels import DAILY_ACTS, ED_EMOTIONS, ED_GROUPS, INTENTS, MECHANISMS
from allears.models.generation.empathetic import NOT_KNOWN
from allears.models.generation.empathetic_data import EmpatheticDataset, EmpatheticLayout
from allears.models.generation.empathetic_saved import word_vocabulary
from allears.models.generation.examples import GenerationExample, conversation_examples
from allears.runtime.generator import Prompt

ALL = ExampleRule(context_turns=None)


def talk(**changes):
    turns = (
        Turn(Role.SEEKER, "my bicycle is gone", author="a"),
        Turn(Role.SUPPORTER, "oh no, I walk to work myself", author="b", intent="sympathizing"),
    )
    known = ("i walk to work", "i have two cats", "  ")
    personas = {"b": Persona(tuple(map(PersonaSentence, known))), "a": Persona((PersonaSentence("i ride"),))}
    return Conversation("1", **{"turns": turns, "personas": personas, "emotion": "sad", **changes})


def test_an_example_knows_both_personas_but_not_what_the_response_says():
    (example,) = conversation_examples(talk(), ALL)
    assert example.prompt.persona == ("i ride",)
    assert example.prompt.own_persona == ("i have two cats",)


def test_an_example_carries_its_labels():
    levels = {name: {"level": number} for number, name in enumerate(MECHANISMS)}
    labels = {**levels, "acts_by_turn": ["inform", "question"]}
    (example,) = conversation_examples(talk(labels=labels), ALL)
    assert example.labels.emotion == "sad"
    assert example.labels.intent == "sympathizing"
    assert example.labels.act == "inform"  # of the turn before
    assert example.labels.mechanisms == (0, 1, 2)


def test_labels_of_other_sets_are_none():
    turns = (Turn(Role.SEEKER, "hello"), Turn(Role.SUPPORTER, "hello you", intent="inform"))
    (example,) = conversation_examples(talk(turns=turns, emotion="surprise"), ALL)
    assert example.labels.emotion is None
    assert example.labels.intent is None
    assert example.labels.mechanisms is None


def test_levels_of_longer_talks_are_those_of_the_response():
    turns = (
        Turn(Role.SEEKER, "a"),
        Turn(Role.SUPPORTER, "b"),
        Turn(Role.SEEKER, "c"),
        Turn(Role.SUPPORTER, "d"),
    )
    by_turn = [{}, *[{name: {"level": level} for name in MECHANISMS} for level in (1, 0, 2)]]
    found = list(conversation_examples(talk(turns=turns, labels={"mechanisms_by_turn": by_turn}), ALL))
    assert [example.labels.mechanisms for example in found] == [(1, 1, 1), (2, 2, 2)]


def dataset(examples, **layout):
    texts = [
        text for each in examples for text in (*(turn.text for turn in each.prompt.turns), each.response)
    ]
    vocabulary = word_vocabulary().fit([*texts, *(s for each in examples for s in each.prompt.own_persona)])
    return EmpatheticDataset(examples, vocabulary, EmpatheticLayout(LIMITS, **layout)), vocabulary


def words_of(vocabulary, ids, mask):
    return [
        vocabulary.words_[number] for number, real in zip(ids.tolist(), mask.tolist(), strict=True) if real
    ]


def test_a_batch_says_who_said_what_and_how_it_ends():
    examples = felt_talks(4)
    data, vocabulary = dataset(examples, persona=True)
    batch = data.batch([1, 0])
    context = words_of(vocabulary, batch.context.ids[0], batch.context.mask[0])
    assert context[0] == "<start>"
    assert context.count("<end>") == 3
    speakers = batch.context.segments[0][batch.context.mask[0].bool()].tolist()
    told = len(vocabulary.encode_many(["tell me more"])[0])
    assert sum(speakers) == told + 1  # the supporter's words and their end
    target = words_of(vocabulary, batch.targets[0], batch.mask[0])
    assert target[-1] == "<end>"
    assert words_of(vocabulary, batch.persona.ids[0], batch.persona.mask[0])[1:3] == ["i", "have"]
    assert not batch.persona.mask[1].any()  # nobody's persona


def test_labels_are_numbers_and_unknown_ones_are_marked():
    examples = felt_talks(1)
    data, _ = dataset([*examples, GenerationExample(examples[0].prompt, "yes")])
    batch = data.batch([0, 1])
    assert ED_EMOTIONS[int(batch.emotion[0])] == examples[0].labels.emotion
    assert DAILY_ACTS[int(batch.act[0])] == examples[0].labels.act
    assert INTENTS[int(batch.intent[0])] == examples[0].labels.intent
    assert batch.mechanisms[0].tolist() == list(examples[0].labels.mechanisms)
    assert batch.emotion[1] == batch.act[1] == batch.intent[1] == NOT_KNOWN
    assert batch.mechanisms[1].tolist() == [NOT_KNOWN] * 3
    grouped, _ = dataset(examples, emotions=16)
    assert ED_GROUPS[int(grouped.batch([0]).emotion[0])] == "proud+impressed"


def test_a_response_that_is_cut_has_no_end():
    example = GenerationExample(Prompt((Turn(Role.SEEKER, "and"),)), "on and on " * 10)
    data, vocabulary = dataset([example])
    assert len(data.targets[0]) == LIMITS.response_tokens
    assert vocabulary.end not in data.targets[0]


class Proud:
    """Finds "proud" in everything, then "joyful"."""

    def probabilities(self, head, readings):
        import numpy as np

        found = np.zeros((len(readings), len(head.labels)))
        found[:, head.labels.index("proud")], found[:, head.labels.index("joyful")] = 0.7, 0.2
        return found


@pytest.mark.parametrize(("count", "front"), [(1, ["proud"]), (2, ["proud", "joyful"])])
def test_labels_stand_in_front_of_the_context(count, front):
    from allears.models.generation.prepend import Prepend

    examples = felt_talks(4)
    prepend = Prepend("emotion", count, "made up", Proud())
    texts = [
        text for each in examples for text in (*(turn.text for turn in each.prompt.turns), each.response)
    ]
    vocabulary = word_vocabulary().fit([*texts, *prepend.words])
    data = EmpatheticDataset(examples, vocabulary, EmpatheticLayout(LIMITS, prepend=prepend))
    plain = EmpatheticDataset(examples, vocabulary, EmpatheticLayout(LIMITS))
    shown, bare = data.batch([1]).context, plain.batch([1]).context
    assert words_of(vocabulary, shown.ids[0], shown.mask[0]) == [
        "<start>", *front, *words_of(vocabulary, bare.ids[0], bare.mask[0])[1:],
    ]  # fmt: skip


def test_retrieval_models_read_labels_in_contexts_and_candidates():
    from allears.models.generation.prepend import Prepend

    prepend = Prepend("emotion", 2, "made up", Proud())
    assert prepend.in_front(["well done"]) == ["proud joyful well done"]
    turns = (Turn(Role.SEEKER, "I did it"), Turn(Role.SUPPORTER, "tell me"))
    ((first, second),) = prepend.contexts([turns])
    assert (first.text, second.text) == ("proud joyful I did it", "tell me")
    assert prepend.contexts([()]) == [()]


def test_the_fingerprint_follows_texts_and_labels():
    from dataclasses import replace

    examples = felt_talks(3)
    whole, _ = dataset(examples)
    other, _ = dataset([*examples[:2], replace(examples[2], labels=examples[1].labels)])
    assert whole.fingerprint == dataset(examples)[0].fingerprint
    assert whole.fingerprint != other.fingerprint
