"""The pool that ships, and a user's own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from allears.errors import AllearsError
from allears.labels import ED_EMOTIONS, STRATEGIES
from allears.listener.pool import ANY, STAGES, Line, candidate, proposal, read_pool, shipped_pool
from allears.listener.wording import words


def test_the_shipped_pool_is_large_and_covers_everything():
    lines = shipped_pool()
    assert len(lines) >= 4_000
    assert {line.strategy for line in lines} == set(STRATEGIES)
    assert {line.stage for line in lines} == set(STAGES)
    by_emotion = Counter(emotion for line in lines for emotion in line.emotions)
    assert all(by_emotion[emotion] >= 20 for emotion in (*ED_EMOTIONS, ANY))


def test_the_shipped_pool_does_not_repeat_itself():
    lines = shipped_pool()
    beginnings = Counter(tuple(words(line.text)[:3]) for line in lines)
    assert beginnings.most_common(1)[0][1] <= 0.03 * len(lines)
    by_words: dict[frozenset[str], str] = {}
    for line in lines:
        key = frozenset(words(line.text))
        assert key not in by_words, f"{line.text!r} and {by_words[key]!r} have the same words"
        by_words[key] = line.text


def test_replies_are_short_enough_to_be_read_and_long_enough_to_say_something():
    for line in shipped_pool():
        assert 3 <= len(line.text.split()) <= 40, line.text


def test_a_users_file_may_have_texts_alone(tmp_path: Path):
    file = tmp_path / "mine.jsonl"
    file.write_text(
        '{"text": "Tell me more."}\n\n{"text": "Well done!", "strategy": "Others", "emotions": ["proud"]}\n'
    )
    assert read_pool(file) == [Line("Tell me more."), Line("Well done!", "Others", ("proud",))]


def test_a_line_survives_the_index():
    line = Line("Well done!", "Affirmation and Reassurance", ("proud", "joyful"), "comforting")
    kept = candidate(line)
    back = proposal(kept.text, kept.tags)
    assert (back.text, back.strategy, back.emotions, back.stage) == (
        line.text,
        line.strategy,
        line.emotions,
        line.stage,
    )


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("{", "line 1"),
        ("[]", "line 1"),
        ('{"text": ""}', 'needs a "text"'),
        ('{"text": "Hi.", "strategy": "Hug"}', "unknown strategy 'Hug'"),
        ('{"text": "Hi.", "stage": "late"}', "unknown stage 'late'"),
        ('{"text": "Hi.", "emotions": ["hangry"]}', "unknown emotion 'hangry'"),
        ("", "empty"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, row: str, sentence: str):
    file = tmp_path / "mine.jsonl"
    file.write_text(row + "\n")
    with pytest.raises(AllearsError, match=sentence):
        read_pool(file)


def test_a_missing_pool_is_one_sentence(tmp_path: Path):
    with pytest.raises(AllearsError, match="cannot be read"):
        read_pool(tmp_path / "none.jsonl")
