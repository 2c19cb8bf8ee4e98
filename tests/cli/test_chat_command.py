"""`allears chat`, as a shell starts it."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from allears.chat.loading import GETTING_READY, Watch
from allears.cli import chat as command
from allears.conversation import Role
from allears.errors import AllearsError
from allears.listener.contract import Responder
from allears.memory import Memory
from command_line import Answer, Run
from scripted_listener import ScriptedListener

HEAVY = ("torch", "transformers", "fastapi", "pandas", "matplotlib")
TESTS = Path(__file__).parent.parent
STARTED = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from scripted_listener import ScriptedListener
from allears.cli import chat, main
chat.open_listener = lambda *arguments: ScriptedListener()
"""


Opened = tuple[str, list[Path], str | None, str]


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ALLEARS_DATABASE", str(tmp_path / "memory.db"))
    monkeypatch.delenv("ALLEARS_KEY", raising=False)
    return tmp_path / "memory.db"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Opened]:
    """What the listener was opened with; it is the scripted one."""
    calls: list[Opened] = []

    def open_listener(
        bundle: str, pools: Sequence[Path], country: str | None, watch: Watch, voice: str, drafts: int | None
    ) -> Responder:
        calls.append((bundle, list(pools), country, voice, drafts))
        return ScriptedListener()

    monkeypatch.setattr(command, "open_listener", open_listener)
    return calls


@pytest.fixture
def pipe(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    def pipe(text: str, *arguments: object) -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return run("chat", *arguments)

    return pipe


Pipe = Callable[..., Answer]


@pytest.mark.usefixtures("opened")
def test_a_reply_a_line_is_all_that_is_on_standard_output(pipe: Pipe):
    answer = pipe("One\n\nTwo\n")
    assert answer.code == 0
    assert (
        answer.out == "That sounds heavy. What weighs most? (1)\nThat sounds heavy. What weighs most? (3)\n"
    )
    assert answer.err == ""


@pytest.mark.usefixtures("opened")
def test_machines_get_json_and_can_go_on_later(pipe: Pipe):
    first = pipe("One\n", "--json").json
    assert (first["turn"], first["why"]["kind"]) == (2, "reply")
    pipe("Another matter\n")
    again = pipe("Two\n", "--json", "--resume", first["conversation"]).json
    assert (again["conversation"], again["turn"]) == (first["conversation"], 4)
    assert pipe("Three\n", "--json", "--resume", "last").json["turn"] == 6


@pytest.mark.usefixtures("opened")
def test_a_line_that_is_too_long_is_a_sentence_and_exit_code_1(pipe: Pipe):
    answer = pipe("One\n" + "x" * 300 + "\nTwo\n")
    assert answer.code == 1
    assert len(answer.out.splitlines()) == 2
    assert answer.err == "line 2: the message has 300 characters; up to 200 are read\n"


@pytest.mark.usefixtures("opened")
def test_without_memory_nothing_is_written(pipe: Pipe, database: Path):
    assert pipe("My cat is old\n", "--no-memory").code == 0
    assert list(database.parent.iterdir()) == []


@pytest.mark.usefixtures("opened")
def test_options_that_exclude_each_other_are_told_so(pipe: Pipe):
    answer = pipe("One\n", "--no-memory", "--resume", "last")
    assert answer.code == 2
    assert "leave one of them out" in answer.err


@pytest.mark.usefixtures("opened")
def test_a_conversation_that_does_not_exist_is_one_sentence(pipe: Pipe):
    answer = pipe("One\n", "--resume", "last")
    assert answer.code == 2
    assert answer.out == ""
    assert "no earlier conversation" in answer.err


def test_the_listener_is_opened_with_what_was_asked_for(pipe: Pipe, opened: list[Opened]):
    pipe(
        *("One\n", "--bundle", "mine", "--pool", "a.jsonl", "--pool", "b.jsonl", "--country", "BE"),
        *("--voice", "small", "--drafts", 3),
    )
    assert opened == [("mine", [Path("a.jsonl"), Path("b.jsonl")], "BE", "small", 3)]


def test_a_country_without_help_lines_is_told_before_they_are_needed(pipe: Pipe, opened: list[Opened]):
    answer = pipe("One\n", "--country", "XX")
    assert answer.code == 2
    assert "no help lines are listed for the country 'XX'" in answer.err
    assert opened == []


def test_a_bundle_that_is_not_there_is_one_sentence_however_many_lines_there_are(pipe: Pipe, tmp_path: Path):
    answer = pipe("One\nTwo\n", "--bundle", tmp_path / "nowhere")
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.count("nowhere") == 1
    assert "Traceback" not in answer.err


def test_getting_the_replies_ready_is_told_in_a_note(pipe: Pipe, monkeypatch: pytest.MonkeyPatch):
    notes, told = [], threading.Event()

    def open_listener(bundle: str, pools: object, country: object, watch: Watch, *_: object) -> Responder:
        for _ in watch(range(3), "encoding"):
            told.wait(30)
        return ScriptedListener()

    def note(text: str) -> None:
        notes.append(text)
        told.set()

    monkeypatch.setattr(command, "open_listener", open_listener)
    monkeypatch.setattr(command, "_note", note)
    assert len(pipe("One\n").out.splitlines()) == 1
    assert notes == [GETTING_READY]


def test_preparing_opens_the_listener_and_leaves(run: Run, opened: list[Opened], database: Path):
    answer = run("chat", "--prepare", "--bundle", "mine")
    assert answer == Answer(0, "", "the replies are ready\n")
    assert opened == [("mine", [], None, "default", None)]
    assert not database.exists()


def test_preparing_what_cannot_be_prepared_fails(run: Run, monkeypatch: pytest.MonkeyPatch):
    def open_listener(*arguments: object) -> Responder:
        raise AllearsError("mine: no such model")

    monkeypatch.setattr(command, "open_listener", open_listener)
    answer = run("chat", "--prepare")
    assert answer.code == 2
    assert "mine: no such model" in answer.err


# --- in a process of its own


def start(code: str, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", STARTED + code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


def test_a_chat_imports_nothing_heavy():
    code = f"""
import atexit
atexit.register(lambda: print(*[name for name in {HEAVY} if name in sys.modules], file=sys.stderr))
sys.argv = ["allears", "chat"]
main()
"""
    out, err = start(code).communicate("One\n", timeout=120)
    assert len(out.splitlines()) == 1
    assert err.split() == []


@pytest.mark.parametrize("module", ["allears.listener.listener", "allears.chat.terminal", "allears.memory"])
def test_what_a_chat_loads_later_is_light_too(module: str):
    code = f"import sys, {module}; print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == ([], "")


def test_a_reader_that_goes_away_ends_the_chat_without_a_traceback():
    process = start('sys.argv = ["allears", "chat"]; main()')
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write("One\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write("Two\nThree\n")
    process.stdin.close()
    assert process.stderr.read() == ""
    process.wait(60)
    process.stderr.close()


def test_nothing_that_was_answered_is_lost_when_the_chat_is_killed(database: Path):
    chance = random.Random(5)
    answered: list[str] = []
    for round_ in range(4):
        arguments = ["--resume", "last"] if round_ else []
        process = start(f'sys.argv = ["allears", "chat", *{arguments}]; main()')
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(chance.randrange(1, 6)):
            process.stdin.write(f"message {round_}.{number}\n")
            process.stdin.flush()
            assert process.stdout.readline()
            answered.append(f"message {round_}.{number}")
        process.stdin.write("unanswered\n")
        process.stdin.flush()
        threading.Event().wait(chance.random() / 50)
        process.kill()
        process.communicate()
    with Memory(str(database)) as memory:
        (stored,) = memory.conversations("me")
        turns = memory.load("me", stored.id).turns
    spoken = [turn.text for turn in turns if turn.speaker is Role.SEEKER]
    assert [text for text in spoken if text != "unanswered"] == answered
    assert len(turns) == 2 * len(spoken)
