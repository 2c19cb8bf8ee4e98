"""The chat through a pipe."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from typing import Any

from allears.chat.commands import Commands
from allears.chat.lines import LONGEST_LINE, answer_lines
from allears.chat.session import ME, ChatSession
from allears.memory import Memory


@dataclass
class Piped:
    code: int = 0
    out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def pipe(chat: ChatSession, text: str | bytes, **options: Any) -> Piped:
    piped = Piped()
    source = io.BytesIO(text.encode() if isinstance(text, str) else text)
    piped.code = answer_lines(source, chat, write=piped.out.append, note=piped.notes.append, **options)
    return piped


def test_every_line_is_answered_with_one_line(chat: ChatSession):
    piped = pipe(chat, "One\n\n  \nI am in danger\r\nlast, without an end")
    assert piped.code == 0
    assert piped.notes == []
    assert piped.out == [
        "That sounds heavy. What weighs most? (1)",
        "Please call 112 now. You matter.",
        "That sounds heavy. What weighs most? (5)",
    ]


def test_no_lines_are_no_replies(chat: ChatSession, memory: Memory):
    assert pipe(chat, "") == Piped()
    assert memory.conversations(ME) == []


def test_for_machines_a_reply_is_an_object_a_line(chat: ChatSession):
    piped = pipe(chat, "One\ndanger\n", as_json=True)
    first, second = map(json.loads, piped.out)
    assert list(first) == ["reply", "why", "conversation", "turn"]
    assert second["reply"] == "Please call 112 now.\nYou matter."
    assert (first["turn"], second["turn"]) == (2, 4)
    assert first["conversation"] == second["conversation"] == chat.id
    assert first["why"]["emotions"][0] == ["lonely", 0.62]


def test_a_line_too_long_for_the_listener_is_a_sentence_and_the_chat_goes_on(chat: ChatSession):
    piped = pipe(chat, "One\n" + "x" * 500 + "\nTwo\n")
    assert piped.code == 1
    assert len(piped.out) == 2
    assert piped.notes == ["line 2: the message has 500 characters; up to 200 are read"]


def test_a_line_without_an_end_in_sight_is_not_held(chat: ChatSession):
    piped = pipe(chat, b"One\n" + b"x" * (3 * LONGEST_LINE) + b"\nTwo\n" + b"y" * (2 * LONGEST_LINE))
    assert piped.code == 1
    assert len(piped.out) == 2
    assert [note.partition(":")[0] for note in piped.notes] == ["line 2", "line 4"]


def test_bytes_that_are_no_text_do_not_stop_the_chat(chat: ChatSession):
    piped = pipe(chat, b"\xef\xbb\xbfOne\n\xff\xfe broken\nTwo\n")
    assert piped.code == 0
    assert len(piped.out) == 3
    assert chat.turns[0].text == "One"


def test_a_file_of_messages_cannot_give_commands(chat: ChatSession):
    chat.say("My cat is old")
    assert len(pipe(chat, "/forget all\n/quit\nTwo\n").out) == 3
    assert len(chat.persona()) == 1


def test_commands_are_obeyed_where_that_was_asked_for(chat: ChatSession):
    piped = pipe(chat, "My cat is old\n/persona\n/forget all\n/quit\nTwo\n", commands=Commands(chat))
    reply, persona, gone = piped.out
    assert reply.startswith("That sounds heavy.")
    assert "cat" in persona
    assert gone.strip().startswith("Forgotten: all that was noted about you (1).")
    assert chat.persona() == []


def test_for_machines_a_command_is_an_object_too(chat: ChatSession):
    piped = pipe(chat, "One\n/why\n/nonsense\n", as_json=True, commands=Commands(chat))
    assert [list(json.loads(line)) for line in piped.out[1:]] == [["command", "text"]] * 2
    assert json.loads(piped.out[1])["command"] == "/why"
    assert "lonely" in json.loads(piped.out[1])["text"]
    assert "There is no command /nonsense" in json.loads(piped.out[2])["text"]


def test_why_is_a_note_beside_the_reply(chat: ChatSession):
    piped = pipe(chat, "One\ndanger\n", why=True)
    assert len(piped.out) == 2
    assert piped.notes == [
        "heard: lonely 62% · reflection of feelings",
        "a fixed reply of the crisis screen (suicide)",
    ]
