"""The chat at a terminal, with keys that come from a test."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from allears.chat.loading import Loading, Watch
from allears.chat.session import ME, ChatSession
from allears.chat.terminal import Terminal
from allears.errors import AllearsError
from allears.listener.contract import Responder
from allears.memory import Memory
from allears.safety.replies import help_for
from scripted_listener import SAID, ScriptedListener

ENTER, ALT_ENTER, CTRL_C, CTRL_D = "\r", "\x1b\r", "\x03", "\x04"
Type = Callable[..., str]


@pytest.fixture
def type_keys(memory: Memory, listener: ScriptedListener) -> Type:
    """What the window shows after these keys."""

    def type_keys(
        keys: str,
        *,
        why: bool = False,
        kept: bool = True,
        load: Callable[[Watch], Responder] = lambda watch: listener,
    ) -> str:
        console = Console(width=100, color_system=None, force_terminal=False)
        loading = Loading(load)
        with create_pipe_input() as source, console.capture() as capture:
            source.send_text(keys)
            session = ChatSession(loading.get, memory, kept=kept)
            terminal = Terminal(session, loading, console, why=why, input=source, output=DummyOutput())
            try:
                terminal.run(people=help_for("US"))
            except AllearsError as error:
                console.print(f"error: {error}")
        return capture.get()

    return type_keys


def messages(listener: ScriptedListener) -> list[str]:
    return [message for message, _, _ in listener.seen]


@pytest.fixture
def known(memory: Memory) -> None:
    """Somebody who talked here before."""
    ChatSession(ScriptedListener, memory).say("Earlier")


def test_the_first_start_says_what_this_is_and_asks_once(type_keys: Type, memory: Memory):
    first = type_keys(ENTER + CTRL_D)
    assert "no therapist" in first
    assert "in danger, call 911. 988 Suicide & Crisis Lifeline: call or text 988." in " ".join(first.split())
    assert "nothing is sent anywhere" in first
    assert "I will not" in first
    assert not memory.consent(ME)
    second = type_keys(CTRL_D)
    assert "therapist" not in second
    assert "I will not" not in second


def test_whoever_says_yes_is_remembered(type_keys: Type, memory: Memory):
    assert "I will." in type_keys("yes" + ENTER + "My cat is old" + ENTER + CTRL_D)
    assert memory.persona(ME).texts == ("My cat is old",)


def test_whoever_begins_to_talk_instead_of_answering_agreed_to_nothing_and_loses_nothing(
    type_keys: Type, memory: Memory, listener: ScriptedListener
):
    type_keys("I feel low" + ENTER + ENTER + CTRL_D)
    assert not memory.consent(ME)
    assert messages(listener) == ["I feel low"]


def test_leaving_at_the_question_leaves_it_open(type_keys: Type, memory: Memory):
    assert "I will" not in type_keys(CTRL_D)
    assert memory.conversations(ME) == []


def test_a_chat_that_keeps_nothing_has_nothing_to_ask(type_keys: Type, listener: ScriptedListener):
    assert "therapist" not in type_keys("Hello" + ENTER + CTRL_D, kept=False)
    assert messages(listener) == ["Hello"]


@pytest.mark.usefixtures("known")
def test_enter_sends_and_alt_enter_makes_a_new_line(type_keys: Type, listener: ScriptedListener):
    shown = type_keys("One" + ALT_ENTER + "and more" + ENTER + "Two" + ENTER + CTRL_D)
    assert messages(listener) == ["One\nand more", "Two"]
    assert f"{SAID} (3)" in shown


def test_what_was_written_can_be_called_back_in_this_chat_and_in_no_other(chat: ChatSession):
    def written(keys: str) -> list[str]:
        with create_pipe_input() as source, Console().capture():
            source.send_text(keys)
            terminal = Terminal(chat, Loading(lambda watch: ScriptedListener()), Console(), input=source,
                                output=DummyOutput())  # fmt: skip
            terminal.run(people=help_for())
            return terminal.reader.history.get_strings()

    assert written("n" + ENTER + "One" + ENTER + "/why" + ENTER + CTRL_D) == ["One", "/why"]
    assert written(CTRL_D) == []


@pytest.mark.usefixtures("known")
def test_commands_are_done_and_not_said(type_keys: Type, listener: ScriptedListener):
    shown = type_keys("One" + ENTER + "/why" + ENTER + "/quit" + ENTER)
    assert messages(listener) == ["One"]
    assert "what I heard" in shown


@pytest.mark.usefixtures("known")
def test_the_short_why_is_shown_only_to_whoever_asked_for_it(type_keys: Type):
    assert "heard: lonely 62%" in type_keys("One" + ENTER + CTRL_D, why=True)
    assert "heard: lonely" not in type_keys("One" + ENTER + CTRL_D)


@pytest.mark.usefixtures("known")
def test_ctrl_c_leaves_the_second_time_in_a_row(type_keys: Type, listener: ScriptedListener):
    shown = type_keys("half a" + CTRL_C + "One" + ENTER + CTRL_C + CTRL_C + "Two" + ENTER)
    assert messages(listener) == ["One"]
    assert shown.count("Ctrl-C once more leaves") == 2


@pytest.mark.usefixtures("known")
def test_ctrl_c_during_an_answer_waits_until_it_is_stored(
    type_keys: Type, memory: Memory, listener: ScriptedListener
):
    def press(message: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    listener.before_answering = press
    shown = type_keys("One" + ENTER + "Two" + ENTER + CTRL_D)
    assert SAID in shown
    (latest, _) = memory.conversations(ME)
    assert [turn.text for turn in memory.load(ME, latest.id).turns] == ["One", f"{SAID} (1)"]


@pytest.mark.usefixtures("known")
def test_a_message_that_is_too_long_comes_back_to_be_shortened(type_keys: Type, listener: ScriptedListener):
    shown = type_keys("x" * 201 + ENTER + "\x7f" * 100 + ENTER + CTRL_D)
    assert "201 characters" in shown
    assert messages(listener) == ["x" * 101]


@pytest.mark.usefixtures("known")
def test_one_can_write_while_the_listener_is_still_loading(type_keys: Type, listener: ScriptedListener):
    def load(watch: Watch) -> Responder:
        for _ in watch(range(4), "encoding"):
            threading.Event().wait(0.2)
        return listener

    assert SAID in type_keys("One" + ENTER + CTRL_D, load=load)


@pytest.mark.usefixtures("known")
def test_a_listener_that_cannot_be_loaded_ends_the_chat_while_the_person_writes(type_keys: Type):
    def load(watch: Watch) -> Responder:
        threading.Event().wait(0.3)
        raise AllearsError("no such bundle")

    assert "error: no such bundle" in type_keys("I was about to", load=load)


@pytest.mark.usefixtures("known")
def test_terminal_commands_in_a_text_do_nothing(type_keys: Type, listener: ScriptedListener):
    shown = type_keys(
        "/persona add red \x1b[200~alarm \x1b]0;bell\x07\x1b[201~" + ENTER + "/persona" + ENTER + CTRL_D
    )
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "alarm" in shown
