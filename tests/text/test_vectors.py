"""Reading published word vectors."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from allears.errors import AllearsError
from allears.text.vectors import read_vectors


def written(folder: Path, text: str, name: str = "vectors.txt") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_only_the_wanted_words_are_kept(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, "the .5 -1 2e-1\nsun 1 2 3\n", name)
    found = read_vectors(path, {"sun", "moon"}, size=3)
    assert {word: vector.tolist() for word, vector in found.items()} == {"sun": [1.0, 2.0, 3.0]}


def test_fasttexts_first_line_is_no_word(tmp_path: Path) -> None:
    found = read_vectors(written(tmp_path, "2 3\n2 7 7 7\nsun 1 2 3\n"), {"2", "sun"}, size=3)
    assert found["2"].tolist() == [7.0, 7.0, 7.0]


def test_words_with_spaces_do_not_shift_the_numbers(tmp_path: Path) -> None:
    found = read_vectors(written(tmp_path, "the 1 2 3\n. . . 4 5 6\n"), {". . .", "."}, size=3)
    assert {word: vector.tolist() for word, vector in found.items()} == {". . .": [4.0, 5.0, 6.0]}


def test_vectors_of_another_size_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "the 1 2 3 4\n")
    with pytest.raises(AllearsError, match=r"line 1: the vectors have 4 numbers, but .* embedding_size is 3"):
        read_vectors(path, {"the"}, size=3)


@pytest.mark.parametrize("line", ["sun 1 2", "sun 1 2 three", "sun"])
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(AllearsError, match=r"vectors.txt, line 2: expected a word and 3 numbers"):
        read_vectors(written(tmp_path, f"the 1 2 3\n{line}\n"), {"sun"}, size=3)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(AllearsError, match="no such file of word vectors"):
        read_vectors(tmp_path / "none.txt", {"sun"}, size=3)
    torn = tmp_path / "torn.txt.gz"
    torn.write_bytes(gzip.compress(b"sun 1 2 3\n" * 1000)[:-20])
    with pytest.raises(AllearsError, match=r"torn.txt.gz: the file of word vectors cannot be read"):
        read_vectors(torn, {"moon"}, size=3)
    binary = tmp_path / "binary.txt"
    binary.write_bytes(b"\xff\xfe\x00 1 2 3\n")
    with pytest.raises(AllearsError, match="not a text file of word vectors in UTF-8"):
        read_vectors(binary, {"sun"}, size=3)
