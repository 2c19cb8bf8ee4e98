"""Titles, voices and personas that a person chose; finding a conversation; saying an earlier message differently."""

from __future__ import annotations

import json

import pytest

from allears.conversation import Persona
from allears.memory import Choices, ConflictError, Memory, NotFoundError, NothingToUndoError
from allears.memory.search import found_in
from databases import Open
from talking import ME, exchange, known, say, texts


def test_choices_are_kept_and_shown_where_the_listener_looks(memory: Memory):
    talk = memory.start(ME)
    assert memory.choices(ME, talk) == Choices()
    memory.choose(ME, talk, {"title": "The move", "voice": "pal"})
    memory.choose(ME, talk, {"listener": ["I am a gardener."], "country": "NZ"})
    assert memory.choices(ME, talk) == Choices("The move", "pal", ("I am a gardener.",), "NZ")
    loaded = memory.load(ME, talk)
    assert loaded.personas["supporter"].texts == ("I am a gardener.",)
    assert (loaded.labels["voice"], loaded.labels["country"]) == ("pal", "NZ")
    assert memory.conversations(ME)[0].title == "The move"


def test_a_choice_can_be_taken_back_though_a_message_was_stored_with_it(memory: Memory):
    talk = memory.start(ME)
    memory.choose(ME, talk, {"listener": ["I am a cook."], "voice": "pal", "country": "NZ", "title": "Soup"})
    say(memory, talk, "I am hungry.")
    memory.choose(ME, talk, {"listener": [], "voice": None, "country": None, "title": None})
    loaded = memory.load(ME, talk)
    assert "supporter" not in loaded.personas
    assert not {"voice", "country"} & set(loaded.labels)
    assert memory.conversations(ME)[0].title is None


def test_undo_leaves_choices_alone(memory: Memory):
    talk = memory.start(ME)
    say(memory, talk, "Hello.")
    say(memory, talk, "Again.")
    memory.choose(ME, talk, {"title": "Chosen later", "listener": ["I am a cook."]})
    undone = memory.undo(ME, talk)
    assert undone.personas["supporter"].texts == ("I am a cook.",)
    assert memory.choices(ME, talk).title == "Chosen later"


def test_choices_are_the_persons_own(memory: Memory):
    talk = memory.start(ME)
    for call in (
        lambda: memory.choices("somebody", talk),
        lambda: memory.choose("somebody", talk, {"title": "mine now"}),
        lambda: memory.load_before("somebody", talk, 1),
        lambda: memory.reasons("somebody", talk, last=5),
    ):
        with pytest.raises(NotFoundError):
            call()
    assert memory.choices(ME, talk) == Choices()


def test_choices_are_exported_and_encrypted(tmp_path, open_memory: Open):
    memory = open_memory(str(tmp_path / "memory.db"), key="a long and winding key")
    talk = memory.start(ME)
    memory.choose(ME, talk, {"title": "marmalade", "listener": ["I make marmalade."]})
    exported = memory.export(ME)["conversations"][0]
    assert exported["title"] == "marmalade"
    assert "I make marmalade." in json.dumps(exported["personas"])
    assert b"marmalade" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_a_conversation_is_found_by_its_title_and_by_words_said_in_it(memory: Memory):
    tree, sea = memory.start(ME), memory.start(ME)
    say(memory, tree, "I planted a small Oak behind the house.")
    say(memory, sea, "We sailed out.")
    memory.choose(ME, sea, {"title": "The Sea"})
    assert [each.id for each in memory.conversations(ME, search="oak HOUSE")] == [tree]
    assert memory.conversations(ME, search="oak")[0].match == "I planted a small Oak behind the house."
    (by_title,) = memory.conversations(ME, search="sea")
    assert (by_title.id, by_title.match) == (sea, "")
    assert [each.id for each in memory.conversations(ME, search="the sailed")] == [sea]
    assert memory.conversations(ME, search="oak sailed") == []
    assert len(memory.conversations(ME, search="  ")) == 2
    assert memory.conversations("somebody", search="oak") == []


def test_a_match_shows_whole_words_around_what_was_found():
    text = "one two three four five six seven eight nine ten NEEDLE eleven twelve thirteen fourteen fifteen sixteen"
    found = found_in(None, [text], "needle")
    assert found is not None
    assert found.startswith("… ")
    assert found.endswith(" …")
    assert all(word in text.split() for word in found.strip("… ").split())
    assert found_in(None, ["a" * 500], "aaa") is not None
    assert found_in(None, ["costs (5)"], "(5)") == "costs (5)"


def test_a_conversation_is_shown_as_it_was_before_a_message_and_stays_as_it_is(memory: Memory):
    talk = memory.start(ME)
    say(memory, talk, "I live in Ghent.", "I live in Ghent.", labels={"mood": "calm"})
    say(memory, talk, "I live in Lisbon.", "I live in Lisbon.", labels={"mood": "glad"})
    say(memory, talk, "And so on.")
    now = memory.load(ME, talk)
    before, since = memory.load_before(ME, talk, 3)
    assert (texts(before), since) == (["I live in Ghent.", "Tell me more."], 4)
    assert known(before) == ("I live in Ghent.",)  # what replaced it was not said yet
    assert before.labels["mood"] == "calm"
    assert memory.load(ME, talk) == now


@pytest.mark.parametrize("turn", [2, 0, -1, 5, 2**31 - 1])
def test_only_a_message_of_the_persons_own_can_be_taken_back(memory: Memory, turn: int):
    talk = memory.start(ME)
    say(memory, talk, "Hello.")
    with pytest.raises(NothingToUndoError, match="no message of yours"):
        memory.load_before(ME, talk, turn)
    with pytest.raises(NothingToUndoError):
        memory.undo(ME, talk, turn)
    assert len(memory.load(ME, talk).turns) == 2


def test_undo_goes_back_to_any_message(memory: Memory):
    talk = memory.start(ME)
    for word in ("one", "two", "three"):
        say(memory, talk, word, f"I know {word}.")
    undone = memory.undo(ME, talk, 3)
    assert texts(undone) == ["one", "Tell me more."]
    assert known(undone) == ("I know one.",)


def test_an_earlier_message_is_said_differently_in_one_step(memory: Memory):
    talk = memory.start(ME)
    for word in ("one", "two", "three"):
        say(memory, talk, word, f"I know {word}.")
    before, since = memory.load_before(ME, talk, 3)
    updated = exchange(before, "other", learned=["I know other."])
    memory.append(ME, talk, updated, after=2, instead_of=since, why={"kind": "reply"}, request="r")
    stored = memory.load(ME, talk)
    assert texts(stored) == ["one", "Tell me more.", "other", "Tell me more."]
    assert known(stored) == ("I know one.", "I know other.")
    memory.append(ME, talk, updated, after=2, instead_of=since, request="r")  # asked again: nothing happens
    assert memory.load(ME, talk) == stored
    assert list(memory.reasons(ME, talk, last=5)) == [4]


def test_whoever_says_it_differently_while_somebody_else_writes_is_told(memory: Memory):
    talk = memory.start(ME)
    say(memory, talk, "one")
    say(memory, talk, "two")
    before, since = memory.load_before(ME, talk, 1)
    say(memory, talk, "three")
    with pytest.raises(ConflictError, match="6 turns by now, not 4"):
        memory.append(ME, talk, exchange(before, "other"), after=0, instead_of=since)
    assert texts(memory.load(ME, talk))[::2] == ["one", "two", "three"]


def test_the_reasons_of_the_last_replies_come_at_once(memory: Memory):
    talk = memory.start(ME)
    for number in range(4):
        say(memory, talk, f"message {number}", why={"number": number})
    assert memory.reasons(ME, talk, last=2) == {6: {"number": 2}, 8: {"number": 3}}
    assert len(memory.reasons(ME, talk, last=100)) == 4


def test_a_no_is_told_from_never_having_been_asked(memory: Memory):
    assert not memory.asked(ME)
    memory.start(ME)
    assert not memory.asked(ME)
    memory.set_consent(ME, False)
    assert memory.asked(ME)
    assert not memory.consent(ME)


def test_a_persona_of_the_listeners_that_came_another_way_stays(memory: Memory):
    talk = memory.start(ME)
    loaded = memory.load(ME, talk)
    memory.append(ME, talk, exchange(loaded, "hello", labels={"a": 1}), after=0)
    memory.choose(ME, talk, {"title": "x"})
    assert memory.load(ME, talk).personas.get("supporter", Persona()) == Persona()
