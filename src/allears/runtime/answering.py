"""What every reader gives, whatever computes its logits: calibrated probabilities, likely labels, rationales."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from allears.conversation import Turn
from allears.corpora.heads import Head
from allears.corpora.heads import head as head_named
from allears.errors import AllearsError
from allears.metrics.classification import token_f1
from allears.runtime.calibration import probabilities
from allears.runtime.classifier import Probabilities
from allears.text.conversation_facts import Facts, facts_of
from allears.text.layout import Limits, Tokens
from allears.text.reading import Reading
from allears.text.reading_layout import ReadingTokens
from allears.text.tokenizer import WordPiece

BATCH = 64

Floats = npt.NDArray[np.floating[Any]]


class ReaderFacts(Protocol):
    """What a reader's card says, on the torch side and in a bundle."""

    @property
    def heads(self) -> Mapping[str, Sequence[str]]: ...  # name -> labels, in the order of the columns
    @property
    def limits(self) -> Limits: ...
    @property
    def temperatures(self) -> Mapping[str, float]: ...
    @property
    def multi_label(self) -> Collection[str]: ...  # heads whose labels do not exclude each other
    @property
    def pointing(self) -> Collection[str]: ...  # heads that also say where
    @property
    def informed(self) -> Collection[str]: ...  # heads that are also told the facts of a conversation
    @property
    def window(self) -> int: ...  # neighbouring tokens whose scores are averaged to say where


@dataclass(frozen=True, slots=True)
class Answers:
    """By head: logits [B, labels], and for the heads that point at tokens, logits [B, L]."""

    logits: Mapping[str, Floats]
    pointed: Mapping[str, Floats]


def averaged(scores: Floats, window: int) -> Floats:
    """Each of a response's scores [tokens] as the mean of those around it, `window` in all or as many as there are.

    People mark phrases, and single tokens that are just above or below the threshold would tear them.
    """
    if window <= 1 or not len(scores):
        return scores
    sums = np.concatenate([[0.0], np.cumsum(scores, dtype=np.float64)])
    places = np.arange(len(scores))
    begin = np.maximum(places - window // 2, 0)
    end = np.minimum(places + window // 2 + 1, len(scores))
    return (sums[end] - sums[begin]) / (end - begin)


class AnsweringReader(ABC):
    """A reader with its tokenizer and temperatures."""

    card: ReaderFacts
    tokenizer: WordPiece

    @abstractmethod
    def answer(
        self, tokens: Tokens, heads: Sequence[str] | None = None, facts: Facts | None = None
    ) -> Answers:
        """Every head's answer, or at least those of `heads`, from one pass of the encoder over a padded batch.

        Where they point is told for those of `heads` at least. `facts` [B, FACTS] are for informed heads; without
        them nothing is known of the conversation.
        """

    def logits(self, name: str, readings: Sequence[Reading], *, batch: int = BATCH) -> Floats:
        """[N, labels] of one head, before its temperature.

        An informed head is told the past strategies; they are not shown in the words as well.
        """
        informed = name in self.card.informed
        facts = facts_of(readings) if informed else None
        shown = [reading.bare for reading in readings] if informed else readings
        data = ReadingTokens(shown, self.tokenizer, self.card.limits)
        found = np.zeros((len(readings), len(self.card.heads[name])), np.float32)
        for rows in data.parts(batch):
            known = None if facts is None else facts[rows]
            found[rows] = self.answer(data.tokens(rows), [name], known).logits[name]
        return found

    def probabilities(self, head: Head, readings: Sequence[Reading], *, batch: int = BATCH) -> Probabilities:
        """[N, labels], calibrated. A head that was not trained is answered by its base, where that was."""
        by_base = head.name not in self.card.heads and head.base in self.card.heads
        name = head.base if by_base else head.name
        self.needs(name)
        found = self.calibrated(name, self.logits(name, readings, batch=batch))
        return head.from_base(found) if by_base else found

    def answers(self, readings: Sequence[Reading], *, batch: int = BATCH) -> dict[str, Probabilities]:
        """Every head's calibrated probabilities [N, labels] from one pass of the encoder over each reading."""
        data = ReadingTokens(readings, self.tokenizer, self.card.limits)
        facts = facts_of(readings) if self.card.informed else None
        logits = {
            name: np.zeros((len(readings), len(labels)), np.float32)
            for name, labels in self.card.heads.items()
        }
        for rows in data.parts(batch):
            known = None if facts is None else facts[rows]
            for name, found in self.answer(data.tokens(rows), facts=known).logits.items():
                logits[name][rows] = found
        return {name: self.calibrated(name, found) for name, found in logits.items()}

    def read(self, turns: Sequence[Turn], *, k: int = 3) -> dict[str, list[tuple[str, float]]]:
        """Every head's k likeliest labels of what was said, from one pass of the encoder."""
        likeliest = {}
        for name, (likely,) in self.answers([Reading(tuple(turns))]).items():
            best = np.argsort(-likely, kind="stable")[:k]
            likeliest[name] = [(self.card.heads[name][column], float(likely[column])) for column in best]
        return likeliest

    def needs(self, name: str) -> None:
        """An error in one sentence unless this reader has the head, with the labels that it has here."""
        if name not in self.card.heads:
            raise AllearsError(
                f"this reader was not trained for the head {name}; it has {', '.join(self.card.heads)}"
            )
        if tuple(self.card.heads[name]) != head_named(name).labels:
            raise AllearsError(
                f"this reader's head {name} gives other labels than this version of allears; train it again"
            )

    def points(self, head: Head) -> bool:
        """Whether this reader also says where a response shows what the head says."""
        return head.name in self.card.pointing

    def rationale_scores(self, head: Head, readings: Sequence[Reading]) -> npt.NDArray[np.float64]:
        """[N]: F1 of the tokens pointed at against those of the gold rationales, per reading."""
        self._must_point(head.name)
        data = ReadingTokens(readings, self.tokenizer, self.card.limits, rationales=True)
        found = np.zeros(len(readings))
        for rows in data.parts(BATCH):
            pointed = self.answer(data.tokens(rows), [head.name]).pointed[head.name]
            for row, scores, marks in zip(rows, pointed, data.padded_marks(rows), strict=True):
                said = averaged(scores[marks >= 0], self.card.window) > 0
                found[row] = token_f1(marks[marks >= 0], said)
        return found

    def has_rationale(self, readings: Sequence[Reading]) -> npt.NDArray[np.bool_]:
        """[N]: whether a token that is read belongs to a gold rationale; a long response's end is not read."""
        data = ReadingTokens(readings, self.tokenizer, self.card.limits, rationales=True)
        return np.array([1 in marks for marks in data.marks], np.bool_)

    def rationales(self, name: str, reading: Reading, *, threshold: float = 0.5) -> list[str]:
        """The parts of the last turn that show what the head says, as they are written there."""
        self._must_point(name)
        if not reading.turns:
            return []
        data = ReadingTokens([reading], self.tokenizer, self.card.limits, rationales=True)
        pointed = self.answer(data.tokens([0]), [name]).pointed[name][0]
        scores = averaged(pointed[data.padded_marks([0])[0] >= 0], self.card.window)
        asked = probabilities(scores[None], multi_label=True)[0] > threshold
        text = reading.shown_turns[-1].text
        own_words = len(text) - len(reading.turns[-1].text)  # after a strategy that is shown
        spans: list[tuple[int, int]] = []
        last = -2
        for position, (begin, end) in enumerate(data.spans[0]):
            if asked[position] and begin >= own_words:
                goes_on = position == last + 1
                spans.append((spans.pop()[0] if goes_on else begin, end))
                last = position
        return [text[begin:end] for begin, end in spans]

    def calibrated(self, name: str, logits: Floats) -> Probabilities:
        return probabilities(
            logits,
            temperature=self.card.temperatures.get(name, 1.0),
            multi_label=name in self.card.multi_label,
        )

    def _must_point(self, name: str) -> None:
        if name not in self.card.pointing:
            raise AllearsError(f"this reader was not trained to point at the rationales of {name}")
