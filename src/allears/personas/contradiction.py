"""Whether two sentences about one person can both be true now, by rules that can be read (`slots`, `statement`)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from allears.personas.slots import SEVERAL, SlotClaim, claims, excludes
from allears.personas.statement import Attitude, Statement, attitude, statement

_ANOTHER = re.compile(
    r"\b(?:also|too|another|as well|besides|part[ -]time|second job|side job)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the rules see of a sentence. Worked out once, it can be held against many others."""

    statement: Statement
    attitude: Attitude | None
    claims: tuple[SlotClaim, ...]
    adds: bool  # says that there is more than one: "I also work as ..."


def meaning(sentence: str) -> Meaning:
    return Meaning(
        statement(sentence), attitude(sentence), claims(sentence), adds=_ANOTHER.search(sentence) is not None
    )


def contradiction(old: str, new: str) -> str | None:
    """Why `new` cannot stand beside the older sentence, in a few words; None where it can."""
    return opposition(meaning(old), meaning(new))


def opposition(old: Meaning, new: Meaning) -> str | None:
    """The same of two meanings."""
    before, after = old.attitude, new.attitude
    if (
        before
        and after
        and (before.who, before.what) == (after.who, after.what)
        and before.liked != after.liked
    ):
        return "what they like changed"
    for earlier in old.claims:
        for later in new.claims:
            if excludes(earlier, later) and not (later.kind in SEVERAL and (old.adds or new.adds)):
                return f"another {later.kind}"
    first, second = old.statement, new.statement
    if first.about and (first.about, first.past) == (second.about, second.past):
        return "the opposite was said" if first.affirmed != second.affirmed else None
    return None
