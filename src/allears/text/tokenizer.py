"""One small face for every tokenizer, so that training and the light runtime cut text the same way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from tokenizers import Tokenizer as HuggingFaceTokenizer

from allears.errors import AllearsError

FEW = 16  # texts; to wake the tokenizer's threads for them costs more than to cut them one by one


class Tokenizer(Protocol):
    """Text in, token ids out, without special tokens: the layouts in `text.layout` add those."""

    pad: int
    start: int  # [CLS]
    end: int  # [SEP]

    @property
    def size(self) -> int: ...

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]: ...


class WordPiece:
    """A pretrained sub-word tokenizer, from a `tokenizer.json` or the folder that holds one."""

    def __init__(self, path: Path | str):
        path = Path(path)
        file = path / "tokenizer.json" if path.is_dir() else path
        if not file.is_file():
            raise AllearsError(f"{file}: no tokenizer.json here; give the folder of a saved encoder")
        try:
            self.backend = HuggingFaceTokenizer.from_file(str(file))
        except Exception as error:  # the Rust side raises bare Exception
            raise AllearsError(f"{file}: not a tokenizer.json ({error})") from error
        self.backend.no_truncation()
        self.backend.no_padding()
        self.pad = self._special("[PAD]", "<pad>")
        self.start = self._special("[CLS]", "<s>")
        self.end = self._special("[SEP]", "</s>")

    @property
    def size(self) -> int:
        return int(self.backend.get_vocab_size())

    def _special(self, *names: str) -> int:
        for name in names:
            token = self.backend.token_to_id(name)
            if token is not None:
                return int(token)
        raise AllearsError(f"the tokenizer has none of the special tokens {', '.join(names)}")

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        whole = [_whole(text) for text in texts]
        if len(whole) <= FEW:
            return [self.backend.encode(text, add_special_tokens=False).ids for text in whole]
        return [item.ids for item in self.backend.encode_batch(whole, add_special_tokens=False)]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where each token of `encode_many` stands in the text: its first character and the one after its last."""
        return list(self.backend.encode(_whole(text), add_special_tokens=False).offsets)


_HALF = re.compile("[\ud800-\udfff]")


def _whole(text: str) -> str:
    """Halves of characters, as cut JSON brings them, are no text to the Rust side; all others keep their place."""
    return _HALF.sub("\ufffd", text)


_WORD = re.compile(r"\w+|[^\w\s]", re.UNICODE)


def words(text: str) -> list[str]:
    """Lower-cased words and punctuation marks, as the papers' non-pretrained models read them."""
    return _WORD.findall(text.lower())


class WordVocabulary:
    """A word-level vocabulary learned from text (`fit`), or restored from its list of words. `split` cuts a text."""

    SPECIAL = ("<pad>", "<start>", "<end>", "<unknown>")

    def __init__(
        self,
        *,
        minimum_count: int = 2,
        maximum_size: int = 40_000,
        split: Callable[[str], list[str]] = words,
    ):
        self.minimum_count, self.maximum_size, self.split = minimum_count, maximum_size, split
        self.pad, self.start, self.end, self.unknown = range(4)
        self.words_: list[str] = list(self.SPECIAL)
        self._ids: dict[str, int] = {}

    def fit(self, texts: Iterable[str]) -> WordVocabulary:
        counts = Counter(word for text in texts for word in self.split(text))
        # Frequency first, then the alphabet: the same corpus always gives the same ids.
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        kept = [word for word, count in ranked if count >= self.minimum_count][: self.maximum_size]
        return self.restore([*self.SPECIAL, *kept])

    def restore(self, vocabulary: Sequence[str]) -> WordVocabulary:
        self.words_ = list(vocabulary)
        self._ids = {word: position for position, word in enumerate(self.words_)}
        return self

    @property
    def size(self) -> int:
        return len(self.words_)

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        known, unknown = self._ids, self.unknown
        return [[known.get(word, unknown) for word in self.split(text)] for text in texts]
