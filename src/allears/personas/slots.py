"""Facts of which a person has one at a time: a name, an age, a home, how many children.

A sentence claims a slot's value where one of the slot's patterns fits its words. Two values of one slot exclude each
other by that slot's rule. A sentence that no pattern fits claims nothing: a change may be missed, hardly ever invented.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from allears.personas import places
from allears.personas.plain import stem
from allears.personas.statement import told

Read = Callable[[str], str | None]

LONGEST = 400  # characters; the patterns are for sentences, and some would take their time over a novel


@dataclass(frozen=True, slots=True)
class SlotClaim:
    """That a slot holds a value: ("home", "ghent"); slots of one kind have names: ("number", "2", of "cat")."""

    kind: str
    value: str
    of: str = ""


# --- A value as it is compared; None where the words are no value of this slot.


def _words(value: str) -> str | None:
    return " ".join(stem(word) for word in value.split() if word not in ("a", "an", "the", "my", "being"))


def _place(value: str) -> str | None:
    """A name. "A small house" is none, and of places with an article only those we know: "the usa"."""
    name = value.removeprefix("the ")
    if re.match(r"(?:an?|my|our|his|her|their|this|that|one|be|fear|peace|hope|\d+)\b", value):
        return None
    return name if name == value or places.size(name) is not places.Size.TOWN else None


_SAME_JOB = {"vet": "veterinarian", "custodian": "janitor", "attorney": "lawyer", "cop": "polic officer"}


def _occupation(value: str) -> str | None:
    words = _words(re.sub(r"^(?:an? |the )?(?:full time |part time |registered |head |senior )?", "", value))
    return _SAME_JOB.get(words or "", words)


_NO_EMPLOYER = re.compile(r"(?:home|nights?|days?|weekends|myself|it|least|first|living|free|money)\b")


def _employer(value: str) -> str | None:
    name = re.sub(r"^(?:an?|the|my) ", "", value)
    return None if _NO_EMPLOYER.match(name) else _words(name)


def _number(value: str) -> str | None:
    """ "Some" where no number is said: "a dog"."""
    return {"no": "0", "not": "0", "one": "1", "a": "some", "an": "some"}.get(value, value)


# --- Slots with open values: slot, reader, pattern with a group `value` (and `of`: of what).

_END = r"(?: (?:and|but|with|for|since|because|which|who|that|where|when|while|after|on|near|in|at)\b.*)?$"
_VALUE = r"(?P<value>\w.*?)"
_NOUN = (
    r"(?P<of>[a-z]+(?: [a-z]+)?)(?: (?:and|but|named|called|who|that|which|at|with|in|from|because|to)\b.*)?$"
)
_JOBS = (
    "nurse|teacher|doctor|lawyer|plumber|electrician|engineer|accountant|cashier|waiter|waitress|mechanic|secretary|"
    "pharmacist|dentist|police officer|firefighter|fire fighter|carpenter|janitor|librarian|receptionist|programmer|"
    "software engineer|software developer|chef|cook|farmer|pilot|soldier|veterinarian|vet|truck driver|bus driver|"
    "barista|banker|butcher|baker|hairdresser|social worker|construction worker|scientist|security guard|paramedic"
)
_COLOURS = "black|brown|blonde?|red|gray|white|blue|green|pink|purple|hazel"
_OPEN: tuple[tuple[str, Read, str], ...] = (
    ("name", _words, r"^my (?:first )?name is (?P<value>\w+(?: \w+)?)$"),
    ("age", _words, r"^i am (?:a )?(?P<value>\d{1,3})(?: years? old)?$"),
    ("age", _words, r"^i turned (?P<value>\d{1,3})(?: years? old)?(?: (?:today|yesterday|(?:this|last) \w+))?$"),
    ("home", _place, rf"^(?:i|we) (?:live|reside|am living|are living|am based|moved back) in {_VALUE}{_END}"),
    ("home", _place, rf"^(?:i|we) (?:have )?(?:recently )?moved (?:from .+ )?to {_VALUE}{_END}"),
    ("origin", _place, rf"^i (?:am|come) (?:originally )?from {_VALUE}{_END}"),
    ("birthplace", _place, rf"^i was born in {_VALUE}{_END}"),
    ("job", _occupation, rf"^i (?:work|am working) as {_VALUE}{_END}"),
    ("job", _occupation, rf"^my (?:job|profession|occupation) is (?:being )?an? {_VALUE}{_END}"),
    ("job", _occupation, rf"^i am an? (?P<value>{_JOBS}){_END}"),
    ("employer", _employer, rf"^i (?:work|am working) at {_VALUE}(?: (?:and|but|as|with|because|in|on|for)\b.*)?$"),
    ("company", _employer, rf"^i (?:work|am working) for {_VALUE}(?: (?:and|but|as|with|because|in|on|at)\b.*)?$"),
    ("number", _number, rf"^(?:i|we) have (?P<value>\d+|no|one|an?) {_NOUN}"),
    ("number", _number, r"^(?:i|we) do (?P<value>not) have (?:an? |any )?(?P<of>[a-z]+(?: [a-z]+)?)$"),
    ("favorite", _words, rf"^my (?:all time )?favorite (?P<of>\w+(?: \w+)?) (?:is|are) (?!not ){_VALUE}$"),
    ("hair color", _words, rf"^i have (?P<value>{_COLOURS}) hair$"),
    ("hair color", _words, rf"^(?:my hair is|i dyed my hair) (?P<value>{_COLOURS})$"),
    ("eye color", _words, rf"^i have (?P<value>{_COLOURS}) eyes$"),
    ("eye color", _words, rf"^my eyes are (?P<value>{_COLOURS})$"),
)  # fmt: skip

# --- Slots with few values: slot, value, the ways of saying it.

_HAVE = r"^i have an? (?!ex )(?:\w+ )?"
_FIXED: tuple[tuple[str, str, str], ...] = (
    ("relationship", "single", r"^i am (?:single|not married|not in a relationship|not seeing anyone)$"),
    ("relationship", "single", r"^i broke up with my (?:boyfriend|girlfriend|partner|fiancee?)$"),
    ("relationship", "married", rf"^i (?:am|got) (?:happily |newly )?married\b|{_HAVE}(?:wife|husband)$"),
    ("relationship", "engaged", rf"^i (?:am|got) engaged\b|{_HAVE}fiancee?$"),
    ("relationship", "divorced", r"^i (?:am|got) (?:divorced|an? divorce)$|^i am getting divorced$"),
    ("relationship", "widowed", r"^i am (?:widowed|a widow|a widower)$"),
    ("relationship", "dating", rf"^i am (?:in a relationship|dating someone)$|{_HAVE}(?:boyfriend|girlfriend)$"),
    ("employment", "working", r"^i (?:work|am working|started working) (?:as|at|for) (?!home\b|myself\b|free\b)"),
    ("employment", "working", r"^i (?:have|got|found|started) an? (?:new )?job\b(?! offer)|^i am employed$"),
    ("employment", "not working", r"^i (?:am (?:unemployed|retired|jobless|out of work)|do not (?:work|have a job))$"),
    ("employment", "not working", r"^i (?:have )?(?:lost|quit|left) my job\b|^i (?:was|am|got|have been) laid off\b"),
    ("diet", "without meat", r"^i am (?:an? )?(?:vegan|vegetarian)$|^i (?:do not|never) eat meat$"),
    ("diet", "with meat", r"^i eat (?:meat|everything)$|^i am not (?:an? )?(?:vegan|vegetarian)$"),
    ("gender", "female", r"^i am an? (?:\w+ )?(?:woman|girl|female)$|^i am female$"),
    ("gender", "male", r"^i am an? (?:\w+ )?(?:man|boy|male|guy)$|^i am male$"),
    ("height", "tall", r"^i am (?:tall|a tall \w+)$"),
    ("height", "short", r"^i am (?:short|a short \w+)$"),
    ("wealth", "rich", r"^i am (?:rich|wealthy)$"),
    ("wealth", "poor", r"^i am (?:poor|broke)$"),
    ("temper", "outgoing", r"^i am (?:outgoing|an extrovert|extroverted)$"),
    ("temper", "shy", r"^i am (?:shy|an introvert|introverted)$"),
    ("hand", "left", r"^i am left handed$"),
    ("hand", "right", r"^i am right handed$"),
    ("mood", "happy", r"^i (?:am|feel) (?:happy|glad|cheerful)$"),
    ("mood", "unhappy", r"^i (?:am|feel) (?:sad|unhappy|miserable|depressed)$"),
    ("hours", "early", r"^i am an? (?:morning person|early bird)$"),
    ("hours", "late", r"^i am an? night (?:owl|person)$"),
)  # fmt: skip

_FIXED_KINDS = frozenset(kind for kind, _, _ in _FIXED)

_SAME_THING = {"kid": "child"}

# A person may well have two of these; a sentence with "also" adds one.
SEVERAL = frozenset({"job", "employer", "company", "favorite"})

_TOGETHER = frozenset(
    frozenset(pair)
    for pair in (
        ("single", "divorced"), ("single", "widowed"), ("divorced", "dating"), ("widowed", "dating"),
        ("dating", "engaged"), ("divorced", "engaged"),
    )
)  # fmt: skip


def claims(sentence: str) -> tuple[SlotClaim, ...]:
    """Everything a sentence claims, in the order of the tables; a rambling one claims nothing."""
    if len(sentence) > LONGEST:
        return ()
    return tuple(dict.fromkeys(_claims(told(sentence))))


def excludes(old: SlotClaim, new: SlotClaim) -> bool:
    """Whether both cannot be true of one person at one time."""
    if (old.kind, old.of) != (new.kind, new.of) or old.value == new.value:
        return False
    if old.kind in ("home", "origin", "birthplace"):
        return places.size(old.value) is places.size(new.value) and _differ(old.value, new.value)
    if old.kind == "number":
        return "0" in (old.value, new.value) or "some" not in (old.value, new.value)
    if old.kind == "relationship":
        return frozenset((old.value, new.value)) not in _TOGETHER
    if old.kind in _FIXED_KINDS or old.kind == "age":
        return True
    return _differ(old.value, new.value)


def _claims(words: str) -> Iterator[SlotClaim]:
    for kind, said, pattern in _FIXED:
        if re.search(pattern, words):
            yield SlotClaim(kind, said)
    for kind, read, pattern in _OPEN:
        found = re.search(pattern, words)
        if found is None:
            continue
        of = found.groupdict().get("of") or ""
        value = read(found["value"])
        if value and not of.startswith("of "):  # "one of my dogs" counts nothing
            yield SlotClaim(
                kind, value, " ".join(_SAME_THING.get(word, word) for word in map(stem, of.split()))
            )


def _differ(old: str, new: str) -> bool:
    """Neither says the other with more words: "austin texas" and "texas" do not differ."""
    first, second = set(old.split()), set(new.split())
    return not (first <= second or second <= first) and old.replace(" ", "") != new.replace(" ", "")
