"""Examples for the empathetic generators, tokenized once and cut into padded batches.

A context is `[start] turn [end] turn [end] ...`, the last turns that fit; a persona likewise, of whoever answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from allears.conversation import Turn
from allears.labels import DAILY_ACTS, ED_EMOTIONS, ED_GROUP_OF, ED_GROUPS, INTENTS, MECHANISMS
from allears.models.generation.dataset import PairDataset, as_ids, responses, spelled
from allears.models.generation.empathetic import NOT_KNOWN, EmpatheticBatch
from allears.models.generation.examples import GenerationExample, ResponseLabels
from allears.models.generation.prepend import Prepend
from allears.runtime.generator import Prompt
from allears.text.layout import Limits, Row, context_rows, flatten, plain_rows
from allears.text.tokenizer import Tokenizer

EMOTION_SETS = {len(ED_EMOTIONS): ED_EMOTIONS, len(ED_GROUPS): ED_GROUPS}
Features = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmpatheticLayout:
    """How prompts are read: how much of them, with which emotions, and what else is shown."""

    limits: Limits
    emotions: int = len(ED_EMOTIONS)
    context_turns: int = 8
    persona: bool = False  # whether the responder's persona is read
    prepend: Prepend | None = None  # labels in front of the context: EmoPrepend-k, TopicPrepend-k


class EmpatheticDataset(PairDataset[EmpatheticBatch]):
    """`beside` [N, f]: what a frozen encoder says of each context. A response that is cut has no end: nothing shall
    learn to stop there."""

    def __init__(
        self,
        examples: Sequence[GenerationExample],
        tokenizer: Tokenizer,
        layout: EmpatheticLayout,
        *,
        beside: Features | None = None,
        noise: Features | None = None,
        groups: Sequence[int] | None = None,
    ):
        prompts = [example.prompt for example in examples]
        super().__init__(
            examples,
            _contexts(prompts, tokenizer, layout),
            _personas(prompts, tokenizer, layout),
            [as_ids(target) for target in responses(examples, tokenizer, layout.limits)],
            pad=tokenizer.pad,
            groups=groups,
        )
        self.labels = _label_numbers([example.labels for example in examples], layout.emotions)
        nothing = np.zeros((len(examples), 0), np.float32)
        self.beside = nothing if beside is None else beside
        self.noise = nothing if noise is None else noise

    def _learned_from(self) -> Iterator[bytes]:
        yield self.labels.tobytes()
        for example in self.examples:
            prompt = example.prompt
            yield from spelled(turn.text for turn in prompt.turns)
            yield from spelled((*prompt.own_persona, example.response))

    def batch(self, rows: Sequence[int]) -> EmpatheticBatch:
        labels = torch.from_numpy(self.labels[rows])
        return EmpatheticBatch(
            *self._padded(rows),
            labels[:, 0],
            labels[:, 1],
            labels[:, 2],
            labels[:, 3:],
            torch.from_numpy(self.beside[rows]),
            torch.from_numpy(self.noise[rows]),
        )


def _contexts(prompts: Sequence[Prompt], tokenizer: Tokenizer, layout: EmpatheticLayout) -> list[Row]:
    shown = [prompt.turns[-layout.context_turns :] for prompt in prompts]
    front = [()] * len(prompts) if layout.prepend is None else layout.prepend.labels_of(prompts)
    texts = {turn.text: None for turns in shown for turn in turns} | {
        text: None for labels in front for text in labels
    }
    pieces = dict(zip(texts, tokenizer.encode_many(list(texts)), strict=True))
    found = []
    for turns, labels in zip(shown, front, strict=True):
        first = [piece for label in labels for piece in pieces[label]]
        limits = replace(layout.limits, context_tokens=layout.limits.context_tokens - len(first))
        rows = context_rows(turns, [pieces[turn.text] for turn in turns], limits)
        if rows and first:  # prepended to the beginning of the token sequence
            ids, segments = rows[0]
            rows[0] = ([*first, *ids], [*[segments[0] if segments else 0] * len(first), *segments])
        found.append(flatten(rows, tokenizer))
    return found


def _personas(prompts: Sequence[Prompt], tokenizer: Tokenizer, layout: EmpatheticLayout) -> list[Row]:
    if not layout.persona:
        return [([], [])] * len(prompts)
    limits = layout.limits
    kept = [
        [text for text in prompt.own_persona if text.strip()][: limits.persona_sentences]
        for prompt in prompts
    ]
    texts = {text: None for sentences in kept for text in sentences}
    pieces = dict(zip(texts, tokenizer.encode_many(list(texts)), strict=True))
    rows = [
        plain_rows([pieces[text] for text in sentences], limits.persona_sentence_tokens, segment=1)
        for sentences in kept
    ]
    return [flatten(each, tokenizer) if each else ([], []) for each in rows]


def _label_numbers(labels: Sequence[ResponseLabels], emotions: int) -> npt.NDArray[np.int64]:
    """[N, 6]: emotion, act, intent, and the three mechanisms' levels."""
    numbers = np.full((len(labels), 3 + len(MECHANISMS)), NOT_KNOWN, np.int64)
    for row, each in enumerate(labels):
        if each.emotion is not None:
            numbers[row, 0] = emotion_number(each.emotion, emotions)
        if each.act is not None:
            numbers[row, 1] = DAILY_ACTS.index(each.act)
        if each.intent is not None:
            numbers[row, 2] = INTENTS.index(each.intent)
        if each.mechanisms is not None:
            numbers[row, 3:] = each.mechanisms
    return numbers


def emotion_name(emotion: str, emotions: int) -> str:
    """An emotion of the 32 as one of them, or as one of the 16 groups."""
    return emotion if emotions == len(ED_EMOTIONS) else ED_GROUP_OF[emotion]


def emotion_number(emotion: str, emotions: int) -> int:
    return EMOTION_SETS[emotions].index(emotion_name(emotion, emotions))


def said(turns: Sequence[Turn]) -> str:
    """A context as one text, for classifiers and encoders that read one."""
    return " ".join(turn.text for turn in turns)
