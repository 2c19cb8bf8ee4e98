from __future__ import annotations

from pathlib import Path

import pytest

from allears.corpora import CorpusError, corpus, read
from allears.corpora.files import NotHereError
from allears.corpora.jsonl import JsonLines
from made_up_corpora import OWN, write_bytes


def ids(found) -> list[str]:  # type: ignore[no-untyped-def]
    return [talk.id for talk in found]


@pytest.mark.parametrize(
    ("split", "expected"), [("", "abc"), ("all", "abc"), ("train", "ac"), ("valid", "bc")]
)
def test_a_split_leaves_out_records_that_name_another(split: str, expected: str, tmp_path: Path):
    assert ids(read("own.jsonl", split, OWN.write(tmp_path))) == list(expected)


def test_the_path_may_be_absolute_or_relative_to_the_root_or_to_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    OWN.write(tmp_path / "root" / "mine")
    assert len(ids(read("mine/own.jsonl", "all", tmp_path / "root"))) == 3
    assert len(ids(read(tmp_path / "root/mine/own.jsonl", "all", tmp_path / "nowhere"))) == 3
    monkeypatch.chdir(tmp_path / "root")
    assert len(ids(read("mine/own.jsonl", "all", tmp_path / "nowhere"))) == 3
    with pytest.raises(NotHereError, match=r"other\.jsonl: no such file, neither here nor under"):
        read("other.jsonl", "all", tmp_path)


def test_the_name_of_the_corpus_is_the_name_of_the_file():
    assert JsonLines("somewhere/talks.jsonl.gz").info.name == "talks"
    assert corpus("somewhere/talks.jsonl.zst").info.name == "talks"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("hello", "line 1: expected one JSON object: not JSON, expecting value in column 1"),
        ("[1]", "line 1: expected one JSON object: expected an object, got list"),
        ('{"id": "a"}', "line 1: turns must be a list, got NoneType"),
        ('{"id": "a", "turns": [], "mood": 1}', "line 1: unknown field 'mood' in a conversation"),
        (
            '{"id": "a", "turns": [{"speaker": "owl", "text": "hi"}]}',
            "speaker must be 'seeker' or 'supporter'",
        ),
        ('{"id": "\\ud800", "turns": []}', "line 1: expected one JSON object: an escape such as"),
        ('{"id": "a", "turns": [], "survey": {"x": NaN}}', "NaN is not JSON"),
        ('{"a":' * 100_000, "line 1: expected one JSON object: nested too deeply"),
        ('{"id": ' + "1" * 5_000 + "}", "line 1: expected one JSON object"),
    ],
)
def test_what_is_wrong_in_a_line_is_said_in_one_sentence(line: str, problem: str, tmp_path: Path):
    write_bytes(tmp_path / "own.jsonl", line.encode())
    with pytest.raises(CorpusError) as raised:
        list(read("own.jsonl", "all", tmp_path))
    assert problem in str(raised.value)
    assert len(str(raised.value)) < 700
