"""The review of our own words before they are said. What it refuses is simply not said.

Refused: encouragement of harm, diagnosis, advice on medicines, a claim to be human or to have lived through something,
a promise of secrecy or of how things will end (review.toml).
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from allears.safety.phrase_language import Phrase, compile_lines, read_lists

END = "."  # stands for the end of a sentence; no phrase reaches over it
_PIECES = re.compile(r"[.!?]+|[\n\r]+|[^\s.!?,;:()\[\]{}\"“”«»<>…—–]+")
_ELLIPSIS = re.compile(r"\.{2,}|…")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "`": "'", "´": "'", "ʼ": "'"})
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
    in_full: Mapping[str, str]


def _refused(rule: _Rule, text: str) -> Iterator[str]:
    """The words that break the rule and are not taken back by what stands before them."""
    rules = _rules()
    plain = f" {' '.join(_plain_words(text, rules.in_full))} "
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


def _plain_words(text: str, in_full: Mapping[str, str]) -> list[str]:
    """Lower case, without accents and marks, contractions in full, a full stop between sentences."""
    folded = unicodedata.normalize("NFKD", text).casefold().translate(_APOSTROPHES)
    bare = "".join(sign for sign in folded if unicodedata.category(sign) != "Mn")
    words: list[str] = []
    for piece in _PIECES.findall(_ELLIPSIS.sub(" ", bare)):
        if piece[0] in ".!?\n\r":
            words += [END] if words and words[-1] != END else []
        else:
            plain = piece.replace("'", "").strip("*_-~/\\#&+=^%")
            words += in_full.get(piece, in_full.get(plain, plain)).split()
    return words


@cache
def _rules() -> _Rules:
    room = files("allears.safety")
    table, words = (
        tomllib.loads((room / name).read_text(encoding="utf-8"))
        for name in ("review.toml", "review_words.toml")
    )
    lists = read_lists(table["lists"])
    rules = tuple(
        _Rule(entry["name"], compile_lines(entry["phrases"], lists), entry.get("always", False))
        for entry in table["rule"]
    )
    back = table["taken_back"]
    return _Rules(
        rules,
        frozenset(back["words"].split()),
        tuple(back["questions"].strip().splitlines()),
        words["in_full"] | words["apostrophes"],
    )
