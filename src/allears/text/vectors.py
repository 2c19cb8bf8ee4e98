"""Published word vectors in the GloVe text layout: a word and its numbers on each line, plain or gzip."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from allears.errors import AllearsError

Vector = npt.NDArray[np.float32]


def read_vectors(path: Path | str, words: Collection[str], *, size: int) -> dict[str, Vector]:
    """The vectors of those `words` that the file has. fastText's first line, "count size", is skipped."""
    path = Path(path)
    try:
        with _open(path) as file:
            return _read(file, path, words, size)
    except FileNotFoundError:
        raise AllearsError(f"{path}: no such file of word vectors") from None
    except UnicodeDecodeError as error:
        raise AllearsError(f"{path}: not a text file of word vectors in UTF-8 ({error.reason})") from error
    except (OSError, EOFError, zlib.error) as error:
        raise AllearsError(f"{path}: the file of word vectors cannot be read ({error})") from error


def vector_size(path: Path | str) -> int:
    """How many numbers each word of a file has."""
    path = Path(path)
    try:
        with _open(path) as file:
            first, second = file.readline().split(), file.readline().split()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise AllearsError(f"{path}: the file of word vectors cannot be read ({error})") from error
    size = len(second if len(first) == 2 else first) - 1
    if size < 1:
        raise AllearsError(f"{path}, line 1: expected a word and its numbers")
    return size


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    return path.open(encoding="utf-8", newline="\n")


def _read(file: IO[str], path: Path, words: Collection[str], size: int) -> dict[str, Vector]:
    found: dict[str, Vector] = {}
    checked = False
    for number, line in enumerate(file, start=1):
        if number == 1 and len(line.split()) == 2:
            continue
        # From the right, since a few published "words" contain spaces.
        word, *numbers = line.rstrip().rsplit(" ", size)
        if not checked and len(line.split()) - 1 != size:
            raise AllearsError(
                f"{path}, line {number}: the vectors have {len(line.split()) - 1} numbers, but the model's "
                f"embedding_size is {size}; set it to the file's or choose another file"
            )
        checked = True
        if word not in words:
            continue
        try:
            vector = np.array(numbers, np.float32)
        except ValueError:
            vector = np.empty(0, np.float32)
        if len(vector) != size:
            raise AllearsError(f"{path}, line {number}: expected a word and {size} numbers")
        found.setdefault(word, vector)
    return found
