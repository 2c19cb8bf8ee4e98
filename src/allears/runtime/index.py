"""A pool of replies, encoded once, searched in two stages: the nearest by their vectors, ranked by the model.

index = CandidateIndex.build("replies", ["I'm so sorry.", "Congratulations!"], selector)
index = CandidateIndex("replies", selector)
index.search(Query((Turn(Role.SEEKER, "My dog died."),)), k=1)[0].text
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allears.errors import AllearsError
from allears.progress import Watch, unwatched
from allears.runtime import nearest
from allears.runtime.candidates import Candidate
from allears.runtime.index_files import GRAPH_FILE, IndexCard, IndexReader, IndexWriter
from allears.runtime.nearest import Floats
from allears.runtime.selector import CandidateStates, Indices, Query
from allears.runtime.two_stage import TwoStage, two_stage

ENCODED_AT_ONCE = 512  # candidates; short ones are put together within them
COPIED_AT_ONCE = 4096
GRAPH_FROM = 20_000  # candidates; an exact search of fewer costs next to nothing

Part = tuple[CandidateStates, Sequence[Candidate], Indices]


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate that was found. `score` is the model's, `first_stage_score` that of its vector alone."""

    text: str
    score: float
    first_stage_score: float
    tags: tuple[str, ...]
    id: int


class CandidateIndex:
    """An index folder, opened. Searching and adding need the selector that built it."""

    def __init__(self, folder: Path | str, selector: Any = None):
        self.folder = Path(folder)
        self.selector: TwoStage | None = None if selector is None else two_stage(selector)
        self._graph: nearest.Graph | None = None  # opened by the first search that needs it
        self.reader = IndexReader(self.folder)
        if self.selector is not None and self.selector.fingerprint != self.card.fingerprint:
            raise AllearsError(
                f"{self.folder}: this index is stale, it was built by another model (fingerprint "
                f"{self.card.fingerprint}, the given one has {self.selector.fingerprint}); build it again "
                f"with `allears index build POOL --model MODEL --out {self.folder}`"
            )

    @classmethod
    def build(
        cls,
        folder: Path | str,
        candidates: Iterable[Candidate | str],
        selector: Any,
        *,
        model: str = "",
        graph: bool | None = None,
        watch: Watch = unwatched,
    ) -> CandidateIndex:
        """Encode the candidates into `folder`, in place of an index that was there.

        `graph` says whether to prepare approximate search; by default when FAISS is here and the pool is
        large. `model` is noted as where the selector came from.
        """
        folder, encoder, pool = Path(folder), two_stage(selector), _candidates(candidates)
        if graph is None:
            graph = nearest.faiss_is_here() and len(pool) >= GRAPH_FROM
        _write(
            folder,
            _encoded(encoder, pool, 0, watch),
            fingerprint=encoder.fingerprint,
            model=model,
            next_id=len(pool),
            graph=graph,
            watch=watch,
        )
        return cls(folder, selector)

    def __len__(self) -> int:
        return self.card.candidates

    @property
    def card(self) -> IndexCard:
        return self.reader.card

    def search(
        self, query: Query, k: int = 10, first_stage: int = 100, exact: bool | None = None
    ) -> list[Hit]:
        """The `k` candidates the model likes best among the `first_stage` nearest, best first.

        `exact` compares with every candidate in the first stage; False insists on the graph. By default the
        graph is used if there is one that FAISS can read here.
        """
        if k < 1 or first_stage < 1:
            raise AllearsError(f"a search needs k and first_stage of at least 1, got {k} and {first_stage}")
        selector = self._needs_selector()
        encoded = selector.encode_queries([query])
        positions, near = self.nearest(encoded.vectors, max(k, first_stage), exact)
        found = positions[0] >= 0  # a graph may reach fewer than asked for, and says -1
        positions, near = positions[:, found], near[:, found]
        scores = selector.rank(encoded, self.reader.states, positions)[0]
        best = np.argsort(-scores, kind="stable")[:k]
        return [self._hit(int(positions[0, at]), float(scores[at]), float(near[0, at])) for at in best]

    def nearest(self, vectors: Floats, count: int, exact: bool | None = None) -> tuple[Indices, Floats]:
        """The first stage alone: positions and scores [B, count], best first."""
        if exact is None:
            exact = not (self.card.graph and nearest.faiss_is_here())
        if exact:
            return nearest.exact(self.reader.states.vectors, vectors, count)
        if not self.card.graph:
            raise AllearsError(
                f"{self.folder}: this index has no graph for approximate search; build it with --graph, "
                "or search exactly (--exact)"
            )
        if self._graph is None:
            self._graph = nearest.Graph(self.reader.data / GRAPH_FILE)
        return self._graph.search(vectors, count)

    def add(self, candidates: Iterable[Candidate | str], *, watch: Watch = unwatched) -> int:
        """Encode more candidates; texts that are here already are left out. How many were new."""
        selector = self._needs_selector()
        here = {candidate.text for candidate in self.reader.candidates()}
        new = [candidate for candidate in _candidates(candidates) if candidate.text not in here]
        if new:
            more = _encoded(selector, new, self.card.next_id, watch)
            self._rewrite(_copied(self.reader), more, added=len(new), watch=watch)
        return len(new)

    def merge(self, other: CandidateIndex, *, watch: Watch = unwatched) -> int:
        """Take over the candidates of another index of the same model, with new ids. How many were new."""
        if other.card.fingerprint != self.card.fingerprint:
            raise AllearsError(
                f"{other.folder} was built by another model than {self.folder} (fingerprints "
                f"{other.card.fingerprint} and {self.card.fingerprint}); only indexes of one model can merge"
            )
        here = {candidate.text for candidate in self.reader.candidates()}
        theirs = other.reader.candidates()
        new = np.array([row for row, candidate in enumerate(theirs) if candidate.text not in here], np.int64)
        if len(new):
            more = _copied(other.reader, new, first_id=self.card.next_id)
            self._rewrite(_copied(self.reader), more, added=len(new), watch=watch)
        return len(new)

    def remove(self, ids: Iterable[int], *, watch: Watch = unwatched) -> int:
        """Take candidates out, texts and all; a graph is built anew. How many were removed."""
        unwanted = set(ids)
        unknown = unwanted.difference(self.reader.ids.tolist())
        if unknown:
            raise AllearsError(f"{self.folder}: there is no candidate with the id {min(unknown)}")
        kept = np.flatnonzero(~np.isin(self.reader.ids, list(unwanted)))
        if not len(kept):
            raise AllearsError(f"{self.folder}: this would leave the pool empty; delete the folder instead")
        if unwanted:
            self._rewrite(_copied(self.reader, kept), [], added=0, graph_goes_on=False, watch=watch)
        return len(unwanted)

    def _rewrite(
        self,
        old: Iterable[Part],
        new: Iterable[Part],
        *,
        added: int,
        graph_goes_on: bool = True,
        watch: Watch,
    ) -> None:
        _write(
            self.folder,
            (part for parts in (old, new) for part in parts),
            fingerprint=self.card.fingerprint,
            model=self.card.model,
            next_id=self.card.next_id + added,
            graph=self.card.graph,
            start_from=self.reader.data / GRAPH_FILE if self.card.graph and graph_goes_on else None,
            watch=watch,
        )
        self.reader, self._graph = IndexReader(self.folder), None

    def _needs_selector(self) -> TwoStage:
        if self.selector is None:
            raise AllearsError(f"{self.folder}: open the index with its model to do this")
        return self.selector

    def _hit(self, position: int, score: float, first_stage_score: float) -> Hit:
        candidate = self.reader.candidate(position)
        return Hit(candidate.text, score, first_stage_score, candidate.tags, int(self.reader.ids[position]))


def _candidates(candidates: Iterable[Candidate | str]) -> list[Candidate]:
    found = [Candidate(item) if isinstance(item, str) else item for item in candidates]
    if not found:
        raise AllearsError("the pool is empty; there must be at least one reply to choose from")
    return found


def _encoded(encoder: TwoStage, pool: Sequence[Candidate], first_id: int, watch: Watch) -> Iterator[Part]:
    chunks = [pool[start : start + ENCODED_AT_ONCE] for start in range(0, len(pool), ENCODED_AT_ONCE)]
    for chunk in watch(chunks, "encoding the replies"):
        states = encoder.encode_responses([candidate.text for candidate in chunk])
        yield states, chunk, np.arange(first_id, first_id + len(chunk))
        first_id += len(chunk)


def _copied(
    reader: IndexReader, positions: Indices | None = None, first_id: int | None = None
) -> Iterator[Part]:
    """Rows of an index as they are, under their ids or under new ones from `first_id` on."""
    chosen = np.arange(len(reader.ids)) if positions is None else positions
    ids = reader.ids[chosen] if first_id is None else first_id + np.arange(len(chosen))
    for start in range(0, len(chosen), COPIED_AT_ONCE):
        rows = chosen[start : start + COPIED_AT_ONCE]
        yield reader.slice(rows), reader.candidates(rows), ids[start : start + COPIED_AT_ONCE]


def _write(
    folder: Path,
    parts: Iterable[Part],
    *,
    fingerprint: str,
    model: str,
    next_id: int,
    graph: bool,
    start_from: Path | None = None,
    watch: Watch,
) -> None:
    with IndexWriter(folder) as writer:
        for states, candidates, ids in parts:
            writer.append(states, candidates, ids)
        writer.finish()
        if graph:
            vectors = np.load(writer.data / "vectors.npy", mmap_mode="r")
            nearest.build_graph(vectors, writer.data / GRAPH_FILE, start_from=start_from, watch=watch)
        writer.commit(fingerprint=fingerprint, model=model, next_id=next_id)
