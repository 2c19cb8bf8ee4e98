"""Our own corpus: how it is read, the rules it keeps to, and that what ships keeps to them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from allears.conversation import Conversation, Role
from allears.corpora import PAPER_RULES, corpus, examples
from allears.corpora.check import BROKEN, check
from allears.corpora.heads import head
from allears.corpora.talks import Talks, conversation
from allears.corpora.talks.rules import broken_rules, numbers, openings, unsaid
from allears.models.generation.examples import read_examples
from allears.personas.examples import talk_tellings
from allears.training.safety.harmless import everyday_sentences, harmless_talk
from made_up_corpora import TALKS

SPLITS = ("train", "valid", "test")
PUBLISHED = (
    ("ed", "train"), ("ed", "valid"), ("esconv", "train"), ("esconv", "valid"), ("dailydialog", "train"),
    ("personachat", "train"), ("msc", "valid"),
)  # fmt: skip


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Conversation]]:
    empty = tmp_path_factory.mktemp("no-corpora")
    return {split: list(Talks().read(split, empty)) for split in SPLITS}


def everything(shipped: dict[str, list[Conversation]]) -> Iterator[Conversation]:
    return (each for split in SPLITS for each in shipped[split])


def made_up(tmp_path: Path, split: str = "train") -> list[Conversation]:
    return list(Talks().read(split, TALKS.write(tmp_path)))


def test_a_file_of_your_own_goes_before_the_shipped_one(tmp_path: Path):
    assert [each.id for each in made_up(tmp_path)] == ["m-1", "m-2", "m-3"]


def test_facts_from_earlier_talks_are_known_at_once_and_others_from_their_turn_on(tmp_path: Path):
    TALKS.write(tmp_path)
    second = [each for each in read_examples("talks", "train", tmp_path) if "cat" in str(each.prompt.persona)]
    assert [each.prompt.persona for each in second] == [
        ("my cat is called Ada", "i have a fern called Otto")
    ] * 2
    first = made_up(tmp_path)[0]
    later = replace(
        first,
        personas={
            "seeker": replace(
                first.personas["seeker"],
                sentences=(replace(first.personas["seeker"].sentences[0], source="turn 3"),),
            )
        },
    )
    from allears.models.generation.examples import conversation_examples

    known = [len(each.prompt.persona) for each in conversation_examples(later, PAPER_RULES["talks"])]
    assert known == [0, 1]


def test_a_reply_that_misses_is_context_and_never_learned_from(tmp_path: Path):
    record = {
        "id": "m", "emotion": "sad", "situation": "s", "kind": "dissatisfied", "author": "x", "persona": [],
        "turns": [
            {"speaker": "seeker", "text": "my dog is ill"},
            {"speaker": "supporter", "strategy": "Question", "text": "How nice!", "misses": True},
            {"speaker": "seeker", "text": "nice?"},
            {"speaker": "supporter", "strategy": "Others", "text": "No. I got that wrong."},
        ],
    }  # fmt: skip
    talk = conversation(record)
    assert [each.response.text for each in examples([talk], PAPER_RULES["talks"])] == [
        "No. I got that wrong."
    ]
    assert [each.labels for each in head("strategy").readings([talk])] == [("Others",)]


def test_each_turn_tells_what_its_author_noted(tmp_path: Path):
    tellings = talk_tellings("train", TALKS.write(tmp_path))
    assert [each.persona for each in tellings] == [
        "i have a fern called Otto", "", "i have a fern called Otto", "", "", "",
    ]  # fmt: skip


def test_what_the_crisis_screen_learns_as_harmless_is_what_the_seekers_say(tmp_path: Path):
    root = TALKS.write(tmp_path)
    assert everyday_sentences("train", root) == ["my fern Otto grew to my knee"]  # of some length, each once
    readings = harmless_talk("train", 100, root=root)
    assert len(readings) == 6  # two messages of each
    assert {reading.label for reading in readings} == {"none"}
    assert {reading.turns[-1].speaker for reading in readings} == {Role.SEEKER}
    assert {len(reading.turns) for reading in readings} == {1, 3}
    assert all(turn.strategy is None for reading in readings for turn in reading.turns)


def test_half_of_a_sample_of_harmless_messages_sounds_dark(tmp_path: Path):
    root = TALKS.write(tmp_path)
    path = root / TALKS.main
    first, *others = path.read_text(encoding="utf-8").splitlines()
    first = first.replace('"kind": "ordinary"', '"kind": "sounds dark"')
    path.write_text("\n".join([first, *others]) + "\n", encoding="utf-8")
    readings = harmless_talk("train", 4, root=root)
    assert [reading.conversation == "m-1" for reading in readings] == [True, True, False, False]
    assert harmless_talk("train", 4, root=root) == readings
    assert harmless_talk("train", 4, seed=1, root=root) != readings


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"kind": "merry"}, "unknown kind 'merry'"),
        ({"persona": [{"text": "i have a fern", "turn": 2}]}, "a turn of the seeker's, got 2"),
        ({"turns": [{"speaker": "supporter", "text": "Hi"}]}, "turn 1 must be the seeker's"),
        ({"author": " "}, "'author' is empty"),
    ],
)
def test_a_wrong_record_says_which_key(change: dict, sentence: str):
    import json

    good = json.loads(TALKS.files[TALKS.main].splitlines()[0])
    with pytest.raises(ValueError, match=re.escape(sentence)):
        conversation(good | change)


@pytest.mark.parametrize(
    ("said", "reply", "expected"),
    [
        ("my son luis starts school", "So Luis starts on Monday.", ["Monday"]),
        ("on mon, at 3pm", "Monday at three, then.", []),
        ("34 people", "All thirty-four of them.", []),
        ("four hundred euros", "That's 400 gone.", []),
        ("we lost 1,200", "Losing 1200 hurts.", []),
        ("the third time", "Three times, and each one counts.", []),
        ("i have a dog", "So the dog is 9, I think.", ["9"]),
        ("my boss", "I think I'd ask Rosa's brother.", ["Rosa's"]),
    ],
)
def test_names_and_numbers_that_nobody_said_are_found(said: str, reply: str, expected: list[str]):
    assert unsaid(reply, said) == expected


def test_numbers_are_read_in_digits_and_words():
    assert numbers("twenty-one, 3rd, 2k, two hundred and five") == {21, 3, 2000, 205}


def test_openings_are_counted_the_commonest_first():
    assert next(iter(openings(["You did it.", "You did it again.", "Oh no."]).items())) == ("you did it", 2)


def test_a_broken_rule_is_a_problem_of_data_check(tmp_path: Path):
    TALKS.write(tmp_path)
    path = tmp_path / TALKS.main
    path.write_text(
        path.read_text().replace("Three cups every Monday", "Nine cups every Monday"), encoding="utf-8"
    )
    report = next(iter(check(corpus("talks"), tmp_path)))
    assert report.status == BROKEN
    assert "turn 4 names what nobody said: 9" in report.problems[0]


# --- what ships


def test_what_ships_keeps_every_rule(shipped: dict[str, list[Conversation]]):
    assert [f"{each.id}: {rule}" for each in everything(shipped) for rule in broken_rules(each)] == []


def test_no_author_is_in_two_splits_and_no_id_is_used_twice(shipped: dict[str, list[Conversation]]):
    authors = {split: {each.labels["author"] for each in shipped[split]} for split in SPLITS}
    assert sum(map(len, authors.values())) == len(set.union(*authors.values()))
    ids = [each.id for each in everything(shipped)]
    assert len(ids) == len(set(ids))


def test_what_sounds_dark_and_what_is_sad_are_there_in_number(shipped: dict[str, list[Conversation]]):
    kinds = Counter(each.labels["kind"] for each in everything(shipped))
    assert kinds["sounds dark"] >= 600
    assert kinds["sad, not in danger"] >= 350


@pytest.mark.corpus
def test_no_sentence_of_a_published_corpus_is_in_it(shipped: dict[str, list[Conversation]], data_root: Path):
    """Sentences of nine words or more: shorter ones are everybody's."""
    published = {
        sentence
        for name, split in PUBLISHED
        for talk in corpus(name).read(split, data_root)
        for turn in talk.turns
        for sentence in _sentences(turn.text)
    }
    assert len(published) > 100_000
    ours = {
        sentence: each.id
        for each in everything(shipped)
        for turn in each.turns
        if turn.speaker is Role.SUPPORTER
        for sentence in _sentences(turn.text)
    }
    assert {sentence: ours[sentence] for sentence in ours.keys() & published} == {}


def _sentences(text: str) -> Iterator[str]:
    for part in re.split(r"[.!?]+\s", text.lower()):
        words = re.findall(r"\w+", part)
        if len(words) >= 9:
            yield " ".join(words)
