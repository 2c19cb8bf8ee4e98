"""A study's file: the shipped ones are read, new ones are made of blocks, and a mistake is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_making import CHAT, COLLECT, LIKERT, PREFERENCE, TOP, system, write_study

from allears.errors import AllearsError
from allears.study.blocks import ChoiceQuestion, Likert, Preference
from allears.study.design import SHIPPED
from allears.study.design_file import parse_design, read_design, shipped_design


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_design_is_read(name: str):
    design = parse_design(shipped_design(name), name)
    assert design.title
    assert design.consent.text


def test_the_likert_design_asks_what_the_papers_ask():
    design = parse_design(shipped_design("likert"))
    assert [question.key for question in design.questions] == ["empathy", "relevance", "fluency"]
    assert all(
        isinstance(each, Likert) and each.points == 5 and set(each.anchors) == {"1", "3", "5"}
        for each in design.questions
    )
    assert design.raters.units == 10  # ED's sets of ten


def test_the_preference_design_has_three_raters_and_a_fourth():
    design = parse_design(shipped_design("preference"))
    assert (design.raters.per_unit, design.raters.fourth) == (3, "better")
    assert isinstance(design.questions[0], Preference)
    assert design.questions[0].tie


def test_the_interactive_design_asks_for_pals_six_aspects():
    design = parse_design(shipped_design("interactive"))
    asked = [question.key for question in design.questions]
    assert asked == ["coherence", "identification", "comforting", "suggestion", "information", "overall"]
    assert design.chat is not None
    assert design.chat.systems == 2


def test_the_persona_judgement_asks_other_for_a_reason():
    (question,) = parse_design(shipped_design("persona-judgement")).questions
    assert isinstance(question, ChoiceQuestion)
    assert {option.key: option.reason for option in question.options} == {
        "reasonable": False,
        "contradictory": False,
        "hallucinatory": False,
        "other": True,
    }


def test_the_collecting_design_is_that_of_the_paper():
    design = parse_design(shipped_design("collect"))
    assert design.describe is not None
    assert design.paired_chat is not None
    assert (design.describe.offered, len(design.describe.emotions)) == (3, 32)
    assert (design.paired_chat.least, design.paired_chat.most, design.paired_chat.most_talks) == (4, 8, 100)


def test_a_new_design_is_made_of_blocks_without_code():
    design = parse_design(
        TOP
        + """
[[blocks]]
type = "text"
text = "A word before."
[[blocks]]
type = "persona"
[[blocks]]
type = "replies"
systems = 2
[[blocks]]
type = "likert"
key = "warmth"
text = "How warm?"
points = 7
anchors = { 1 = "cold", 7 = "warm" }
[[blocks]]
type = "free"
key = "comment"
text = "Anything else?"
"""
        + system("one")
        + system("two")
    )
    assert design.shown_systems == 2
    assert [type(block).__name__ for block in design.blocks] == [
        "TextBlock",
        "PersonaSentences",
        "Replies",
        "Likert",
        "Free",
    ]


WRONG = {
    "unknown key rater; did you mean 'raters'?": TOP + LIKERT + "[rater]\nper_unit = 3\n",
    "unknown key raters.per_units; did you mean 'per_unit'?": TOP + LIKERT + "[raters]\nper_units = 3\n",
    "raters.per_unit must be a whole number, got '3'": TOP + LIKERT + '[raters]\nper_unit = "3"\n',
    "raters.per_unit must be 1 or more": TOP + LIKERT + "[raters]\nper_unit = 0\n",
    "blocks[1].type must be one of text, situation": TOP + '[[blocks]]\ntype = "liket"\n',
    "unknown key blocks[1].ankors; did you mean 'anchors'?": TOP
    + '[[blocks]]\ntype = "likert"\nkey = "a"\ntext = "b"\nankors = {}\n',
    "blocks[1] needs a line `key = ...`": TOP + '[[blocks]]\ntype = "likert"\ntext = "b"\n',
    "blocks[a] has an anchor at '9', which is no point of its scale": TOP
    + '[[blocks]]\ntype = "likert"\nkey = "a"\ntext = "b"\nanchors = { 9 = "x" }\n',
    "asks for a preference, which needs a block that shows two systems": TOP
    + '[[blocks]]\ntype = "preference"\nkey = "a"\ntext = "b"\n',
    "is the key of two questions": TOP + LIKERT + '[[blocks]]\ntype = "free"\nkey = "empathy"\ntext = "b"\n',
    "blocks ask nothing": TOP + '[[blocks]]\ntype = "conversation"\n',
    "blocks show systems twice": TOP + LIKERT + '[[blocks]]\ntype = "replies"\n',
    "need both describe and paired-chat": TOP + '[[blocks]]\ntype = "describe"\ntext = "b"\n',
    "make that a second study": TOP + COLLECT + '[[blocks]]\ntype = "free"\nkey = "a"\ntext = "b"\n',
    "needs exactly one of outputs, run, bundle, voice, endpoint, gold": TOP
    + LIKERT
    + '[[systems]]\nname = "x"\n',
    "is called 'x' like another": TOP + LIKERT + system("x") + system("x"),
    "cannot chat with those": TOP + CHAT + system("x"),
    "set last_reply = true under [items]": TOP + LIKERT + '[[systems]]\nname = "x"\ngold = true\n',
    "needs the endpoint's `model`": TOP + LIKERT + '[[systems]]\nname = "x"\nendpoint = "http://a/v1"\n',
    "pairs name a system 'y' that is not there": 'pairs = [["x", "y"]]\n' + TOP + PREFERENCE + system("x"),
    "raters.fourth names 'empathy', which is no preference or choice": TOP
    + LIKERT
    + '[raters]\nfourth = "empathy"\n',
    "analysis.reference names a system 'y'": TOP + LIKERT + system("x") + '[analysis]\nreference = "y"\n',
    "checks come every few units but there are none": TOP + LIKERT + "[checks]\nevery = 5\n",
    "checks.items[1].replies must list as many as a unit shows: 1": TOP
    + LIKERT
    + "[checks]\nevery = 5\n[[checks.items]]\nexpect = { empathy = 1 }\n",
    "which is no question of this study": TOP
    + LIKERT
    + '[checks]\nevery = 5\n[[checks.items]]\nreplies = ["a"]\nexpect = { warmth = 1 }\n',
    "not a TOML file": "title = ",
    "a study needs a table [consent]": 'title = "a"\n' + LIKERT,
    "needs a line `title = ...`": LIKERT,
}


@pytest.mark.parametrize("sentence", WRONG)
def test_a_mistake_is_one_sentence_with_the_file_and_the_key(sentence: str):
    with pytest.raises(AllearsError) as caught:
        parse_design(WRONG[sentence], "my/study.toml")
    assert str(caught.value).startswith("my/study.toml: ")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value).split(" (")[0]


def test_a_folder_without_a_study_says_how_to_begin_one(tmp_path: Path):
    with pytest.raises(AllearsError, match="allears study new likert"):
        read_design(tmp_path)


def test_a_study_is_called_like_its_folder(tmp_path: Path):
    assert read_design(write_study(tmp_path / "eggs", LIKERT, systems=["one"])).name == "eggs"
