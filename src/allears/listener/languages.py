"""Which language a message is in, and what is said to one that is not English (languages.toml).

A message counts as English unless the library is sure that it is not: one that is short, mixed, code, a name or slang
is English. `benchmarks/languages.py` measures what the thresholds here let through and miss.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Protocol, cast

from allears.safety.replies import countries, help_for

ENGLISH = "en"
SURELY_FOREIGN = 0.97  # of the probability of English and of all languages in the table
LIKELIEST = 0.5  # of the same, for one of them
NAMED = 0.2  # of the probability of all languages that the library knows, for one in the table
SURELY_OTHER = 0.8  # the same, for one that is not
LEAST_WORDS = 4
LEAST_LETTERS = 4  # where words are not told apart by blanks
MIXED = 3  # English words that make a message mixed,
MIXED_SHARE = 0.3  # or their share of it
OWN_WORDS = 3  # everyday words of a language in Latin letters that is written in others as well,
OWN_SHARE = 0.4  # and their share

_NOT_SAID = re.compile(r"```.*?(?:```|$)|`[^`]*`|https?://\S+|www\.\S+|\S+@\S+|[@#/]\w+|\[\w+\]", re.DOTALL)
_CODE = re.compile(r"[{}<>=;\\|_]|\(\)|\w\.\w+\(|::|->")
_WORD = re.compile(r"[^\W\d_]+(?:['’\u200c][^\W\d_]+)*")
_NUMBER = re.compile(r"\d{3,}")
_NO_CASE = 0x250  # from here on: no Latin letters


class _Identifier(Protocol):
    def rank(self, text: str) -> list[tuple[str, float]]: ...


@dataclass(frozen=True, slots=True)
class Likeness:
    """How a text looks to the library: `foreign` and `best` as shares of English and the languages in the table."""

    foreign: float
    language: str  # the likeliest of the table but English
    best: float
    named: float  # of `language`, among all languages there are
    other: str  # the likeliest of those that are not in the table
    other_named: float


def language_of(message: str, before: Sequence[str] = ()) -> str:
    """The ISO 639 code of a message's language; "en" wherever that is not sure.

    Args:
        before: What the same person wrote earlier, oldest first. Who wrote English before is taken to have changed
            language at the second message in a row.
    """
    found = _language(message)
    if found == ENGLISH or not any(_surely_english(text) for text in before):
        return found
    return found if _language(before[-1]) == found else ENGLISH


def reply_in(language: str, country: str | None = None) -> str:
    """That only English is spoken here so far, in a language; in English for one that is not in the table.

    Args:
        country: An ISO 3166 code. Its emergency number is named; without one, or where none is listed, none is.
    """
    entries = _table()
    entry = entries.get(language, entries[ENGLISH])
    return str(entry["text"]).replace("{number}", _number(country))


def known_languages() -> Mapping[str, str]:
    """The languages that are answered in themselves: their codes and English names."""
    return {code: str(entry["name"]) for code, entry in _table().items() if code != ENGLISH}


def likeness(text: str) -> Likeness:
    """How a text looks to the library; the first call reads its model, in a second or two."""
    ranked = dict(_identifier().rank(text))
    shares = {
        code: sum(ranked.get(each, 0.0) for each in entry["written"])
        for code, entry in _table().items()
        if "written" in entry
    }
    whole = sum(shares.values()) or 1.0
    english = shares.pop(ENGLISH)
    language = max(shares, key=lambda code: shares[code])
    listed = {each for entry in _table().values() for each in entry.get("written", ())}
    other = max((code for code in ranked if code not in listed), key=lambda code: ranked[code])
    named = shares[language]
    return Likeness(1 - english / whole, language, named / whole, named, other, ranked[other])


def _language(message: str) -> str:
    said = _said(message)
    words = _WORD.findall(said)
    if not _enough(words) or _is_mixed(words) or _is_code(message) or _are_names(words):
        return ENGLISH
    for code, own in _own_words().items():
        if _holds(words, own, OWN_WORDS, OWN_SHARE):
            return code
    found = likeness(said)
    if found.other_named >= SURELY_OTHER and found.other != _NO_LANGUAGE:
        return found.other
    sure = found.foreign >= SURELY_FOREIGN and found.best >= LIKELIEST and found.named >= NAMED
    return found.language if sure else ENGLISH


_NO_LANGUAGE = "zxx"  # the library's word for what is no text


def _said(message: str) -> str:
    """What was said in words: no addresses, names of accounts, code or signs."""
    plain = unicodedata.normalize("NFC", message).replace("’", "'")
    return " ".join(_NOT_SAID.sub(" ", plain).split())


def _enough(words: Sequence[str]) -> bool:
    """Whether there are words enough to tell; in scripts other than Latin, letters enough."""
    if sum(ord(sign) >= _NO_CASE for word in words for sign in word) >= LEAST_LETTERS:
        return True
    return len({word.casefold() for word in words}) >= LEAST_WORDS


def _is_mixed(words: Sequence[str]) -> bool:
    english = sum(word.casefold() in _english_words() for word in words)
    return english >= MIXED or english >= MIXED_SHARE * len(words)


def _is_code(message: str) -> bool:
    signs = len(_CODE.findall(message))
    return signs >= 3 and signs >= len(message.split()) / 4


def _are_names(words: Sequence[str]) -> bool:
    """Whether every word begins with a capital and none is all capitals: names, titles of books and songs."""
    return all(word[:1].isupper() for word in words) and not all(word.isupper() for word in words)


def _holds(words: Sequence[str], own: frozenset[str], least: int, share: float) -> bool:
    count = sum(word.casefold() in own for word in words)
    return count >= least and count >= share * len(words)


def _surely_english(text: str) -> bool:
    words = _WORD.findall(_said(text))
    if len(words) < LEAST_WORDS:
        return False
    return _is_mixed(words) or (
        _language(text) == ENGLISH and likeness(_said(text)).foreign < 1 - SURELY_FOREIGN
    )


def _number(country: str | None) -> str:
    """The first emergency number of a country, as it stands in a sentence."""
    code = (country or "").strip().upper()
    if code not in countries():
        return ""
    found = _NUMBER.search(help_for(code).emergency)
    return f" ({found[0]})" if found else ""


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads((files("allears.listener") / "languages.toml").read_text(encoding="utf-8"))


@cache
def _english_words() -> frozenset[str]:
    return frozenset(_table()[ENGLISH]["words"].split())


@cache
def _own_words() -> dict[str, frozenset[str]]:
    return {
        code: frozenset(entry["words"].split())
        for code, entry in _table().items()
        if "words" in entry and code != ENGLISH
    }


@cache
def _identifier() -> _Identifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return cast(_Identifier, LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True))
