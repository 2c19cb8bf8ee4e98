"""The light runtime's scorer: a bundle on onnxruntime, tokenizers and NumPy, without torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

from allears.errors import AllearsError
from allears.runtime.bundle import ENCODER_FILE, RANKER_FILE, BundleCard
from allears.runtime.features import persona_tokens, query_tokens, response_tokens
from allears.runtime.onnx_encoder import EncodedText, OnnxEncoder
from allears.runtime.opened_bundle import Bundle
from allears.runtime.selector import CandidateStates, Indices, Query, Scores
from allears.runtime.side_by_side import cores, side_by_side
from allears.runtime.two_stage import first_stage_vectors
from allears.text.tokenizer import WordPiece

Floats = npt.NDArray[np.float32]

CANDIDATES_AT_ONCE = 32  # in one ranker call; of similar length, so that little of it is padding


@dataclass(frozen=True, slots=True)
class EncodedQueries:
    """Queries encoded once for both stages. A query without persona has None."""

    contexts: list[EncodedText]
    personas: list[EncodedText | None]
    vectors: Floats  # [B, d], for the first stage

    def __len__(self) -> int:
        return len(self.contexts)

    def rows(self, start: int, stop: int) -> EncodedQueries:
        """Some of the queries."""
        some = slice(start, stop)
        return EncodedQueries(self.contexts[some], self.personas[some], self.vectors[some])

    def row(self, number: int) -> EncodedQueries:
        """One of the queries, alone."""
        return self.rows(number, number + 1)


@dataclass(frozen=True, slots=True)
class StateComparison:
    """Some queries that are all to be compared with the same candidates: `chosen` [C] of `candidates`."""

    queries: EncodedQueries
    candidates: CandidateStates
    chosen: Indices


@dataclass(frozen=True, slots=True)
class PersonaAttention:
    """What each word of a reply looks at: CoBERT's Y2X, rows of which sum to one.

    `context` [reply tokens, context tokens]; `persona` likewise, or None.
    """

    reply_tokens: list[str]
    context_tokens: list[str]
    context: Floats
    persona_tokens: list[str]
    persona: Floats | None


class OnnxSelector:
    """A bundle as a `Selector`: `OnnxSelector.from_bundle("default")`."""

    def __init__(
        self,
        card: BundleCard,
        tokenizer: WordPiece,
        encoder: OnnxEncoder,
        ranker: onnxruntime.InferenceSession | None,
        threads: int | None = None,
    ):
        self.card, self.tokenizer, self.threads = card, tokenizer, threads or cores()
        self.encoder, self.ranker = encoder, ranker
        self.fingerprint = card.fingerprint

    @classmethod
    def from_bundle(
        cls, path: Path | str = "default", *, threads: int | None = None, verify: bool = False
    ) -> OnnxSelector:
        """Open a bundle folder, or the one that ships with allears ("default").

        `threads` defaults to the number of physical cores. `verify` also compares every file's SHA-256.
        """
        bundle = Bundle(path, threads=threads, verify=verify)
        bundle.part("encoder", (ENCODER_FILE,), "")
        # one thread for each call: there are always several calls, and those go side by side
        ranker = bundle.graph(RANKER_FILE, threads=1) if RANKER_FILE in bundle.card.files else None
        return cls(bundle.card, bundle.tokenizer, bundle.encoder, ranker, threads)

    def encode_responses(self, texts: Sequence[str]) -> CandidateStates:
        """Candidates for `score`, or for an index: vectors in float32, token states (CoBERT) in float16."""
        if not texts:
            raise AllearsError("there are no candidates to encode; the pool is empty")
        tokens = response_tokens(list(texts), self.tokenizer, self.card.limits)
        lengths = tokens.mask.sum(-1)
        kept = lengths if self.ranker is not None else np.zeros_like(lengths)
        offsets = np.concatenate([[0], np.cumsum(kept)])
        vectors = np.empty((len(texts), self.card.size), np.float32)
        states = np.empty((int(offsets[-1]), self.card.size), np.float16)
        for rows, output in self.encoder.batches(tokens, states=self.ranker is not None):
            vectors[rows] = output.vectors
            if output.states is not None:
                for row, padded in zip(rows, output.states, strict=True):
                    states[offsets[row] : offsets[row + 1]] = padded[: lengths[row]]
        return CandidateStates(vectors, states, offsets)

    def encode_contexts(self, queries: Sequence[Query]) -> list[EncodedText]:
        """The contexts of some queries; their personas may still be unknown."""
        return self.encoder.texts(query_tokens(queries, self.tokenizer, self.card.limits, nested=False))

    def encode_queries(
        self, queries: Sequence[Query], contexts: list[EncodedText] | None = None
    ) -> EncodedQueries:
        """Contexts and personas; the former only if they are not encoded already."""
        limits = self.card.limits
        if contexts is None:
            contexts = self.encode_contexts(queries)
        personas: list[EncodedText | None] = [None] * len(queries)
        known = [row for row, query in enumerate(queries) if query.persona[: limits.persona_sentences]]
        tokens = persona_tokens([queries[row] for row in known], self.tokenizer, limits, nested=False)
        if tokens is not None:
            for row, text in zip(known, self.encoder.texts(tokens), strict=True):
                personas[row] = text
        nothing = np.zeros(self.card.size, np.float32)
        vectors = first_stage_vectors(
            np.array([text.vector for text in contexts], np.float32).reshape(-1, self.card.size),
            np.array([nothing if text is None else text.vector for text in personas], np.float32).reshape(
                -1, self.card.size
            ),
            self.card.weights,
        )
        return EncodedQueries(contexts, personas, vectors)

    def query_vectors(self, queries: Sequence[Query]) -> Floats:
        """[B, d], whose product with the candidates' vectors is the first stage's score."""
        return self.encode_queries(queries).vectors

    def score(self, queries: Sequence[Query], candidates: CandidateStates, chosen: Indices) -> Scores:
        if not len(queries):
            return np.zeros((0, chosen.shape[1]), np.float32)
        return self.rank(self.encode_queries(queries), candidates, chosen)

    def rank(self, queries: EncodedQueries, candidates: CandidateStates, chosen: Indices) -> Scores:
        """`score` for queries that are encoded already."""
        pairs = [StateComparison(queries.row(row), candidates, wanted) for row, wanted in enumerate(chosen)]
        return np.concatenate([np.zeros((0, chosen.shape[1]), np.float32), *self.compare(pairs)])

    def compare(self, comparisons: Sequence[StateComparison]) -> list[Scores]:
        """Scores [B, C] for each comparison. All of them are shared out among the cores together."""
        if self.ranker is None:
            return [each.queries.vectors @ each.candidates.vectors[each.chosen].T for each in comparisons]
        found = [np.zeros((len(each.queries), len(each.chosen)), np.float32) for each in comparisons]
        pieces = []
        for number, each in enumerate(comparisons):
            lengths = each.candidates.offsets[each.chosen + 1] - each.candidates.offsets[each.chosen]
            order = np.argsort(lengths, kind="stable")
            pieces += [
                (number, order[start : start + CANDIDATES_AT_ONCE])
                for start in range(0, len(order), CANDIDATES_AT_ONCE)
            ]

        def score(piece: tuple[int, Indices]) -> Scores:
            number, part = piece
            return self._match(comparisons[number], comparisons[number].chosen[part])

        for (number, part), scores in zip(pieces, side_by_side(score, pieces, self.threads), strict=True):
            found[number][:, part] = scores
        return found

    def _match(self, comparison: StateComparison, wanted: Indices) -> Scores:
        """All queries of a comparison [B] with a few of its candidates [C], which are padded once for all."""
        assert self.ranker is not None
        queries, candidates = comparison.queries, comparison.candidates
        states, mask = candidates.padded(wanted)
        shared = {
            "candidates": states,
            "mask": mask,
            "vectors": np.asarray(candidates.vectors[wanted], np.float32),
        }
        scores = np.zeros((len(queries), len(wanted)), np.float32)
        for row, (context, persona) in enumerate(zip(queries.contexts, queries.personas, strict=True)):
            sides = ((context, self.card.weights.context), (persona, self.card.weights.persona))
            for text, weights in sides:
                if text is not None:
                    own = {
                        "states": text.states,
                        "vector": text.vector,
                        "weights": np.array(weights, np.float32),
                    }
                    scores[row] += self.ranker.run(None, own | shared)[0]
        return scores

    def attention(self, query: Query, response: str) -> PersonaAttention:
        """What each word of a reply looks at in the context and the persona (CoBERT only)."""
        if self.ranker is None:
            raise AllearsError(f"a {self.card.name} compares whole texts, not words; use a cobert bundle")
        (reply,) = self.encoder.texts(response_tokens([response], self.tokenizer, self.card.limits))
        encoded = self.encode_queries([query])
        context, persona = encoded.contexts[0], encoded.personas[0]
        return PersonaAttention(
            reply_tokens=self._words(reply),
            context_tokens=self._words(context),
            context=self.looks_at(reply.states, context.states),
            persona_tokens=[] if persona is None else self._words(persona),
            persona=None if persona is None else self.looks_at(reply.states, persona.states),
        )

    def persona_attention(self, query: EncodedQueries, reply: Floats) -> Floats:
        """How a reply's attention to one query's persona is shared among its sentences; the shares sum to one.

        `reply` are the reply's token states, as encoded candidates have them. The marks between sentences draw
        attention too, but mean nothing; they are left out.
        """
        persona = query.personas[0]
        if persona is None:
            return np.zeros(0, np.float32)
        ends = persona.ids == self.tokenizer.end
        sentence = np.cumsum(ends) - ends  # which sentence each token belongs to
        weights = self.looks_at(reply, persona.states).mean(0)
        weights[ends | (persona.ids == self.tokenizer.start)] = 0
        shares = np.bincount(sentence, weights, minlength=int(ends.sum()))[: int(ends.sum())]
        return (shares / max(float(shares.sum()), 1e-9)).astype(np.float32)

    def looks_at(self, reply: Floats, other: Floats) -> Floats:
        """What each token of a reply looks at among another text's: Y2X [reply, other]; rows sum to one."""
        # equation 1, transposed; vecdot keeps to this thread (see `nearest.products`)
        affinity = np.vecdot(reply[:, None], other) / self.card.temperature
        weights = np.exp(affinity - affinity.max(-1, keepdims=True))
        found: Floats = weights / weights.sum(-1, keepdims=True)  # equation 3
        return found

    def _words(self, text: EncodedText) -> list[str]:
        return [self.tokenizer.backend.id_to_token(int(token)) or "" for token in text.ids]
