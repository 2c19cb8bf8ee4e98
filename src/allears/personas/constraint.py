"""What the extractor may write: the person's own words, their inflections, and the small words between them.

The rule is about whole words, not about pieces: a word that is begun can only be finished as one of the words
that are allowed. So a content word the source never said cannot come out, not even pieced together. The one
exception, the framing words ("i like ..."), is a list of its own and has a price.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError
from allears.personas.support import FRAMING_WORDS, bases, function_words, irregular_forms, word_list
from allears.text.tokenizer import WordPiece

_MARKS = ".,'"
_CONTINUES = "##"
_ALIKE = 2  # letters that a word shares with its base, unless it is irregular


@dataclass(slots=True)
class _Node:
    """A place inside a word: the pieces that may follow, and whether the word may end here."""

    following: dict[int, _Node] = field(default_factory=dict)
    ends: bool = False


class Lexicon:
    """What is the same for every source: the tokenizer's words by their bases, and the words always allowed."""

    def __init__(self, tokenizer: WordPiece, size: int = 0):
        # some encoders have more word embeddings than words
        self.tokenizer, self.size = tokenizer, max(size, tokenizer.size)
        vocabulary: dict[str, int] = tokenizer.backend.get_vocab()
        if not any(token.startswith(_CONTINUES) for token in vocabulary):
            raise AllearsError(
                "the persona extractor needs an encoder with a WordPiece vocabulary (BERT, MiniLM, gte-small)"
            )
        self.continues = np.zeros(self.size, np.bool_)
        self._alike: dict[str, list[str]] = {}  # words by their first letters
        self._by_base: dict[str, list[str]] = {}  # filled as bases are asked for: most never are
        for token, number in sorted(vocabulary.items(), key=lambda item: item[1]):
            self.continues[number] = token.startswith(_CONTINUES)
            if token.isalnum():
                self._alike.setdefault(token[:_ALIKE], []).append(token)
        self.unknown = tokenizer.backend.token_to_id("[UNK]")
        marks = (vocabulary.get(mark) for mark in _MARKS)
        self.marks = [mark for mark in marks if mark is not None]

    @cached_property
    def always(self) -> list[list[int]]:
        return self.pieces(sorted(function_words()))

    @cached_property
    def framing(self) -> list[list[int]]:
        return self.pieces(FRAMING_WORDS)

    def forms(self, base: str) -> list[str]:
        """The tokenizer's words that may come from this base."""
        if base not in self._by_base:
            starts = dict.fromkeys(form[:_ALIKE] for form in (base, *irregular_forms(base)))
            words = (word for start in starts for word in self._alike.get(start, ()))
            self._by_base[base] = [word for word in words if base in bases(word)]
        return self._by_base[base]

    def pieces(self, words: Iterable[str]) -> list[list[int]]:
        """Each word's token ids; a text that the tokenizer takes for several words counts as several."""
        found = []
        for ids in self.tokenizer.encode_many(list(words)):
            starts = [place for place, token in enumerate(ids) if not self.continues[token]]
            for start, stop in zip(starts, [*starts[1:], len(ids)], strict=True):
                if self.unknown not in ids[start:stop]:
                    found.append(ids[start:stop])
        return found

    def said(self, source: str) -> list[list[int]]:
        """The source's words and their inflections, and whatever else its tokens are (hyphens, signs)."""
        words = dict.fromkeys(word_list(source))
        for word in list(words):
            related = [each for base in bases(word) for each in self.forms(base)]
            words |= dict.fromkeys(related or [word + "s", word.removesuffix("s")])
        return self.pieces([source, *words])


class SourceConstraint:
    """For a batch of sources; `bias` as `generation.decoding.Constraint` wants it."""

    def __init__(self, lexicon: Lexicon, sources: Sequence[str], *, framing_price: float = 2.0):
        self.lexicon, self.end = lexicon, lexicon.tokenizer.end
        self.roots: list[_Node] = []
        self.starts = np.full((len(sources), lexicon.size), -np.inf, np.float32)
        for row, source in zip(self.starts, sources, strict=True):
            root = _Node()
            row[[ids[0] for ids in lexicon.framing]] = -framing_price
            said = lexicon.said(source)
            row[[ids[0] for ids in (*lexicon.always, *said)]] = 0.0
            row[[*lexicon.marks, self.end]] = 0.0
            for ids in (*lexicon.always, *lexicon.framing, *said, *([mark] for mark in lexicon.marks)):
                node = root
                for token in ids:
                    node = node.following.setdefault(token, _Node())
                node.ends = True
            self.roots.append(root)

    def bias(self, examples: Sequence[int], written: Sequence[Sequence[int]]) -> npt.NDArray[np.float32]:
        found = self.starts[list(examples)]  # a copy
        for row, (example, tokens) in enumerate(zip(examples, written, strict=True)):
            if not tokens:
                found[row, self.end] = -np.inf  # asked to write, it writes
                continue
            node = self._inside(example, tokens)
            if not node.ends:
                found[row] = -np.inf
            found[row, list(node.following)] = 0.0
        return found

    def _inside(self, example: int, tokens: Sequence[int]) -> _Node:
        start = len(tokens) - 1
        while start and self.lexicon.continues[tokens[start]]:
            start -= 1
        node = self.roots[example]
        for token in tokens[start:]:
            node = node.following[token]
        return node
