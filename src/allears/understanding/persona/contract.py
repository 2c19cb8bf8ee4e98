"""What the rest of the house knows of a persona extractor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class PersonaExtractor(Protocol):
    """Reads what one person said, and tells what that says about them (PAL section 3.2)."""

    def extract(self, utterances: Sequence[str]) -> list[tuple[str, ...]]:
        """For each utterance, the persona sentences it tells, in the first person; () where it tells nothing.

        All utterances are of ONE person: only somebody's own words are ever read to learn who they are.
        The answer is as long as the input and in its order, so that which turn said what is known.
        """
        ...
