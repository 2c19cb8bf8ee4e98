"""Finding a conversation by words that were said in it. Texts may be encrypted, so no database can look for us."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

AROUND = 40  # characters shown on either side of what was found


def found_in(title: str | None, texts: Sequence[str], wanted: str) -> str | None:
    """Whether all the wanted words occur in a conversation: the words around one of them, or None.

    What only the title has is shown by the title, so the answer is then an empty text.
    """
    words = [re.compile(re.escape(word), re.IGNORECASE) for word in wanted.split()]
    if not all(_occurs(word, [title or "", *texts]) for word in words):
        return None
    for word in words:
        for text in texts:
            place = word.search(text)
            if place is not None:
                return _around(text, place.start(), place.end())
    return ""


def _occurs(word: re.Pattern[str], texts: Iterable[str]) -> bool:
    return any(word.search(text) for text in texts)


def _around(text: str, start: int, end: int) -> str:
    first, last = max(0, start - AROUND), min(len(text), end + AROUND)
    if first > 0:  # a word that is cut in two is left out
        first = text.find(" ", first, start) + 1 or first
    if last < len(text):
        cut = text.rfind(" ", end, last)
        last = cut if cut != -1 else last
    before, after = "… " if first > 0 else "", " …" if last < len(text) else ""
    return before + " ".join(text[first:last].split()) + after
