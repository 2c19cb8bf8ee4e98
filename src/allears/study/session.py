"""A participant's way through a study: consent, instructions, units or a paired conversation, and the way back.

`Sessions` puts the design, what was frozen, the store and the systems together. It is all that the routes know.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from allears.conversation import Role, Turn
from allears.safety.replies import fixed_reply
from allears.safety.screen import CrisisScreen, require_crisis_screening
from allears.study import seeded
from allears.study.blocks import SIDES, Chat
from allears.study.design import Design
from allears.study.errors import NotAnsweredError, OutOfStepError
from allears.study.frozen import Frozen
from allears.study.pair_state import PairState
from allears.study.pairing import LEFT, Pairing
from allears.study.rows import (
    CONSENTED,
    DECLINED,
    NEW,
    READY,
    SCREENED,
    WITHDRAWN,
    Given,
    Rater,
    RaterProgress,
)
from allears.study.showing import chat_lines, shown_unit
from allears.study.store import Store
from allears.study.systems import Talker

PROLIFIC = "https://app.prolific.com/submissions/complete?cc="
LONGEST_MESSAGE = 2000
Step = dict[str, Any]
_CARE = (
    "This sounds as if somebody may be in danger. If that is you, please talk to people who can help right now; the "
    "study can wait."
)
_WITHDRAWN = "You have withdrawn, and everything you answered is deleted. You may close this page."
_LEFT = "Your partner left. You need not do anything: we look for somebody else to talk with you."


class Sessions:
    """`talkers`: the systems of a chat, by name. Every line that people write passes the crisis screen."""

    def __init__(
        self,
        design: Design,
        frozen: Frozen,
        store: Store,
        talkers: Mapping[str, Talker] | None = None,
        *,
        screen: CrisisScreen | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.design, self.frozen, self.store = design, frozen, store
        self.talkers = dict(talkers or {})
        # a model answers one rater at a time: nothing says that it may be asked from two threads
        self._turns = {name: threading.Lock() for name in self.talkers}
        self.pairing = Pairing(store) if design.collects else None
        self.screen = require_crisis_screening(screen or CrisisScreen.from_bundle())
        self._sleep = sleep
        self._known_danger = lru_cache(maxsize=256)(self._in_danger)

    # --- steps

    def step(self, rater: Rater) -> Step:
        """What to show now."""
        if rater.state == NEW:
            words = self.design.consent
            return {
                "stage": "consent",
                "consent": {
                    "title": words.title,
                    "text": words.text,
                    "agree": words.agree,
                    "decline": words.decline,
                },
            }
        if rater.state == CONSENTED:
            told = self.design.instructions
            return {
                "stage": "instructions",
                "instructions": {"title": told.title, "text": told.text, "begin": told.begin},
            }
        if rater.state != READY:
            return self._ended(rater, rater.state)
        return self._collecting(rater) if self.pairing is not None else self._answering(rater)

    def consent(self, rater: Rater, agree: bool) -> None:
        self.store.set_state(rater, CONSENTED if agree else DECLINED, after=(NEW, DECLINED))

    def begin(self, rater: Rater) -> None:
        self.store.set_state(rater, READY, after=(CONSENTED,))

    def withdraw(self, rater: Rater) -> None:
        self.store.withdraw(rater)

    def _answering(self, rater: Rater) -> Step:
        given = self.store.next(rater)
        progress = _progress(self.store.progress(rater))
        if given is None:
            return {**self._ended(rater, "done"), "progress": progress}
        unit = shown_unit(self.design, self.frozen, given, self._chats(given))
        return {"stage": "unit", "progress": progress, "unit": unit}

    def _ended(self, rater: Rater, stage: str) -> Step:
        words = self.design.returning
        text = {SCREENED: words.screened, DECLINED: words.declined, WITHDRAWN: _WITHDRAWN}.get(
            stage, words.text
        )
        codes = {
            "done": words.prolific_done,
            SCREENED: words.prolific_screened,
            DECLINED: words.prolific_declined,
        }
        prolific = codes.get(stage, "") if rater.source == "prolific" else ""
        code = rater.code if words.codes and not prolific and stage in ("done", SCREENED) else None
        url = f"{PROLIFIC}{prolific}" if prolific else None
        return {"stage": stage, "done": {"text": text, "code": code, "return_url": url}}

    # --- units

    def answer(self, rater: Rater, key: str, answers: Mapping[str, Any]) -> dict[str, Any]:
        return {"stored": True, "progress": _progress(self.store.answer(rater, key, answers))}

    def say(self, rater: Rater, key: str, side: str, number: int, text: str) -> dict[str, Any]:
        """A line to the system under a letter, and its reply; both are stored together."""
        started = time.monotonic()
        chat, place, given = self._chat_at(rater, key, side)
        stored = self.store.chat(given, place)
        if number < len(stored):  # sent again: what was answered then
            return self._told(stored, care=number + 1 < len(stored) and stored[number + 1][1])
        text = _line(text, LONGEST_MESSAGE)
        if number != len(stored) or given.answered:
            raise OutOfStepError("This conversation went on meanwhile; please load the page again.")
        if number // 2 >= chat.most_turns:
            raise OutOfStepError("This conversation is long enough; please answer the questions below.")
        turns = [*_turns([line for line, _ in stored]), Turn(Role.SEEKER, text)]
        warning = self._in_danger(turns)
        # whoever listens, danger is answered the same way, so the letters tell nothing here either
        reply = warning or self._reply(given, place, turns, number)
        self._sleep(max(0.0, chat.least_reply_seconds - (time.monotonic() - started)))
        self.store.add_exchange(rater, key, place, number, text, reply, care=bool(warning))
        return self._told(self.store.chat(given, place), care=bool(warning))

    def _chat_at(self, rater: Rater, key: str, side: str) -> tuple[Chat, int, Given]:
        chat = self.design.chat
        given = self.store.given(rater, key)
        if chat is None or side not in SIDES[: chat.systems]:
            raise NotAnsweredError("There is no such conversation here.")
        return chat, given.order[SIDES.index(side)], given

    def _reply(self, given: Given, place: int, turns: Sequence[Turn], number: int) -> str:
        system = given.unit.systems[place]
        seed = seeded.below(2**31, self.design.seed, given.key, system, number)
        persona = self.frozen.items[given.unit.item].persona
        with self._turns[system]:
            said = self.talkers[system].reply(turns, persona, seed=seed)
        return " ".join(said.split()) or "..."

    def _told(self, lines: Sequence[tuple[str, bool]], *, care: bool) -> dict[str, Any]:
        return {"turns": chat_lines([line for line, _ in lines]), "care": care_words() if care else None}

    def _chats(self, given: Given) -> dict[str, list[str]]:
        if self.design.chat is None:
            return {}
        return {
            SIDES[place]: [line for line, _ in self.store.chat(given, which)]
            for place, which in enumerate(given.order[: self.design.chat.systems])
        }

    def _in_danger(self, turns: Sequence[Turn]) -> str:
        """The fixed reply where somebody may be in danger, or nothing."""
        *before, last = turns
        found = self.screen.check(last.text, before, self.screen.state_after(before))
        said = [turn.text for turn in before if turn.speaker is Role.SUPPORTER]
        return fixed_reply(found, message=last.text, said=said) if found.takes_over else ""

    # --- paired conversations

    def _collecting(self, rater: Rater) -> Step:
        assert self.pairing is not None
        self.pairing.requeue(rater)
        stage = self.pairing.stage(rater)
        progress = {"done": self.pairing.pairs_done(rater), "of": self.pairing.chat.per_visit}
        if stage == "done":
            return {**self._ended(rater, "done"), "progress": progress}
        if stage == "pair":
            return {"stage": "pair", "progress": progress, "pair": self.pair(rater)}
        asked = self.pairing.describe
        words = {
            "emotions": self.pairing.offer(rater),
            "text": asked.text,
            "least_words": asked.least_words,
            "most_words": asked.most_words,
        }
        return {"stage": "describe", "progress": progress, "describe": words}

    def describe(self, rater: Rater, emotion: str, text: str) -> None:
        self._pairs(rater).describe_situation(rater, emotion, text)

    def pair(self, rater: Rater, state: PairState | None = None) -> dict[str, Any]:
        """A pair as its page shows it."""
        pairing = self._pairs(rater)
        found = state or pairing.state(rater)
        shown: dict[str, Any] = {"state": found.state, "version": found.version}
        if found.state == "waiting":
            return {**shown, "waited_seconds": found.waited_seconds}
        if found.state == LEFT:
            return {**shown, "text": _LEFT}
        if found.state != "talking":
            return shown
        mine = tuple(Turn(Role.SEEKER if who == "you" else Role.SUPPORTER, text) for who, text in found.turns)
        # a page looks twice a second, and what was said stays the same for longer
        care = bool(mine) and mine[-1].speaker is Role.SEEKER and bool(self._known_danger(mine))
        return {
            **shown,
            "talk": found.talk,
            "of": 2,
            "role": found.role,
            "situation": found.situation,
            "emotion": found.emotion,
            "turns": [{"speaker": who, "text": text} for who, text in found.turns],
            "your_turn": found.your_turn,
            "least": pairing.chat.least,
            "most": pairing.chat.most,
            "may_finish": found.may_finish,
            "partner_away": found.partner_away,
            "care": care_words() if care else None,
        }

    def pair_say(self, rater: Rater, text: str, number: int) -> dict[str, Any]:
        return self.pair(rater, self._pairs(rater).say(rater, text, number))

    def pair_finish(self, rater: Rater, talk: int) -> dict[str, Any]:
        return self.pair(rater, self._pairs(rater).finish(rater, talk))

    def pair_leave(self, rater: Rater) -> None:
        self._pairs(rater).leave(rater)

    def _pairs(self, rater: Rater) -> Pairing:
        if self.pairing is None or rater.state != READY:
            raise OutOfStepError("There is no conversation for you here now.")
        return self.pairing


def care_words() -> dict[str, Any]:
    """For somebody who may be in danger: one sentence, and whom to call."""
    from allears.serve.help import help_in

    return {"text": _CARE, "help": help_in(None).to_dict()}


def _progress(progress: RaterProgress) -> dict[str, int]:
    return {"done": progress.done, "of": progress.of}


def _turns(said: Sequence[str]) -> list[Turn]:
    roles = (Role.SEEKER, Role.SUPPORTER)
    return [Turn(roles[place % 2], text) for place, text in enumerate(said)]


def _line(text: str, longest: int) -> str:
    text = text.strip()
    if not text:
        raise NotAnsweredError("Please write something.")
    if len(text) > longest:
        raise NotAnsweredError(f"Please write at most {longest} characters at once.")
    return text
