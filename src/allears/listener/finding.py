"""Finds replies on cards: those whose own words lie nearest to what was said, and those of the nearest examples.

Both are found by the vectors of the bundle's ranker. Encoding all cards takes half a minute, so the vectors are kept
in the cache folder.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from platformdirs import user_cache_path

from allears.conversation import Role, Turn
from allears.errors import AllearsError
from allears.listener.cards import Card
from allears.listener.contract import Proposal, Proposed
from allears.progress import Watch, unwatched
from allears.runtime import nearest
from allears.runtime.candidates import Candidate
from allears.runtime.index import CandidateIndex
from allears.runtime.onnx_encoder import EncodedText
from allears.runtime.onnx_selector import EncodedQueries, OnnxSelector
from allears.runtime.selector import Query

NEAREST_REPLIES = 100  # of each query that CoBERT compares word by word
NEAREST_CARDS = 8  # whose replies are compared, too
ENCODED_AT_ONCE = 512
STRATEGY, MOOD = "strategy:", "mood:"

Vectors = npt.NDArray[np.float32]


class Finder:
    """Cards, ready to be searched."""

    def __init__(
        self,
        cards: Sequence[Card],
        selector: OnnxSelector,
        *,
        folder: Path | None = None,
        watch: Watch = unwatched,
    ):
        self.selector = selector
        place = folder or user_cache_path("allears")
        self.answers = [card for card in cards if card.examples]
        examples = [example for card in self.answers for example in card.examples]
        self.card_of = np.repeat(
            np.arange(len(self.answers)), [len(card.examples) for card in self.answers]
        ).astype(np.int64)
        self.index = _index([card for card in cards if not card.examples], selector, place, watch)
        self.examples = _example_vectors(examples, selector, place, watch)

    def find(
        self, texts: Sequence[EncodedText], queries: EncodedQueries, strategy: str = ""
    ) -> list[Proposed]:
        """Candidates, each once: nearest replies for every query, then those of the nearest examples.

        Args:
            texts: The conversation and the last message, as the encoder read them.
            queries: The same with their personas, for the ranker.
            strategy: Only replies of this strategy, where there are any.
        """
        found = self._by_reply(queries, strategy)
        answers = self._by_example(texts, {each.text for part in found for each in part.proposals})
        wished = [each for each in answers if not strategy or each.strategy == strategy]
        if wished:
            states = self.selector.encode_responses([each.text for each in wished])
            found.append(Proposed(tuple(wished), states, np.arange(len(wished))))
        return found

    def _by_reply(self, queries: EncodedQueries, strategy: str) -> list[Proposed]:
        if self.index is None:
            return []
        reader = self.index.reader
        count = len(self.index) if strategy else min(NEAREST_REPLIES, len(self.index))
        positions, _ = self.index.nearest(queries.vectors, count, exact=True)
        chosen = list(
            dict.fromkeys(int(position) for row in zip(*positions, strict=True) for position in row)
        )
        proposals = [_proposal(reader.candidate(position)) for position in chosen]
        if strategy and any(each.strategy == strategy for each in proposals):
            kept = [place for place, each in enumerate(proposals) if each.strategy == strategy]
            chosen, proposals = [chosen[place] for place in kept], [proposals[place] for place in kept]
        most = NEAREST_REPLIES * len(queries)
        return [Proposed(tuple(proposals[:most]), reader.states, np.array(chosen[:most], np.int64))]

    def _by_example(self, texts: Sequence[EncodedText], known: set[str]) -> list[Proposal]:
        if not self.answers:
            return []
        asked = unit(np.array([text.vector for text in texts], np.float32))
        near = nearest.products(asked, self.examples).mean(
            axis=0
        )  # to the conversation and to its last message
        best = np.full(len(self.answers), -1.0, np.float32)
        np.maximum.at(best, self.card_of, near)
        order = np.argsort(-best, kind="stable")[:NEAREST_CARDS]
        texts_of = {
            reply: Proposal(reply, "cards", "Question" if reply.endswith("?") else card.strategy, card.mood)
            for card in (self.answers[place] for place in order.tolist())
            for reply in card.replies
        }
        return [each for text, each in texts_of.items() if text not in known]


def _proposal(candidate: Candidate) -> Proposal:
    values = {tag.partition(":")[0]: tag.partition(":")[2] for tag in candidate.tags}
    return Proposal(candidate.text, "cards", values.get("strategy", ""), values.get("mood", ""))


def _index(cards: Sequence[Card], selector: OnnxSelector, place: Path, watch: Watch) -> CandidateIndex | None:
    """The index of all replies without examples; built where it is not in the cache folder yet for these very cards."""
    candidates = {
        reply: Candidate(reply, (f"{STRATEGY}{card.strategy}", f"{MOOD}{card.mood}"))
        for card in cards
        for reply in card.replies
    }
    if not candidates:
        return None
    digest = hashlib.sha256(selector.fingerprint.encode())
    for each in candidates.values():
        digest.update("\x1f".join((each.text, *each.tags)).encode() + b"\0")
    folder = place / "cards" / digest.hexdigest()[:16]
    try:
        return CandidateIndex(folder, selector)
    except AllearsError:  # not there yet, or cut short: both are mended by building it
        folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        return CandidateIndex.build(folder, list(candidates.values()), selector, graph=False, watch=watch)
    except AllearsError as error:
        try:  # another process, started at the same time, may have put the very same index in place
            return CandidateIndex(folder, selector)
        except AllearsError:
            raise error from None


def _example_vectors(examples: Sequence[str], selector: OnnxSelector, place: Path, watch: Watch) -> Vectors:
    """[M, d], each of length one; encoded if they are not in the cache folder yet for this model."""
    digest = hashlib.sha256("\0".join([selector.fingerprint, *examples]).encode()).hexdigest()[:16]
    path = place / "cards" / f"{digest}.npy"
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
        if found.shape == (len(examples), selector.card.size):
            return np.asarray(found, np.float32)
    except (OSError, ValueError):  # not there yet, or cut short: both are mended by making it
        pass
    if not examples:
        return np.zeros((0, selector.card.size), np.float32)
    chunks = [examples[start : start + ENCODED_AT_ONCE] for start in range(0, len(examples), ENCODED_AT_ONCE)]
    vectors = np.concatenate([_encoded(chunk, selector) for chunk in watch(chunks, "encoding the examples")])
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    with unfinished.open("wb") as file:
        np.save(file, vectors, allow_pickle=False)
    unfinished.replace(path)
    return vectors.astype(np.float32)


def _encoded(messages: Sequence[str], selector: OnnxSelector) -> npt.NDArray[np.float16]:
    asked = [Query((Turn(Role.SEEKER, message),)) for message in messages]
    vectors = np.array([text.vector for text in selector.encode_contexts(asked)], np.float32)
    return unit(vectors).astype(np.float16)


def unit(vectors: Vectors) -> Vectors:
    """Each of length one, so that products are cosines."""
    found: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
    return found
