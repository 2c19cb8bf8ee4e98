"""Which of two: wins, losses and ties with the sign test (MIME, Table 3; PAL, Table 4), and Bradley–Terry over many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isnan

from allears.labels import POLARITIES, POLARITY_OF
from allears.metrics.significance import Interval, bootstrap_interval, sign_test
from allears.study.analysis.bradley_terry import bradley_terry
from allears.study.analysis.judgements import Judgement, by_unit
from allears.study.analysis.means import holm
from allears.study.analysis.power import decisions_needed
from allears.study.analysis.render import Table, TableCell, number, p_value, percent, row
from allears.study.assignment import majority
from allears.study.blocks import TIE, Preference, shown_label
from allears.study.design import Design

DAGGERS = ((0.05, "†"), (0.1, "‡"))  # PAL's marks


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """One decision: of a unit's majority, or of one rater. `better`: a system's name or "tie"."""

    one: str
    other: str
    better: str
    emotion: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """How one system did against another. `p` is that of the two-sided sign test with ties dropped."""

    system: str
    against: str
    wins: int
    losses: int
    ties: int
    p: float

    @property
    def count(self) -> int:
        return self.wins + self.losses + self.ties

    def share(self, part: int) -> float:
        return part / self.count if self.count else float("nan")


def preferred(design: Design) -> list[Preference]:
    return [question for question in design.questions if isinstance(question, Preference)]


def counts_majority(design: Design) -> bool:
    return design.analysis.count == "majority" or (not design.analysis.count and design.raters.per_unit > 1)


def verdicts(design: Design, rows: Sequence[Judgement], question: str) -> tuple[list[PairVerdict], int]:
    """The decisions on a question, and how many units had no majority (yet)."""
    mine = [each for each in rows if each.question == question]
    if not counts_majority(design):
        return [
            PairVerdict(each.systems[0], each.systems[1], str(each.value), each.emotion) for each in mine
        ], 0
    found: list[PairVerdict] = []
    split = 0
    for votes in by_unit(mine).values():
        better = majority(str(each.value) for each in votes)
        first = votes[0]
        if better is None:
            split += 1
        else:
            found.append(PairVerdict(first.systems[0], first.systems[1], better, first.emotion))
    return found, split


def score(decided: Sequence[PairVerdict], system: str, against: str) -> Score:
    mine = [each.better for each in decided if {each.one, each.other} == {system, against}]
    wins, losses, ties = (sum(better == name for better in mine) for name in (system, against, TIE))
    test = sign_test([1] * wins + [0] * losses, [0] * wins + [1] * losses) if wins + losses else None
    return Score(system, against, wins, losses, ties, test.p_value if test else float("nan"))


def compared(design: Design) -> list[tuple[str, str]]:
    """The pairs, with the reference first where it takes part."""
    reference = design.analysis.reference
    return [(other, one) if other == reference else (one, other) for one, other in design.system_pairs()]


def preference_tables(design: Design, rows: Sequence[Judgement]) -> list[Table]:
    questions = preferred(design)
    if not questions:
        return []
    tables: list[Table] = []
    if len(questions) > 1:
        tables.append(_aspects(design, rows, questions))
    for question in questions:
        decided, split = verdicts(design, rows, question.key)
        tables.append(_wins(design, question, decided, split))
        if any(each.emotion in POLARITY_OF for each in decided):
            tables += [_by_polarity(design, question, decided), _by_emotion(design, question, decided)]
        if len({name for pair in design.system_pairs() for name in pair}) > 2:
            tables += _strengths(question, decided)
    return tables


def win_interval(
    decided: Sequence[PairVerdict], system: str, against: str, *, samples: int, seed: int
) -> Interval:
    """Wins less losses as a share of all decisions, with its bootstrap interval."""
    values = {system: 1.0, against: -1.0, TIE: 0.0}
    mine = [values[each.better] for each in decided if {each.one, each.other} == {system, against}]
    return bootstrap_interval(mine, samples=samples, seed=seed)


def _wins(design: Design, question: Preference, decided: Sequence[PairVerdict], split: int) -> Table:
    options = design.analysis
    scores = [score(decided, one, other) for one, other in compared(design)]
    corrected = holm([each.p for each in scores])
    found = []
    for each, p in zip(scores, corrected, strict=True):
        lead = "–"
        if each.count:
            interval = win_interval(
                decided, each.system, each.against, samples=options.samples, seed=design.seed
            )
            low, high = percent(interval.low, 1), percent(interval.high, 1)
            lead = f"{percent(interval.value, 1)} [{low}, {high}]"
        found.append(
            row(
                f"{each.system} vs. {each.against}",
                TableCell(percent(each.share(each.wins)), bold=each.wins > each.losses),
                TableCell(percent(each.share(each.losses)), bold=each.losses > each.wins),
                percent(each.share(each.ties)),
                str(each.count),
                lead,
                p_value(each.p),
                TableCell(p_value(p), bold=not isnan(p) and p < options.alpha),
                _more(design, each),
            )
        )
    counted = "Every rater's judgement counts."
    if counts_majority(design):
        counted = "The majority of each unit's raters counts."
        if design.raters.fourth == question.key:
            counted += " Where it was split, one more rater was asked."
    notes = [
        f"{counted} p: exact two-sided sign test, ties dropped; Holm's correction over the table.",
        f"Lead: wins less losses, with its 95% bootstrap interval. More ratings: for a power of {options.power:g} if "
        "the shares were what was seen.",
    ]
    if split:
        notes.append(f"{split} units have no majority and are left out.")
    header = ("", "Wins", "Loses", "Tie", "Decisions", "Lead", "p", "p (Holm)", "More ratings")
    return Table(
        f"wins-{question.key}", f"{shown_label(question)}: wins, losses and ties", header, tuple(found), tuple(notes),
        "MIME, Table 3",
    )  # fmt: skip


def _more(design: Design, score: Score) -> str:
    decided = score.wins + score.losses
    if not decided:
        return "–"
    needed = decisions_needed(score.wins / decided, design.analysis.power, design.analysis.alpha)
    if needed is None:
        return "–"
    more = max(0, ceil((needed - decided) * score.count / decided))
    return str(more * (design.raters.per_unit if counts_majority(design) else 1))


def _aspects(design: Design, rows: Sequence[Judgement], questions: Sequence[Preference]) -> Table:
    pairs = compared(design)
    decided = {question.key: verdicts(design, rows, question.key)[0] for question in questions}
    found = []
    for question in questions:
        cells: list[str | TableCell] = []
        for one, other in pairs:
            each = score(decided[question.key], one, other)
            mark = next((sign for bound, sign in DAGGERS if each.p < bound), "") if not isnan(each.p) else ""
            ahead, behind = each.wins >= each.losses, each.losses >= each.wins
            cells += [
                TableCell(_whole(each.share(each.wins)) + (mark if each.wins > each.losses else ""), ahead),
                TableCell(
                    _whole(each.share(each.losses)) + (mark if each.losses > each.wins else ""), behind
                ),
                _whole(each.share(each.ties)),
            ]
        found.append(row(shown_label(question), *cells))
    header = [f"{one} vs. {other}: {part}" for one, other in pairs for part in ("Win", "Lose", "Tie")]
    note = "Shares of all decisions in %. Sign test: † p < 0.05, ‡ p < 0.1."
    return Table("aspects", "Interactive comparison", ("", *header), tuple(found), (note,), "PAL, Table 4")


def _whole(share: float) -> str:
    return "–" if isnan(share) else f"{100 * share:.0f}"


def _by_polarity(design: Design, question: Preference, decided: Sequence[PairVerdict]) -> Table:
    parts = {name: [each for each in decided if POLARITY_OF.get(each.emotion) == name] for name in POLARITIES}
    return _split(f"wins-polarity-{question.key}", f"{shown_label(question)} by polarity", design, parts)


def _by_emotion(design: Design, question: Preference, decided: Sequence[PairVerdict]) -> Table:
    emotions = sorted({each.emotion for each in decided if each.emotion})
    parts = {name: [each for each in decided if each.emotion == name] for name in emotions}
    return _split(f"wins-emotion-{question.key}", f"{shown_label(question)} by emotion", design, parts)


def _split(name: str, title: str, design: Design, parts: Mapping[str, Sequence[PairVerdict]]) -> Table:
    found = []
    for one, other in compared(design):
        for part, mine in parts.items():
            each = score(mine, one, other)
            shares = (percent(each.share(count)) for count in (each.wins, each.losses, each.ties))
            found.append(row(f"{one} vs. {other}", part, *shares, str(each.count), p_value(each.p)))
    header = ("", "Emotions", "Wins", "Loses", "Tie", "Decisions", "p")
    return Table(name, title, header, tuple(found), ("p: sign test, not corrected.",), words=2)


def _strengths(question: Preference, decided: Sequence[PairVerdict]) -> list[Table]:
    ranking = bradley_terry((each.one, each.other, each.better) for each in decided)
    if ranking is None:
        return []
    rows = tuple(
        row(str(place), each.system, number(each.value), f"[{number(each.low)}, {number(each.high)}]")
        for place, each in enumerate(ranking.strengths, 1)
    )
    notes = ["Logarithms of the strengths, which sum to zero; a tie is half a win for both. 95% intervals."]
    if ranking.smoothed:
        notes.append("Somebody won or lost everything, so half a win each way was added to every pair.")
    title = f"{shown_label(question)}: Bradley–Terry ranking"
    header = ("", "Model", "Strength", "Interval")
    return [Table(f"ranking-{question.key}", title, header, rows, tuple(notes), words=2)]
