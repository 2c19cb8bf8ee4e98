"""Words as the statistics count them.

Two notions, because the papers use two:

- *length* is the number of whitespace-separated pieces (PEC's Table 1: its text is tokenised already);
- *words* are runs of letters and digits, lower-cased, with an apostrophe allowed inside ("i'm"), which is
  what vocabularies and the most-used words are made of.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

# Letters and digits of any script, an apostrophe only between them; typographic ’ counts as '.
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def length(text: str) -> int:
    """Whitespace-separated pieces."""
    return len(text.split())


def words(text: str) -> list[str]:
    """Lower-cased words without punctuation."""
    return _WORD.findall(text.lower().replace("’", "'"))


@cache
def stop_words() -> frozenset[str]:
    """Words without content of their own, from `stop_words.txt` beside this file.

    The list is ours, drawn so that plain frequency over the remaining words gives what the
    EmpatheticDialogues paper's Figure 3 shows: "i'm", "that's", "would", "oh" are kept there, so they are
    kept here.
    """
    text = files("allears.corpora").joinpath("stop_words.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())
