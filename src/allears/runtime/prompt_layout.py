"""Prompts as token ids: what a generator reads. The same for training and for every runtime; no torch here.

A context is `[CLS] so far [SEP] turn [SEP] turn ... [SEP]`, segment 0 for the one who is answered and 1 for the one who
answers, as everywhere in the house. "So far" says how long the conversation is and which strategies it has seen, and a
supporter's turn has its strategy in front of its words: what to do next depends on what was done already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from allears.runtime.generator import Prompt
from allears.text.layout import Limits, Row, context_rows, flatten, plain_rows
from allears.text.reading import Reading
from allears.text.reading_layout import summary_row
from allears.text.tokenizer import Tokenizer

PERSONA_WORDS, HISTORY_WORDS = "persona:", "dialogue history:"  # PAL section 4.2, of Hard Prompt


class PersonaPlace(StrEnum):
    """Where a model reads the persona."""

    BESIDE = "in a sequence of its own"  # PAL
    IN_FRONT = "in front of the context"  # Hard Prompt
    NOWHERE = "not at all"  # Joint


class PromptRows(NamedTuple):
    """Special tokens included; the persona's row is empty where there is none, or none is read."""

    context: Row
    persona: Row


def prompt_rows(
    prompts: Sequence[Prompt], tokenizer: Tokenizer, limits: Limits, place: PersonaPlace, *, turns: int
) -> list[PromptRows]:
    """The last `turns` turns with their words, as far as they fit; of the turns before them only what was done."""
    readings = [Reading(prompt.turns[-turns:], earlier=prompt.turns[:-turns]) for prompt in prompts]
    personas = [_latest(prompt.persona, limits) for prompt in prompts]
    texts: dict[str, None] = {PERSONA_WORDS: None, HISTORY_WORDS: None}
    for reading, persona in zip(readings, personas, strict=True):
        texts |= dict.fromkeys((*(turn.text for turn in reading.shown_turns), reading.so_far or "", *persona))
    pieces = dict(zip(texts, tokenizer.encode_many(list(texts)), strict=True))
    found = []
    for reading, persona in zip(readings, personas, strict=True):
        sentences = plain_rows([pieces[text] for text in persona], limits.persona_sentence_tokens)
        front: list[Row] = []
        if place is PersonaPlace.IN_FRONT and sentences:
            front = _in_front(sentences, pieces[PERSONA_WORDS], pieces[HISTORY_WORDS], limits)
        front += summary_row(pieces[reading.so_far or ""], _without(limits, front))
        shown = reading.shown_turns
        rows = context_rows(shown, [pieces[turn.text] for turn in shown], _without(limits, front))
        beside = flatten(sentences, tokenizer) if place is PersonaPlace.BESIDE and sentences else ([], [])
        found.append(PromptRows(flatten([*front, *rows], tokenizer), beside))
    return found


def _without(limits: Limits, rows: Sequence[Row]) -> Limits:
    """The room that is left; neither the persona nor the summary ever takes more than half of it."""
    return replace(limits, context_tokens=limits.context_tokens - sum(len(ids) + 1 for ids, _ in rows))


def _latest(persona: Sequence[str], limits: Limits) -> tuple[str, ...]:
    """As many as are read; the last ones, since what was learned last is most likely what the talk is about."""
    told = [text for text in persona if text.strip()]
    return tuple(told[len(told) - min(len(told), limits.persona_sentences) :])


def _in_front(
    sentences: Sequence[Row], label: Sequence[int], history: Sequence[int], limits: Limits
) -> list[Row]:
    """ "persona: ...", then "dialogue history:"; at most half of the room, the oldest sentences go first."""
    room = limits.context_tokens // 2 - len(label) - len(history) - 3
    kept: list[int] = []
    for ids, _ in reversed(sentences):
        if len(ids) + len(kept) > room:
            break
        kept = [*ids, *kept]
    if not kept:
        return []
    row, heading = [*label, *kept], list(history)
    return [(row, [0] * len(row)), (heading, [0] * len(heading))]
