"""What somebody said, as text or as conversations."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from allears.conversation import Role
from allears.errors import AllearsError
from allears.personas.said import SourceText, conversations_in, read_said


def record(name: str = "a", speaker: str = "seeker", **more: Any) -> dict[str, Any]:
    return {"id": name, "turns": [{"speaker": speaker, "text": "I sing."}]} | more


def test_plain_text_is_one_conversation_in_which_the_seeker_speaks_line_by_line():
    (talk,) = conversations_in(SourceText("I sing.\n\n  You? \r\n", "-"))
    assert [(turn.speaker, turn.text) for turn in talk.turns] == [
        (Role.SEEKER, "I sing."),
        (Role.SEEKER, "You?"),
    ]


def test_conversations_come_as_an_object_a_list_or_lines():
    for text in (json.dumps(record(), indent=2), json.dumps([record()]), json.dumps(record()) + "\n\n"):
        for name in ("talk.json", "talk.jsonl", "-"):
            assert [talk.id for talk in conversations_in(SourceText(text, name))] == ["a"]
    lines = "\n".join(json.dumps(record(name)) for name in "ab")
    assert [talk.id for talk in conversations_in(SourceText(lines, "t.jsonl.gz"))] == ["a", "b"]


def test_a_packed_file_is_read(tmp_path: Path):
    path = tmp_path / "talk.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(record()).encode()))
    assert [talk.id for talk in conversations_in(read_said(path))] == ["a"]


@pytest.mark.parametrize(
    ("text", "name", "sentence"),
    [
        ("", "-", "-: there is nothing to read; give at least one sentence"),
        (" \n\t\n", "t.txt", "t.txt: there is nothing to read"),
        ("I sing.", "t.json", "t.json, line 1: expected a conversation as JSON"),
        ('{"id": "a"}', "t.json", "t.json, record 1: turns must be a list"),
        (json.dumps(record()) + "\n{broken", "t.jsonl", "t.jsonl, line 2: expected a conversation as JSON"),
        (json.dumps(record(speaker="supporter")), "t.json", "nobody speaks as the seeker"),
        ("[]", "t.json", "nobody speaks as the seeker"),
        ("[" * 100_000, "t.json", "t.json, line 1: expected a conversation as JSON"),
        ("3", "t.json", "t.json, record 1: a conversation must be an object"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(text: str, name: str, sentence: str):
    with pytest.raises(AllearsError) as error:
        conversations_in(SourceText(text, name))
    assert sentence in str(error.value)


def test_a_file_that_is_no_text_is_one_sentence(tmp_path: Path):
    path = tmp_path / "t.txt"
    path.write_bytes(b"caf\xe9")
    with pytest.raises(AllearsError, match="not a text in UTF-8"):
        read_said(path)
    path.write_bytes(b"")
    with pytest.raises(AllearsError, match="empty"):
        read_said(path)
