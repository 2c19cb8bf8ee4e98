"""Proposes the answers of those written messages that lie nearest to what the person wrote."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from platformdirs import user_cache_path

from allears.conversation import Role, Turn
from allears.listener.answered import Answered, filled
from allears.listener.answered.likeness import Likeness, Near
from allears.listener.contract import ANSWERED, Proposal, Request
from allears.listener.wording import implied, stems
from allears.progress import Watch, unwatched
from allears.runtime import nearest
from allears.runtime.onnx_encoder import EncodedText
from allears.runtime.onnx_selector import OnnxSelector
from allears.runtime.selector import Query

NEAREST = 3  # kinds of messages whose answers are proposed
MOST = 5  # answers that are proposed: each is encoded for CoBERT
LEAST = 0.0  # log-odds under which an answer is not even proposed
ENCODED_AT_ONCE = 512
ALIKE = 25  # messages that are asked whether the news are good
WARMTH = 0.05  # cosine by which one must be nearer to count e times as much there
LIKENESS = Likeness()
MOODS = {"hard": (0.0, 0.55), "good": (0.45, 1.0), "any": (0.0, 1.0)}  # how good what was read may be
_GOOD = np.array([0.0, 1.0, 0.5])  # in the order of MOODS
STRATEGY = {
    "hard": "Reflection of feelings",
    "good": "Affirmation and Reassurance",
    "any": "Reflection of feelings",
}

Vectors = npt.NDArray[np.float16]
Floats = npt.NDArray[np.float32]


class AnsweredProposer:
    """`vectors` [M, d]: the messages of all groups in their order, each of length one."""

    def __init__(self, groups: Sequence[Answered], vectors: Vectors):
        self.groups = groups
        self.vectors = vectors.astype(np.float32)  # products of 16 bits are slow
        sizes = [len(group.messages) for group in groups]
        self.starts = np.cumsum([0, *sizes[:-1]])
        self.group_of = np.repeat(np.arange(len(groups)), sizes)
        self.moods = np.array([list(MOODS).index(group.mood) for group in groups])

    def nearness(self, texts: Sequence[EncodedText]) -> Floats:
        """[2, M]: the cosines of every message to the conversation and to the last message, as the encoder saw them."""
        found: Floats = nearest.products(unit(np.array([text.vector for text in texts])), self.vectors)
        return found

    def good(self, nearness: Floats) -> float:
        """How good the news are in messages like the last one, from 0 to 1: a second opinion beside the reader's.

        The reader's emotions were labelled by whether they are pleasant to have: it calls what one does for a sick wife
        caring, and a fond memory nostalgic, and so takes the one for good news and the other for bad."""
        message = nearness[1]
        places = np.argpartition(-message, min(ALIKE, len(message)) - 1)[:ALIKE]
        weights = np.exp((message[places] - message[places].max()) / WARMTH)
        return float(weights @ _GOOD[self.moods[self.group_of[places]]] / weights.sum())

    def answers(self, request: Request, nearness: Floats, good: float) -> list[Proposal]:
        """The answers of those kinds of messages that are likest to the last one. `good`: how likely it tells of
        something good."""
        if request.stage in ("opening", "ending"):
            return []
        text = request.turns[-1].text
        said = {turn.text for turn in request.turns if turn.speaker is Role.SUPPORTER}
        mentioned = stems(turn.text for turn in request.turns)
        mentioned |= implied(mentioned)
        found: list[Proposal] = []
        for number, near in self._likest(nearness, good):
            texts = [filled(answer, text) for answer in self.groups[number].answers]
            if said & set(texts):
                continue  # this was answered
            strategy = STRATEGY[self.groups[number].mood]
            for answer in filter(None, texts):
                likely = LIKENESS(near, answer, mentioned)
                if likely >= LEAST:
                    kind = "Question" if answer.endswith("?") else strategy
                    found.append(Proposal(answer, ANSWERED, kind, likely=likely))
        return sorted(found, key=lambda each: -(each.likely or 0.0))[:MOST]

    def _likest(self, nearness: Floats, good: float) -> Iterator[tuple[int, Near]]:
        """The likest kinds of messages of such a mood."""
        talk, message = nearness
        starts = self.starts
        first, of_talk = np.maximum.reduceat(message, starts), np.maximum.reduceat(talk, starts)
        others = np.where(message == first[self.group_of], -1.0, message)
        second = np.maximum.reduceat(others, starts)
        second = np.where(second < 0, first, second)  # a kind with one message
        fits = np.array([MOODS[mood][0] <= good <= MOODS[mood][1] for mood in MOODS])[self.moods]
        likely = LIKENESS.first * first + LIKENESS.second * second + LIKENESS.talk * of_talk
        order = np.argsort(-np.where(fits, likely, -np.inf), kind="stable")[:NEAREST]
        for number in order.tolist():
            if fits[number]:
                yield number, Near(float(first[number]), float(second[number]), float(of_talk[number]))


def open_vectors(
    groups: Sequence[Answered],
    selector: OnnxSelector,
    *,
    folder: Path | None = None,
    watch: Watch = unwatched,
) -> Vectors:
    """The vectors of all messages, encoded if they are not in the cache folder yet for this model."""
    messages = [message for group in groups for message in group.messages]
    digest = hashlib.sha256("\0".join([selector.fingerprint, *messages]).encode()).hexdigest()[:16]
    place = (folder or user_cache_path("allears") / "answered") / f"{digest}.npy"
    try:
        found: Vectors = np.load(place, mmap_mode="r", allow_pickle=False)
        if found.shape == (len(messages), selector.card.size):
            return found
    except (OSError, ValueError):  # not there yet, or cut short: both are mended by making it
        pass
    chunks = [messages[start : start + ENCODED_AT_ONCE] for start in range(0, len(messages), ENCODED_AT_ONCE)]
    parts = [_encoded(chunk, selector) for chunk in watch(chunks, "encoding the answered messages")]
    vectors = np.concatenate(parts)
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = place.with_suffix(f".{os.getpid()}.tmp")
    with unfinished.open("wb") as file:
        np.save(file, vectors, allow_pickle=False)
    unfinished.replace(place)
    return vectors


def _encoded(messages: Sequence[str], selector: OnnxSelector) -> Vectors:
    asked = [Query((Turn(Role.SEEKER, message),)) for message in messages]
    return unit(np.array([text.vector for text in selector.encode_contexts(asked)])).astype(np.float16)


def unit(vectors: Floats) -> Floats:
    """Each of length one, so that products are cosines."""
    found: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
    return found
