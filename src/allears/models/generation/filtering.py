"""What a generator shall not learn from the internet: toxic and sexual pairs, masks, machine text.

Two steps. The first is a list of words (`unwelcome.toml`), which costs nothing and always runs on the sources that
nobody has looked through: a response with a toxic word, an insult at "you" or an attack is left out, and so is a pair
of which any turn is sexual, or a response that holds a mask, a link, or hardly any letters. The list is meant to lose
good pairs rather than keep bad ones ("hell" and "weed" are on it): Reddit has plenty, and kindness needs no swearing.

The second asks a reader (`data.reader` in a recipe; "default" is the bundle's): responses that it takes for angry,
annoyed, disgusted or disapproving are left out too. Every response is read once, so it costs minutes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from allears.conversation import Role, Turn

if TYPE_CHECKING:
    from allears.models.generation.examples import GenerationExample
    from allears.models.reader.loading import ReadingModel

HOSTILE = ("anger", "annoyance", "disgust", "disapproval")  # GoEmotions
MOST_HOSTILE = 0.5  # of probability, of one of them
READ_AT_ONCE = 512
_MASK_OR_LINK = re.compile(r"_(?:name|email|phone)_|https?:|www\.|\b(?:r|u)/\w|\[deleted\]|\[removed\]")


class _Unwelcome(NamedTuple):
    toxic: re.Pattern[str]
    sexual: re.Pattern[str]
    insult: re.Pattern[str]
    attack: re.Pattern[str]


def fit_to_learn(turns: Sequence[Turn], response: str) -> bool:
    """Whether a pair may be learned from, by its words alone."""
    unwelcome, text = _unwelcome(), response.lower()
    if _MASK_OR_LINK.search(text) or 2 * sum(map(str.isalpha, text)) < len(text):
        return False
    if any(pattern.search(text) for pattern in unwelcome):
        return False
    return not any(unwelcome.sexual.search(turn.text.lower()) for turn in turns)


def reader_filter(
    reader: ReadingModel,
) -> Callable[[Sequence[GenerationExample]], list[GenerationExample]]:
    """Keeps the examples whose response sounds friendly, or at least not hostile, to a reader with GoEmotions' head."""
    from allears.corpora.heads import head
    from allears.text.reading import Reading

    asked = head("goemotions")
    columns = [asked.labels.index(name) for name in HOSTILE]

    def keep(examples: Sequence[GenerationExample]) -> list[GenerationExample]:
        kept: list[GenerationExample] = []
        for start in range(0, len(examples), READ_AT_ONCE):
            part = examples[start : start + READ_AT_ONCE]
            readings = [Reading((Turn(Role.SUPPORTER, example.response),)) for example in part]
            hostile = np.asarray(reader.probabilities(asked, readings))[:, columns].max(axis=1)
            kept += (example for example, share in zip(part, hostile, strict=True) if share < MOST_HOSTILE)
        return kept

    return keep


@cache
def _unwelcome() -> _Unwelcome:
    table = tomllib.loads(
        files("allears.models.generation").joinpath("unwelcome.toml").read_text(encoding="utf-8")
    )
    insults = "|".join(table["insults"].split())
    attacks = "|".join(map(re.escape, filter(None, table["attacks"].splitlines())))
    return _Unwelcome(
        toxic=_words(table["toxic"]),
        sexual=_words(table["sexual"]),
        insult=re.compile(rf"\b(?:you|u|ur|your|you're|youre)(?: \w+){{0,3}} (?:{insults})\b"),
        attack=re.compile(rf"\b(?:{attacks})\b"),
    )


def _words(listed: str) -> re.Pattern[str]:
    words = (re.escape(word).replace(r"\*", r"\w*") for word in listed.split())
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)")
