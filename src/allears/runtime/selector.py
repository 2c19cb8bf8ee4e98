"""How the rest of the house sees a response-selection model, whatever runs it (torch or ONNX)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from allears.conversation import Turn

Scores = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Query:
    """What a response must fit: the turns so far and the respondent's persona sentences."""

    context: tuple[Turn, ...]
    persona: tuple[str, ...] = ()


class EncodedCandidates(Protocol):
    """Candidates encoded once and kept. What is inside is the selector's business."""

    def __len__(self) -> int: ...


class Selector(Protocol):
    """A trained model that scores candidates.

    `fingerprint` changes whenever the weights or the tokenizer do: an index built by another encoder is stale.
    """

    fingerprint: str

    def encode_responses(self, texts: Sequence[str]) -> Any: ...

    def score(self, queries: Sequence[Query], candidates: Any, chosen: Indices) -> Scores:
        """chosen [B, C]: which candidates each query is compared with. Scores [B, C]; higher fits better."""
        ...


@dataclass(frozen=True, slots=True)
class CandidateStates:
    """Encoded candidates without padding, for the two-stage models (Bi-encoder, CoBERT).

    `vectors` [N, d] serve the first stage; the token states of candidate i are
    `states[offsets[i]:offsets[i + 1]]` (empty for a plain Bi-encoder). Arrays may be memory-mapped files.
    """

    vectors: npt.NDArray[Any]
    states: npt.NDArray[Any]
    offsets: Indices

    def __len__(self) -> int:
        return len(self.vectors)

    def of(self, candidate: int) -> npt.NDArray[np.float32]:
        """One candidate's token states [n, d]."""
        found = self.states[self.offsets[candidate] : self.offsets[candidate + 1]]
        return np.asarray(found, np.float32)

    def padded(self, chosen: Indices) -> tuple[npt.NDArray[np.float32], Indices]:
        """Token states [len(chosen), longest, d] and their mask, no longer than these candidates need."""
        starts, stops = self.offsets[chosen], self.offsets[chosen + 1]
        longest = int((stops - starts).max(initial=1))
        states = np.zeros((len(chosen), longest, self.states.shape[-1]), np.float32)
        mask = np.zeros((len(chosen), longest), np.int64)
        for position, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            states[position, : stop - start] = self.states[start:stop]
            mask[position, : stop - start] = 1
        return states, mask
