"""Beam search, and diverse beam search (Vijayakumar et al. 2016): groups of beams that avoid each other's words."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from allears.decoding.arrays import following, integers, largest, scored, take_rows
from allears.decoding.contract import Array, Constraint, Processor, Reorder, State, Step, Written


def beam_search(
    step: Step,
    state: State,
    start: Array,
    *,
    end: int,
    limit: int,
    width: int = 4,
    length_penalty: float = 1.0,
    processors: Sequence[Processor] = (),
    constraint: Constraint | None = None,
    reorder: Reorder = take_rows,
) -> list[Written]:
    """The best of `width` hypotheses for each row of `start` [B]; at most `limit` tokens.

    Hypotheses are compared by score / length ** length_penalty (the end counts as a token). An example is
    finished when `width` of its hypotheses have ended and none that goes on looks better than the best of them.
    """
    found = diverse_beam_search(
        step,
        state,
        start,
        end=end,
        limit=limit,
        groups=1,
        width=width,
        length_penalty=length_penalty,
        processors=processors,
        constraint=constraint,
        reorder=reorder,
    )
    return [best for (best,) in found]


def diverse_beam_search(
    step: Step,
    state: State,
    start: Array,
    *,
    end: int,
    limit: int,
    groups: int = 3,
    width: int = 2,  # of each group
    diversity: float = 0.5,  # the paper's lambda
    length_penalty: float = 1.0,
    processors: Sequence[Processor] = (),
    constraint: Constraint | None = None,
    reorder: Reorder = take_rows,
) -> list[list[Written]]:
    """Each group's best hypothesis, for each row of `start` [B]; at most `limit` tokens.

    The groups take turns at every position: a token costs `diversity` for every beam of an earlier group that has
    just taken it (Hamming diversity). That price decides what a group goes on with; it is no part of a score. The end
    is free, or the groups would differ in length only.
    """
    if groups < 1 or width < 1:
        raise ValueError(f"a search has at least 1 group of at least 1 beam, got {groups} of {width}")
    # one hypothesis per group at first: `width` equal ones would only find each other
    beams = [_Beam(example, group, (), 0.0) for example in range(start.shape[0]) for group in range(groups)]
    pools = {(beam.example, beam.group): _Pool(width, length_penalty) for beam in beams}
    tokens = start
    if groups > 1:
        places = [beam.example for beam in beams]
        (tokens,), state = take_rows((start,), places), reorder(state, places)
    for _ in range(limit):
        if not beams:
            break
        logits, state = step(tokens, state)
        examples, written = [beam.example for beam in beams], [beam.tokens for beam in beams]
        likely = scored(logits, examples, written, processors, constraint)
        # 2 * width, because up to width of them may end here; the rest, because earlier groups may have taken them
        choices = largest(likely, (1 + groups) * width)
        kept: list[tuple[int, _Beam]] = []
        taken: dict[int, Counter[int]] = defaultdict(
            Counter
        )  # by each example's earlier groups, at this position
        for (example, group), rows in _members(beams).items():
            candidates = _candidates(beams, rows, choices, taken[example], diversity)
            living = pools[example, group].advance([beams[row] for row in rows], candidates, beams, end)
            taken[example].update(beam.tokens[-1] for _, beam in living)
            kept += living
        state = following(state, [row for row, _ in kept], len(beams), reorder)
        beams = [beam for _, beam in kept]
        tokens = integers((beam.tokens[-1] for beam in beams), start)
    for beam in beams:
        pools[beam.example, beam.group].cut.append(beam)
    found = [pool.best() for pool in pools.values()]
    return [found[place : place + groups] for place in range(0, len(found), groups)]


@dataclass(frozen=True, slots=True)
class _Beam:
    example: int
    group: int
    tokens: tuple[int, ...]
    score: float

    def and_then(self, token: int, score: float) -> _Beam:
        return _Beam(self.example, self.group, (*self.tokens, token), score)


@dataclass(frozen=True, slots=True)
class _Candidate:
    row: int  # of the beam that it goes on with
    token: int
    score: float
    rank: float  # the score, less what other groups have made it cost


class _Pool:
    """One group of one example: what has ended, and what was cut off."""

    def __init__(self, width: int, length_penalty: float):
        self.width, self.length_penalty = width, length_penalty
        self.ended: list[_Beam] = []
        self.cut: list[_Beam] = []

    def advance(
        self, now: Sequence[_Beam], candidates: Sequence[_Candidate], beams: Sequence[_Beam], end: int
    ) -> list[tuple[int, _Beam]]:
        """The beams that go on, with the rows they come from; none when the group is finished."""
        if not candidates:  # everything is barred
            self.cut += now
        living: list[tuple[int, _Beam]] = []
        for each in candidates[: 2 * self.width]:
            if each.token == end:
                self.ended.append(replace(beams[each.row], score=each.score))
            else:
                living.append((each.row, beams[each.row].and_then(each.token, each.score)))
            if len(living) == self.width:
                break
        hope = max((self._worth(beam, len(beam.tokens)) for _, beam in living), default=-math.inf)
        finished = len(self.ended) >= self.width and hope <= max(map(self._ended_worth, self.ended))
        return [] if finished else living

    def best(self) -> Written:
        """Of what ended by itself; what was cut off only counts where nothing did."""
        if self.ended:
            found = max(self.ended, key=self._ended_worth)
        elif self.cut:
            found = max(self.cut, key=self._ended_worth)
        else:
            return Written((), 0.0)
        return Written(found.tokens, found.score)

    def _ended_worth(self, beam: _Beam) -> float:
        return self._worth(beam, len(beam.tokens) + 1)

    def _worth(self, beam: _Beam, length: int) -> float:
        return float(beam.score / length**self.length_penalty)


def _members(beams: Sequence[_Beam]) -> dict[tuple[int, int], list[int]]:
    """The rows of each group of each example, in order."""
    found: dict[tuple[int, int], list[int]] = {}
    for row, beam in enumerate(beams):
        found.setdefault((beam.example, beam.group), []).append(row)
    return found


def _candidates(
    beams: Sequence[_Beam],
    rows: Sequence[int],
    choices: Sequence[Sequence[tuple[float, int]]],
    taken: Counter[int],
    diversity: float,
) -> list[_Candidate]:
    """What a group may go on with, best first."""
    found = [
        _Candidate(row, token, beams[row].score + gain, beams[row].score + gain - diversity * taken[token])
        for row in rows
        for gain, token in choices[row]
    ]
    return sorted(found, key=lambda each: (-each.rank, each.row, each.token))
