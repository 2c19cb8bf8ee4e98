"""What a person said, turned round: "I miss my sister" becomes "you miss your sister".

Only plain statements are turned. What a listener must not say after somebody ("you are stupid") or cannot (a question,
half a sentence, words for the listener itself) is left alone. The word lists are in `turning.toml`.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from allears.listener.wording import words

SHORTEST, LONGEST = 3, 13  # words: more than that said back is a parrot's talk
LONGEST_VERDICT = 8  # and "it feels as though" before it makes it longer still
STATEMENT, VERDICT, PLAN = "statement", "verdict", "plan"

_SENTENCE = re.compile(r"[^.!?…\n]+[.!?…]*")
_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")
_LEAD = re.compile(  # what opens a sentence and says nothing by itself
    r"^(?:(?:and|but|so|well|yes|yeah|no|nope|ok|okay|oh|actually|honestly|anyway|also|plus|then|i mean|i guess|"
    r"i think|i suppose|to be honest|maybe|perhaps)\b[\s,]*)+",
    re.IGNORECASE,
)
_THINKS = re.compile(r"\bi (?:think|guess|suppose)\b|\b(?:maybe|perhaps)\b", re.IGNORECASE)
_AGE = re.compile(  # "I'm 54 and just lost my job": the age is not what is to be said back
    r"^i(?:'m| am) \d+(?: years old)?,? and (?:i )?"
    r"(?=(?:just|still|never|always|have|had|got|lost|live|work|can't|cannot|don't|feel|miss)\b)",
    re.IGNORECASE,
)
_TAIL = re.compile(r", (?:actually|though|maybe|i guess|i suppose|i think|honestly)$", re.IGNORECASE)
_PLANS = re.compile(
    r"\b(maybe|perhaps|might|could|i'll(?! be)|we'll(?! be)|i will|we will|going to|gonna|i'd like|i'd love|i want to|"
    r"i wish|i hope|thinking (of|about)|plan to|try|trying)\b",
    re.IGNORECASE,
)
_NO_SPEECH = re.compile(r'["“”:;()/*#@<>]')
_TOGETHER = re.compile(  # but not in "I moved away from my mum and I miss her"
    r"(?<!from )(?<!with )(?<!to )(?<!of )(?<!for )(?<!at )(?<!about )(?<!on )(?<!by )(?<!miss )\bmy (\w+) and i\b",
    re.IGNORECASE,
)
_TOLD = re.compile(r"\b(told|tells|tell) you you\b")
_FORMS = {"am": "are", "was": "were", "wasn't": "weren't"}
_SWEEPING = re.compile(
    r"\b(always|never)\b.*\b(anything|everything|right|good|anyone|anybody|me)\b", re.IGNORECASE
)
_ABOUT_THEM = re.compile(r"\byou(rself|'\w+)?\b")
_ABOUT_US = ("i", "we", "i've", "we've", "not")


class Heard(NamedTuple):
    """A statement as the listener can say it, without its full stop; and whether it is a verdict or a plan.

    A verdict ("everyone leaves me") is to be heard, not agreed with. Whether a plan is wise is not for us to say.
    """

    clause: str
    kind: str


def heard(message: str) -> list[Heard]:
    """What can be said back of a message, in its order."""
    found = []
    for sentence in _SENTENCE.findall(message):
        clause = turned(sentence)
        if clause is None:
            continue
        kind = _kind(sentence, clause)
        if kind == VERDICT and len(words(clause)) > LONGEST_VERDICT:
            continue
        if kind != VERDICT and _only_thought(sentence, clause):
            kind, clause = STATEMENT, f"you think {clause}"
        found.append(Heard(clause, kind))
    return found


def _only_thought(sentence: str, clause: str) -> bool:
    """What somebody thinks of others ("I think my wife is lying") is not for us to confirm."""
    lead = _LEAD.match(sentence.strip())
    return bool(lead and _THINKS.search(lead[0])) and not re.match(r"you\b", clause)


def _kind(sentence: str, clause: str) -> str:
    about_them = _ABOUT_THEM.search(clause) and not clause.startswith("you feel")  # a feeling is what it is
    if about_them and (_SWEEPING.search(sentence) or not _words("judging").isdisjoint(words(sentence))):
        return VERDICT
    return PLAN if _PLANS.search(sentence) else STATEMENT


def turned(sentence: str) -> str | None:
    """One sentence, said back; None if it should not be."""
    said = _LEAD.sub("", sentence.replace("\u2019", "'").strip())
    bare = _TAIL.sub("", _AGE.sub("I ", said).rstrip(".!… ").strip())
    spoken = words(bare)
    if not SHORTEST <= len(spoken) <= LONGEST or sentence.rstrip().endswith("?") or _NO_SPEECH.search(bare):
        return None
    if not _words("addressed").isdisjoint(spoken) or spoken[0] not in _words("subjects"):
        return None
    if not _has_verb(spoken) or _judges_self(spoken) or not bare[0].isalpha():
        return None
    swapped = _TOLD.sub(r"\1 you that you", _swapped(bare))
    return swapped[0].lower() + swapped[1:]


def _has_verb(spoken: list[str]) -> bool:
    """Enough of a look to leave half sentences alone."""
    pronoun = spoken[0] in ("i", "we", "he", "she", "they", "it", "there") or "'" in spoken[0]
    return pronoun or any(
        word in _words("verbs") or word.endswith(("ed", "n't")) or (word.endswith("s") and word[-2:] != "ss")
        for word in spoken[1:-1]
    )


def _judges_self(spoken: list[str]) -> bool:
    """Whether "I am ..." goes on with anything but a feeling, a place or a doing: said back, it judges the person."""
    for place, word in enumerate(spoken):
        begins = word in ("i'm", "we're") or (
            word in ("am", "was", "were", "been") and place > 0 and spoken[place - 1] in _ABOUT_US
        )
        if begins:
            first = next((other for other in spoken[place + 1 :] if other not in _words("degrees")), "")
            if not (first in _words("feelings") | _words("places") or first.endswith(("ing", "ed"))):
                return True
    return False


def _swapped(bare: str) -> str:
    """ "I was" becomes "you were", also where a word stands between them."""
    about_us = False  # the last word, but for those between, was "I"

    def swap(match: re.Match[str]) -> str:
        nonlocal about_us
        word = match[0].lower()
        if about_us and word in _FORMS:
            about_us = False
            return _FORMS[word]
        if not (about_us and (word.endswith("ly") or word in _words("degrees"))):
            about_us = word == "i"
        return str(_lists()["swaps"].get(word, match[0]))

    return _WORD.sub(swap, _TOGETHER.sub(r"you and your \1", bare))


@cache
def _lists() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("turning.toml").read_text(encoding="utf-8"))


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(str(_lists()[name]).split())
