"""From conversations to what a generator learns: a prompt and the response that was given to it.

Whoever answers is the supporter: where a corpus's seeker answers (small talk), the roles are turned round. The persona
is that of the person who is answered, and only what could be known of them at that moment.

What people wrote on the internet goes through a filter first (`filtering.py`): a pair with a toxic or sexual response,
or with one that holds a mask ("_name_"), is left out, and so is one whose context is sexual.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from allears.conversation import Conversation, Role, Turn
from allears.corpora import PAPER_RULES, ExampleRule, corpus, data_root
from allears.corpora.examples import is_missed, persona_of
from allears.errors import AllearsError
from allears.labels import DAILY_ACTS, ED_EMOTIONS, INTENTS, MECHANISMS
from allears.models.generation.filtering import fit_to_learn
from allears.personas.examples import clean
from allears.runtime.generator import STRATEGIES, Prompt

FIRST_PERSONA_TURN = 3  # `labels["persona_by_turn"]` begins after the seeker's third turn (PAL section 3.2)
FILTERED = frozenset({"reddit", "pec"})  # sources that nobody has looked through
# A corpus of somebody's own: its last turn answers those before it.
OWN_CORPUS_RULE = ExampleRule(context_turns=None, last_only=True)
_TURN_SOURCE = re.compile(r"turn (\d+)")


@dataclass(frozen=True, slots=True)
class ResponseLabels:
    """What else a corpus says; None where it does not.

    `emotion`: the conversation's; `act`: of the turn before (one of DailyDialog's); `intent`: the response's (one of
    EmpatheticIntents'); `mechanisms`: its levels of EPITOME's three.
    """

    emotion: str | None = None
    act: str | None = None
    intent: str | None = None
    mechanisms: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class GenerationExample:
    """The prompt carries the response's strategy, where its corpus has one. `answers`: the turn before is the other
    person's; those examples are what PAL is evaluated on, while it learns from the others as well."""

    prompt: Prompt
    response: str
    answers: bool = True
    labels: ResponseLabels = ResponseLabels()  # frozen, so sharing the default is safe


def read_examples(
    name: str | Path,
    split: str,
    root: Path | str | None = None,
    *,
    every_turn: bool = False,
    keep: Callable[[Sequence[GenerationExample]], list[GenerationExample]] | None = None,
) -> list[GenerationExample]:
    """All examples of a split ("valid+test": of several); with `every_turn` also those in which the seeker answers.

    `keep` is a further filter, for those sources that are filtered at all.
    """
    reader, place = corpus(name), data_root(root)
    found: list[GenerationExample] = []
    doubtful: list[GenerationExample] = []
    for part in split.split("+"):
        for conversation in reader.read(part, place):
            rule = PAPER_RULES.get(reader.info.name) or PAPER_RULES.get(conversation.source, OWN_CORPUS_RULE)
            rule = replace(rule, respondent=None) if every_turn else rule
            examples = conversation_examples(conversation, rule)
            if conversation.source in FILTERED:
                doubtful += (
                    example for example in examples if fit_to_learn(example.prompt.turns, example.response)
                )
            else:
                found += examples
    found += doubtful if keep is None else keep(doubtful)
    if not found:
        raise AllearsError(f"the {split} split of {name} has no examples: no turn in it answers another")
    return found


def conversation_examples(conversation: Conversation, rule: ExampleRule) -> Iterator[GenerationExample]:
    """The rule says whose turns are responses; contexts are whole here, and are cut when they are laid out."""
    turns = conversation.turns
    if conversation.source == "personachat":
        turns = tuple(replace(turn, text=clean(turn.text)) for turn in turns)
    first = max(1, len(turns) - 1) if rule.last_only else 1
    for position in range(first, len(turns)):
        response = turns[position]
        if rule.respondent is not None and response.speaker is not rule.respondent:
            continue
        if not response.text.strip() or is_missed(conversation, position):
            continue
        before = _seen_by(response, turns[:position])
        strategy = response.strategy if response.strategy in STRATEGIES else None
        text = " ".join(response.text.split())
        yield GenerationExample(
            Prompt(
                before,
                known_persona(conversation, position),
                strategy,
                _own_persona(conversation, response, text),
            ),
            text,
            answers=before[-1].speaker is Role.SEEKER,
            labels=_labels(conversation, position),
        )


def _own_persona(conversation: Conversation, response: Turn, text: str) -> tuple[str, ...]:
    """What is known of the one who answers, but for what the response itself says (PEC)."""
    said = text.lower()
    known = persona_of(conversation, response).texts
    return tuple(sentence for sentence in known if sentence.strip().lower() not in said)


def _labels(conversation: Conversation, position: int) -> ResponseLabels:
    """Of the response at `position`. A label of another set (DailyDialog keeps its acts as intents) is left out."""
    labels, before = conversation.labels, conversation.turns[position - 1]
    intent = conversation.turns[position].intent
    acts = labels.get("acts_by_turn", ())
    act = acts[position - 1] if position <= len(acts) else before.intent
    levels: Mapping[str, Any] = labels if len(conversation.turns) == 2 else {}
    by_turn = labels.get("mechanisms_by_turn", ())
    if position < len(by_turn):
        levels = by_turn[position]
    known = all(name in levels for name in MECHANISMS)
    return ResponseLabels(
        emotion=conversation.emotion if conversation.emotion in ED_EMOTIONS else None,
        act=act if act in DAILY_ACTS else None,
        intent=intent if intent in INTENTS else None,
        mechanisms=tuple(int(levels[name]["level"]) for name in MECHANISMS) if known else None,
    )


def known_persona(conversation: Conversation, position: int) -> tuple[str, ...]:
    """What is known, when turn `position` (from 0) is about to be said, of the person it is said to."""
    speaker = conversation.turns[position]
    others = [turn for turn in conversation.turns[:position] if not _same_person(turn, speaker)]
    by_turn = conversation.labels.get("persona_by_turn")
    if by_turn is not None and speaker.speaker is Role.SUPPORTER:
        place = len(others) - FIRST_PERSONA_TURN
        return tuple(by_turn[min(place, len(by_turn) - 1)]) if place >= 0 and by_turn else ()
    if not others:
        return ()
    who = others[-1]
    personas = conversation.personas
    known = personas.get(who.author) if who.author is not None else None
    known = known or personas.get(who.speaker.value)
    if known is None:
        return ()
    return tuple(sentence.text for sentence in known.sentences if _told_by(sentence.source) <= position)


def _told_by(source: str) -> int:
    """After how many turns a sentence was known: at once, unless it says "turn 5"."""
    found = _TURN_SOURCE.fullmatch(source)
    return int(found[1]) if found else 0


def _seen_by(speaker: Turn, turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """The turns as the one who answers sees them: their own are the supporter's, all others the seeker's."""
    return tuple(
        Turn(Role.SUPPORTER, turn.text, strategy=turn.strategy)
        if _same_person(turn, speaker)
        else Turn(Role.SEEKER, turn.text)
        for turn in turns
    )


def _same_person(turn: Turn, other: Turn) -> bool:
    if turn.author is not None and other.author is not None:
        return turn.author == other.author
    return turn.speaker is other.speaker
