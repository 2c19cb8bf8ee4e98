"""One person's chat without a terminal: say something, look at it, change it, take it back.

A message counts as answered when it is stored; so a reply is stored before anybody sees it. Where that fails (a full
disk), the person still gets their answer, is told that it is not stored, and the next message tries again.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from allears.conversation import Conversation, Role, Turn
from allears.errors import AllearsError
from allears.listener.contract import Reply, Responder
from allears.memory import ConflictError, Memory, NotFoundError, StoredSentence, Summary, UnavailableError

ME = "me"  # the person at this machine; `allears serve` without tokens calls them the same
LAST = "last"


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A reply. `turn` is its number in the conversation (from 1); `not_stored` says why it is not, if so."""

    text: str
    why: Mapping[str, Any]
    conversation: str
    turn: int
    not_stored: str = ""


@dataclass(frozen=True, slots=True)
class _Unstored:
    before: Conversation
    reply: Reply
    request: str  # so that a write whose answer was lost is not done twice


class ChatSession:
    """`listener` is asked for only when there is something to answer: it may still be loading."""

    def __init__(
        self,
        listener: Callable[[], Responder],
        memory: Memory,
        *,
        person: str = ME,
        seed: int = 0,
        kept: bool = True,  # False: the memory ends with this chat
    ) -> None:
        self.person, self.seed, self.kept = person, seed, kept
        self._listener, self._memory = listener, memory
        self._conversation: Conversation | None = None  # None: nothing was said yet
        self._why: Mapping[str, Any] | None = None
        self._unstored: list[_Unstored] = []
        self._start_request = _request()

    # --- talking

    def say(self, message: str) -> ChatReply:
        """The reply, stored. Raises an `AllearsError` where there is none, and then nothing has changed."""
        said, lost = self._answer(message), ""
        try:
            problem = self._store()
        except ConflictError as error:  # another window wrote to it between our reading and our writing
            if len(self._unstored) > 1:
                lost = f"what you said before this could not be added to it ({error})"
            self._unstored.clear()
            said = self._answer(message)
            problem = self._store()
        return replace(said, conversation=self.id, not_stored=problem or lost)

    def undo(self) -> str:
        """Take back the last message and its answer. What the message was."""
        if self._conversation is None or not self._conversation.turns:
            raise AllearsError("There is nothing to take back: nothing has been said yet.")
        if self._unstored:
            message = _last_message(self._conversation)
            self._conversation = replace(self._unstored.pop().before, id=self.id)
        else:
            message = _last_message(self._memory.load(self.person, self.id))
            self._conversation = self._memory.undo(self.person, self.id)
        self._why = self._stored_why()
        return message

    @property
    def id(self) -> str:
        """The conversation's, or an empty text before the first message."""
        return "" if self._conversation is None else self._conversation.id

    @property
    def turns(self) -> tuple[Turn, ...]:
        return () if self._conversation is None else self._conversation.turns

    @property
    def why(self) -> Mapping[str, Any] | None:
        """What is behind the last reply, as `Why.to_dict` gives it. None if there is none."""
        return self._why

    # --- conversations

    def new(self) -> None:
        """The next message begins another conversation."""
        self._leave_this_one()
        self._conversation, self._why, self._start_request = None, None, _request()

    def resume(self, which: str) -> Conversation:
        """Go on with a conversation: "last", its id, or the beginning of its id."""
        found = self._find(which)
        self._leave_this_one()
        self._conversation = self._memory.load(self.person, found)
        self._why = self._stored_why()
        return self._conversation

    def conversations(self) -> list[Summary]:
        """Those in which something was said, the latest first."""
        return [each for each in self._memory.conversations(self.person) if each.turns]

    @property
    def conversation(self) -> Conversation:
        """As it stands. An error if nothing was said."""
        if self._conversation is None or not self._conversation.turns:
            raise AllearsError("Nothing has been said yet.")
        return self._conversation

    def close(self) -> str:
        """Store what could not be stored before. Why that failed, or an empty text."""
        try:
            return self._store()
        except AllearsError as error:
            return str(error)

    # --- what is known about the person

    @property
    def first_time(self) -> bool:
        """Whether this person never talked here."""
        return not self._memory.consent(self.person) and not self._memory.conversations(self.person)

    @property
    def agreed(self) -> bool:
        """Whether the person may be remembered across conversations."""
        return self._memory.consent(self.person)

    def agree(self, agreed: bool) -> None:
        self._memory.set_consent(self.person, agreed)
        self._reload()

    def begin(self) -> None:
        """Start the conversation now instead of at the first message: a person who was asked is not asked again."""
        if self._conversation is None:
            started = self._memory.start(self.person, request=self._start_request)
            self._conversation = self._memory.load(self.person, started)

    def persona(self) -> list[StoredSentence]:
        """What this conversation knows; before it began, what it would know."""
        if self.id:
            return self._memory.sentences(self.person, conversation=self.id)
        return [each for each in self._memory.sentences(self.person) if each.remembered]

    def edit_persona(self, number: int, text: str) -> None:
        self._memory.edit_persona(self.person, self._numbered(number).id, text)
        self._reload()

    def add_persona(self, text: str) -> None:
        self.begin()
        self._memory.add_sentence(self.person, text, conversation=self.id)
        self._reload()

    def forget(self, number: int) -> str:
        """Forget one sentence, by its number in `persona`. What it said."""
        sentence = self._numbered(number)
        self._memory.forget_sentence(self.person, sentence.id)
        self._reload()
        return sentence.text

    def forget_last(self) -> list[str]:
        """Forget what the person's last message told about them."""
        last = max(
            (number for number, turn in enumerate(self.turns, 1) if turn.speaker is Role.SEEKER), default=0
        )
        told = [each for each in self.persona() if each.conversation == self.id and each.turn == last]
        for sentence in told:
            self._memory.forget_sentence(self.person, sentence.id)
        self._reload()
        return [sentence.text for sentence in told]

    def forget_all(self) -> int:
        """Forget every sentence about the person, of all conversations. How many there were."""
        count = len(self._memory.sentences(self.person))
        while left := self._memory.sentences(self.person):  # one may take others along that say the same
            self._memory.forget_sentence(self.person, left[0].id)
        self._reload()
        return count

    # --- inside

    def _answer(self, message: str) -> ChatReply:
        before = self._current()
        reply = self._listener().respond(message, before, seed=self.seed)
        self._unstored.append(_Unstored(before, reply, _request()))
        self._conversation, self._why = replace(reply.conversation, id=before.id), reply.why.to_dict()
        return ChatReply(reply.text, self._why, before.id, len(self.turns))

    def _current(self) -> Conversation:
        """The conversation with what happened to it elsewhere, in the web app for one."""
        try:
            if self._conversation is None:
                self.begin()
            elif self.id and not self._unstored:
                self._conversation = self._memory.load(self.person, self.id)
        except NotFoundError:  # erased elsewhere: what is said now begins anew
            self.new()
            self.begin()
        except UnavailableError:  # the answer comes first: storing says what is wrong
            self._conversation = self._conversation or Conversation("", ())
        assert self._conversation is not None
        return self._conversation

    def _store(self) -> str:
        """Store what is not stored yet, in order. Why that failed, or an empty text."""
        try:
            while self._unstored:
                first = self._unstored[0]
                if not self.id:
                    self._name(self._memory.start(self.person, request=self._start_request))
                updated = replace(first.reply.conversation, id=self.id)
                why, after = first.reply.why.to_dict(), len(first.before.turns)
                self._memory.append(
                    self.person, self.id, updated, after=after, why=why, request=first.request
                )
                del self._unstored[0]
        except UnavailableError as error:
            return str(error)
        return ""

    def _name(self, started: str) -> None:
        assert self._conversation is not None
        self._conversation = replace(self._conversation, id=started)

    def _leave_this_one(self) -> None:
        problem = self._store()
        if problem:
            raise AllearsError(f"What you said last is not stored yet, so I stay here: {problem}")

    def _reload(self) -> None:
        if self.id and not self._unstored:
            self._conversation = self._memory.load(self.person, self.id)

    def _stored_why(self) -> Mapping[str, Any] | None:
        if self._unstored:
            return self._unstored[-1].reply.why.to_dict()
        return self._memory.why(self.person, self.id, len(self.turns)) if self.turns else None

    def _numbered(self, number: int) -> StoredSentence:
        known = self.persona()
        if not known:
            raise AllearsError("Nothing is noted about you, so there is nothing to change.")
        if not 1 <= number <= len(known):
            raise AllearsError(f"There is no note {number}; /persona lists them, from 1 to {len(known)}.")
        return known[number - 1]

    def _find(self, which: str) -> str:
        known = [each.id for each in self.conversations()]
        if not known:
            raise AllearsError("There is no earlier conversation to go on with.")
        if which == LAST:
            return known[0]
        found = [each for each in known if each.startswith(which)] if which else []
        if len(found) == 1:
            return found[0]
        if found:
            raise AllearsError(f"{len(found)} conversations begin with {which!r}; give more of the id.")
        raise AllearsError(f"There is no conversation {which!r}; /list shows them, and “last” is the latest.")


def _request() -> str:
    return uuid.uuid4().hex


def _last_message(conversation: Conversation) -> str:
    return next((turn.text for turn in reversed(conversation.turns) if turn.speaker is Role.SEEKER), "")
