"""How likely it is that what was said to one message can be said to another.

Two messages can lie near each other and differ in who did it to whom. So an answer is trusted by more than that, in
the measure that readers found it to fit: `python benchmarks/fit_likeness.py` fits the numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from allears.listener.wording import presumed, words


@dataclass(frozen=True, slots=True)
class Near:
    """Cosines of a kind of message to what the person wrote: of its nearest message, of the second nearest, and of the
    nearest to the conversation as a whole."""

    first: float
    second: float
    talk: float


@dataclass(frozen=True, slots=True)
class Likeness:
    """The log-odds that an answer fits; above 0 it is likelier to fit than not."""

    start: float = -5.83
    first: float = 4.42
    second: float = 3.30
    talk: float = 3.17
    presumed: float = -0.60  # for each thing that the answer speaks of and nobody mentioned
    length: float = -0.36  # for each e-fold of words in the answer
    asks: float = -0.52  # if it asks

    def __call__(self, near: Near, answer: str, said: frozenset[str]) -> float:
        """`said`: stems of all that was said."""
        return (
            self.start
            + self.first * near.first
            + self.second * near.second
            + self.talk * near.talk
            + self.presumed * len(presumed(answer, said))
            + self.length * math.log(max(1, len(words(answer))))
            + self.asks * answer.endswith("?")
        )
