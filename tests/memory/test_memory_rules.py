"""Whatever people, listeners and late writers do in whatever order, some things always hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from allears.conversation import Conversation, Persona
from allears.memory import ConflictError, Memory, NotFoundError
from allears.memory.learning import REVISION_LABEL
from talking import ME, exchange, known

SENTENCES = (
    "I live in Ghent.", "I live in Bruges.", "I live in Antwerp.", "I sing.", "I don't sing.", "I have a goat.",
    "I love my job.", "I hate my job.", "I am 30 years old.", "I am 31 years old.",
)  # fmt: skip
told = st.lists(st.sampled_from(SENTENCES), max_size=2, unique=True)


class Life(RuleBasedStateMachine):
    """A person with some conversations; `copies` are what writers hold, some of them long out of date."""

    copies: Bundle[Conversation] = Bundle("copies")

    def __init__(self) -> None:
        super().__init__()
        self.memory = Memory(":memory:")
        self.stored: dict[str, list[str]] = {}

    def teardown(self) -> None:
        self.memory.close()

    @rule(target=copies)
    def start(self) -> Conversation:
        name = self.memory.start(ME)
        self.stored[name] = []
        return self.memory.load(ME, name)

    @rule(target=copies, copy=copies)
    def load(self, copy: Conversation) -> Any:
        return self.memory.load(ME, copy.id) if copy.id in self.stored else multiple()

    @rule(target=copies, copy=consumes(copies), learned=told)
    def talk(self, copy: Conversation, learned: list[str]) -> Conversation:
        updated = exchange(copy, f"{len(self.stored)} {learned}", learned=learned)
        self.write(copy, updated)
        return updated

    @rule(copy=copies, which=st.sampled_from(SENTENCES))
    def ask_the_listener_to_forget(self, copy: Conversation, which: str) -> None:
        left = [each for each in copy.personas.get("seeker", Persona()).sentences if each.text != which]
        updated = replace(exchange(copy, "Forget that."), personas={"seeker": Persona(tuple(left))})
        before = copy.id in self.stored and copy.labels[REVISION_LABEL] == self.revision(copy.id)
        if self.write(copy, updated) and before and which in known(copy):
            assert which not in known(self.memory.load(ME, copy.id))

    def revision(self, name: str) -> int:
        return self.memory.load(ME, name).labels[REVISION_LABEL]

    def write(self, copy: Conversation, updated: Conversation) -> bool:
        mine = [turn.text for turn in copy.turns]
        current = self.stored.get(copy.id)
        try:
            self.memory.append(ME, copy.id, updated, after=len(copy.turns))
        except NotFoundError:
            assert current is None
            return False
        except ConflictError:
            assert current is not None
            assert mine != current
            return False
        assert current is not None
        assert len(mine) == len(current)
        self.stored[copy.id] = [*current, *(turn.text for turn in updated.turns[len(copy.turns) :])]
        return True

    @rule(copy=copies)
    def undo(self, copy: Conversation) -> None:
        if self.stored.get(copy.id):
            self.memory.undo(ME, copy.id)
            self.stored[copy.id] = self.stored[copy.id][:-2]

    @rule(copy=copies)
    def delete(self, copy: Conversation) -> None:
        if copy.id in self.stored:
            self.memory.delete_conversation(ME, copy.id)
            del self.stored[copy.id]

    @rule(agreed=st.booleans())
    def decide(self, agreed: bool) -> None:
        self.memory.set_consent(ME, agreed)
        if not agreed:
            assert self.memory.persona(ME) == Persona()

    @rule(text=st.sampled_from(SENTENCES), number=st.integers(1, 6))
    def edit(self, text: str, number: int) -> None:
        sentences = self.memory.sentences(ME)
        if number <= len(sentences):
            self.memory.edit_persona(ME, number, text)
            after = {each.id: each for each in self.memory.sentences(ME)}
            edited = after[sentences[number - 1].id]
            assert (edited.text, edited.edited) == (text, True)

    @rule(number=st.integers(1, 6))
    def forget(self, number: int) -> None:
        sentences = self.memory.sentences(ME)
        if number <= len(sentences):
            self.memory.forget_sentence(ME, number)
            text = sentences[number - 1].text
            assert f'"{text}"' not in str(self.memory.export(ME)["persona"]).replace("'", '"')

    @rule(text=st.sampled_from(SENTENCES), copy=copies)
    def add(self, text: str, copy: Conversation) -> None:
        if copy.id in self.stored:
            self.memory.add_sentence(ME, text, conversation=copy.id)
            assert text in known(self.memory.load(ME, copy.id))

    @invariant()
    def every_conversation_has_its_turns_in_order(self) -> None:
        for name, texts in self.stored.items():
            assert [turn.text for turn in self.memory.load(ME, name).turns] == texts

    @invariant()
    def every_sentence_is_somebodys(self) -> None:
        everything = {each.text for each in self.memory.sentences(ME)}
        anywhere = set(self.memory.persona(ME).texts)
        for name in self.stored:
            anywhere |= set(known(self.memory.load(ME, name)))
        assert anywhere == everything

    @invariant()
    def without_consent_nothing_comes_from_elsewhere(self) -> None:
        if not self.memory.consent(ME):
            for name in self.stored:
                for each in self.memory.sentences(ME, conversation=name):
                    assert each.conversation == name

    @invariant()
    def the_tables_fit_together(self) -> None:
        with self.memory._database.reading() as connection:
            assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []


Life.TestCase.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
TestLife = Life.TestCase
