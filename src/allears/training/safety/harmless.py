"""What the crisis screen learns beside the crisis talks: single cases, cases inside longer messages, and ordinary talk.

The written cases are half danger and half what sounds like it, and each stands alone; most of what people say is
neither, and who is in danger says so among other things. So cases are also shown between ordinary sentences, and whole
everyday conversations are learned as harmless. Needs EmpatheticDialogues, DailyDialog and ESConv in ALLEARS_DATA, which
do not ship; the talks do, whose people often sound as if they were in danger and never are.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from allears.conversation import Conversation, Role, Turn
from allears.corpora import corpus, data_root
from allears.corpora import read as read_corpus
from allears.labels import DANGERS
from allears.text.reading import Reading

NONE = DANGERS[0]
EVERYDAY = ("ed", "dailydialog", "esconv")  # read message by message
MOST_BESIDE = 6  # ordinary sentences beside a case
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


def single_cases(split: str) -> list[Reading]:
    """The single messages of `risk-cases`."""
    return [
        Reading(talk.turns, (str(talk.labels["risk"]),)) for talk in read_corpus("risk-cases", split, Path())
    ]


def embedded(cases: Sequence[Reading], sentences: Sequence[str], count: int, seed: int) -> list[Reading]:
    """Single messages among ordinary sentences, in one long message; as many harmless as dangerous."""
    chance = random.Random(seed)
    sides = [
        [case for case in cases if (case.label == NONE) == harmless and len(case.turns) == 1]
        for harmless in (True, False)
    ]
    found = []
    for number in range(count):
        side = sides[number % 2]
        if not side or not sentences:
            continue
        case = chance.choice(side)
        beside = chance.sample(sentences, min(chance.randint(1, MOST_BESIDE), len(sentences)))
        place = chance.randint(0, len(beside))
        text = " ".join((*beside[:place], case.turns[0].text, *beside[place:]))
        found.append(Reading((Turn(Role.SEEKER, text),), case.labels))
    return found


def everyday_sentences(split: str, root: Path | str | None = None) -> list[str]:
    """Sentences of the talks' seekers, of some length."""
    return sorted(
        {
            sentence.strip()
            for talk in read_corpus("talks", split, root)
            for turn in talk.turns
            if turn.speaker is Role.SEEKER
            for sentence in _SENTENCE.findall(turn.text)
            if 4 <= len(sentence.split()) <= 22
        }
    )


def harmless_talk(split: str, count: int, seed: int = 0, *, root: Path | str | None = None) -> list[Reading]:
    """Messages of the talks with what was said before them, those that sound dark first; a seeded sample."""
    chance = random.Random(seed)
    dark: list[Reading] = []
    others: list[Reading] = []
    for talk in read_corpus("talks", split, root):
        (dark if talk.labels["kind"] in ("sounds dark", "sad, not in danger") else others).extend(
            _messages(talk)
        )
    chance.shuffle(dark)
    chance.shuffle(others)
    return [*dark[: count // 2], *others[: count - min(len(dark), count // 2)]]


def everyday_messages(split: str, count: int, seed: int = 0, *, root: Path | str | None = None) -> list[str]:
    """Different single messages of published conversations, the seekers' where there is one; a seeded sample."""
    turns = sorted(set(_turns(split, data_root(root))))
    return random.Random(seed).sample(turns, min(count, len(turns)))


def _messages(talk: Conversation) -> Iterator[Reading]:
    for place, turn in enumerate(talk.turns):
        if turn.speaker is Role.SEEKER:
            before = tuple(Turn(each.speaker, each.text) for each in talk.turns[: place + 1])
            yield Reading(before, (NONE,), conversation=talk.id, position=place)


def _turns(split: str, root: Path) -> Iterator[str]:
    for name in EVERYDAY:
        for conversation in corpus(name).read(split, root):
            for turn in conversation.turns:
                if name == "dailydialog" or turn.speaker is Role.SEEKER:
                    yield turn.text
