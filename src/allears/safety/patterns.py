"""The pattern layer: named patterns of danger, and what excuses them, read from tables/."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain
from typing import Any

from allears.safety.dangers import Danger, Evidence
from allears.safety.normalise import Normaliser
from allears.safety.phrases import Phrase, compile_lines

# Long messages are read in windows that overlap, so that no sentence is cut and no search has far to go.
WINDOW, OVERLAP = 60, 20
TAKEN_OUT = "~"  # stands where an idiom stood


@dataclass(frozen=True)
class Pattern:
    """Phrases that speak of one danger. `firm` ones count also where the message is about something else."""

    name: str
    danger: Danger
    weight: float
    phrases: tuple[Phrase, ...]
    firm: bool = False


@dataclass(frozen=True)
class Harmless:
    """Phrases that only sound dangerous. Idioms are taken out of a sentence before patterns are looked for in it; of
    what is everyday, the heads are known to take it for danger."""

    name: str
    phrases: tuple[Phrase, ...]
    unless: tuple[Phrase, ...] = ()


@dataclass(frozen=True)
class Context:
    """Something that the whole message is about and that makes patterns count for less."""

    name: str
    phrases: tuple[Phrase, ...]
    factor: float
    softens: frozenset[Danger]
    unless: tuple[Phrase, ...] = ()
    also_firm: bool = False

    def factor_for(self, pattern: Pattern) -> float:
        touches = pattern.danger in self.softens and (self.also_firm or not pattern.firm)
        return self.factor if touches else 1.0


@dataclass(frozen=True)
class PatternTable:
    """All patterns, idioms and contexts, and the normaliser that knows their words."""

    patterns: tuple[Pattern, ...]
    idioms: tuple[Harmless, ...]
    contexts: tuple[Context, ...]
    normalise: Normaliser
    everyday: tuple[Harmless, ...] = ()

    def find(self, text: str) -> tuple[Evidence, ...]:
        """Every pattern that the text shows, once each, with the weight that it has in this text."""
        words = self.normalise.plain_words(text)
        contexts = self._contexts(words)
        found: dict[str, Evidence] = {}
        for window in _windows(words):
            plain = self._without_idioms(f" {' '.join(window)} ")
            present = frozenset(plain.split())
            for pattern in self.patterns:
                if pattern.name in found:
                    continue
                span = next(_spans(pattern.phrases, plain, present), None)
                if span is not None:
                    weight = pattern.weight
                    for context in contexts:
                        weight *= context.factor_for(pattern)
                    heard = plain[slice(*span)].strip()
                    found[pattern.name] = Evidence("patterns", pattern.name, pattern.danger, weight, heard)
        return tuple(found.values())

    def is_everyday(self, text: str) -> bool:
        """Whether the text speaks of something ordinary that the heads take for danger, and of nothing else."""
        words = self.normalise.plain_words(text)
        plain, present = f" {' '.join(words)} ", frozenset(words)
        return any(
            _shows(each.phrases, plain, present) and not _shows(each.unless, plain, present)
            for each in self.everyday
        )

    def _contexts(self, words: Sequence[str]) -> list[Context]:
        plain, present = f" {' '.join(words)} ", frozenset(words)
        return [
            context
            for context in self.contexts
            if _shows(context.phrases, plain, present) and not _shows(context.unless, plain, present)
        ]

    def _without_idioms(self, plain: str) -> str:
        for idiom in self.idioms:
            present = frozenset(plain.split())
            if _shows(idiom.unless, plain, present):
                continue
            for phrase in idiom.phrases:
                for start, end in reversed(list(phrase.find(plain, present))):
                    plain = f"{plain[:start]} {TAKEN_OUT}{plain[end:]}"
        return plain


def _shows(phrases: Sequence[Phrase], text: str, words: frozenset[str]) -> bool:
    return next(_spans(phrases, text, words), None) is not None


def _spans(phrases: Sequence[Phrase], text: str, words: frozenset[str]) -> Iterator[tuple[int, int]]:
    return chain.from_iterable(phrase.find(text, words) for phrase in phrases)


def _windows(words: Sequence[str]) -> Iterator[Sequence[str]]:
    last = max(1, len(words) - OVERLAP)
    return (words[start : start + WINDOW] for start in range(0, last, WINDOW - OVERLAP))


@cache
def pattern_table() -> PatternTable:
    """The tables that ship with allears, read once."""
    room = files("allears.safety")
    folder = room / "tables"
    lists = read_lists(read_table(folder / "lists.toml"))
    harmless = read_table(folder / "harmless.toml")
    patterns = tuple(
        Pattern(
            entry["name"],
            danger,
            entry["weight"],
            compile_lines(entry["phrases"], lists),
            entry.get("firm", False),
        )
        for danger in Danger
        for entry in read_table(folder / f"{danger.value.replace('-', '_')}.toml")["pattern"]
    )
    idioms, everyday = (
        tuple(
            Harmless(
                entry["name"],
                compile_lines(entry["phrases"], lists),
                compile_lines(entry.get("unless", ""), lists),
            )
            for entry in harmless[kind]
        )
        for kind in ("idiom", "everyday")
    )
    contexts = tuple(
        Context(
            entry["name"],
            compile_lines(entry["phrases"], lists),
            entry["factor"],
            frozenset(Danger(name) for name in entry.get("softens", Danger)),
            compile_lines(entry.get("unless", ""), lists),
            entry.get("also_firm", False),
        )
        for entry in harmless["context"]
    )
    spoken = chain(
        chain.from_iterable(pattern.phrases for pattern in patterns),
        chain.from_iterable(idiom.phrases + idiom.unless for idiom in idioms),
        chain.from_iterable(context.phrases + context.unless for context in contexts),
        chain.from_iterable(each.phrases + each.unless for each in everyday),
    )
    vocabulary = frozenset(word for phrase in spoken for word in phrase.words)
    spellings = read_table(folder / "spellings.toml")
    normalise = Normaliser(
        vocabulary,
        spellings["spellings"],
        spellings["apostrophes"],
        (folder / "real_words.txt").read_text(encoding="utf-8").split(),
        spellings["glued"]["serious"].split(),
        spellings["glued"]["glue"].split(),
    )
    return PatternTable(patterns, idioms, contexts, normalise, everyday)


def read_table(path: Traversable) -> Mapping[str, Any]:
    """One of the files in tables/."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def read_lists(texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Entries by list; `@NAME` stands for all entries of a list that was written before."""
    lists: dict[str, tuple[str, ...]] = {}
    for name, text in texts.items():
        entries: list[str] = []
        for entry in text.split():
            entries.extend(lists[entry[1:]] if entry.startswith("@") else [entry.replace("+", " ")])
        lists[name] = tuple(dict.fromkeys(entries))
    return lists
