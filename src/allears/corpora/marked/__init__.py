"""Marked replies: what blind readers made of replies at their place; for a scorer to learn from. Ships with allears.

A line of `train.jsonl.gz`, `valid.jsonl.gz` or `test.jsonl.gz` is one reply:

    {"id", "turns": [what was said, the person first and last], "known": [...], "reply", "mark", "source", "reader"}

`mark` is good, plain or off; `source` says who wrote the reply (a voice, the pool of chosen replies, our own corpus
before it was rewritten). `from_talks` adds replies of our own corpus, which are good where they stand, and as off
replies that were given to somebody else at about the same place.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.corpora.corpus import CorpusInfo
from allears.corpora.examples import is_missed
from allears.corpora.files import OnBad, raise_bad
from allears.corpora.json_files import Record, text_field, texts
from allears.corpora.shipped import read_shipped
from allears.corpora.talks import Talks
from allears.labels import MARKS

FOLDER = Path(__file__).parent
LATEST = 6  # turns before the reply that are shown


class MarkedReplies:
    info = CorpusInfo(
        name="marked-replies",
        title="Marked replies",
        licence="CC BY 4.0",
        page="docs/corpora/marked-replies.md",
        about="Replies to our own conversations, marked good, plain or off by blind readers. Shipped with allears.",
    )

    def read(self, split: str, root: Path, *, on_bad: OnBad = raise_bad) -> Iterator[Conversation]:
        return read_shipped(split, root, on_bad, info=self.info, folder=FOLDER, build=_marked)


def _marked(record: Record, split: str) -> Conversation:
    said = texts(record.get("turns"), "turns")
    mark = text_field(record, "mark")
    if mark not in MARKS:
        raise ValueError(f"unknown mark {mark!r}; known are {', '.join(MARKS)}")
    if len(said) % 2 == 0:
        raise ValueError("'turns' must begin and end with the person's own words")
    turns = [Turn(Role.SUPPORTER if place % 2 else Role.SEEKER, text) for place, text in enumerate(said)]
    known = tuple(PersonaSentence(text) for text in texts(record.get("known", []), "known"))
    return Conversation(
        id=text_field(record, "id"),
        turns=(*turns[-LATEST + 1 :], Turn(Role.SUPPORTER, text_field(record, "reply"))),
        personas={Role.SEEKER.value: Persona(known)} if known else {},
        labels={"mark": mark, "source": text_field(record, "source")},
        split=split,
        source="marked-replies",
    )


def from_talks(split: str, root: Path, seed: int = 0) -> Iterator[Conversation]:
    """Of each conversation one reply, which is good at its place, and one of somebody else's, which is off."""
    chance = random.Random(f"{seed} {split}")
    talks = list(Talks().read(split, root))
    for talk in talks:
        places = [
            place
            for place, turn in enumerate(talk.turns)
            if turn.speaker is Role.SUPPORTER and not is_missed(talk, place)
        ]
        place = chance.choice(places)
        other = chance.choice(talks)
        theirs = [turn for turn in other.turns[: place + 1] if turn.speaker is Role.SUPPORTER]
        for mark, reply in (("good", talk.turns[place]), ("off", theirs[-1])):
            if mark == "off" and other.id == talk.id:
                continue
            yield Conversation(
                id=f"{talk.id}-{place + 1}-{mark}",
                turns=(*talk.turns[max(0, place - LATEST + 1) : place], Turn(Role.SUPPORTER, reply.text)),
                labels={"mark": mark, "source": "talks" if mark == "good" else "another conversation"},
                split=split,
                source="marked-replies",
            )
