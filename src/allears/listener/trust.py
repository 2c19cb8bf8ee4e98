"""How much a reply from the pool is to be doubted: the nearest of thousands is often still beside the point.

Two readers judged the listener's replies to 160 messages and 35 short talks of their own
(`benchmarks/judged_replies.jsonl`). Of those from the pool three in five were off the point. Four things tell them
apart: how near CoBERT finds the reply to the conversation, how much the person told (the more, the easier to miss),
how long the reply is (a longer one says more of what it is for), and how many words it tells them that they did not
say. `python benchmarks/fit_trust.py` fits the numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_CLAIMS = 3


@dataclass(frozen=True, slots=True)
class Doubt:
    """The log-odds that a reply is off the point; above 0 it is likelier off than not."""

    start: float = 6.39
    near: float = -7.11  # from -1 to 1: the ranker's cosine
    told: float = 0.76  # for each e-fold of words in the last message
    length: float = -1.29  # for each e-fold of words in the reply
    claimed: float = 1.17  # for each word it tells the person that they did not say, up to `MOST_CLAIMS`

    def __call__(self, near: float, told: int, length: int, claimed: int) -> float:
        return (
            self.start
            + self.near * near
            + self.told * math.log(max(1, told))
            + self.length * math.log(max(1, length))
            + self.claimed * min(MOST_CLAIMS, claimed)
        )
