"""What a rater's page gets of a unit: its blocks in order, and nothing that tells a system by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from allears.conversation import Conversation, Persona, PersonaSentence, Role, Turn
from allears.study.blocks import (
    SIDES,
    TIE,
    Block,
    Chat,
    ChoiceQuestion,
    Free,
    Likert,
    PersonaSentences,
    Preference,
    Replies,
    Situation,
    TalkBlock,
    TextBlock,
)
from allears.study.design import Check, Design
from allears.study.frozen import Frozen
from allears.study.items import context_of
from allears.study.rows import Given

_SPEAKERS = {Role.SEEKER: "speaker", Role.SUPPORTER: "listener"}
Chats = Mapping[str, Sequence[str]]  # by letter: the rater's and the system's lines in turn


def shown_unit(design: Design, frozen: Frozen, given: Given, chats: Chats) -> dict[str, Any]:
    """A unit as its rater sees it."""
    talk, replies = _content(design, frozen, given)
    blocks: list[dict[str, Any]] = []
    for block in design.blocks:
        if isinstance(block, Likert) and design.shown_systems == 2:
            blocks += [_likert(block, side) for side in SIDES]
        else:
            blocks.append(_shown(block, talk, replies, chats))
    return {"key": given.key, "least_seconds": design.raters.least_seconds, "blocks": blocks}


def _content(design: Design, frozen: Frozen, given: Given) -> tuple[Conversation, dict[str, str]]:
    """The item, and what stands under each letter."""
    if given.unit.check is not None:
        check = design.checks.items[given.unit.check]
        order = given.order[: len(check.replies)] if len(check.replies) == 2 else (0,)
        said = {SIDES[place]: check.replies[which] for place, which in enumerate(order) if check.replies}
        return _check_talk(check), said
    item = frozen.items[given.unit.item].talk
    if not frozen.outputs:
        return item, {}
    return item, {
        SIDES[place]: frozen.outputs[given.unit.systems[which]][given.unit.item]
        for place, which in enumerate(given.order)
        if which < len(given.unit.systems)
    }


def _check_talk(check: Check) -> Conversation:
    persona = Persona(tuple(PersonaSentence(text) for text in check.persona))
    return Conversation(
        "", context_of(check.turns), personas={Role.SEEKER.value: persona}, situation=check.situation or None
    )


def _shown(  # noqa: PLR0911 - one for each kind of block
    block: Block, talk: Conversation, replies: Mapping[str, str], chats: Chats
) -> dict[str, Any]:
    match block:
        case TextBlock():
            return {"type": "text", "title": block.title, "text": block.text}
        case Situation():
            return {"type": "situation", "title": block.title, "text": talk.situation or ""}
        case TalkBlock():
            return {
                "type": "conversation",
                "title": block.title,
                "turns": [_turn(turn) for turn in talk.turns],
            }
        case PersonaSentences():
            known = talk.personas.get(Role.SEEKER.value)
            sentences = list(known.texts) if known is not None else []
            return {"type": "persona", "title": block.title, "sentences": sentences}
        case Replies():
            said = [{"side": side, "text": text} for side, text in sorted(replies.items())]
            return {"type": "replies", "title": block.title, "replies": said}
        case Chat():
            sides = SIDES[: block.systems]
            return {
                "type": "chat",
                "title": block.title,
                "text": block.text,
                "sides": list(sides),
                "least_turns": block.least_turns,
                "most_turns": block.most_turns,
                "chats": {side: chat_lines(chats.get(side, ())) for side in sides},
            }
        case Likert():
            return _likert(block, None)
        case ChoiceQuestion():
            options = [
                {"key": option.key, "label": option.label, "reason": option.reason}
                for option in block.options
            ]
            return {**_question("choice", block), "options": options}
        case Preference():
            labels = [(SIDES[0], block.first), (SIDES[1], block.second)]
            labels += [(TIE, block.neither)] if block.tie else []
            options = [{"key": key, "label": label} for key, label in labels]
            return {**_question("preference", block), "options": options}
        case Free():
            limits = {"least_words": block.least_words, "most_words": block.most_words}
            return {**_question("free", block), **limits}
        case _:
            raise TypeError(f"a {type(block).__name__} is no part of a unit")


def _question(kind: str, block: ChoiceQuestion | Preference | Free) -> dict[str, Any]:
    return {"type": kind, "key": block.key, "text": block.text, "required": block.required}


def _likert(block: Likert, side: str | None) -> dict[str, Any]:
    return {
        "type": "likert",
        "key": f"{block.key}.{side}" if side else block.key,
        "text": block.text,
        "points": block.points,
        "anchors": dict(block.anchors),
        "side": side,
        "required": block.required,
    }


def _turn(turn: Turn) -> dict[str, str]:
    return {"speaker": _SPEAKERS[turn.speaker], "text": turn.text}


def chat_lines(said: Sequence[str]) -> list[dict[str, str]]:
    """The rater's lines and the other's, in turn."""
    return [{"speaker": ("you", "other")[place % 2], "text": text} for place, text in enumerate(said)]
