"""What a chat does, whatever shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from allears.chat.session import ME, ChatSession
from allears.conversation import Role
from allears.errors import AllearsError
from allears.memory import Memory, UnavailableError
from scripted_listener import SAID, ScriptedListener


class Unreliable(Memory):
    """A memory whose disk is full while `full` says so."""

    full = False

    def start(self, *arguments: object, **options: object) -> str:
        self._check()
        return super().start(*arguments, **options)  # type: ignore[arg-type]

    def append(self, *arguments: object, **options: object) -> None:
        self._check()
        super().append(*arguments, **options)  # type: ignore[arg-type]

    def _check(self) -> None:
        if self.full:
            raise UnavailableError("memory.db: there is no room left on its disk")


@pytest.fixture
def unreliable(database: Path) -> Unreliable:
    return Unreliable(str(database))


def texts(memory: Memory, conversation: str) -> list[str]:
    return [turn.text for turn in memory.load(ME, conversation).turns]


def test_a_reply_is_stored_with_its_reasons_when_it_is_given(chat: ChatSession, memory: Memory):
    said = chat.say("I miss home")
    assert said.text == f"{SAID} (1)"
    assert said.turn == 2
    assert said.not_stored == ""
    assert texts(memory, said.conversation) == ["I miss home", said.text]
    assert memory.why(ME, said.conversation, 2) == memory.why(ME, said.conversation, said.turn)
    stored = memory.why(ME, said.conversation, 2)
    assert stored is not None
    assert stored["strategy"] == "Reflection of feelings"


def test_turns_of_one_chat_are_one_conversation(
    chat: ChatSession, memory: Memory, listener: ScriptedListener
):
    first, second = chat.say("One"), chat.say("Two")
    assert first.conversation == second.conversation
    assert [(before, turns) for before, turns, _ in listener.seen] == [("One", 0), ("Two", 2)]
    assert len(memory.conversations(ME)) == 1


def test_the_seed_reaches_the_listener(memory: Memory, listener: ScriptedListener):
    ChatSession(lambda: listener, memory, seed=7).say("One")
    assert listener.seen == [("One", 0, 7)]


def test_a_message_that_cannot_be_answered_changes_nothing(chat: ChatSession, memory: Memory):
    chat.say("One")
    with pytest.raises(AllearsError, match="500 characters"):
        chat.say("x" * 500)
    assert [turn.text for turn in chat.turns] == texts(memory, chat.id)
    assert len(chat.turns) == 2


# --- another writer, a full disk


def test_what_another_window_wrote_meanwhile_is_answered_too(
    chat: ChatSession, memory: Memory, listener: ScriptedListener
):
    chat.say("One")
    elsewhere = ChatSession(ScriptedListener, memory)
    elsewhere.resume("last")

    def write_elsewhere_once(message: str) -> None:
        listener.before_answering = lambda message: None
        elsewhere.say("From the other window")

    listener.before_answering = write_elsewhere_once
    chat.say("Two")
    spoken = [turn.text for turn in memory.load(ME, chat.id).turns if turn.speaker is Role.SEEKER]
    assert spoken == ["One", "From the other window", "Two"]
    assert listener.seen[-1][:2] == ("Two", 4)


def test_after_everything_was_erased_elsewhere_the_next_message_begins_anew(
    chat: ChatSession, memory: Memory
):
    erased = chat.say("My cat is old").conversation
    memory.erase(ME)
    said = chat.say("Hello")
    assert said.conversation != erased
    assert texts(memory, said.conversation) == ["Hello", said.text]
    assert memory.sentences(ME) == []


def test_with_a_full_disk_there_is_an_answer_that_says_it_is_not_stored(unreliable: Unreliable):
    chat = ChatSession(ScriptedListener, unreliable)
    chat.say("One")
    unreliable.full = True
    said = chat.say("I am in danger")
    assert said.text.startswith("Please call 112")
    assert "no room left" in said.not_stored
    unreliable.full = False
    assert chat.say("Three").not_stored == ""
    assert texts(unreliable, chat.id)[::2] == ["One", "I am in danger", "Three"]
    assert unreliable.why(ME, chat.id, 4)["kind"] == "crisis"  # type: ignore[index]


def test_a_disk_that_is_full_from_the_beginning_does_not_silence_the_listener(unreliable: Unreliable):
    chat = ChatSession(ScriptedListener, unreliable)
    unreliable.full = True
    assert chat.say("One").not_stored
    unreliable.full = False
    assert chat.close() == ""
    (stored,) = unreliable.conversations(ME)
    assert texts(unreliable, stored.id)[0] == "One"


def test_what_is_not_stored_is_not_left_behind_for_another_conversation(unreliable: Unreliable):
    chat = ChatSession(ScriptedListener, unreliable)
    chat.say("One")
    unreliable.full = True
    chat.say("Two")
    with pytest.raises(AllearsError, match="not stored yet"):
        chat.new()
    assert "no room left" in chat.close()
    assert chat.undo() == "Two"
    chat.new()


# --- undo, new, resume


def test_undo_takes_back_the_message_the_answer_and_what_was_learned(chat: ChatSession, memory: Memory):
    chat.say("One")
    chat.say("My cat is old")
    assert [each.text for each in chat.persona()] == ["My cat is old"]
    assert chat.undo() == "My cat is old"
    assert chat.persona() == []
    assert texts(memory, chat.id) == ["One", f"{SAID} (1)"]
    assert chat.why is not None
    assert chat.undo() == "One"
    assert chat.why is None
    with pytest.raises(AllearsError, match="nothing to take back"):
        chat.undo()


def test_a_chat_goes_on_where_it_was_with_its_reasons(
    chat: ChatSession, memory: Memory, listener: ScriptedListener
):
    chat.say("One")
    chat.new()
    chat.say("Another matter")
    earlier = chat.conversations()[1].id
    again = ChatSession(lambda: listener, memory)
    assert again.resume("last").turns[0].text == "Another matter"
    assert again.resume(earlier[:6]).turns[0].text == "One"
    assert again.why is not None
    assert again.why["kind"] == "reply"
    again.say("Two")
    assert listener.seen[-1][:2] == ("Two", 2)


def test_a_conversation_that_is_not_there_is_told_in_a_sentence(chat: ChatSession, memory: Memory):
    with pytest.raises(AllearsError, match="no earlier conversation"):
        chat.resume("last")
    chat.say("One")
    with pytest.raises(AllearsError, match="no conversation 'zzz'"):
        chat.resume("zzz")
    theirs = ChatSession(ScriptedListener, memory, person="somebody else")
    theirs.say("Mine alone")
    with pytest.raises(AllearsError, match="no conversation"):
        chat.resume(theirs.id)


def test_an_id_that_could_be_two_conversations_is_none(
    chat: ChatSession, memory: Memory, monkeypatch: pytest.MonkeyPatch
):
    names = iter(["ab00", "ab11"])
    monkeypatch.setattr("secrets.token_hex", lambda size: next(names).ljust(16, "0"))
    for message in ("One", "Two"):
        chat.say(message)
        chat.new()
    with pytest.raises(AllearsError, match="2 conversations begin with 'ab'"):
        chat.resume("ab")


def test_conversations_in_which_nothing_was_said_are_not_listed(chat: ChatSession, memory: Memory):
    chat.begin()
    assert chat.conversations() == []
    assert len(memory.conversations(ME)) == 1


# --- consent and persona


def test_nobody_is_remembered_before_they_agreed(chat: ChatSession):
    assert chat.first_time
    chat.say("My cat is old")
    assert not chat.first_time
    chat.new()
    chat.say("Hello again")
    assert chat.persona() == []


def test_whoever_agreed_is_known_in_the_next_conversation_until_they_change_their_mind(chat: ChatSession):
    chat.agree(True)
    chat.say("My cat is old")
    chat.new()
    assert [each.text for each in chat.persona()] == ["My cat is old"]
    assert [use["text"] for use in chat.say("Hello again").why["persona"]] == ["My cat is old"]
    chat.agree(False)
    chat.new()
    assert chat.say("And again").why["persona"] == ()


def test_a_person_changes_what_is_noted_with_their_own_words(chat: ChatSession):
    chat.say("My cat is old")
    chat.edit_persona(1, "My cat is young.")
    chat.add_persona("I work nights.")
    assert [each.text for each in chat.persona()] == ["My cat is young.", "I work nights."]
    seen = [use["text"] for use in chat.say("So?").why["persona"]]
    assert seen == ["My cat is young.", "I work nights."]


def test_something_can_be_noted_before_anything_is_said(chat: ChatSession):
    chat.add_persona("I work nights.")
    assert [use["text"] for use in chat.say("So?").why["persona"]] == ["I work nights."]


def test_a_note_can_be_forgotten_by_its_number(chat: ChatSession):
    chat.say("My cat is old")
    chat.say("My sister lives in Ghent")
    assert chat.forget(1) == "My cat is old"
    assert [each.text for each in chat.persona()] == ["My sister lives in Ghent"]
    with pytest.raises(AllearsError, match="no note 2"):
        chat.forget(2)


def test_forgetting_that_forgets_the_last_message_only(chat: ChatSession):
    chat.say("My cat is old")
    chat.say("My sister lives in Ghent")
    assert chat.forget_last() == ["My sister lives in Ghent"]
    assert [each.text for each in chat.persona()] == ["My cat is old"]
    assert chat.forget_last() == []


def test_forgetting_all_forgets_what_other_conversations_know(chat: ChatSession, memory: Memory):
    chat.agree(True)
    chat.say("My cat is old")
    chat.new()
    chat.say("My sister lives in Ghent")
    assert chat.forget_all() == 2
    assert memory.sentences(ME) == []
    assert chat.persona() == []


def test_a_chat_that_keeps_nothing_does_everything_else(listener: ScriptedListener):
    with Memory(":memory:") as nothing_kept:
        chat = ChatSession(lambda: listener, nothing_kept, kept=False)
        chat.say("My cat is old")
        assert len(chat.persona()) == 1
        chat.undo()
        assert chat.persona() == []
