"""The files of a candidate index: written piece by piece, put in place at once, read through memory maps.

    index.json          what it is: the encoder's fingerprint, counts, and the folder of the files below
    v1-*/vectors.npy    [N, d] float32, for the first stage
    v1-*/states.npy     [tokens, d] float16; those of candidate i are states[offsets[i]:offsets[i + 1]]
    v1-*/offsets.npy    [N + 1]
    v1-*/ids.npy        [N]; an id is never given to another candidate
    v1-*/texts.jsonl    a line per candidate: text and tags
    v1-*/lines.npy      [N + 1]; where each line starts
    v1-*/graph.faiss    the approximate search's graph, if there is one

A change writes the next folder (v2-*), then replaces index.json, then deletes the old one: a kill at any
moment leaves the old index or the new one.
"""

from __future__ import annotations

import json
import mmap
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError
from allears.runtime.bundle import read_card
from allears.runtime.candidates import Candidate
from allears.runtime.selector import CandidateStates, Indices

FORMAT = 1
CARD_FILE = "index.json"
GRAPH_FILE = "graph.faiss"


@dataclass(frozen=True, slots=True)
class IndexCard:
    """What `index.json` says."""

    fingerprint: str  # of the encoder
    model: str  # what it was loaded from, so that a search finds it again
    candidates: int
    tokens: int
    size: int  # of a vector
    next_id: int
    graph: bool  # whether there is a graph for approximate search
    data: str  # the folder of the other files
    format: int = FORMAT

    @classmethod
    def read(cls, folder: Path) -> IndexCard:
        path = folder / CARD_FILE
        try:
            saved = read_card(path, FORMAT, "build the index again")
        except FileNotFoundError:
            raise AllearsError(
                f"{folder}: no {CARD_FILE} here; make an index with `allears index build`"
            ) from None
        try:
            return cls(**saved)
        except TypeError as error:
            raise AllearsError(f"{path}: not an index's card ({error}); build the index again") from error


class IndexReader:
    """The arrays of an index, memory-mapped, and its texts, parsed when asked for."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.card = IndexCard.read(folder)
        self.data = folder / self.card.data
        self.states = CandidateStates(
            self._array("vectors"), self._array("states"), np.asarray(self._array("offsets"))
        )
        self.ids: Indices = np.asarray(self._array("ids"))
        self._lines = np.asarray(self._array("lines"))
        self._check()
        self._texts = self._mapped_texts()

    def candidate(self, position: int) -> Candidate:
        record = json.loads(self._texts[self._lines[position] : self._lines[position + 1]])
        return Candidate(record["text"], tuple(record.get("tags", ())))

    def candidates(self, positions: Sequence[int] | Indices | None = None) -> list[Candidate]:
        chosen = range(len(self.ids)) if positions is None else positions
        return [self.candidate(position) for position in chosen]

    def slice(self, positions: Indices) -> CandidateStates:
        """Some rows, in memory."""
        starts, stops = self.states.offsets[positions], self.states.offsets[positions + 1]
        parts = [self.states.states[start:stop] for start, stop in zip(starts, stops, strict=True)]
        states = np.concatenate(parts) if parts else self.states.states[:0]
        return CandidateStates(
            self.states.vectors[positions], states, np.concatenate([[0], np.cumsum(stops - starts)])
        )

    def _array(self, name: str) -> npt.NDArray[Any]:
        path = self.data / f"{name}.npy"
        try:
            found: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise self._damaged(path.name) from error
        return found

    def _mapped_texts(self) -> mmap.mmap:
        path = self.data / "texts.jsonl"
        try:
            with path.open("rb") as file:
                texts = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
            raise self._damaged(path.name) from error
        if len(texts) != self._lines[-1]:
            raise self._damaged(path.name)
        return texts

    def _check(self) -> None:
        card, states = self.card, self.states
        shapes = {
            "vectors.npy": (states.vectors.shape, (card.candidates, card.size)),
            "states.npy": (states.states.shape, (card.tokens, card.size)),
            "offsets.npy": (states.offsets.shape, (card.candidates + 1,)),
            "ids.npy": (self.ids.shape, (card.candidates,)),
            "lines.npy": (self._lines.shape, (card.candidates + 1,)),
        }
        for name, (found, expected) in shapes.items():
            if found != expected:
                raise self._damaged(name)
        if states.offsets[-1] != card.tokens:
            raise self._damaged("offsets.npy")

    def _damaged(self, name: str) -> AllearsError:
        return AllearsError(
            f"{self.data / name}: missing or damaged; build the index again with `allears index build`"
        )


class GrowingArray:
    """A .npy file that rows are appended to. NumPy leaves room in the header for the final count."""

    def __init__(self, path: Path, dtype: npt.DTypeLike):
        self.dtype, self.rows = np.dtype(dtype), 0
        self.row: tuple[int, ...] = ()
        self.file = path.open("wb")

    def append(self, rows: npt.NDArray[Any]) -> None:
        if not self.file.tell():  # the first rows say how wide a row is
            self.row = rows.shape[1:]
            self._header()
        self.file.write(np.ascontiguousarray(rows, self.dtype).tobytes())
        self.rows += len(rows)

    def close(self) -> None:
        if not self.file.closed:
            self.file.seek(0)
            self._header()
            self.file.close()

    def _header(self) -> None:
        shape = (self.rows, *self.row)
        facts = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self.file, facts)


class IndexWriter:
    """A new state of an index. Leave the `with` block without `commit` and nothing has changed."""

    def __init__(self, folder: Path):
        if folder.exists() and not folder.is_dir():
            raise AllearsError(f"{folder}: a file is here; give a folder for the index")
        if folder.is_dir() and any(folder.iterdir()) and not _is_index(folder):
            raise AllearsError(f"{folder}: exists and is not an index; give a new folder")
        self.folder = folder
        self.before = IndexCard.read(folder).data if (folder / CARD_FILE).is_file() else ""
        self.data = folder / f"v{_generation(self.before) + 1}-{uuid4().hex[:8]}"
        self.data.mkdir(parents=True)
        self.vectors = GrowingArray(self.data / "vectors.npy", np.float32)
        self.states = GrowingArray(self.data / "states.npy", np.float16)
        self.offsets = GrowingArray(self.data / "offsets.npy", np.int64)
        self.ids = GrowingArray(self.data / "ids.npy", np.int64)
        self.lines = GrowingArray(self.data / "lines.npy", np.int64)
        self.texts = (self.data / "texts.jsonl").open("wb")
        self.offsets.append(np.zeros(1))
        self.lines.append(np.zeros(1))

    def append(self, states: CandidateStates, candidates: Sequence[Candidate], ids: Indices) -> None:
        records = [
            {"text": candidate.text} | ({"tags": list(candidate.tags)} if candidate.tags else {})
            for candidate in candidates
        ]
        lines = [json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records]
        self.lines.append(self.texts.tell() + np.cumsum([len(line) for line in lines]))
        self.texts.write(b"".join(lines))
        self.offsets.append(self.states.rows + np.asarray(states.offsets[1:]))
        self.states.append(states.states)
        self.vectors.append(states.vectors)
        self.ids.append(ids)

    def finish(self) -> None:
        """Complete the files. The vectors can be read from here on (to build the graph)."""
        for array in (self.vectors, self.states, self.offsets, self.ids, self.lines):
            array.close()
        self.texts.close()

    def commit(self, *, fingerprint: str, model: str, next_id: int) -> None:
        """Put the new state in place of the old."""
        self.finish()
        card = IndexCard(
            fingerprint=fingerprint,
            model=model,
            candidates=self.vectors.rows,
            tokens=self.states.rows,
            size=self.vectors.row[0],
            next_id=next_id,
            graph=(self.data / GRAPH_FILE).is_file(),
            data=self.data.name,
        )
        now = IndexCard.read(self.folder).data if (self.folder / CARD_FILE).is_file() else ""
        if now != self.before:
            raise AllearsError(f"{self.folder}: somebody else changed this index meanwhile; do it again")
        temporary = self.folder / f"{CARD_FILE}.{self.data.name}"
        temporary.write_text(json.dumps(asdict(card), indent=1) + "\n", encoding="utf-8")
        temporary.replace(self.folder / CARD_FILE)
        for entry in self.folder.glob("v*-*"):  # the old state, and what killed changes left behind
            if _generation(entry.name) < _generation(self.data.name):
                shutil.rmtree(entry, ignore_errors=True)

    def __enter__(self) -> IndexWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()
        if not (self.folder / CARD_FILE).is_file() or IndexCard.read(self.folder).data != self.data.name:
            shutil.rmtree(self.data, ignore_errors=True)


def _generation(data: str) -> int:
    """3 of `v3-ab12cd34` (the rest keeps two changes at once apart); 0 before the first."""
    return int(data[1:].partition("-")[0]) if data else 0


def _is_index(folder: Path) -> bool:
    """An index, or the remains of one whose building was killed."""
    return (folder / CARD_FILE).is_file() or all(
        entry.is_dir() and (entry / "vectors.npy").is_file() for entry in folder.iterdir()
    )
