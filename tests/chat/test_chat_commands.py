"""Lines that begin with a slash."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from allears.chat.commands import Commands
from allears.chat.session import ChatSession
from allears.conversation import Conversation


@pytest.fixture
def commands(chat: ChatSession) -> Commands:
    return Commands(chat)


def shown(commands: Commands, line: str) -> str:
    answer = commands.run(line)
    assert answer is not None, f"{line} is no command"
    console = Console(width=120, color_system=None)
    with console.capture() as capture:
        console.print(answer.shown)
    return capture.get()


def test_a_line_that_only_begins_like_a_command_is_something_said(commands: Commands):
    assert commands.run("/r/books is a kind place") is None
    assert commands.run("I feel 50/50") is None
    assert commands.run("hello") is None


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("/wy", "/why"),
        ("/personna", "/persona"),
        ("/undoo", "/undo"),
        ("/Hlep", "/help"),
        ("/forgot", "/forget"),
    ],
)
def test_a_command_that_does_not_exist_names_the_nearest(commands: Commands, typed: str, meant: str):
    assert f"Did you mean {meant}?" in shown(commands, typed)


def test_a_command_like_no_other_points_to_the_list(commands: Commands):
    assert "/help lists them" in shown(commands, "/xyzzy")


def test_help_lists_every_command(commands: Commands):
    assert [name for name in commands.names if name not in shown(commands, "/help")] == []
    assert shown(commands, "/") == shown(commands, "/?") == shown(commands, "/HELP")


def test_quitting_leaves(commands: Commands):
    for line in ("/quit", "/exit"):
        answer = commands.run(line)
        assert answer is not None
        assert answer.leave


def test_why_before_a_reply_is_told_in_a_sentence(commands: Commands):
    assert "no reply to explain" in shown(commands, "/why")


def test_why_shows_everything_behind_the_last_reply(commands: Commands, chat: ChatSession):
    chat.say("My cat is old")
    chat.say("I moved, and think of pills")
    text = shown(commands, "/why")
    for part in (
        "lonely", "62%", "███", "reflection of feelings", "question", "30%", "My cat is old", "100%",
        "another home: I live in Ghent. → I live in Bruges.", "2.50", "0.60", "good 0.70, off 0.10", "And then?",
        "good 0.40, off 0.20", "medication", "42 ms", "read 12, rank 30",
    ):  # fmt: skip
        assert part in text, part


def test_why_of_a_crisis_shows_which_layer_heard_what(commands: Commands, chat: ChatSession):
    chat.say("danger")
    text = shown(commands, "/why")
    assert "crisis screen" in text
    assert "suicide" in text
    assert "patterns" in text
    assert "0.90" in text


def test_the_reasons_of_a_resumed_conversation_are_still_there(commands: Commands, chat: ChatSession):
    chat.say("My cat is old")
    before = shown(commands, "/why")
    chat.new()
    shown(commands, "/resume last")
    assert shown(commands, "/why") == before


def test_notes_are_listed_edited_added_and_forgotten(commands: Commands, chat: ChatSession):
    assert "Nothing is noted" in shown(commands, "/persona")
    chat.say("My cat is old")
    assert "1  My cat is old" in shown(commands, "/persona")
    assert "1  My cat is young." in shown(commands, "/persona edit 1 My cat is young.")
    assert "2  I work nights." in shown(commands, "/persona add I work nights.")
    assert "Forgotten: I work nights." in shown(commands, "/forget 2")
    assert "all that was noted about you (1)" in shown(commands, "/forget all")
    assert "Nothing is noted" in shown(commands, "/persona")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/persona edit two words", "number of a note"),
        ("/persona edit 9 words", "no note 9"),
        ("/persona edit 1", "needs words"),
        ("/persona add", "Say what to note"),
        ("/persona remove 1", "/persona edit 2 TEXT"),
        ("/forget x", "number of a note"),
        ("/forget 0", "no note 0"),
        ("/forget ²", "number of a note"),
        ("/resume", "Say which"),
        ("/resume nowhere", "no conversation"),
        ("/save", "Name a file"),
        ("/save talk.docx", "ends in .json or .md"),
    ],
)
def test_a_command_that_cannot_be_done_says_what_is_missing(
    commands: Commands, chat: ChatSession, line: str, told: str
):
    chat.say("My cat is old")
    assert told in shown(commands, line)
    assert [each.text for each in chat.persona()] == ["My cat is old"]


def test_forget_that_and_a_bare_forget_mean_the_last_message(commands: Commands, chat: ChatSession):
    chat.say("My cat is old")
    assert "Forgotten: My cat is old" in shown(commands, "/forget that")
    chat.say("My dog is young")
    assert "Forgotten: My dog is young" in shown(commands, "/forget")
    assert "Nothing was noted" in shown(commands, "/forget that")


def test_undo_says_what_it_took_back(commands: Commands, chat: ChatSession):
    chat.say("One")
    assert "Taken back: “One”" in shown(commands, "/undo")
    assert "nothing to take back" in shown(commands, "/undo")


def test_conversations_are_listed_left_and_gone_on_with(commands: Commands, chat: ChatSession):
    assert "no conversations yet" in shown(commands, "/list")
    chat.say("The first matter")
    first = chat.id
    shown(commands, "/new")
    chat.say("The second matter")
    listed = shown(commands, "/list")
    assert listed.index("second matter") < listed.index("first matter")
    assert "› The first matter" in shown(commands, f"/resume {first}")
    assert chat.id == first


def test_consent_is_told_given_and_taken_back(commands: Commands, chat: ChatSession):
    assert "do not remember" in shown(commands, "/consent")
    shown(commands, "/consent yes")
    assert chat.agreed
    assert "I remember you" in shown(commands, "/consent maybe")
    shown(commands, "/consent no")
    assert not chat.agreed


def test_a_conversation_is_saved_to_be_read_and_to_be_loaded(
    commands: Commands, chat: ChatSession, tmp_path: Path
):
    chat.say("My cat is old")
    shown(commands, f"/save {tmp_path / 'talk.json'}")
    loaded = Conversation.from_json((tmp_path / "talk.json").read_text(encoding="utf-8"))
    assert loaded.turns == chat.turns
    assert loaded.personas["seeker"].texts == ("My cat is old",)
    shown(commands, f"/save {tmp_path / 'talk.md'}")
    page = (tmp_path / "talk.md").read_text(encoding="utf-8")
    assert "**You:** My cat is old" in page
    assert "**allears:** That sounds heavy." in page
    assert (tmp_path / "talk.md").stat().st_mode & 0o077 == 0


def test_saving_spares_files_of_others_and_renews_its_own(
    commands: Commands, chat: ChatSession, tmp_path: Path
):
    mine, theirs = tmp_path / "talk.md", tmp_path / "diary.md"
    theirs.write_text("dear diary", encoding="utf-8")
    chat.say("One")
    told = shown(commands, f"/save {theirs}")
    assert "is there already" in " ".join(told.split())  # wherever the path makes the line break
    assert theirs.read_text(encoding="utf-8") == "dear diary"
    shown(commands, f"/save {mine}")
    chat.say("Two")
    shown(commands, f"/save {mine}")
    assert "Two" in mine.read_text(encoding="utf-8")
    assert "could not be saved" in shown(commands, f"/save {tmp_path / 'no' / 'where.md'}")
    assert sorted(path.name for path in tmp_path.iterdir() if "memory" not in path.name) == [
        "diary.md",
        "talk.md",
    ]


def test_there_is_nothing_to_save_before_something_was_said(commands: Commands, tmp_path: Path):
    assert "Nothing has been said" in shown(commands, f"/save {tmp_path / 'talk.md'}")
    assert not (tmp_path / "talk.md").exists()
