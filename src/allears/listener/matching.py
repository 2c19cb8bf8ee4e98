"""Which words of a reply go with which words of the message and of a persona, for highlighting.

CoBERT's co-attention (equations 1 to 3) says what each token of the reply looks at. Raw, it is nearly even: its
temperature is high, and common words get a little from everybody. What tells is what two tokens give each other beyond
what each gives to all: the logarithm of the attention with its row and column means taken out (a pointwise mutual
information). Common words ("the", "you") are faded, since nobody wonders why those match.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from allears.conversation import PersonaSentence, Role, Turn
from allears.corpora.words import stop_words
from allears.runtime.features import persona_tokens, response_tokens
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import Query

Floats = npt.NDArray[np.float32]
Span = tuple[int, int]  # the first character and the one after the last

FULL = 0.8  # an excess of this much is highlighted fully: two words that mean the same have about as much
FAINT = 0.2  # below this share of it, nothing is shown
COMMON = 0.4  # how much of a common word's weight is left
MOST_LINKS = 60
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class MatchedWord:
    """Where a word stands in its text, and how strongly it matched anything on the other side (0 to 1)."""

    start: int
    end: int
    weight: float


@dataclass(frozen=True, slots=True)
class Side:
    """What a reply is held against: `of` is "message", "persona" or "listener" (its own persona).

    `links`: (the reply's word, this text's word, weight), both counted from 0, strongest first.
    """

    of: str
    text: str
    source: str
    words: tuple[MatchedWord, ...]
    links: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True, slots=True)
class Matched:
    """The words of a reply and of everything it was held against."""

    text: str
    words: tuple[MatchedWord, ...]
    others: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class _Read:
    """A text as the encoder read it: its words, and which word each token state belongs to (-1: none)."""

    text: str
    words: list[Span]
    states: Floats
    owners: list[int]


def matched_words(
    selector: OnnxSelector,
    message: str,
    reply: str,
    persona: Sequence[PersonaSentence] = (),
    listener: Sequence[str] = (),
) -> Matched:
    """Three encoder passes at most: the reply, the message, each persona."""
    (encoded,) = selector.encoder.texts(response_tokens([reply], selector.tokenizer, selector.card.limits))
    said = _read(selector, reply, encoded.states[1:-1])
    own = [PersonaSentence(sentence) for sentence in listener]
    sides = [
        *_message(selector, said, message),
        *_persona(selector, said, "persona", persona),
        *_persona(selector, said, "listener", own),
    ]
    best = np.zeros(len(said.words), np.float32)
    for side in sides:
        for word, _, weight in side.links:
            best[word] = max(best[word], weight)
    return Matched(reply, _weighed(said.words, best), tuple(sides))


def _message(selector: OnnxSelector, said: _Read, message: str) -> list[Side]:
    (encoded,) = selector.encode_contexts([Query((Turn(Role.SEEKER, message),))])
    limits = selector.card.limits
    # a lone turn is cut to its limit, and to its end where even that is too long for a context
    kept = min(len(selector.tokenizer.offsets(message)), limits.first_turn_tokens)
    heard = _read(selector, message, encoded.states[1:-1], first=max(0, kept + 2 - limits.context_tokens))
    return _sides(selector, said, [heard], [("message", "")])


def _persona(selector: OnnxSelector, said: _Read, of: str, known: Sequence[PersonaSentence]) -> list[Side]:
    """Persona sentences are read together, so that a sentence nobody takes up does not look as if it mattered."""
    limits = selector.card.limits
    kept = known[: limits.persona_sentences]
    query = Query((), tuple(sentence.text for sentence in kept))
    tokens = persona_tokens([query], selector.tokenizer, limits, nested=False)
    if tokens is None:
        return []
    (encoded,) = selector.encoder.texts(tokens)
    ends = np.flatnonzero(encoded.ids == selector.tokenizer.end)
    starts = [1, *(int(end) + 1 for end in ends[:-1])]
    rows = zip(kept, starts, ends, strict=True)
    parts = [_read(selector, sentence.text, encoded.states[start:end]) for sentence, start, end in rows]
    return _sides(selector, said, parts, [(of, sentence.source) for sentence in kept])


def _read(selector: OnnxSelector, text: str, states: Floats, first: int = 0) -> _Read:
    """`states`: those of the text's tokens from `first` on, without marks; a text that was cut has fewer."""
    words = [match.span() for match in _WORD.finditer(text)]
    offsets = selector.tokenizer.offsets(text)[first : first + len(states)]
    owners = [_owner(words, start) for start, _ in offsets]
    return _Read(text, words, states, owners)


def _owner(words: Sequence[Span], place: int) -> int:
    return next((number for number, (start, end) in enumerate(words) if start <= place < end), -1)


def _sides(
    selector: OnnxSelector, said: _Read, others: Sequence[_Read], names: Sequence[tuple[str, str]]
) -> list[Side]:
    """Texts that were read together, each with the words that matched."""
    states = np.concatenate([other.states for other in others])
    if not len(states) or not len(said.states):
        excess = np.zeros((len(said.states), len(states)), np.float32)
    else:
        told = np.log(selector.looks_at(said.states, states))
        excess = told - told.mean(0) - told.mean(1, keepdims=True) + told.mean()
    found, column = [], 0
    for other, (of, source) in zip(others, names, strict=True):
        part = excess[:, column : column + len(other.states)]
        found.append(_side(said, other, part, of, source))
        column += len(other.states)
    return found


def _side(said: _Read, other: _Read, excess: Floats, of: str, source: str) -> Side:
    weights = np.zeros((len(said.words), len(other.words)), np.float32)
    for row, word in enumerate(said.owners):
        for place, theirs in enumerate(other.owners):
            if word >= 0 and theirs >= 0:
                weights[word, theirs] = max(weights[word, theirs], excess[row, place] / FULL)
    weights = np.minimum(1, weights) * np.sqrt(np.outer(_telling(said), _telling(other)))
    strong = [(int(row), int(place)) for row, place in np.argwhere(weights >= FAINT)]
    strong.sort(key=lambda pair: -weights[pair])
    links = tuple((*pair, _rounded(weights[pair])) for pair in strong[:MOST_LINKS])
    best = weights.max(0, initial=0)
    return Side(of, other.text, source, _weighed(other.words, best), links)


def _telling(text: _Read) -> Floats:
    common = stop_words()
    shares = [COMMON if text.text[start:end].lower() in common else 1.0 for start, end in text.words]
    return np.array(shares, np.float32)


def _weighed(words: Sequence[Span], weights: Floats) -> tuple[MatchedWord, ...]:
    shown = np.where(weights >= FAINT, weights, 0)
    return tuple(
        MatchedWord(start, end, _rounded(weight)) for (start, end), weight in zip(words, shown, strict=True)
    )


def _rounded(weight: Any) -> float:
    return round(float(weight), 3)
