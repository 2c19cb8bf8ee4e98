"""Scripted people through a listener: what is read, what is written, and what a wrong file is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from allears.errors import AllearsError
from allears.evaluation.replay import Script, read_replayed, read_scripts, replay, write_replayed
from scripted_listener import SAID, ScriptedListener

SCRIPTS = [Script("one", ("My dog is ill.", "danger", "better now")), Script("two", ("hello",))]


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_each_message_is_answered_in_the_conversation_so_far():
    listener = ScriptedListener()
    first, second = replay(SCRIPTS, listener, clock=iter(range(100)).__next__)
    assert first.replies == (f"{SAID} (1)", "Please call 112 now.\nYou matter.", f"{SAID} (5)")
    assert first.kinds == ("reply", "crisis", "reply")
    assert first.sources == ("cards", "fixed text", "cards")
    assert first.seconds == (1, 1, 1)
    assert second.replies == (f"{SAID} (1)",)
    assert listener.seen[-1] == ("hello", 0, 0)  # another person: nothing is carried over


def test_what_is_written_is_read_back(tmp_path: Path):
    done = list(replay(SCRIPTS, ScriptedListener()))
    assert write_replayed(done, tmp_path / "out.jsonl") == 2
    assert read_replayed(tmp_path / "out.jsonl") == done
    keys = {"id", "messages", "replies", "kinds", "sources", "seconds"}
    assert all(set(json.loads(line)) == keys for line in (tmp_path / "out.jsonl").read_text().splitlines())


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ((), "the file is empty"),
        (("", ""), "there is no script in it"),
        (('{"id": "a", "messages": []}',), "line 1: 'messages' must hold at least one message"),
        (
            ('{"id": "a", "messages": ["x"]}', '{"id": "b", "messages": ["  "]}'),
            "line 2: 'messages' must hold",
        ),
        (('{"id": "a"',), "line 1: expected one JSON object"),
        (
            ('{"id": "a", "messages": ["x"]}', '{"id": "a", "messages": ["y"]}'),
            "line 2: the id 'a' is used twice",
        ),
        (('{"messages": ["x"]}',), "expected the key 'id'"),
    ],
)
def test_a_wrong_script_is_one_sentence_with_its_line(lines: tuple[str, ...], sentence: str, tmp_path: Path):
    with pytest.raises(AllearsError, match="") as raised:
        read_scripts(write(tmp_path / "scripts.jsonl", *lines))
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_listener_that_fails_leaves_no_half_written_file(tmp_path: Path):
    def fail(message: str) -> None:
        if message == "hello":
            raise AllearsError("the voice is gone")

    with pytest.raises(AllearsError, match="the voice is gone"):
        write_replayed(replay(SCRIPTS, ScriptedListener(fail)), tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_replies_must_be_as_many_as_messages(tmp_path: Path):
    path = write(tmp_path / "r.jsonl", '{"id": "a", "messages": ["x", "y"], "replies": ["z"]}')
    with pytest.raises(AllearsError, match="script 'a' needs one reply for each of its 2 messages"):
        read_replayed(path)
