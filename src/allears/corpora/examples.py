"""From conversations to (context, persona, response) examples, the way each paper builds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from allears.conversation import Conversation, Example, Persona, Role, Turn


@dataclass(frozen=True, slots=True)
class ExampleRule:
    """How to cut conversations into examples.

    - `context_turns`: how many turns before the response are kept (ED: 4, PEC: 6; None keeps all).
    - `respondent`: whose turns are responses; None takes every turn (used for further pre-training).
    - `last_only`: only the final turn is a response (PEC: the expansion into prefixes was done already).
    - `merge`: join consecutive turns of one speaker into one. The first message's strategy is kept as the
      turn's strategy and every message's in the example's labels (ESConv).
    """

    context_turns: int | None = 4
    respondent: Role | None = Role.SUPPORTER
    last_only: bool = False
    merge: bool = False


PAPER_RULES: dict[str, ExampleRule] = {
    "ed": ExampleRule(context_turns=4),
    "ed-intents": ExampleRule(context_turns=4),
    "pec": ExampleRule(context_turns=6, last_only=True),
    "talks": ExampleRule(context_turns=8),
    "esconv": ExampleRule(context_turns=6),
    "pesconv": ExampleRule(context_turns=6),
    "dailydialog": ExampleRule(context_turns=4, respondent=None),
    "personachat": ExampleRule(context_turns=6, respondent=None),
}


def examples(conversations: Iterable[Conversation], rule: ExampleRule) -> Iterator[Example]:
    """Every response the rule asks for, with the turns before it. A first turn answers nothing."""
    for conversation in conversations:
        turns = conversation.turns
        strategies: tuple[tuple[str | None, ...], ...] = tuple((turn.strategy,) for turn in turns)
        if rule.merge:
            turns, strategies = merge_turns(turns)
        first = len(turns) - 1 if rule.last_only else 1
        for position in range(max(first, 1), len(turns)):
            response = turns[position]
            if rule.respondent is not None and response.speaker is not rule.respondent:
                continue
            if is_missed(conversation, position):
                continue
            start = 0 if rule.context_turns is None else max(0, position - rule.context_turns)
            labels: dict[str, Any] = {
                key: value
                for key, value in (("emotion", conversation.emotion), ("problem", conversation.problem))
                if value is not None
            }
            if any(strategies[position]):
                labels["strategies"] = list(strategies[position])
            yield Example(
                context=turns[start:position],
                response=response,
                persona=persona_of(conversation, response),
                labels=labels,
                conversation_id=conversation.id,
            )


def is_missed(conversation: Conversation, position: int) -> bool:
    """Whether turn `position` (from 0) is a reply that was written to miss: context, never something to learn."""
    return position + 1 in conversation.labels.get("misses", ())


def persona_of(conversation: Conversation, turn: Turn) -> Persona:
    """The persona of whoever says `turn`, by author where authors are named, otherwise by role."""
    personas = conversation.personas
    if turn.author is not None and turn.author in personas:
        return personas[turn.author]
    return personas.get(turn.speaker.value, Persona())


def merge_turns(turns: tuple[Turn, ...]) -> tuple[tuple[Turn, ...], tuple[tuple[str | None, ...], ...]]:
    """Join consecutive turns of one person; also each message's strategy, per joined turn."""
    merged: list[Turn] = []
    strategies: list[list[str | None]] = []
    for turn in turns:
        if merged and (merged[-1].speaker, merged[-1].author) == (turn.speaker, turn.author):
            last = merged[-1]
            merged[-1] = replace(
                last,
                text=f"{last.text} {turn.text}",
                strategy=last.strategy or turn.strategy,
                feedback=turn.feedback if turn.feedback is not None else last.feedback,
            )
            strategies[-1].append(turn.strategy)
        else:
            merged.append(turn)
            strategies.append([turn.strategy])
    return tuple(merged), tuple(map(tuple, strategies))
