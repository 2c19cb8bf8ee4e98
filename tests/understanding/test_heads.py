"""Every head finds its readings in its corpus, and says clearly when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from allears.conversation import Conversation, Role, Turn
from allears.corpora.heads import HEADS, head, held_out, strategy_reading
from allears.errors import AllearsError
from allears.labels import ED_EMOTIONS, STRATEGIES
from made_up_corpora import (
    BUILT_IN,
    CRISIS,
    DAILY_DIALOG,
    ED,
    ED_INTENTS,
    EPITOME,
    ESCONV,
    GOEMOTIONS,
    NEWSGROUPS,
)

PLACE = {
    "ed-emotion": ED, "ed-emotion-turns": ED, "ed-emotion-16": ED, "ed-polarity": ED, "ed-emotion-cut": ED,
    "goemotions": GOEMOTIONS, "dailydialog-act": DAILY_DIALOG, "dailydialog-emotion": DAILY_DIALOG,
    "intent": ED_INTENTS, "strategy": ESCONV, "topic": NEWSGROUPS, "epitome-emotional-reactions": EPITOME,
    "epitome-interpretations": EPITOME, "epitome-explorations": EPITOME,
    "danger": CRISIS, "whose": CRISIS, "all-clear": CRISIS,
}  # fmt: skip


def found(name: str, root: Path) -> list[tuple[str, tuple[str, ...]]]:
    made_up = PLACE[name]
    conversations = made_up.reader().read(made_up.split, made_up.write(root))
    return [(reading.text, reading.labels) for reading in head(name).readings(conversations)]


def test_every_head_is_tried_here():
    assert set(PLACE) == set(HEADS) - {"risk"}  # whose cases ship with us


def test_risk_is_read_from_the_cases_that_ship(tmp_path: Path):
    for split, least in (("train", 800), ("valid", 200), ("test", 400)):
        readings = head("risk").read(split, tmp_path)
        assert len(readings) >= least
        assert {reading.label for reading in readings} == set(head("risk").labels)
    with pytest.raises(AllearsError, match="risk-cases has no split 'late'"):
        head("risk").read("late", tmp_path)


@pytest.mark.parametrize("name", ["danger", "whose", "all-clear"])
@pytest.mark.parametrize(("split", "least"), [("train", 500), ("valid", 100), ("test", 100)])
def test_the_heads_of_the_screen_are_read_from_the_talks_that_ship(
    name: str, split: str, least: int, tmp_path: Path
):
    readings = head(name).read(split, tmp_path)
    assert len(readings) >= least
    assert {reading.label for reading in readings} == set(head(name).labels)
    assert all(reading.turns[-1].speaker is Role.SEEKER for reading in readings)


def crisis_talk(
    *levels: str | None, danger: str = "abuse", whose: str = "own", shape: str = ""
) -> Conversation:
    """A talk whose messages have these levels, each answered but the last."""
    turns = [
        turn
        for number in range(len(levels))
        for turn in (Turn(Role.SEEKER, f"s{number}"), Turn(Role.SUPPORTER, f"p{number}"))
    ][:-1]
    told = [level for each in levels for level in (each, None)][:-1]
    labels = {"danger": danger, "whose": whose, "levels": told, "shape": shape}
    return Conversation("c", tuple(turns), labels=labels)


def of(name: str, talk: Conversation) -> list[tuple[str, str]]:
    return [(reading.text, reading.label) for reading in head(name).readings([talk])]


def test_the_danger_of_a_message_is_read_with_all_that_was_said_before_it(tmp_path: Path):
    assert found("danger", tmp_path)[:3] == [
        ("the bus was late", ("none",)),
        ("the bus was late How late? late enough to think about the bridge", ("doubt",)),
        (
            "the bus was late How late? late enough to think about the bridge Are you thinking of ending your life?"
            " yes, tonight",
            ("suicide",),
        ),
    ]
    assert found("danger", tmp_path)[3:] == [("yes, tonight", ("abuse",))]  # an answer has no level
    (_, second, _) = head("danger").readings([crisis_talk("none", "clear", "none")])
    assert (second.conversation, second.position, len(second.turns)) == ("c", 2, 3)


def test_a_message_is_named_by_the_danger_of_its_talk_only_where_it_is_clear():
    talk = crisis_talk("none", "doubt", "clear", danger="overdose")
    assert [label for _, label in of("danger", talk)] == ["none", "doubt", "overdose"]


def test_whose_danger_it_is_is_asked_of_messages_that_speak_of_one():
    assert of("whose", crisis_talk("none", "doubt", "clear", whose="other")) == [
        ("s0 p0 s1", "other"),
        ("s0 p0 s1 p1 s2", "other"),
    ]
    assert of("whose", crisis_talk("none", "none", danger="none")) == []


def test_an_all_clear_is_an_answer_to_our_question_and_danger_is_none(tmp_path: Path):
    assert found("all-clear", tmp_path)[-1] == (
        "Are you thinking of ending your life? no, of the bus",
        ("yes",),
    )
    not_clear = Conversation("c", (Turn(Role.SEEKER, "both"),), labels={"danger": "abuse", "answer": "not"})
    assert of("all-clear", not_clear) == [("both", "no")]
    # first messages answer nothing; harmless ones in the middle of a talk say nothing either way
    assert of("all-clear", crisis_talk("doubt", "none", "clear")) == [("s0 p0 s1 p1 s2", "no")]
    assert of("all-clear", crisis_talk("doubt", "none", danger="none", shape="answered no")) == [
        ("s0 p0 s1", "yes")
    ]
    assert of("all-clear", crisis_talk("doubt", "none", "none", danger="none", shape="answered no")) == [
        ("s0 p0 s1 p1 s2", "yes")
    ]
    assert of("all-clear", crisis_talk("none", "none", danger="none")) == []


@pytest.mark.parametrize("name", PLACE)
def test_a_head_belongs_to_a_corpus_that_exists_and_gives_its_own_labels(name: str, tmp_path: Path):
    assert head(name).corpus in BUILT_IN
    readings = found(name, tmp_path)
    assert readings
    assert {label for _, labels in readings for label in labels} <= set(head(name).labels)


def test_the_emotion_is_read_from_the_description(tmp_path: Path):
    assert found("ed-emotion", tmp_path) == [
        ("My plant grew, at last.", ("proud",)),
        ("Nobody came.", ("lonely",)),
        ("The lift stopped.", ("afraid",)),
    ]


def test_or_from_everything_the_seeker_says_and_nothing_else(tmp_path: Path):
    assert found("ed-emotion-turns", tmp_path)[0] == ("My fern grew, finally! Up to my knee.", ("proud",))


def test_emotions_in_groups_and_sides(tmp_path: Path):
    assert [labels for _, labels in found("ed-emotion-16", tmp_path)] == [
        ("proud+impressed",),
        ("lonely",),
        ("afraid+terrified+anxious",),
    ]
    assert [labels for _, labels in found("ed-polarity", tmp_path)] == [
        ("positive",),
        ("negative",),
        ("negative",),
    ]


def test_ed_cut_leaves_out_descriptions_with_their_own_label():
    def about(situation: str) -> Conversation:
        return Conversation("c", (Turn(Role.SEEKER, "Hi."),), emotion="sad", situation=situation)

    talks = [about("I was so SAD."), about("A sadness came."), about("It rained.")]
    assert [reading.text for reading in head("ed-emotion-cut").readings(talks)] == [
        "A sadness came.",
        "It rained.",
    ]


def test_a_comment_keeps_all_its_emotions(tmp_path: Path):
    assert found("goemotions", tmp_path)[1] == ('She said "no" twice.', ("anger", "sadness"))


def test_utterances_without_a_label_are_left_out(tmp_path: Path):
    acts = found("dailydialog-act", tmp_path)
    assert acts[0] == ("Is this seat free ?", ("question",))
    assert "We must run ." not in [text for text, _ in acts]  # the file has an act too few there


def test_intents_are_the_supporters_and_an_emotion_is_none(tmp_path: Path):
    root = ED_INTENTS.write(tmp_path)
    path = root / ED_INTENTS.main
    path.write_text(path.read_text().replace('"consoling"', '"lonely"'))
    readings = head("intent").readings(ED_INTENTS.reader().read("train", root))
    assert [(reading.text, reading.label) for reading in readings] == [
        ("How tall is it?", "questioning"),
        ("You did well.", "encouraging"),
        ("Did help come?", "questioning"),
    ]


def test_the_strategy_is_read_from_the_turns_before_with_past_strategies_shown(tmp_path: Path):
    readings = found("strategy", tmp_path)
    assert readings[0] == ("1 turns: I lost my umbrella.", ("Reflection of feelings",))
    assert readings[1] == (
        "2 turns: reflect I lost my umbrella. [Reflection of feelings] Oh no.",
        ("Question",),
    )
    assert readings[2][0].startswith("5 turns: question reflect ")
    assert readings[2][0].endswith("[Question] Where was it? On the train. It was red.")


def test_of_six_turns_the_strategy_head_reads_the_words_and_of_all_others_the_strategies():
    strategies = [*STRATEGIES, "Question"]
    turns = tuple(
        turn
        for number, strategy in enumerate(strategies)
        for turn in (Turn(Role.SEEKER, f"s{number}"), Turn(Role.SUPPORTER, f"p{number}", strategy=strategy))
    )
    *_, last = head("strategy").readings([Conversation("c", turns)])
    assert [turn.text for turn in last.turns] == ["p5", "s6", "p6", "s7", "p7", "s8"]
    assert last.position == 17
    assert last.so_far == "17 turns: other inform suggest reassure share reflect repeat question"


def test_a_running_conversation_is_read_as_one_of_the_corpus():
    turns = tuple(
        Turn(Role.SUPPORTER, str(number), author="me", strategy="Question")
        if number % 2
        else Turn(Role.SEEKER, str(number), author="you")
        for number in range(10)
    )
    *_, last = head("strategy").readings([Conversation("c", turns)])
    running = strategy_reading(turns[:9])
    assert (running.turns, running.earlier, running.text) == (last.turns, last.earlier, last.text)
    assert strategy_reading([]).so_far == "0 turns:"


def test_other_heads_are_not_told_how_far_a_conversation_is(tmp_path: Path):
    for name in set(PLACE) - {"strategy"}:
        made_up = PLACE[name]
        conversations = made_up.reader().read(made_up.split, made_up.write(tmp_path / name))
        assert all(reading.so_far is None for reading in head(name).readings(conversations))


def test_a_mechanism_is_read_from_the_pair_with_its_rationales(tmp_path: Path):
    conversations = EPITOME.reader().read("train", EPITOME.write(tmp_path))
    first, *_ = head("epitome-emotional-reactions").readings(conversations)
    assert [turn.speaker for turn in first.turns] == [Role.SEEKER, Role.SUPPORTER]
    assert (first.labels, first.rationales) == (("2",), ("I am so sorry",))


def test_a_corpus_without_a_valid_split_has_a_tenth_held_out(tmp_path: Path):
    posts = [json.dumps({"label": "rec.autos", "text": f"Car number {number}."}) for number in range(400)]
    (tmp_path / "20news").mkdir()
    (tmp_path / "20news" / "train.jsonl").write_text("\n".join([*posts, *posts]) + "\n")  # every post twice
    train, valid = (head("topic").read(split, tmp_path) for split in ("train", "valid"))
    assert len(train) + len(valid) == 800
    assert 40 < len(valid) < 140
    assert not {reading.text for reading in train} & {reading.text for reading in valid}


def test_held_out_is_the_same_on_every_machine():
    talks = [Conversation(str(n), (Turn(Role.SEEKER, f"post {n}"),)) for n in range(40)]
    assert [n for n, talk in enumerate(talks) if held_out(talk)] == [0, 3, 15, 17]


def test_probabilities_of_a_group_are_the_sum_of_its_members():
    likely = np.zeros((1, 32))
    likely[0, [ED_EMOTIONS.index("afraid"), ED_EMOTIONS.index("anxious"), ED_EMOTIONS.index("proud")]] = (
        0.5,
        0.2,
        0.3,
    )
    groups = head("ed-emotion-16")
    assert dict(zip(groups.labels, groups.from_base(likely)[0], strict=True))["afraid+terrified+anxious"] == (
        pytest.approx(0.7)
    )
    assert head("ed-polarity").from_base(likely).tolist() == [[pytest.approx(0.3), pytest.approx(0.7)]]
    assert head("ed-emotion-cut").from_base(likely) is likely


def test_an_unknown_head_is_named_with_the_nearest():
    with pytest.raises(AllearsError, match=r"unknown head 'ed-emotions'; did you mean 'ed-emotion'"):
        head("ed-emotions")
    with pytest.raises(AllearsError, match="known are ed-emotion, "):
        head("zzzzz")


def test_an_unknown_label_in_a_file_is_named_with_its_conversation():
    talk = Conversation(
        "talk-7", (Turn(Role.SEEKER, "Hi."),), emotion="purple", situation="It rained.", source="own"
    )
    with pytest.raises(
        AllearsError, match=r"own 'talk-7': unknown label 'purple' for the head ed-emotion; known"
    ):
        list(head("ed-emotion").readings([talk]))
    with pytest.raises(AllearsError, match="unknown label 'purple'"):
        list(head("ed-emotion-16").readings([talk]))


def test_a_corpus_without_the_labels_is_refused_with_what_the_head_reads(tmp_path: Path):
    own = tmp_path / "own.jsonl"
    own.write_text('{"id": "a", "turns": [{"speaker": "seeker", "text": "Hi."}]}\n')
    with pytest.raises(
        AllearsError, match="nothing labelled for the head ed-emotion, which reads the description"
    ):
        head("ed-emotion").read("valid", tmp_path, corpus=str(own))
