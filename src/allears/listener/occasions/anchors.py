"""Letters without which a phrase cannot match: most phrases are ruled out by them before they are even compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

Words = frozenset[str]
"""One of these must be there; "" where that cannot be told."""

_TOKEN = re.compile(
    r"(?P<group>\(\?(?::|P<\w+>))|(?P<aside>\(\?[!=<]+)|(?P<end>\))|(?P<bar>\|)|(?P<times>(?:[?*+]|\{\d*,?\d*\})\??)|"
    r"(?P<letters>[a-z' ]+)|\\.|\[[^\]]*\]|."
)
_UNKNOWN = frozenset({""})


@cache
def anchors(phrase: str) -> Words:
    """Everything that `phrase` matches has one of these in it."""
    return _group(_TOKEN.finditer(phrase))


def _group(tokens: Iterator[re.Match[str]]) -> Words:
    """Of a group up to its end: one branch of it must be there."""
    branches: list[Words] = []
    needed: list[Words] = []  # of the branch that is being read, in order
    last = ""  # what kind of part came last
    for token in tokens:
        kind, text = token.lastgroup, token[0]
        if kind == "times":
            if last and (text[0] in "?*" or text.startswith(("{0", "{,"))):  # it may be missing
                lost = needed.pop()
                needed += [frozenset(word[:-1] for word in lost)] if last == "letters" else []
            last = ""
            continue
        last = kind if kind in ("group", "letters") else ""
        if kind == "end":
            break
        if kind == "bar":
            branches.append(_best(needed))
            needed = []
        elif kind == "group":
            needed.append(_group(tokens))
        elif kind == "aside":
            _group(tokens)
        elif kind == "letters":
            needed.append(frozenset({text}))
    return frozenset().union(*branches, _best(needed))


def _best(sets: list[Words]) -> Words:
    """The one that rules out the most: its shortest word is the longest."""
    return max(sets, key=lambda words: min(map(len, words)), default=_UNKNOWN)
