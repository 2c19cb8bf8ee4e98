"""What the rest of the house knows of a persona extractor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from allears.runtime.onnx_encoder import EncodedText


class PersonaExtractor(Protocol):
    """Reads what one person said, and tells what that says about them (PAL section 3.2)."""

    def extract(self, utterances: Sequence[str]) -> list[tuple[str, ...]]:
        """For each utterance, the persona sentences it tells, in the first person; () where it tells nothing.

        Each utterance is read by itself: only somebody's own words are ever read to learn who they are.
        The answer is as long as the input and in its order, so that which turn said what is known.
        """
        ...


@runtime_checkable
class SharesEncoder(Protocol):
    """An extractor that reads with a bundle's encoder, and can go by what that has made of a text already."""

    def knowing(self, texts: Iterable[EncodedText]) -> PersonaExtractor: ...
