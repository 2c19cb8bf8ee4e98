"""A small language for phrases, so that the tables of patterns read like English.

    want|need to die           one of the words in each place, one after another
    {WANT} to die              a list by its name; its entries may have several words
    nobody|no+one knows        + : a blank inside one alternative
    kill _ myself              _ : up to three words between;  __ : up to seven
    i am? suicidal             ? : the place may be empty
    suicid*                    * : any ending
    ^ yes $                    ^ : only at the beginning of the message;  $ : only at its end

Phrases are found in normalised text (`normalise.py`). They never reach over the end of a sentence. Every gap is
bounded and nothing is nested, so a search takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

_ANY_WORD = r"[^ .]+"
_GAPS = {"_": 3, "__": 7}


@dataclass(frozen=True)
class Phrase:
    """One phrase, ready to be searched."""

    text: str
    source: str  # the regular expression, compiled when it is first needed: most phrases never are
    needed: tuple[
        frozenset[str], ...
    ]  # of each of these sets some word must be there, or a search is in vain
    words: frozenset[str] = field(repr=False)  # every word the phrase knows, for the normaliser

    @cached_property
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.source)

    def find(self, text: str, words: frozenset[str]) -> Iterator[tuple[int, int]]:
        """Where the phrase stands in a normalised text: start and end, blanks around it left out."""
        if all(not needed.isdisjoint(words) for needed in self.needed):
            for match in self.regex.finditer(text):
                yield match.start(), match.end()


def compile_phrase(text: str, lists: Mapping[str, tuple[str, ...]]) -> Phrase:
    """Raises `ValueError` for a list that does not exist or a phrase without a word."""
    parts: list[str] = []
    needed: list[frozenset[str]] = []
    known: set[str] = set()
    places = text.split()
    start, end = places[:1] == ["^"], places[-1:] == ["$"]
    for written in places[start : len(places) - end]:
        optional, place = written.endswith("?"), written.removesuffix("?")
        if place in _GAPS:
            parts.append(rf"(?: {_ANY_WORD}){{0,{_GAPS[place]}}}?")
            continue
        entries = _entries(place, lists)
        known.update(word for entry in entries for word in entry.split() if not word.endswith("*"))
        one_of = "|".join(_entry_regex(entry) for entry in sorted(entries, key=len, reverse=True))
        parts.append(rf"(?: (?:{one_of}))?" if optional else rf" (?:{one_of})")
        if not optional and not any("*" in entry for entry in entries):
            needed.append(frozenset(entry.split()[0] for entry in entries))
    if not needed and "*" not in text:
        raise ValueError(f"the phrase {text!r} has no word that must be there")
    pattern = "".join(parts)
    pattern = f"{'^' if start else ''}{pattern}{'(?: [.])? $' if end else '(?= )'}"
    return Phrase(text, pattern, tuple(needed), frozenset(known))


def compile_lines(text: str, lists: Mapping[str, tuple[str, ...]]) -> tuple[Phrase, ...]:
    """A phrase a line; blank lines and what follows a # are left out."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return tuple(compile_phrase(line, lists) for line in lines if line)


def _entries(place: str, lists: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The alternatives of one place: words, or the entries of the lists it names."""
    entries: list[str] = []
    for part in place.split("|"):
        if part.startswith("{"):
            name = part.strip("{}")
            if name not in lists:
                raise ValueError(f"no list is called {name}")
            entries.extend(lists[name])
        else:
            entries.append(part.replace("+", " "))
    return entries


def _entry_regex(entry: str) -> str:
    return " ".join(re.escape(word).replace(r"\*", "[^ .]*") for word in entry.split())
