"""The small language in which the rules of the review are written."""

from __future__ import annotations

import pytest

from allears.safety.phrase_language import compile_lines, compile_phrase, read_lists

LISTS = {"DIE": ("die", "be dead")}


def found(phrase: str, text: str) -> bool:
    compiled = compile_phrase(phrase, LISTS)
    return any(True for _ in compiled.find(f" {text} ", frozenset(text.split())))


@pytest.mark.parametrize(
    ("phrase", "text", "expected"),
    [
        ("want|wish to {DIE}", "i want to be dead now", True),
        ("want to die", "i want to diet", False),
        ("kill _ myself", "kill and bury also myself", True),
        ("kill _ myself", "kill one two three four myself", False),
        ("kill __ myself", "kill one two three four myself", True),
        ("kill _ myself", "kill . myself", False),
        ("i am? sad", "i sad", True),
        ("nobody|no+one cares", "no one cares", True),
        ("suicid*", "feeling suicidal", True),
        ("^ yes", "oh yes", False),
        ("^ yes $", "yes", True),
        ("^ yes $", "yes i am", False),
        ("i still cut .", "i still cut . nobody knows", True),
        ("i still cut .", "i still cut", True),
        ("i still cut .", "i still cut the hedge", False),
        ("jump tonight|.", "i will jump . then it is over", True),
        ("jump tonight|.", "i will jump tonight", True),
        ("jump tonight|.", "i will jump for joy", False),
        ("want out $", "i want out .", True),
        ("want out|in $", "i want out of it", False),
    ],
)
def test_a_phrase_finds_what_it_says(phrase: str, text: str, expected: bool):
    assert found(phrase, text) is expected


def test_a_phrase_with_an_unknown_list_or_without_a_word_is_an_error():
    with pytest.raises(ValueError, match="no list is called NOWHERE"):
        compile_phrase("want {NOWHERE}", LISTS)
    with pytest.raises(ValueError, match="no word that must be there"):
        compile_phrase("maybe? _", LISTS)


def test_comments_and_blank_lines_are_no_phrases():
    assert [phrase.text for phrase in compile_lines("# why\n\nwant to die  # so\n", {})] == ["want to die"]


def test_a_list_may_take_in_one_that_was_written_before():
    lists = read_lists({"KIN": "mum  step+mum", "PEOPLE": "friend @KIN mum"})
    assert lists["PEOPLE"] == ("friend", "mum", "step mum")
