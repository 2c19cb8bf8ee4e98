"""How well a reply fits its place: a small network on what the bundle's encoder and CoBERT make of both.

x = [u1 * v; u2 * v; v; s]        u1, u2: the vectors of the conversation and of the last message, v: of the reply, each
                                  of length one; s: CoBERT's two scores, nearness, repetition, lengths (`FEATURES`)
p(good, plain, off) = softmax(W2 gelu(W1 x + b1) + b2)

Learned from blind readers' marks (`corpora.marked`): python -m allears.training.fit_scorer
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from allears.conversation import Role, Turn
from allears.corpora.words import stop_words
from allears.errors import AllearsError
from allears.labels import MARKS
from allears.runtime.onnx_selector import OnnxSelector, StateComparison
from allears.runtime.selector import Query

FILE = Path(__file__).with_name("fitting.safetensors")
CONTEXT_TURNS = 6
FEATURES = (
    "cobert of the conversation", "cobert of the last message", "cosine to the conversation",
    "cosine to the last message", "share of its words that the last message has",
    "share of its words that the person said earlier", "share of the last message's words that it takes up",
    "three words in a row from the person", "likeness to what the listener said before", "words", "sentences",
    "asks", "words of the last message",
)  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?…]+")

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Fit:
    """How likely a reply is good, and how likely off the point, at its place; what is left is plain."""

    good: float
    off: float

    @property
    def worth(self) -> float:
        """What replies are compared by."""
        return self.good - self.off


@dataclass(frozen=True, slots=True)
class ScorerWeights:
    """The network, and the encoder whose vectors it reads (`fingerprint`)."""

    centre: Floats  # of the features
    scale: Floats
    first: Floats  # [hidden, inputs]
    first_bias: Floats
    second: Floats  # [marks, hidden]
    second_bias: Floats
    fingerprint: str

    @classmethod
    def read(cls, path: Path = FILE) -> ScorerWeights:
        names = ("centre", "scale", "first", "first_bias", "second", "second_bias")
        try:
            with safe_open(path, framework="np") as file:
                tensors = [np.asarray(file.get_tensor(name), np.float32) for name in names]
                return cls(*tensors, fingerprint=(file.metadata() or {})["fingerprint"])
        except (OSError, KeyError, ValueError, SafetensorError) as error:
            raise AllearsError(
                f"{path}: not the weights of a scorer ({error}); make them with python -m allears.training.fit_scorer"
            ) from error

    def chances(self, vectors: Floats, features: Floats) -> Floats:
        """[N, marks]"""
        inputs = np.concatenate([vectors, (features - self.centre) / self.scale], axis=1)
        hidden = inputs @ self.first.T + self.first_bias
        hidden = hidden * 0.5 * (1 + np.tanh(0.7978845608 * (hidden + 0.044715 * hidden**3)))
        logits = hidden @ self.second.T + self.second_bias
        logits -= logits.max(axis=1, keepdims=True)
        found: Floats = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        return found


class ReplyScorer:
    """Scores replies with the ranker's own encoder; nothing else is opened."""

    def __init__(self, selector: OnnxSelector, weights: ScorerWeights):
        self.selector, self.weights = selector, weights

    def score(self, turns: Sequence[Turn], known: Sequence[str], replies: Sequence[str]) -> list[Fit]:
        """Each reply at the end of `turns`; `known` is what is known of the person from before them."""
        if not replies:
            return []
        good, off = MARKS.index("good"), MARKS.index("off")
        chances = self.weights.chances(*read(self.selector, turns, known, replies))
        return [Fit(float(row[good]), float(row[off])) for row in chances]


def open_scorer(selector: OnnxSelector) -> ReplyScorer | None:
    """The shipped scorer, where it belongs to this encoder."""
    weights = ScorerWeights.read()
    return ReplyScorer(selector, weights) if weights.fingerprint == selector.fingerprint else None


def read(
    selector: OnnxSelector, turns: Sequence[Turn], known: Sequence[str], replies: Sequence[str]
) -> tuple[Floats, Floats]:
    """What the network reads of each reply: products of vectors [N, 3d] and `FEATURES` [N, 13]."""
    latest = tuple(Turn(turn.speaker, turn.text) for turn in turns[-CONTEXT_TURNS:])
    queries = [Query(latest, tuple(known)), Query(latest[-1:])]
    texts = selector.encode_contexts(queries)
    encoded = selector.encode_queries(queries, texts)
    states = selector.encode_responses(list(replies))
    (cobert,) = selector.compare([StateComparison(encoded, states, np.arange(len(replies)))])
    whole, last = unit(np.array([text.vector for text in texts], np.float32))
    own = unit(np.asarray(states.vectors, np.float32))
    before = [turn.text for turn in turns if turn.speaker is Role.SUPPORTER]
    likeness = np.zeros(len(replies), np.float32)
    if before:
        likeness = (own @ unit(selector.encode_responses(before[-4:]).vectors).T).max(axis=1)
    words = np.array([_word_features(turns, reply) for reply in replies], np.float32)
    features = np.column_stack([cobert.T, own @ whole, own @ last, words[:, :4], likeness, words[:, 4:]])
    vectors = np.concatenate([own * whole, own * last, own], axis=1)
    return vectors.astype(np.float32), features.astype(np.float32)


def unit(vectors: Floats) -> Floats:
    """Each of length one, so that products are cosines."""
    found: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
    return found


def _word_features(turns: Sequence[Turn], reply: str) -> list[float]:
    said = [_words(turn.text) for turn in turns if turn.speaker is Role.SEEKER]
    last, earlier = said[-1], {word for text in said[:-1] for word in text}
    own = _words(reply)
    telling, told = _telling(own), _telling(last)
    rows = {tuple(text[place : place + 3]) for text in said for place in range(len(text) - 2)}
    mine = [tuple(own[place : place + 3]) for place in range(len(own) - 2)]
    return [
        _share(telling, told),
        _share(telling, earlier),
        _share(told, telling),
        sum(row in rows for row in mine) / max(1, len(mine)),
        float(len(own)),
        float(len(_SENTENCE_END.findall(reply))),
        float("?" in reply),
        float(min(len(last), 60)),
    ]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("’", "'"))


def _telling(words: Sequence[str]) -> set[str]:
    return {word.removesuffix("'s") for word in words if word not in stop_words()}


def _share(words: set[str], of: set[str]) -> float:
    return len(words & of) / max(1, len(words))
