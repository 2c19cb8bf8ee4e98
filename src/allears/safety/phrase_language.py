"""A small language for phrases, so that the rules of the review read like English.

    want|need to die           one of the words in each place, one after another
    {WANT} to die              a list by its name; its entries may have several words
    nobody|no+one knows        + : a blank inside one alternative
    kill _ myself              _ : up to three words between;  __ : up to seven
    i am? suicidal             ? : the place may be empty
    suicid*                    * : any ending
    ^ yes $                    ^ : only at the beginning of the message;  $ : only at its end
    i still cut .              . : only at the end of a sentence; in both, also as one of the words: tonight|now|.

Phrases are found in plain words (`review.py`). They never reach over the end of a sentence. Every gap is
bounded and nothing is nested, so a search takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

_ANY_WORD = r"[^ .]+"
_GAPS = {"_": 3, "__": 7}
_ENDS = {"$": r"(?=(?: [.])? $)", ".": r"(?= [.] | $)"}  # of the message, of a sentence


@dataclass(frozen=True)
class Phrase:
    """One phrase, ready to be searched."""

    text: str
    needed: tuple[
        frozenset[str], ...
    ]  # of each of these sets some word must be there, or a search is in vain
    places: tuple[tuple[str, tuple[str, ...]], ...] = field(repr=False)  # as written, with its alternatives

    @cached_property
    def source(self) -> str:
        """The regular expression, written and compiled when it is first needed: most phrases never are."""
        pattern = "".join(_place_regex(written, entries) for written, entries in self.places)
        return f"{'^' if self.text.startswith('^ ') else ''}{pattern}(?= )"

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
    places: list[tuple[str, tuple[str, ...]]] = []
    needed: list[frozenset[str]] = []
    for written in text.removeprefix("^ ").split():
        place = written.removesuffix("?")
        if place in _GAPS:
            places.append((place, ()))
            continue
        entries = tuple(_entries(place, lists))
        places.append((written, entries))
        words = [_words(entry) for entry in entries if entry not in _ENDS]
        if not (written.endswith("?") or len(words) < len(entries) or any("*" in entry for entry in entries)):
            needed.append(frozenset([first for first, *_ in words]))
    if not needed and "*" not in text:
        raise ValueError(f"the phrase {text!r} has no word that must be there")
    return Phrase(text, tuple(needed), tuple(places))


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


@lru_cache(maxsize=8192)
def _words(entry: str) -> tuple[str, ...]:
    """The whole words of an alternative. Kept: the same few lists stand in most phrases."""
    return tuple(word for word in entry.split() if not word.endswith("*"))


def _place_regex(written: str, entries: tuple[str, ...]) -> str:
    if written in _GAPS:
        return rf"(?: {_ANY_WORD}){{0,{_GAPS[written]}}}?"
    spoken = [entry for entry in entries if entry not in _ENDS]
    one_of = "|".join(_entry_regex(entry) for entry in sorted(spoken, key=len, reverse=True))
    if len(spoken) < len(entries):
        ends = "|".join(_ENDS[entry] for entry in entries if entry in _ENDS)
        return rf"(?: (?:{one_of})|{ends})" if spoken else rf"(?:{ends})"
    return rf"(?: (?:{one_of}))?" if written.endswith("?") else rf" (?:{one_of})"


def _entry_regex(entry: str) -> str:
    return " ".join(re.escape(word).replace(r"\*", "[^ .]*") for word in entry.split())


def read_lists(texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Entries by list; `@NAME` stands for all entries of a list that was written before."""
    lists: dict[str, tuple[str, ...]] = {}
    for name, text in texts.items():
        entries: list[str] = []
        for entry in text.split():
            entries.extend(lists[entry[1:]] if entry.startswith("@") else [entry.replace("+", " ")])
        lists[name] = tuple(dict.fromkeys(entries))
    return lists
