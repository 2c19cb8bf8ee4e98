"""`allears memory` on a made-up life."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from allears.memory import Memory
from command_line import Run
from databases import no_settings  # noqa: F401
from talking import ME, say


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_settings: None) -> Path:  # noqa: F811
    """A memory with two conversations; commands find it by the environment."""
    file = tmp_path / "memory.db"
    monkeypatch.setenv("ALLEARS_DATABASE", str(file))
    with Memory() as memory:
        memory.set_consent(ME, True)
        talk = memory.start(ME)
        say(memory, talk, "I live in Ghent. My goat is ill.", "I live in Ghent.", "My goat is ill.")
        say(memory, talk, "I just moved to Bruges.", "I just moved to Bruges.")
        say(memory, memory.start(ME), "I sing [bold]loudly[/bold]\x1b[2J.")
    return file


def ids(run: Run) -> list[str]:
    return [each["id"] for each in run("memory", "list", "--json").json]


def test_conversations_are_listed_the_latest_first(run: Run, file: Path):
    answer = run("memory", "list")
    assert answer.code == 0
    lines = [line for line in answer.out.splitlines() if "I " in line]
    assert "I sing [bold]loudly[/bold] [2J." in lines[0]
    assert "I live in Ghent. My goat is ill." in lines[1]
    found = run("memory", "list", "--json").json
    assert [each["turns"] for each in found] == [2, 4]
    assert set(found[0]) == {"id", "started", "last", "turns", "first_words"}


def test_what_is_known_is_shown_with_its_origin_and_history(run: Run, file: Path):
    answer = run("memory", "show")
    _, talk = ids(run)
    first, second, third = answer.out.splitlines()
    assert first.strip() == f"1  My goat is ill.  conversation {talk[:8]}, turn 1"
    assert second.strip() == f"2  I just moved to Bruges.  conversation {talk[:8]}, turn 3"
    assert third.strip().startswith("was: I live in Ghent. (another home, ")
    assert "You agreed to be remembered" in answer.err
    found = run("memory", "show", "--json").json
    assert found["consent"] is True
    assert [each["text"] for each in found["persona"]] == ["My goat is ill.", "I just moved to Bruges."]


def test_a_conversation_is_shown_by_the_beginning_of_its_id(run: Run, file: Path):
    _, talk = ids(run)
    answer = run("memory", "show", talk[:8])
    assert "My goat is ill." in answer.out
    assert "memory_revision" not in answer.out
    assert run("memory", "show", talk, "--json").json["id"] == talk


def test_an_export_goes_to_the_screen_or_to_a_file_of_ones_own(run: Run, file: Path, tmp_path: Path):
    found = run("memory", "export").json
    assert len(found["conversations"]) == 2
    out = tmp_path / "me.json"
    answer = run("memory", "export", "--out", out)
    assert answer.out.strip() == f"{out}: 2 conversations, 2 sentences"
    assert json.loads(out.read_text(encoding="utf-8")) == found
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_texts_in_every_script_can_be_exported(run: Run, file: Path):
    with Memory() as memory:
        say(memory, memory.start(ME), "Ça va, 你好")
    assert "Ça va, 你好" in run("memory", "export").out
    with Memory() as memory:
        say(memory, memory.start(ME), "half an emoji \ud83d")
    assert run("memory", "export").json["conversations"][0]["turns"][0]["text"] == "half an emoji \ud83d"
    assert run("memory", "list").code == 0


def test_a_sentence_is_edited_and_forgotten_by_its_number(run: Run, file: Path):
    assert run("memory", "edit", "2", "I live in Antwerp.").out.strip() == "changed"
    found = run("memory", "show", "--json").json["persona"]
    assert [(each["text"], each["edited"]) for each in found] == [
        ("My goat is ill.", False),
        ("I live in Antwerp.", True),
    ]
    assert run("memory", "forget", found[0]["id"]).out.strip() == "forgotten"
    assert "goat" not in run("memory", "show").out


def test_consent_is_shown_given_and_withdrawn(run: Run, file: Path):
    assert "You agreed" in run("memory", "consent").out
    assert "You are not remembered" in run("memory", "consent", "no").out
    assert "known there only" in run("memory", "show").out
    assert "You agreed" in run("memory", "consent", "yes").out


def test_erasing_asks_first(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch):
    questions = []
    monkeypatch.setattr("typer.confirm", lambda question, **_: bool(questions.append(question)))
    answer = run("memory", "erase")
    assert (answer.code, "nothing was erased" in answer.err) == (2, True)
    assert questions == [f"Erase everything about me in {file}? It cannot be brought back."]
    assert len(ids(run)) == 2
    answer = run("memory", "erase", "--yes")
    assert answer.out.strip() == "erased: 2 conversations, 6 turns, 2 sentences"
    assert b"goat" not in file.read_bytes()
    assert "no conversation is stored" in run("memory", "list").err
    assert "nothing is known about you" in run("memory", "show").err


def test_one_conversation_can_be_erased(run: Run, file: Path):
    latest, talk = ids(run)
    answer = run("memory", "erase", "--conversation", talk[:8], "--yes")
    assert answer.out.strip() == "erased: 1 conversation, 4 turns, 2 sentences"
    assert ids(run) == [latest]


def test_another_person_sees_nothing_of_it(run: Run, file: Path):
    _, talk = ids(run)
    assert run("memory", "list", "--person", "robin", "--json").json == []
    answer = run("memory", "show", talk, "--person", "robin")
    assert (answer.code, answer.out) == (2, "")
    assert f"there is no conversation '{talk}'" in answer.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "ffffffff"], "there is no conversation 'ffffffff'"),
        (["show", ""], "there is no conversation ''"),
        (["forget", "9"], "there is no sentence '9'"),
        (["edit", "1", " "], "a sentence needs words"),
        (["consent", "maybe"], "the answer is yes or no, not 'maybe'"),
        (["erase", "--conversation", "ffffffff", "--yes"], "there is no conversation 'ffffffff'"),
        (["export", "--out", "{tmp}/nowhere/me.json"], "cannot be written"),
        (["list", "--database", "oracle://db"], "unknown database 'oracle'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    run: Run, file: Path, tmp_path: Path, arguments: list[str], sentence: str
):
    answer = run("memory", *(argument.format(tmp=tmp_path) for argument in arguments))
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
    assert len(answer.err.strip().splitlines()) == 1


def test_a_wrong_key_is_one_sentence(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ALLEARS_DATABASE", str(tmp_path / "secret.db"))
    Memory(key="a long and winding key").close()
    monkeypatch.setenv("ALLEARS_KEY", "another key altogether")
    answer = run("memory", "list")
    assert (answer.code, "ALLEARS_KEY is not the key" in answer.err) == (2, True)


@pytest.mark.parametrize("command", ["list", "show", "export", "edit", "forget", "erase", "consent"])
def test_every_command_has_an_example(run: Run, command: str):
    answer = run("memory", command, "--help")
    assert answer.code == 0
    assert f"allears memory {command}" in answer.out
