"""Outright phrases: in English (outright.toml), and the plainest danger in other languages (other_languages.toml).

They can only raise what the learned screen says. Tables that cannot be read stop the start with one sentence.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from allears.errors import AllearsError
from allears.safety.dangers import Danger

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "`": "'", "´": "'", "ʼ": "'"})
_BLANKS = re.compile(r"\s+")
_NO_LETTER_BUT_MARKS = re.compile(r"[^\w\u0900-\u0dff\u0e00-\u0e7f]+|_")
# Scripts that are written without blanks, or whose words run together: a fragment is looked for anywhere.
WITHOUT_BLANKS = frozenset({"zh", "ja", "ko", "th", "hi", "bn", "pa", "ta", "te", "mr"})
_GAP, _SHORT_GAP = r"(?:\S+ ){0,3}", r".{0,6}"


@dataclass(frozen=True, slots=True)
class DangerPhrase:
    """One way of saying it. `said` is a sentence that it must be found in."""

    language: str
    danger: Danger
    find: re.Pattern[str]
    reason: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    phrase: DangerPhrase
    words: str


def find_outright(message: str) -> Found | None:
    """The first outright English phrase in a message."""
    plain = _BLANKS.sub(" ", message.translate(_APOSTROPHES).lower())
    return next(_found(outright_phrases(), plain), None)


def find_in_other_languages(message: str) -> Found | None:
    """The first phrase of another language in a message."""
    return next(_found(other_languages(), f" {normalised(message)} "), None)


def _found(phrases: tuple[DangerPhrase, ...], plain: str) -> Iterator[Found]:
    for phrase in phrases:
        match = phrase.find.search(plain)
        if match:
            yield Found(phrase, match[0].strip())


def normalised(text: str) -> str:
    """Case folded, without accents, with single blanks in the place of punctuation.

    Marks that are letters of their own (of Indic scripts, of Japanese) stay.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u0640", "")
    split = unicodedata.normalize("NFKD", folded.translate(_APOSTROPHES).replace("'", ""))
    bare = "".join(sign for sign in split if not _is_accent(sign))
    return _NO_LETTER_BUT_MARKS.sub(" ", unicodedata.normalize("NFC", bare)).strip()


def _is_accent(sign: str) -> bool:
    """A combining mark of Latin, Greek, Cyrillic, Arabic or Hebrew letters."""
    return unicodedata.category(sign) == "Mn" and (sign < "\u0900" or "\u1dc0" <= sign <= "\u1dff")


@cache
def outright_phrases() -> tuple[DangerPhrase, ...]:
    table = _table("outright.toml")
    try:
        return tuple(
            DangerPhrase("en", Danger(each["danger"]), re.compile(each["find"]), each["reason"], each["said"])
            for each in table["phrase"]
        )
    except (KeyError, ValueError, TypeError, re.error) as error:
        raise AllearsError(f"outright.toml: not the table of outright phrases ({error})") from error


@cache
def other_languages() -> tuple[DangerPhrase, ...]:
    table = _table("other_languages.toml")
    try:
        return tuple(
            DangerPhrase(language, Danger(danger), compile_fragment(fragment, language))
            for language, dangers in table.items()
            for danger, fragments in dangers.items()
            for fragment in fragments
        )
    except (AttributeError, ValueError, TypeError, re.error) as error:
        raise AllearsError(f"other_languages.toml: not the table of phrases ({error})") from error


def compile_fragment(fragment: str, language: str) -> re.Pattern[str]:
    """`(a|b)` are alternatives, `~` at most three words (six signs in scripts without blanks), `-` any ending, `^` the
    beginning of the message."""
    anywhere = language in WITHOUT_BLANKS
    start = "" if anywhere and not fragment.startswith("^") else "^ " if fragment.startswith("^") else " "
    parts = re.split(r"([()|~-]| )", fragment.removeprefix("^").strip())
    source = ""
    for part in parts:
        if part == "~":
            source = source.removesuffix(" ") + (_SHORT_GAP if anywhere else " " + _GAP)
        elif part == "-":
            source += r"\S*"
        elif part == " ":
            source += "" if source.endswith((_GAP, _SHORT_GAP)) else " "
        elif part in ("(", ")", "|"):
            source += "(?:" if part == "(" else part
        else:
            source += re.escape(normalised(part)) if part else ""
    end = "" if anywhere or fragment.endswith("-") else r"(?= )"
    return re.compile(start + source + end)


def _table(name: str) -> dict[str, Any]:
    try:
        return tomllib.loads((files("allears.safety") / name).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise AllearsError(
            f"{name}: the crisis screen cannot read it ({error}); install allears again"
        ) from error
