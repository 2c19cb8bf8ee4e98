"""Who takes part in a study: how they come in, where they stand, and how they go again with all they left.

A person is a random name here. Of their token only a digest is kept, from which no id of another platform is found.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import Counter
from collections.abc import Sequence

from sqlalchemy import delete, insert, select, update

from allears.errors import AllearsError
from allears.study.errors import NotKnownError
from allears.study.opened import OpenedStudy
from allears.study.rows import COUNTED, NEW, SPARE, WITHDRAWN, Rater, as_rater
from allears.study.tables import assignments, pair_lines, pairs, raters, situations

_CODE_LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that look alike


class People(OpenedStudy):
    """An opened study, and its people."""

    def new_link(self) -> str:
        """The token of a link for one person."""
        return self._new_rater(secrets.token_urlsafe(24), "link")

    def enter(self, open_token: str, *, prolific: str = "", mturk: str = "") -> str:
        """A token for whoever comes by the open link. The same person of Prolific or MTurk gets the same again."""
        if not hmac.compare_digest(open_token.encode(), self.open_token.encode()):
            raise NotKnownError("This link is not complete; please open it again from where you found it.")
        if prolific or mturk:
            source = "prolific" if prolific else "mturk"
            return self._new_rater(self.platform_token(source, prolific or mturk), source)
        return self._new_rater(secrets.token_urlsafe(24), "open")

    def platform_token(self, source: str, person: str) -> str:
        """What stands for a person of another platform; from it their id cannot be found."""
        return hmac.new(self._secret, f"{source}:{person}".encode(), hashlib.sha256).hexdigest()

    def rater(self, token: str) -> Rater:
        with self.database.reading() as connection:
            query = select(raters).where(raters.c.study == self.study, raters.c.token == _digest(token))
            row = connection.execute(query).one_or_none()
        if row is None:
            raise NotKnownError("This link is not known here; please open it again from where you found it.")
        return as_rater(row)

    def again(self, rater: Rater) -> Rater:
        """The same rater as they stand now."""
        with self.database.reading() as connection:
            return as_rater(connection.execute(select(raters).where(raters.c.id == rater.id)).one())

    def find(self, who: str) -> Rater:
        """A rater by name, return code, token, or their id on Prolific or MTurk."""
        tokens = [_digest(who), *(_digest(self.platform_token(each, who)) for each in ("prolific", "mturk"))]
        with self.database.reading() as connection:
            query = select(raters).where(
                raters.c.study == self.study,
                (raters.c.name == who) | (raters.c.code == who) | raters.c.token.in_(tokens),
            )
            row = connection.execute(query).first()
        if row is None:
            raise AllearsError(
                f"there is no rater {who!r}; give a name of `allears study people`, a return code, or the id on "
                "Prolific or MTurk"
            )
        return as_rater(row)

    def people(self) -> list[tuple[Rater, int]]:
        """Everybody, with how many units they answered."""
        with self.database.reading() as connection:
            rows = connection.execute(
                select(raters).where(raters.c.study == self.study).order_by(raters.c.id)
            ).all()
            query = select(assignments.c.rater).where(assignments.c.state.in_((COUNTED, SPARE)))
            done = Counter(connection.scalars(query))
        return [(as_rater(row), done.get(row.id, 0)) for row in rows]

    def set_state(self, rater: Rater, state: str, *, after: Sequence[str]) -> None:
        """Move on, if the rater stands where that is possible; otherwise nothing happens."""
        with self.locked() as connection:
            connection.execute(
                update(raters)
                .where(raters.c.id == rater.id, raters.c.state.in_(tuple(after)))
                .values(state=state)
            )

    def withdraw(self, rater: Rater) -> int:
        """Delete everything a person answered and wrote. What is left says only that they withdrew."""
        with self.locked() as connection:
            mine = select(situations.c.id).where(situations.c.rater == rater.id)
            talks = select(pairs.c.id).where(pairs.c.first.in_(mine) | pairs.c.second.in_(mine))
            # a conversation cannot be kept without one of its two people
            connection.execute(delete(pair_lines).where(pair_lines.c.pair.in_(talks)))
            running = pairs.c.id.in_(talks) & (pairs.c.state == "talking")
            connection.execute(update(pairs).where(running).values(state="left", version=pairs.c.version + 1))
            gone = connection.execute(delete(assignments).where(assignments.c.rater == rater.id)).rowcount
            gone += connection.execute(delete(situations).where(situations.c.rater == rater.id)).rowcount
            connection.execute(
                update(raters)
                .where(raters.c.id == rater.id)
                .values(state=WITHDRAWN, offer=None, failed=0, entered=0.0)
            )
        self.database.clean(thorough=False)
        return int(gone)

    def _new_rater(self, token: str, source: str) -> str:
        with self.locked() as connection:
            known = select(raters.c.id).where(raters.c.token == _digest(token))
            if connection.execute(known).one_or_none() is None:
                connection.execute(
                    insert(raters).values(
                        study=self.study,
                        name=f"r{secrets.token_hex(5)}",
                        token=_digest(token),
                        source=source,
                        state=NEW,
                        code=_return_code(),
                        failed=0,
                        entered=self.clock(),
                    )
                )
        return token


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _return_code() -> str:
    letters = [secrets.choice(_CODE_LETTERS) for _ in range(8)]
    return f"{''.join(letters[:4])}-{''.join(letters[4:])}"
