"""The review of our own words before they are said. What it refuses is simply not said.

Refused: encouragement of harm, diagnosis, advice on medicines, a claim to be human or to have lived through something,
a promise of secrecy or of how things will end (tables/review.toml).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from allears.safety.normalise import END, Normaliser
from allears.safety.patterns import read_lists, read_table
from allears.safety.phrases import Phrase, compile_lines

NEAR = 9  # words: what takes a phrase back stands this close before it


@dataclass(frozen=True, slots=True)
class Review:
    """Whether a reply may be said, and if not, why: "diagnoses: it sounds like depression"."""

    ok: bool
    reasons: tuple[str, ...] = ()


def review(text: str) -> Review:
    """The judgement of one reply."""
    reasons = tuple(
        f"{rule.name}: {words}" for rule in _rules().rules if (words := next(_refused(rule, text), ""))
    )
    return Review(not reasons, reasons)


@dataclass(frozen=True)
class _Rule:
    name: str
    phrases: tuple[Phrase, ...]
    always: bool  # also where it is denied: "I won't tell anyone" denies nothing


@dataclass(frozen=True)
class _Rules:
    rules: tuple[_Rule, ...]
    taken_back: frozenset[str]
    questions: tuple[str, ...]
    normalise: Normaliser


def _refused(rule: _Rule, text: str) -> Iterator[str]:
    """The words that break the rule and are not taken back by what stands before them."""
    rules = _rules()
    plain = rules.normalise(text)
    present = frozenset(plain.split())
    for phrase in rule.phrases:
        for start, end in phrase.find(plain, present):
            if rule.always or not _taken_back(plain[:start], rules):
                yield plain[start:end].strip()


def _taken_back(before: str, rules: _Rules) -> bool:
    near = f" {before} ".rpartition(f" {END} ")[2].split()[-NEAR:]
    said = f" {' '.join(near)} "
    return not rules.taken_back.isdisjoint(near) or any(
        f" {question} " in said for question in rules.questions
    )


@cache
def _rules() -> _Rules:
    folder = files("allears.safety") / "tables"
    table, spellings = read_table(folder / "review.toml"), read_table(folder / "spellings.toml")
    lists = read_lists(table["lists"])
    rules = tuple(
        _Rule(entry["name"], compile_lines(entry["phrases"], lists), entry.get("always", False))
        for entry in table["rule"]
    )
    back = table["taken_back"]
    # We do not misspell: no words to be mended towards.
    normalise = Normaliser((), spellings["spellings"], spellings["apostrophes"])
    return _Rules(
        rules, frozenset(back["words"].split()), tuple(back["questions"].strip().splitlines()), normalise
    )
