"""The word lists of `lists.toml`: what {PET} stands for in a phrase, and in an answer."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

FILE = "lists.toml"


@cache
def _stored() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(FILE).read_text(encoding="utf-8"))


@cache
def word_lists() -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(word.replace("_", " ") for word in words.split())
        for name, words in _stored()["lists"].items()
    }


@cache
def phrases() -> dict[str, str]:
    """What stands for {NAME} in a phrase, lists among them, as a regular expression."""
    lists = {name: "|".join(words) for name, words in word_lists().items()}
    return {name: f"(?:{phrase})" for name, phrase in (lists | _stored()["phrases"]).items()}
