"""How the layers of the screen add up: a weighted sum of what each of them saw.

outright  1, if a pattern that is enough by its wording was found
hint      the weight of the strongest pattern that is not
ngrams    the small head's log-odds of danger
reader    the log-odds of the reader's risk head, where a reader has read the message

certainty = sigmoid(bias + weights · seen - threshold), so 0.5 is where it counts as danger

A message that is outright is danger even where every head is undecided: for those the threshold is no higher than that.

There are two such sums, with and without the reader. The reader may talk the other layers out of a suspicion, not
out of what they are sure of: a reader that fails, or says "none" to everything, does not make the screen deaf.

The numbers are in combination.json; `python -m allears.training.safety.fit_screen` makes them from the valid cases.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files
from math import exp, log
from typing import Any

from allears.errors import AllearsError
from allears.safety.dangers import NO_DANGER, Evidence

OUTRIGHT, HINT, NGRAMS, READER = "outright", "hint", "ngrams", "reader"
ENOUGH = 0.5  # weight from which a pattern is enough by its wording
STRONGEST = 6.0  # log-odds: no head counts as surer than this

Seen = Mapping[str, float]

# In a tale: the reader's log-odds of danger under which it speaks against a pattern, and what that counts for then.
READER_AGAINST, MOST_OF_A_HINT = -1.0, 0.49


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """One of the two sums. `threshold` is the log-odds from which it is danger."""

    bias: float
    weights: Mapping[str, float]
    threshold: float = 0.0

    def log_odds(self, seen: Seen) -> float:
        return self.bias + sum(weight * seen.get(name, 0.0) for name, weight in self.weights.items())

    def certainty(self, seen: Seen) -> float:
        return share_of(self.log_odds(seen) - self.threshold_for(seen))

    def threshold_for(self, seen: Seen) -> float:
        """Heads alone must be surer than heads that look at an outright message."""
        return min(self.threshold, self.outright_alone) if seen.get(OUTRIGHT) else self.threshold

    @property
    def outright_alone(self) -> float:
        """The log-odds of an outright message while no head says anything; a little less, for rounding's sake."""
        return self.log_odds({OUTRIGHT: 1.0}) - 0.01


@dataclass(frozen=True, slots=True)
class Combination:
    """Both sums, and how sure each head must be to be enough alone (for `why` and for the report)."""

    without_reader: WeightedSum
    with_reader: WeightedSum
    sure: float  # log-odds without the reader from which the reader is not asked
    alone: Mapping[str, float]  # head -> its probability of danger that would be enough alone
    fitted: Mapping[str, Any] = field(default_factory=dict)  # on what, and how well it did there

    def certainty(self, seen: Seen, *, in_part: bool = False) -> float:
        """How sure all layers together are. `in_part`: the reader has not read the message to its end."""
        without = self.without_reader.certainty(seen)
        if READER not in seen:
            return without
        firm = without if in_part else share_of(self.without_reader.log_odds(seen) - self.sure)
        return max(firm, self.with_reader.certainty(seen))

    def alone_weight(self, layer: str, danger: float) -> float:
        """A head's probability of danger, on a scale where 0.5 would be enough alone."""
        return share_of(log_odds_of(danger) - log_odds_of(self.alone.get(layer, 0.5)))

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Combination:
        """The inverse of `to_json`."""
        try:
            stored = json.loads(text)
            without, together = (
                WeightedSum(**stored.pop(name)) for name in ("without_reader", "with_reader")
            )
            return cls(without, together, **stored)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise AllearsError(
                f"combination.json is not what fit_screen writes ({error}); run "
                "`python -m allears.training.safety.fit_screen` again"
            ) from error


def seen_by(
    patterns: Sequence[Evidence],
    ngrams: Mapping[str, float],
    reader: Mapping[str, float] | None,
    *,
    everyday: bool = False,
    tale: bool = False,
) -> dict[str, float]:
    """What each layer saw, as the sums take it. `reader` is None where no reader has read the message.

    `everyday` says that the message is about something that the heads are known to take for danger: where no pattern
    was found, they count as undecided at most. In a `tale`, a long message or a sentence of one, many words stand
    together by chance: where the reader sees no danger, a pattern is a hint at most ("she beat us at Scrabble").
    """
    weights = [item.weight for item in patterns]
    most = 0.0 if everyday and not weights else STRONGEST
    seen = {NGRAMS: min(most, log_odds_of(danger_share(ngrams)))}
    if reader is not None:
        seen[READER] = min(most, log_odds_of(danger_share(reader)))
        if tale and seen[READER] < READER_AGAINST:
            weights = [min(weight, MOST_OF_A_HINT) for weight in weights]
    return seen | {
        OUTRIGHT: float(any(weight >= ENOUGH for weight in weights)),
        HINT: max((weight for weight in weights if weight < ENOUGH), default=0.0),
    }


def danger_share(shares: Mapping[str, float]) -> float:
    """The probability of any danger. A head that says nothing says nothing of danger."""
    return 1 - shares[NO_DANGER] if NO_DANGER in shares else sum(shares.values())


def log_odds_of(share: float) -> float:
    least = share_of(-STRONGEST)
    share = min(max(share, least), 1 - least)
    return log(share / (1 - share))


def share_of(log_odds: float) -> float:
    """The inverse of `log_odds_of`, for any number."""
    return 1 / (1 + exp(-max(-700.0, log_odds)))


@cache
def shipped_combination() -> Combination:
    """The numbers in the package."""
    stored = files("allears.safety") / "combination.json"
    return Combination.from_json(stored.read_text(encoding="utf-8"))
