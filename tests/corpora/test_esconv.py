from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from allears.conversation import PersonaSentence, Role, Turn
from allears.corpora import CorpusError, read
from allears.labels import STRATEGIES
from made_up_corpora import (
    ESCONV,
    ESCONV_FAILED,
    PESCONV,
    SUPPORT_TALKS,
    asks,
    json_array,
    support_talk,
    write_bytes,
)


def read_text(tmp_path: Path, text: str, **more: Any):  # type: ignore[no-untyped-def]
    write_bytes(tmp_path / "train.json", text.encode())
    return list(read("esconv", "train", tmp_path, **more))


def test_strategies_feedback_and_facts_are_kept(tmp_path: Path):
    first = next(read("esconv", "train", ESCONV.write(tmp_path)))
    assert first.turns[1] == Turn(Role.SUPPORTER, "Oh no.", strategy="Reflection of feelings")
    assert first.turns[3] == Turn(Role.SEEKER, "On the train.", feedback=5)
    assert (first.emotion, first.problem) == ("sadness", "lost umbrella")
    assert first.situation == "I left my umbrella on the train."
    assert first.labels == {"experience_type": "Current Experience"}
    assert first.id == "esconv-train-0"


def test_survey_scores_are_flat_numbers_and_unanswered_ones_are_left_out(tmp_path: Path):
    first = next(read("esconv", "train", ESCONV.write(tmp_path)))
    assert first.survey == {"seeker_empathy": 4.0, "seeker_relevance": 5.0}
    assert all(isinstance(score, float) for score in first.survey.values())


def test_the_official_single_file_is_the_split_all(tmp_path: Path):
    write_bytes(tmp_path / "ESConv.json", json_array(*SUPPORT_TALKS).encode())
    found = list(read("esconv", "all", tmp_path))
    assert [talk.split for talk in found] == ["all"] * 3


def test_failed_conversations_have_our_roles_and_the_eight_strategies(tmp_path: Path):
    first = next(read("esconv-failed", "failed", ESCONV_FAILED.write(tmp_path)))
    assert first.id == "failed_0"
    assert first.turns[0] == Turn(Role.SEEKER, "Hi")  # without the line end of the file
    assert [turn.strategy for turn in first.turns[1:]] == [
        "Question",
        "Providing Suggestions",
        "Restatement or Paraphrasing",
        "Affirmation and Reassurance",
        "Others",
    ]
    assert {turn.speaker for turn in first.turns[1:]} == {Role.SUPPORTER}


def test_the_official_name_of_the_failed_conversations_is_known(tmp_path: Path):
    write_bytes(tmp_path / "FailedESConv.json", ESCONV_FAILED.files["esconv/failed.json"].encode())
    assert len(list(read("esconv-failed", "failed", tmp_path))) == 3


def test_persona_sentences_know_the_turn_they_were_first_inferred_after(tmp_path: Path):
    first = next(read("pesconv", "valid", PESCONV.write(tmp_path)))
    assert first.personas["seeker"].sentences == (
        PersonaSentence("i sell bread.", "turn 4"),
        PersonaSentence("i live in ghent.", "turn 6"),
        PersonaSentence("i am tall.", "inferred"),
    )
    assert first.labels["persona_by_turn"][0] == ["i sell bread."]


def test_esconv_records_are_no_pesconv_records(tmp_path: Path):
    write_bytes(tmp_path / "pesconv/valid.json", json_array(*SUPPORT_TALKS).encode())
    with pytest.raises(CorpusError, match="record 0: expected the key 'persona_by_turn'"):
        list(read("pesconv", "valid", tmp_path))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"dialog": []}, "'dialog' is empty"),
        ({"dialog": ["hi"]}, "a message in 'dialog' must be an object, got str"),
        ({"dialog": [asks("  ")]}, "'content' is empty"),
        ({"dialog": [asks("Hi", speaker="owl")]}, "unknown speaker 'owl'; expected one of seeker, speaker"),
        ({"dialog": [asks("Hi", feedback="good")]}, "the score 'feedback' must be a number, got 'good'"),
        ({"dialog": [asks("Hi", feedback="1e999")]}, "the score 'feedback' must be a number"),
        ({"dialog": [asks("Hi") | {"annotation": 3}]}, "'annotation' must be an object, got int"),
        ({"survey_score": {"seeker": 3}}, "'survey_score' of 'seeker' must be an object, got int"),
        ({"survey_score": {"seeker": {"empathy": [1]}}}, "the score 'seeker empathy' must be a number"),
        ({"situation": None}, "'situation' must be a text, got NoneType"),
    ],
)
def test_what_is_wrong_in_a_record_is_named_with_record_and_line(
    change: dict[str, Any], problem: str, tmp_path: Path
):
    text = json_array(SUPPORT_TALKS[1], support_talk(asks("Hi")) | change)
    line = text[: text.rindex("\n {")].count("\n") + 2
    with pytest.raises(CorpusError) as raised:
        read_text(tmp_path, text)
    assert f"line {line}: record 1: {problem}" in str(raised.value)


@pytest.mark.parametrize("indent", [None, 0, 4])
def test_any_layout_of_the_array_is_read(indent: int | None, tmp_path: Path):
    many = [support_talk(asks(f"Message {number}. 🌧 " + "x" * 900)) for number in range(300)]
    found = read_text(tmp_path, json.dumps(many, indent=indent, ensure_ascii=indent is None))
    assert [talk.turns[0].text[:11].strip(". ") for talk in found[::100]] == [
        "Message 0",
        "Message 100",
        "Message 200",
    ]


def test_a_record_longer_than_any_piece_that_is_read_at_once(tmp_path: Path):
    (talk,) = read_text(tmp_path, json_array(support_talk(asks("long " * 100_000))))
    assert len(talk.turns[0].text) == 499_999


def test_reading_goes_on_after_a_record_that_is_not_json(tmp_path: Path):
    text = ESCONV.files["esconv/train.json"].replace('"problem_type": "rain"', '"problem_type": rain')
    with pytest.raises(CorpusError, match=r"line \d+: record 1: not JSON, expecting value in line \d+"):
        read_text(tmp_path, text)
    bad: list[CorpusError] = []
    found = read_text(tmp_path, text, on_bad=bad.append)
    assert [talk.id for talk in found] == ["esconv-train-0", "esconv-train-2"]
    assert len(bad) == 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", "line 1: expected a JSON array, beginning with '\\['"),
        ("\n\nhello", "line 3: expected a JSON array"),
        ("[", "line 1: cut short: the JSON array does not end"),
        ('[\n{"a": 1}', "line 2: record 0: expected ',' or '\\]' after it, got 'the end of the file'"),
        ('[\n{"a": ', "line 2: record 0: not JSON, expecting value in line 2"),
        ("[\n3]", "line 2: record 0: expected an object, got int"),
        ('[{"a": NaN}]', "line 1: record 0: NaN is not JSON"),
        ("[]\n[]", "line 2: more text after the end of the JSON array"),
        ("[" * 100_000, "line 1: record 0: nested too deeply"),
        ('[{"a": "\\ud83d"}]', "line 1: record 0: an escape such as .* only half of a character"),
    ],
)
def test_what_is_not_an_array_of_records_is_one_sentence(text: str, problem: str, tmp_path: Path):
    with pytest.raises(CorpusError, match=problem):
        read_text(tmp_path, text)


@pytest.mark.corpus
def test_the_published_counts_hold(data_root: Path):
    train = list(read("esconv", "train", data_root))
    assert len(train) == 910
    assert {turn.strategy for talk in train for turn in talk.turns} == {None, *STRATEGIES}
    assert sum(1 for _ in read("esconv", "valid", data_root)) == 195
    failed = list(read("esconv-failed", "failed", data_root))
    assert len(failed) == 196
    assert {turn.strategy for talk in failed for turn in talk.turns} == {None, *STRATEGIES}


@pytest.mark.corpus
def test_every_inferred_sentence_of_the_real_pesconv_has_its_turn(data_root: Path):
    talks = list(read("pesconv", "valid", data_root))
    assert len(talks) == 195
    sources = [s.source for talk in talks for s in talk.personas["seeker"].sentences]
    assert all(source.startswith("turn ") for source in sources)
