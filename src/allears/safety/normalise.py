"""From what somebody typed to plain words: "i w@nt 2 k1lll myslef..." → " i want to kill myself ".

People in distress type fast, hide words from filters and leave out letters. Every step below undoes one of
these habits, and only towards words that matter here: a word that the patterns do not know is left alone, and
so is every real English word that merely looks like one of theirs (tables/real_words.txt).

All of it is linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

END = "."  # stands for the end of a sentence; no pattern reaches over it

# Signs that stand for letters. Only tried when what comes out is a word that the patterns know.
LEET = str.maketrans("0134578@$!|€", "oieastbasile")
# Letters of other alphabets that look like ours.
LOOKALIKES = str.maketrans("аеорсхіуктвнмѕјԁ", "aeopcxiyktbhmsjd")
PICTURES = MappingProxyType(
    {"🔪": " knife ", "🗡": " knife ", "🔫": " gun ", "💊": " pills ", "🪦": " grave ", "⚰": " coffin "}
)

LONGEST_WORD = 40  # longer ones are links or keyboards slept on
_SHORTEST_MISSPELT = 4
_SHORTEST_GLUED = 6

_PIECES = re.compile(r"[.!?]+|[\n\r]+|[^\s.!?,;:()\[\]{}\"“”«»<>…—–]+")
_DOTTED = re.compile(r"(?<![^\s])(?:\w[.\-_ ]){3,}\w(?![^\s])")  # s.u.i.c.i.d.e, k i l l
_MANY = re.compile(r"(.)\1{2,}")
_DOUBLE = re.compile(r"(.)\1+")
_LETTER_AND_SIGN = re.compile(r"(?=.*[a-z])(?=.*[^a-z])")
_ELLIPSIS = re.compile(r"\.{2,}|…")
_SLASHED = re.compile(r"\bs/h\b")
_APOSTROPHE_LIKE = str.maketrans({"’": "'", "‘": "'", "`": "'", "´": "'", "ʼ": "'"})


class Normaliser:
    """Knows the words of the patterns; hands out text in plain words with a blank at both ends."""

    def __init__(
        self,
        vocabulary: Iterable[str],
        spellings: Mapping[str, str] = MappingProxyType({}),  # short or by ear → in full
        apostrophes: Mapping[str, str] = MappingProxyType({}),  # clear only with their apostrophe
        real_words: Iterable[str] = (),  # look like words of the vocabulary and are others
        serious: Iterable[str] = (),  # only these justify taking a glued word apart
        glue: Iterable[str] = (),  # short words between them
    ):
        self.words = frozenset(vocabulary)
        self.spellings, self.apostrophes = spellings, apostrophes
        self.real_words = frozenset(real_words) | self.words
        self.serious, self.glue = frozenset(serious), frozenset(glue)
        self.squeezed = _first_of(((_DOUBLE.sub(r"\1", word), word) for word in sorted(self.words)), 3)
        self.longest = max((len(word) for word in self.words), default=0)
        # A word's deletes: itself with one letter left out. Two words one edit apart share a delete or are one.
        self.deletes: dict[str, list[str]] = {}
        for word in sorted(self.words):
            if len(word) >= _SHORTEST_MISSPELT:
                for short in {word, *_without_one(word)}:
                    self.deletes.setdefault(short, []).append(word)
        self._word = lru_cache(maxsize=8192)(self._understood)

    def __call__(self, text: str) -> str:
        return f" {' '.join(self.plain_words(text))} "

    def plain_words(self, text: str) -> list[str]:
        words: list[str] = []
        for piece in _PIECES.findall(_clean(text)):
            if piece[0] in ".!?\n\r":
                if words and words[-1] != END:
                    words.append(END)
            else:
                words.extend(self._word(piece[:LONGEST_WORD]))
        return words

    def _understood(self, piece: str) -> tuple[str, ...]:
        """The plain words that one piece between blanks stands for."""
        if piece in self.apostrophes:
            return tuple(self.apostrophes[piece].split())
        bare = piece.replace("'", "").strip("*_-~/\\#&+=^%")
        known = self._known(bare)
        if known or not bare:
            return known
        if _LETTER_AND_SIGN.match(bare):
            return self._disguised(bare)
        if bare in self.real_words or not bare.isalpha():
            return (bare,)
        return self._glued(bare) or self._misspelt(bare) or (bare,)

    def _disguised(self, bare: str) -> tuple[str, ...]:
        """Letters with signs among them: self-harm, k1ll, su*cide, or nothing of the kind."""
        parts = [part for part in re.split(r"[^a-z0-9]+", bare) if part]
        if len(parts) > 1 and all(len(part) > 1 and part in self.words for part in parts):
            return tuple(parts)
        letters = bare.translate(LEET)
        censored = self._uncensored(bare) if any(sign in bare for sign in "*#_") else None
        for guess in (censored, letters, re.sub(r"[^a-z]", "", letters)):
            known = self._known(guess) if guess else ()
            if known:
                return known
        if len(parts) > 1:
            return tuple(word for part in parts for word in self._word(part))
        return tuple(parts)

    def _known(self, word: str) -> tuple[str, ...]:
        """The word itself, its long form, or the word it is with letters repeated; nothing if unknown."""
        for guess in (word, _MANY.sub(r"\1\1", word), _MANY.sub(r"\1", word)):
            if guess in self.spellings:
                return tuple(self.spellings[guess].split())
            if guess in self.words:
                return (guess,)
            if guess in self.real_words:
                return ()
        squeezed = self.squeezed.get(_DOUBLE.sub(r"\1", word))
        return (squeezed,) if squeezed else ()

    def _uncensored(self, word: str) -> str | None:
        """su*cide, k*ll: the known word that has the letters shown."""
        shape = re.compile("".join("[a-z]" if sign in "*#_" else re.escape(sign) for sign in word))
        if sum(sign.isalpha() for sign in word) < 2 or not word[0].isalpha():
            return None
        fits = [known for known in self.words if len(known) == len(word) and shape.fullmatch(known)]
        return min(fits, key=lambda known: (known not in self.serious, known)) if fits else None

    def _misspelt(self, word: str) -> tuple[str, ...]:
        """The known word one letter away: changed, missing, added, or two exchanged. The first letter stays."""
        if not _SHORTEST_MISSPELT <= len(word) <= self.longest + 1:
            return ()
        guesses = {
            known
            for short in {word, *_without_one(word)}
            for known in self.deletes.get(short, ())
            if known[0] == word[0] or sorted(known[:2]) == sorted(word[:2])
        }
        near = [known for known in guesses if _one_edit(word, known)]
        if (
            len(word) == _SHORTEST_MISSPELT
        ):  # short words have many neighbours: only letters exchanged or added
            near = [known for known in near if sorted(known) == sorted(word) or len(known) < len(word)]
        return (
            (min(near, key=lambda known: (sorted(known) != sorted(word), -len(known), known)),)
            if near
            else ()
        )

    def _glued(self, word: str) -> tuple[str, ...]:
        """killmyself, iwanttodie: split where every part is a known word, in as few parts as possible."""
        if not _SHORTEST_GLUED <= len(word) <= LONGEST_WORD:
            return ()
        best: list[tuple[str, ...] | None] = [()] + [None] * len(word)
        for end in range(1, len(word) + 1):
            for start in range(max(0, end - self.longest), end):
                before, part = best[start], word[start:end]
                if before is None or not (part in self.words or part in self.glue):
                    continue
                if len(part) == 1 and part != "i":
                    continue
                found = best[end]
                if found is None or len(before) + 1 < len(found):
                    best[end] = (*before, part)
        parts = best[-1] or ()
        if self.serious.isdisjoint(parts):
            return ()  # "forme", "tobe": harmless, and real words fall apart like this
        return tuple(word for part in parts for word in self.spellings.get(part, part).split())


def _clean(text: str) -> str:
    """Lower case, one form per letter, no accents, no invisible signs, straight apostrophes, no ellipses."""
    text = unicodedata.normalize("NFKD", text).casefold().translate(_APOSTROPHE_LIKE)
    text = "".join(
        sign
        for sign in text
        if unicodedata.category(sign) not in {"Mn", "Cf", "Cc", "Me"} or sign in "\n\r\t"
    )
    for picture, word in PICTURES.items():
        text = text.replace(picture, word)
    text = _ELLIPSIS.sub(" ", text.translate(LOOKALIKES))
    return _DOTTED.sub(lambda spelt: re.sub(r"[.\-_ ]", "", spelt[0]), text)


def _first_of(pairs: Iterable[tuple[str, str]], shortest: int) -> dict[str, str]:
    first: dict[str, str] = {}
    for key, value in pairs:
        if len(key) >= shortest:
            first.setdefault(key, value)
    return first


def _without_one(word: str) -> Iterator[str]:
    return (word[:place] + word[place + 1 :] for place in range(len(word)))


def _one_edit(one: str, other: str) -> bool:
    """One letter changed, missing or added, or two neighbours exchanged."""
    if abs(len(one) - len(other)) > 1:
        return False
    place = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    rest, other_rest = one[place:], other[place:]
    if len(one) != len(other):
        return rest[1:] == other_rest or rest == other_rest[1:]
    return rest[1:] == other_rest[1:] or (rest[2:] == other_rest[2:] and rest[:2] == other_rest[1::-1])
