"""What is judged: conversations from a JSONL file, sampled with the study's seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from allears.conversation import Conversation, Role, Turn
from allears.corpora.jsonl import JsonLines
from allears.errors import AllearsError
from allears.study.blocks import PersonaSentences, Replies, Situation, TalkBlock
from allears.study.design import Design, Items


@dataclass(frozen=True, slots=True)
class Item:
    """A conversation to judge, and the reply that was taken off its end where the design says so."""

    talk: Conversation
    gold: str = ""

    @property
    def id(self) -> str:
        return self.talk.id

    @property
    def persona(self) -> tuple[str, ...]:
        """What is known about the seeker."""
        known = self.talk.personas.get(Role.SEEKER.value)
        return known.texts if known is not None else ()


def read_items(design: Design, folder: Path) -> list[Item]:
    """The study's items, checked against what its blocks show."""
    if design.collects:
        return []
    options = design.items
    if not options.file:
        raise AllearsError(f"{design.file}: items.file is missing; name a JSONL file of conversations")
    path = folder / options.file
    if not path.is_file():
        raise AllearsError(
            f"{path}: there is no such file of items; `allears data export` writes one, or write your own: "
            '{"id": "1", "turns": [{"speaker": "seeker", "text": "..."}]}'
        )
    talks = list(JsonLines(path.name).read("all", path.parent))
    items = [_item(talk, options, path) for talk in _sampled(talks, options, design.seed, path)]
    if not items:
        raise AllearsError(f"{path}: there is no conversation in it")
    ids = [item.id for item in items]
    if len(set(ids)) < len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise AllearsError(f"{path}: the id {twice!r} comes twice; each conversation needs its own")
    _check_shown(design, items, path)
    return items


def group_of(item: Conversation, options: Items) -> str:
    """The group an item belongs to: its label, or where it comes from."""
    return str(item.labels.get(options.group) or item.source or "")


def _sampled(talks: Sequence[Conversation], options: Items, seed: int, path: Path) -> list[Conversation]:
    """In the file's order; what is taken depends on the seed and on nothing else."""
    chosen = list(talks)
    if options.per_emotion:
        kept: set[int] = set()
        for emotion in sorted({talk.emotion or "" for talk in talks}):
            places = [place for place, talk in enumerate(talks) if (talk.emotion or "") == emotion]
            if not emotion or len(places) < options.per_emotion:
                raise AllearsError(
                    f"{path}: items.per_emotion wants {options.per_emotion} of each emotion, and "
                    + (f"there are {len(places)} of {emotion}" if emotion else "some have none")
                )
            kept.update(random.Random(f"{seed} {emotion}").sample(places, options.per_emotion))
        chosen = [talk for place, talk in enumerate(talks) if place in kept]
    if options.take:
        if options.take > len(chosen):
            raise AllearsError(f"{path}: items.take wants {options.take}, and there are {len(chosen)}")
        places = sorted(random.Random(f"{seed} items").sample(range(len(chosen)), options.take))
        chosen = [chosen[place] for place in places]
    return chosen


def _item(talk: Conversation, options: Items, path: Path) -> Item:
    if not options.last_reply:
        return Item(talk)
    last = max((place for place, turn in enumerate(talk.turns) if turn.speaker is Role.SUPPORTER), default=0)
    if last == 0:
        raise AllearsError(
            f"{path}: the conversation {talk.id!r} has no reply to take off; set items.last_reply = false"
        )
    return Item(replace(talk, turns=talk.turns[:last]), talk.turns[last].text)


def _check_shown(design: Design, items: Sequence[Item], path: Path) -> None:
    for item in items:
        lacking = ""
        for block in design.blocks:
            if isinstance(block, TalkBlock | Replies) and not item.talk.turns:
                lacking = "turns"
            if isinstance(block, Situation) and not item.talk.situation:
                lacking = "situation"
            if isinstance(block, PersonaSentences) and not item.persona:
                lacking = "personas.seeker"
        if lacking:
            raise AllearsError(
                f"{path}: the conversation {item.id!r} has no {lacking}, which a block of the study shows"
            )


def context_of(turns: Sequence[str]) -> tuple[Turn, ...]:
    """Plain lines as a conversation: the seeker begins, and they take turns."""
    roles = (Role.SEEKER, Role.SUPPORTER)
    return tuple(Turn(roles[number % 2], text) for number, text in enumerate(turns))
