"""Conversations between two people (ED, section 3): a feeling from the least used, a situation, a partner, two talks.

Somebody chooses one of the three emotions that were used least so far (who comes again: of those they chose least
themselves), describes a situation, and waits. Two who wait are paired; first one of them is the speaker, then the
other. What each wrote beforehand the other never sees.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from allears.conversation import Conversation, Role, Turn
from allears.study import seeded
from allears.study.errors import NotAnsweredError, OutOfStepError
from allears.study.pair_state import PairState, may_speak, offered_emotions
from allears.study.rows import DECLINED, SCREENED, WITHDRAWN, Rater
from allears.study.store import Store
from allears.study.tables import pair_lines, pairs, raters, situations

WAITING, PAIRED, DONE = "waiting", "paired", "done"
TALKING, OVER, LEFT = "talking", "over", "left"
TALKS = 2
LONGEST_LINE = 2000
SEEN_EVERY = 3.0  # seconds between two notes that somebody is there


class Pairing:
    """The paired conversations of a study, in its store's database."""

    def __init__(self, store: Store) -> None:
        describe, chat = store.design.describe, store.design.paired_chat
        if describe is None or chat is None:
            raise TypeError("this study collects no conversations")
        self.store, self.describe, self.chat = store, describe, chat

    # --- situations

    def offer(self, rater: Rater) -> list[str]:
        """Three emotions to choose from; the same ones until a situation is described."""
        with self.store.locked() as connection:
            stored = connection.scalars(select(raters.c.offer).where(raters.c.id == rater.id)).one()
            if stored is not None:
                return list(json.loads(stored))
            own = self._used(connection, rater.id)
            found = offered_emotions(
                self.describe, self._used(connection), own, self.store.design.seed, str(rater.id)
            )
            connection.execute(update(raters).where(raters.c.id == rater.id).values(offer=json.dumps(found)))
            return found

    def describe_situation(self, rater: Rater, emotion: str, text: str) -> None:
        """Store a situation and wait for a partner. The same again while waiting changes nothing."""
        words = len(text.split())
        if not self.describe.least_words <= words <= self.describe.most_words:
            raise NotAnsweredError(
                f"Please describe it in {self.describe.least_words} to {self.describe.most_words} words."
            )
        now = self.store.clock()
        with self.store.locked() as connection:
            current = self._current(connection, rater.id)
            encoded = json.dumps(text.strip())
            if current is not None:
                if (current.emotion, current.text) == (emotion, encoded):
                    return
                raise OutOfStepError("You described a situation already.")
            if self._talks(connection, rater.id) + TALKS > self.chat.most_talks:
                raise OutOfStepError("You had as many conversations as one person may; thank you.")
            stored = connection.scalars(select(raters.c.offer).where(raters.c.id == rater.id)).one()
            if emotion not in json.loads(stored or "[]"):
                raise NotAnsweredError("Please choose one of the feelings that are offered.")
            connection.execute(
                insert(situations).values(
                    rater=rater.id, emotion=emotion, text=encoded, state=WAITING,
                    number=self.store.tick(connection), since=now, seen=now,
                )
            )  # fmt: skip
            connection.execute(update(raters).where(raters.c.id == rater.id).values(offer=None))
            self._match(connection, now)

    # --- the conversation

    def stage(self, rater: Rater) -> str:
        """What comes next for somebody: describe, pair, or done."""
        with self.store.database.reading() as connection:
            if self._current(connection, rater.id) is not None:
                return "pair"
            done = self._talks(connection, rater.id)
        enough = done >= TALKS * self.chat.per_visit or done + TALKS > self.chat.most_talks
        return "done" if enough else "describe"

    def pairs_done(self, rater: Rater) -> int:
        with self.store.database.reading() as connection:
            return self._talks(connection, rater.id) // TALKS

    def state(self, rater: Rater) -> PairState:
        """How things stand; asking is a sign of life. Who waits may be paired now."""
        now = self.store.clock()
        with self.store.database.reading() as connection:
            current = self._current(connection, rater.id)
            if current is None:
                return PairState(OVER)
            if now - current.seen < SEEN_EVERY:
                return self._seen_by(connection, current, now)
        with self.store.locked() as connection:
            connection.execute(update(situations).where(situations.c.id == current.id).values(seen=now))
            if current.state == WAITING:
                self._match(connection, now)
            again = self._current(connection, rater.id)
            return PairState(OVER) if again is None else self._seen_by(connection, again, now)

    def say(self, rater: Rater, text: str, number: int) -> PairState:
        """A line. The same line again (its answer was lost) changes nothing."""
        text = text.strip()
        if not text:
            raise NotAnsweredError("Please write something.")
        if len(text) > LONGEST_LINE:
            raise NotAnsweredError(f"Please write at most {LONGEST_LINE} characters at once.")
        now = self.store.clock()
        with self.store.locked() as connection:
            current, pair = self._talking(connection, rater.id)
            said = self._lines(connection, pair, pair.talk)
            if number < len(said):
                mine = said[number]
                if mine.rater == rater.id and json.loads(mine.text) == text:
                    return self._seen_by(connection, current, now)
                raise OutOfStepError("The other person was quicker; please read what they wrote.")
            if number > len(said) or not may_speak(len(said), self._speaks(current, pair)):
                raise OutOfStepError("It is the other person's turn.")
            connection.execute(
                insert(pair_lines).values(
                    pair=pair.id,
                    talk=pair.talk,
                    number=len(said),
                    rater=rater.id,
                    text=json.dumps(text),
                    said=now,
                )
            )
            connection.execute(update(situations).where(situations.c.id == current.id).values(seen=now))
            if len(said) + 1 >= self.chat.most:
                self._end_talk(connection, pair)
            else:
                self._changed(connection, pair)
            return self._mine(connection, rater.id, now)

    def finish(self, rater: Rater, talk: int) -> PairState:
        """End a conversation that is long enough. One that ended already stays ended."""
        now = self.store.clock()
        with self.store.locked() as connection:
            current = self._current(connection, rater.id)
            if current is None:
                return PairState(OVER)
            current, pair = self._talking(connection, rater.id)
            if pair.talk == talk:
                if len(self._lines(connection, pair, talk)) < self.chat.least:
                    raise OutOfStepError(f"Please exchange at least {self.chat.least} lines first.")
                self._end_talk(connection, pair)
            return self._mine(connection, rater.id, now)

    def leave(self, rater: Rater) -> None:
        """Go away from the queue or from a pair; the partner waits for somebody else."""
        with self.store.locked() as connection:
            current = self._current(connection, rater.id)
            if current is None:
                return
            pair = self._pair(connection, current)
            if pair is not None and pair.state == TALKING:
                self._part(connection, pair)
            connection.execute(update(situations).where(situations.c.id == current.id).values(state=DONE))

    def requeue(self, rater: Rater) -> None:
        """After a partner left: wait for another one with the same situation."""
        now = self.store.clock()
        with self.store.locked() as connection:
            current = self._current(connection, rater.id)
            if current is None or current.state != PAIRED:
                return
            pair = self._pair(connection, current)
            if pair is not None and pair.state == TALKING:
                if not self._is_away(connection, current, pair, now):
                    return
                self._part(connection, pair)
            connection.execute(
                update(situations)
                .where(situations.c.id == current.id)
                .values(state=WAITING, since=now, seen=now, number=self.store.tick(connection))
            )
            self._match(connection, now)

    # --- for the export

    def conversations(self) -> list[Conversation]:
        """Every talk that was long enough, about its speaker's situation. Authors go by their random names."""
        with self.store.database.reading() as connection:
            rows = connection.execute(
                select(pairs).where(pairs.c.study == self.store.study, pairs.c.state.in_((OVER, LEFT)))
            ).all()
            found: list[Conversation] = []
            for pair in rows:
                for talk, about in ((1, pair.first), (2, pair.second)):
                    said = self._lines(connection, pair, talk)
                    if about is None or len(said) < self.chat.least:
                        continue
                    found.append(self._conversation(connection, pair, talk, about, said))
            return found

    def _conversation(
        self, connection: Connection, pair: Row[Any], talk: int, about: int, said: Sequence[Row[Any]]
    ) -> Conversation:
        situation = connection.execute(select(situations).where(situations.c.id == about)).one()
        names = dict(
            connection.execute(
                select(raters.c.id, raters.c.name).where(raters.c.study == self.store.study)
            ).all()
        )
        turns = tuple(
            Turn(
                Role.SEEKER if line.rater == situation.rater else Role.SUPPORTER,
                json.loads(line.text),
                author=names[line.rater],
            )
            for line in said
        )
        return Conversation(
            f"{pair.key}-{talk}",
            turns,
            emotion=situation.emotion,
            situation=json.loads(situation.text),
            source=self.store.design.name,
        )

    # --- inside a transaction

    def _used(self, connection: Connection, rater: int | None = None) -> Counter[str]:
        query = (
            select(situations.c.emotion)
            .join(raters, raters.c.id == situations.c.rater)
            .where(raters.c.study == self.store.study)
        )
        return Counter(
            connection.scalars(query if rater is None else query.where(situations.c.rater == rater))
        )

    def _current(self, connection: Connection, rater: int) -> Row[Any] | None:
        """The situation that a rater waits or talks with."""
        query = select(situations).where(situations.c.rater == rater, situations.c.state != DONE)
        return connection.execute(query.order_by(situations.c.id.desc()).limit(1)).one_or_none()

    def _talks(self, connection: Connection, rater: int) -> int:
        """How many conversations somebody had: two for each pair that came to its end."""
        mine = select(situations.c.id).where(situations.c.rater == rater)
        query = select(pairs.c.id).where(
            pairs.c.state == OVER, pairs.c.first.in_(mine) | pairs.c.second.in_(mine)
        )
        return TALKS * len(connection.scalars(query).all())

    def _match(self, connection: Connection, now: float) -> None:
        """Pair those who wait and are there, the longest waiting first, if possible with somebody new."""
        query = (
            select(situations, raters.c.name)
            .join(raters, raters.c.id == situations.c.rater)
            .where(
                raters.c.study == self.store.study,
                raters.c.state.not_in((SCREENED, DECLINED, WITHDRAWN)),
                situations.c.state == WAITING,
                situations.c.seen > now - self.chat.away_after,
            )
            .order_by(situations.c.number)
        )
        waiting = list(connection.execute(query).all())
        while len(waiting) > 1:
            one = waiting.pop(0)
            met = self._met(connection, one.rater)
            other = next((each for each in waiting if each.rater not in met), waiting[0])
            waiting.remove(other)
            order = [one, other]
            if seeded.number(self.store.design.seed, one.id, other.id, "speaker") % 2:
                order.reverse()
            connection.execute(
                insert(pairs).values(
                    key=secrets.token_hex(8), study=self.store.study, first=order[0].id, second=order[1].id,
                    state=TALKING, talk=1, version=1,
                )
            )  # fmt: skip
            connection.execute(
                update(situations)
                .where(situations.c.id.in_([one.id, other.id]))
                .values(state=PAIRED, seen=now)
            )

    def _met(self, connection: Connection, rater: int) -> set[int]:
        mine = select(situations.c.id).where(situations.c.rater == rater)
        query = select(pairs.c.first, pairs.c.second).where(
            pairs.c.first.in_(mine) | pairs.c.second.in_(mine)
        )
        others = {key for both in connection.execute(query) for key in both if key is not None}
        return set(connection.scalars(select(situations.c.rater).where(situations.c.id.in_(others))))

    def _pair(self, connection: Connection, situation: Row[Any]) -> Row[Any] | None:
        """The pair that a situation is in, the latest."""
        mine = (pairs.c.first == situation.id) | (pairs.c.second == situation.id)
        return connection.execute(
            select(pairs).where(mine).order_by(pairs.c.id.desc()).limit(1)
        ).one_or_none()

    def _talking(self, connection: Connection, rater: int) -> tuple[Row[Any], Row[Any]]:
        current = self._current(connection, rater)
        pair = self._pair(connection, current) if current is not None else None
        if current is None or pair is None or pair.state != TALKING:
            raise OutOfStepError("There is no conversation going on; please load the page again.")
        return current, pair

    def _speaks(self, situation: Row[Any], pair: Row[Any]) -> bool:
        """Whether this talk is about this situation."""
        return bool((pair.first if pair.talk == 1 else pair.second) == situation.id)

    def _lines(self, connection: Connection, pair: Row[Any], talk: int) -> list[Row[Any]]:
        query = select(pair_lines).where(pair_lines.c.pair == pair.id, pair_lines.c.talk == talk)
        return list(connection.execute(query.order_by(pair_lines.c.number)))

    def _mine(self, connection: Connection, rater: int, now: float) -> PairState:
        current = self._current(connection, rater)
        return PairState(OVER) if current is None else self._seen_by(connection, current, now)

    def _is_away(self, connection: Connection, situation: Row[Any], pair: Row[Any], now: float) -> bool:
        other = pair.second if pair.first == situation.id else pair.first
        if other is None:
            return True
        seen = connection.scalars(select(situations.c.seen).where(situations.c.id == other)).one_or_none()
        return seen is None or now - seen > self.chat.away_after

    def _seen_by(self, connection: Connection, situation: Row[Any], now: float) -> PairState:
        pair = self._pair(connection, situation)
        if situation.state == WAITING or pair is None:
            return PairState(WAITING, waited_seconds=int(now - situation.since))
        if pair.state == LEFT:
            return PairState(LEFT, pair.version)
        speaks = self._speaks(situation, pair)
        said = self._lines(connection, pair, pair.talk)
        return PairState(
            TALKING,
            pair.version,
            talk=pair.talk,
            role="speaker" if speaks else "listener",
            situation=json.loads(situation.text) if speaks else None,
            emotion=situation.emotion if speaks else None,
            turns=tuple(
                ("you" if line.rater == situation.rater else "other", json.loads(line.text)) for line in said
            ),
            your_turn=may_speak(len(said), speaks),
            may_finish=len(said) >= self.chat.least,
            partner_away=self._is_away(connection, situation, pair, now),
        )

    def _changed(self, connection: Connection, pair: Row[Any], **values: Any) -> None:
        connection.execute(
            update(pairs).where(pairs.c.id == pair.id).values(version=pairs.c.version + 1, **values)
        )

    def _end_talk(self, connection: Connection, pair: Row[Any]) -> None:
        """Swap roles, or after the second talk both are done."""
        if pair.talk < TALKS:
            self._changed(connection, pair, talk=pair.talk + 1)
            return
        self._changed(connection, pair, state=OVER)
        both = [key for key in (pair.first, pair.second) if key is not None]
        connection.execute(update(situations).where(situations.c.id.in_(both)).values(state=DONE))

    def _part(self, connection: Connection, pair: Row[Any]) -> None:
        self._changed(connection, pair, state=LEFT)
