"""Words as MoEL and MIME cut them: lower-cased, common contractions written out, the rest like the Penn Treebank.

Their code calls NLTK's `word_tokenize` after that; the few of its rules that lower-cased chat needs are here, so that
nothing has to be downloaded. "I don't know, that's John's..." is `i do not know , that is john 's ...`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# As their preprocessing lists them; "she's" and the like, which could also be "has", are left to the treebank's rules.
CONTRACTIONS = {
    "it's": "it is", "don't": "do not", "doesn't": "does not", "didn't": "did not", "you'd": "you would",
    "you're": "you are", "you'll": "you will", "i'm": "i am", "they're": "they are", "that's": "that is",
    "what's": "what is", "couldn't": "could not", "i've": "i have", "we've": "we have", "can't": "can not",
    "i'd": "i would", "aren't": "are not", "isn't": "is not", "wasn't": "was not", "weren't": "were not",
    "won't": "will not", "there's": "there is", "there're": "there are",
}  # fmt: skip

_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "…": "..."})
_CONTRACTED = re.compile(rf"\b(?:{'|'.join(CONTRACTIONS)})\b")
# A word's ending after an apostrophe; "n't" with its n; a number; a word, maybe hyphenated; dots; any other mark.
_WORD = re.compile(
    r"'(?:s|m|re|ll|ve|d)\b"
    r"|n't\b"
    r"|\d+(?:[.,:]\d+)*\w*"
    r"|[^\W\d_](?:[^\W_]|[-'](?=[^\W_])(?!'))*?(?=n't\b|'(?:s|m|re|ll|ve|d)\b|[^\w'-]|['-](?![^\W_])|_|$)"
    r"|\.{2,}"
    r"|\w+"
    r"|[^\w\s]",
    re.UNICODE,
)


def paper_words(text: str) -> list[str]:
    """Lower-cased words and marks."""
    text = text.translate(_QUOTES).lower()
    return _WORD.findall(_CONTRACTED.sub(lambda match: CONTRACTIONS[match[0]], text))


_NO_SPACE_BEFORE = re.compile(r" (?=(?:[.,!?;:%)\]}]|\.{2,}|n't|'(?:s|m|re|ll|ve|d))(?:\s|$))")
_NO_SPACE_AFTER = re.compile(r"(?<=[(\[{$#]) ")
_QUOTED = re.compile(r'" ([^"]+?) ?"')
_ALONE = re.compile(r"\bi\b(?!')")
_SENTENCE_START = re.compile(r"(^|[.!?]\s+)([\"'(]?[a-z])")


def plain_text(words: Sequence[str]) -> str:
    """Words as people write them: marks at their words, sentences with a capital."""
    text = _NO_SPACE_AFTER.sub("", _NO_SPACE_BEFORE.sub("", " ".join(words)))
    text = _ALONE.sub("I", _QUOTED.sub(r'"\1"', text))
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text)
