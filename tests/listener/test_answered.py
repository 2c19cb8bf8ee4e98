"""Who writes something like a message that was answered beforehand is told one of its answers, and nobody else is."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from allears.conversation import Persona, Role, Turn
from allears.corpora.files import CorpusError
from allears.listener.answered import Answered, filled, read_answered, shipped_answered
from allears.listener.answered.likeness import Likeness, Near
from allears.listener.answered.proposer import AnsweredProposer, open_vectors, unit
from allears.listener.contract import ANSWERED, Proposal, Request
from allears.listener.pool import read_pool
from allears.listener.ranking import Moment, rank
from allears.runtime.onnx_encoder import EncodedText
from allears.safety.review import review

FLIGHT = Answered(
    ("they cancelled our flight", "our flight is cancelled and we're stuck"),
    ("How annoying. Where are you stuck now?", "So much for the plan. I'm sorry."),
    "hard",
)
PRIZE = Answered(("I won the raffle!",), ("Lucky you!", "How nice. What did you win?"), "good")
CAKE = Answered(("we baked a cake",), ("I like that.", "What kind of {cake|pie} is it?"))
GROUPS = (FLIGHT, PRIZE, CAKE)
VECTORS = unit(np.array([[1, 0, 0.1], [1, 0.2, 0], [0, 1, 0], [0, 0, 1]], np.float32)).astype(np.float16)
HARD, GOOD = 0.0, 1.0  # how good the news are


def proposer() -> AnsweredProposer:
    return AnsweredProposer(GROUPS, VECTORS)


def request(*lines: str, stage: str = "exploration") -> Request:
    turns = tuple(Turn((Role.SEEKER, Role.SUPPORTER)[place % 2], line) for place, line in enumerate(lines))
    return Request(turns, Persona(), (), (), stage, 0)


def nearness(vector: list[float]):
    return proposer().nearness([EncodedText(np.zeros(0), np.zeros((0, 3)), np.array(vector, np.float32))] * 2)


def said_to(
    vector: list[float], good: float = HARD, *lines: str, stage: str = "exploration"
) -> list[Proposal]:
    asked = request(*(lines or ("the flight is off",)), stage=stage)
    return proposer().answers(asked, nearness(vector), good)


# --- who is told what -----------------------------------------------------------------------------------


def test_the_answers_of_the_nearest_message_are_proposed_first():
    found = said_to([1, 0.1, 0.05])
    assert {each.text for each in found[:2]} == set(FLIGHT.answers)
    assert all(each.source == ANSWERED for each in found)


def test_a_question_counts_as_one_and_is_trusted_less():
    tells, asks = said_to([1, 0.1, 0.05])[:2]
    assert (asks.strategy, tells.strategy) == ("Question", "Reflection of feelings")
    assert asks.likely is not None
    assert tells.likely is not None
    assert asks.likely < tells.likely


def test_bad_news_is_not_answered_like_good_news():
    assert not {each.text for each in said_to([0, 1, 0], HARD)} & set(PRIZE.answers)
    assert {each.text for each in said_to([0, 1, 0], GOOD)} & set(PRIZE.answers)


def test_messages_alike_say_whether_the_news_are_good():
    assert proposer().good(nearness([1, 0, 0])) < 0.1
    assert proposer().good(nearness([0, 1, 0])) > 0.9
    assert proposer().good(nearness([0, 0, 1])) == pytest.approx(0.5, abs=0.1)


def test_what_is_like_nothing_has_no_answer():
    assert said_to([-1, -1, -1]) == []


def test_a_kind_of_message_is_answered_once():
    again = said_to([1, 0.1, 0.05], HARD, "the flight is off", FLIGHT.answers[0], "yes, off")
    assert not {each.text for each in again} & set(FLIGHT.answers)


@pytest.mark.parametrize("stage", ["opening", "ending"])
def test_hello_and_goodbye_are_not_answered_so(stage: str):
    assert said_to([1, 0.1, 0.05], stage=stage) == []


def test_the_likelier_an_answer_fits_the_higher_it_ranks():
    proposals = [
        Proposal("I'm sorry.", ANSWERED, likely=-1.0),
        Proposal("How annoying.", ANSWERED, likely=1.5),
    ]
    moment = Moment(request("the flight is off").turns, (), (), "exploration")
    best = rank(proposals, np.zeros(2, np.float32), moment)[0]
    assert best.proposal.text == "How annoying."
    assert any(note.startswith("a message like this was answered so") for note in best.notes)


def test_the_likeness_counts_each_thing_the_way_it_says():
    near, likeness = Near(0.8, 0.7, 0.8), Likeness()
    plain = likeness(near, "That is bad luck.", frozenset())
    assert likeness(Near(0.9, 0.7, 0.8), "That is bad luck.", frozenset()) > plain
    assert likeness(Near(0.8, 0.6, 0.8), "That is bad luck.", frozenset()) < plain
    assert likeness(near, "That is bad luck?", frozenset()) < plain
    assert likeness(near, "That is bad dog.", frozenset()) < plain  # nobody spoke of a dog
    assert likeness(near, "That is bad dog.", frozenset({"dog"})) == pytest.approx(plain)


# --- naming what they named -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("My cat is ill", "Poor cat. How is the cat?"),
        ("my dog and my cat are ill", "Poor dog. How is the dog?"),  # what was named first
        ("I am ill", ""),
        ("the category is ill", ""),  # whole words alone
    ],
)
def test_a_slot_is_what_the_person_named(message: str, expected: str):
    assert filled("poor {dog|cat}. How is the {dog|cat}?", message) == expected


def test_a_slot_may_name_a_list():
    assert filled("I hope your {KIN} is well.", "my mother in law fell") == "I hope your mother is well."
    assert filled("I hope your {PARTNER|boss} is well.", "my boss fell") == "I hope your boss is well."


# --- files ----------------------------------------------------------------------------------------------


def test_a_file_may_hold_answered_messages_and_replies(tmp_path: Path):
    file = tmp_path / "mine.jsonl"
    file.write_text('{"messages": ["a"], "answers": ["b."]}\n\n{"text": "I see."}\n', encoding="utf-8")
    assert read_answered(file) == [Answered(("a",), ("b.",))]
    assert [line.text for line in read_pool(file)] == ["I see."]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"messages": [], "answers": ["b"]}', '"messages" must be a list of one or more texts'),
        ('{"messages": ["a"]}', '"answers" must be a list'),
        ('{"messages": ["a"], "answers": ["b"], "mood": "odd"}', "unknown mood 'odd'"),
        ('{"messages": ["a"], "answers": ["a {DRAGON}."]}', "there is no list 'DRAGON'"),
        ("{", "line 1"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, says: str):
    file = tmp_path / "mine.jsonl"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(CorpusError) as error:
        read_answered(file)
    assert says in str(error.value)
    assert "mine.jsonl" in str(error.value)


class Selector:
    """Encodes a message as its length."""

    fingerprint, calls = "f", 0

    class card:  # noqa: N801
        size = 2

    def encode_contexts(self, queries):
        self.calls += 1
        return [
            type("Text", (), {"vector": np.array([len(each.context[0].text), 1.0])})() for each in queries
        ]


def test_vectors_are_made_once_and_again_after_damage(tmp_path: Path):
    selector = Selector()
    made = open_vectors(GROUPS, selector, folder=tmp_path)  # type: ignore[arg-type]
    assert made.shape == (4, 2)
    assert np.allclose(np.linalg.norm(made.astype(float), axis=1), 1, atol=1e-3)
    assert np.array_equal(open_vectors(GROUPS, selector, folder=tmp_path), made)  # type: ignore[arg-type]
    assert selector.calls == 1
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:100])  # cut short
    assert np.array_equal(open_vectors(GROUPS, selector, folder=tmp_path), made)  # type: ignore[arg-type]
    assert selector.calls == 2
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


# --- what ships -----------------------------------------------------------------------------------------


def test_what_ships_is_well_made():
    wrong = []
    for group in shipped_answered():
        ends = [answer.endswith("?") for answer in group.answers]
        if not 2 <= len(ends) <= 4 or all(ends):
            wrong.append(group.messages[0])
        for answer in group.answers:
            spoken = re.sub(r"\{[^}]*\}", "friend", answer)
            if not (re.search(r"[.!?]$", answer) and len(answer.split()) <= 26 and answer.count("?") <= 1):
                wrong.append(answer)
            if not review(spoken).ok:
                wrong.append(f"{answer} {review(spoken).reasons}")
    assert wrong == []


def test_nothing_that_ships_stands_twice():
    for key in ("messages", "answers"):
        texts = Counter(text.lower() for group in shipped_answered() for text in getattr(group, key))
        assert [text for text, count in texts.items() if count > 1] == []


def test_enough_ships():
    assert len(shipped_answered()) > 3_000


@pytest.mark.corpus
def test_no_message_is_taken_from_a_corpus(data_root: Path):
    from allears.corpora import read

    said = {
        " ".join(re.findall(r"[a-z']+", turn.text.lower()))
        for name in ("ed", "esconv")
        for split in ("train", "valid")
        for conversation in read(name, split, data_root)
        for turn in conversation.turns
    }
    plain = (
        " ".join(re.findall(r"[a-z']+", text.lower()))
        for group in shipped_answered()
        for text in (*group.messages, *group.answers)
    )
    # short everyday sentences ("I love my dog") are everybody's
    assert [text for text in plain if len(text.split()) > 7 and text in said] == []
