"""What a study may give away: answers and texts under random names. No tokens, no codes, no ids of platforms.

Names, e-mail addresses and phone numbers in what people wrote are masked, as in corpora built from Reddit.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from allears.conversation import Conversation
from allears.corpora.reddit.masks import mask, unveil
from allears.study.answers import by_system
from allears.study.blocks import REASON, Free
from allears.study.design import Design
from allears.study.frozen import Frozen
from allears.study.items import group_of
from allears.study.pairing import Pairing
from allears.study.rows import AnsweredUnit
from allears.study.store import Store

COLUMNS = (
    "rater", "unit", "item", "emotion", "group", "systems", "first_shown", "question", "system", "value", "reason",
    "seconds", "number", "state",
)  # fmt: skip


def without_names(text: str) -> str:
    return unveil(mask(text))


def answer_rows(design: Design, frozen: Frozen, answered: list[AnsweredUnit]) -> list[dict[str, Any]]:
    """One row for each answer to each question, in the order they came."""
    free = {question.key for question in design.questions if isinstance(question, Free)}
    rows: list[dict[str, Any]] = []
    for each in answered:
        item = frozen.items[each.unit.item].talk
        shown = [each.unit.systems[which] for which in each.order if which < len(each.unit.systems)]
        for question, system, value in by_system(design, each.answers, each.unit.systems, each.order):
            rows.append(
                {
                    "rater": each.rater,
                    "unit": each.unit.key,
                    "item": each.unit.item,
                    "emotion": item.emotion or "",
                    "group": group_of(item, design.items),
                    "systems": " | ".join(each.unit.systems),
                    "first_shown": shown[0] if shown else "",
                    "question": question,
                    "system": system,
                    "value": without_names(value) if question in free else value,
                    "reason": without_names(str(each.answers.get(f"{question}{REASON}", ""))),
                    "seconds": round(each.seconds, 2),
                    "number": each.number,
                    "state": each.state,
                }
            )
    return rows


def as_csv(rows: list[dict[str, Any]]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        # a text that begins like a formula would be run by a spreadsheet
        writer.writerow({key: _harmless(value) for key, value in row.items()})
    return stream.getvalue()


def as_jsonl(rows: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def chat_rows(design: Design, store: Store) -> list[dict[str, Any]]:
    """The chats with systems behind the answers."""
    if design.chat is None:
        return []
    rows: list[dict[str, Any]] = []
    for each, given in store.answered_chats():
        for place, system in enumerate(each.unit.systems[: design.chat.systems]):
            rows.append(
                {
                    "rater": each.rater,
                    "item": each.unit.item,
                    "system": system,
                    "turns": [
                        {"speaker": ("rater", "system")[number % 2], "text": without_names(text)}
                        for number, (text, _) in enumerate(store.chat(given, place))
                    ],
                    "state": each.state,
                }
            )
    return rows


def conversation_lines(store: Store) -> list[str]:
    """Collected conversations, in the schema of every corpus here."""
    if not store.design.collects:
        return []
    return [_masked(talk).to_json() for talk in Pairing(store).conversations()]


def export(design: Design, frozen: Frozen, store: Store, folder: Path) -> list[Path]:
    """Write everything that may be given away. The files that were written."""
    folder.mkdir(parents=True, exist_ok=True)
    content: dict[str, str] = {}
    if design.questions:
        rows = answer_rows(design, frozen, store.answered())
        content |= {"answers.csv": as_csv(rows), "answers.jsonl": as_jsonl(rows)}
    if design.chat is not None:
        content["chats.jsonl"] = as_jsonl(chat_rows(design, store))
    if design.collects:
        content["conversations.jsonl"] = "".join(f"{line}\n" for line in conversation_lines(store))
    for name, text in content.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in content]


def _masked(talk: Conversation) -> Conversation:
    turns = tuple(replace(turn, text=without_names(turn.text)) for turn in talk.turns)
    return replace(talk, turns=turns, situation=without_names(talk.situation or ""))


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value
