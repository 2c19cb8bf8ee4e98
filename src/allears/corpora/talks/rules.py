"""What a conversation of the corpus must keep to, as far as a program can tell. See `CARD.md` for the rest.

Each rule yields one sentence for each place where it is broken. `allears data check talks` runs them over everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from allears.conversation import Conversation, Role, Turn

KINDS = (
    "ordinary", "vivid", "facts later", "known before", "direct question", "advice", "sounds dark",
    "sad, not in danger", "mood turn", "terse", "small talk", "long message", "dissatisfied", "correction", "rude",
    "other language", "outside request",
)  # fmt: skip
"""What a conversation was written to show. `vivid` ones are the first batch: well told, and hard for a small model."""

LONGEST_REPLY, EXCHANGES = 60, (2, 8)
_SMALL_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
NUMBER_WORDS = {word: value for value, word in enumerate(_SMALL_NUMBERS)} | {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100,
    "thousand": 1000, "million": 1_000_000, "dozen": 12,
}  # fmt: skip
_ORDINALS = {
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
}
COUNTED_WITHOUT_SAYING = frozenset({0, 1, 2})  # "the two of you", "one more thing"
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_DIGITS = re.compile(r"(\d+)[a-z]{0,2}")
_PAUSE = re.compile(r"[,.;:!?…](?:\s|$)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_MULTIPLES = {"twi": 2, "twin": 2, "thrice": 3, "triplet": 3, "double": 2}
_SENTENCE_START = re.compile(r"(?<=[.!?:…])\s+|[\"“”‘]")
_PRONOUN = re.compile(r"i(['’]\w+)?")
_ALWAYS_CAPITAL = frozenset({"english", "ok", "tv", "mr", "mrs", "dr", "gp"})


def broken_rules(conversation: Conversation) -> Iterator[str]:
    """One sentence for each rule that a conversation breaks."""
    turns = conversation.turns
    if not EXCHANGES[0] <= len(turns) // 2 <= EXCHANGES[1] or len(turns) % 2:
        yield f"has {len(turns)} turns, not {EXCHANGES[0]} to {EXCHANGES[1]} exchanges"
    seeker = conversation.personas.get(Role.SEEKER.value)
    said = " . ".join(sentence.text for sentence in seeker.sentences) if seeker else ""
    for number, turn in enumerate(turns, 1):
        if turn.speaker is Role.SUPPORTER:
            yield from (f"turn {number} {problem}" for problem in _broken_in_reply(turn, said, conversation))
        said += " . " + turn.text


def _broken_in_reply(turn: Turn, said: str, conversation: Conversation) -> Iterator[str]:
    if len(words(turn.text)) > LONGEST_REPLY:
        yield f"has {len(words(turn.text))} words"
    if conversation.labels.get("kind") != "other language":
        missing = unsaid(turn.text, said)
        if missing:
            yield f"names what nobody said: {', '.join(missing)}"


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def numbers(text: str) -> set[int]:
    """The whole numbers in a text, in digits ("3rd", "1,200", "2k") or in words ("thirty-four", "four hundred")."""
    found: set[int] = set()
    for part in _PAUSE.split(_THOUSANDS.sub("", text.lower()).replace("-", " ")):
        spoken: list[int] = []  # number words in a row that are one number
        for word in words(part):
            if word in NUMBER_WORDS:
                value = NUMBER_WORDS[word]
                if spoken and not _goes_on(spoken, value):
                    found.add(_joined(spoken))
                    spoken = []
                spoken.append(value)
            elif not (word == "and" and spoken and spoken[-1] >= 100):
                found |= {_joined(spoken)} if spoken else set()
                spoken = []
            if match := _DIGITS.fullmatch(word):
                found.add(int(match[1]) * (1000 if word.endswith("k") else 1))
            found |= {number for stem, number in _MULTIPLES.items() if word.startswith(stem)}
        found |= {_joined(spoken)} if spoken else set()
    return found


def _goes_on(spoken: list[int], value: int) -> bool:
    """Whether a number word belongs to those before it: "thirty four", "four hundred", "hundred twenty"."""
    last = spoken[-1]
    return value >= 100 or last >= 100 or (20 <= last < 100 and 0 < value < 10)


def _joined(values: list[int]) -> int:
    """[4, 100, 20] is 420: what stands before a hundred or a thousand is multiplied, the rest is added."""
    total = part = 0
    for value in values:
        if value == 100:
            part = max(part, 1) * value
        elif value > 100:
            total, part = total + max(part, 1) * value, 0
        else:
            part += value
    return total + part


def unsaid(reply: str, said: str) -> list[str]:
    """Names and numbers in a reply that nobody said before it.

    A name is a word with a capital inside a sentence. The first word of a sentence always has one, so names there
    are not found.
    """
    heard = {_base(word) for word in words(said)} | _ALWAYS_CAPITAL
    found: list[str] = []
    for sentence in _SENTENCE_START.split(reply):
        for word in words(sentence)[1:]:
            base = _base(word)
            known = base in heard or (
                len(base) > 3 and any(base.startswith(each) for each in heard if len(each) > 2)
            )
            if word[0].isupper() and len(word) > 1 and not _PRONOUN.fullmatch(base) and not known:
                found.append(word)
    parts = {value for word, value in (NUMBER_WORDS | _ORDINALS).items() if word in said.lower()}
    missing = numbers(reply) - numbers(said) - parts - COUNTED_WITHOUT_SAYING
    return found + [str(each) for each in sorted(missing)]


def _base(word: str) -> str:
    """Lower case, without genitive and plural: "Rosa's" is rosa, "Sundays" is sunday."""
    return re.sub(r"(['’]s?|s)$", "", word.lower()).replace("’", "'")


def openings(replies: Iterable[str], length: int = 3) -> dict[str, int]:
    """How often replies begin with the same words, the commonest first."""
    counts: dict[str, int] = {}
    for reply in replies:
        first = " ".join(words(reply)[:length]).lower()
        counts[first] = counts.get(first, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))
